"""What one process counts."""

from __future__ import annotations

from typing import Any

import data
import numpy

from picollo_engines import Layout


def whole(partitions: int, number: int, layout: Layout = Layout()) -> Any:
    """All values in one histogram, without any engine or encoding."""
    histogram = layout.histogram()
    for seed in range(partitions):
        histogram.record_many(data.values(seed, number))
    return histogram.snapshot()


def by_route(partitions: int, number: int, layout: Layout = Layout()) -> "dict[str, Any]":
    """One for each route."""
    histograms = {route: layout.histogram() for route in data.ROUTES}
    for seed in range(partitions):
        values, codes = data.values(seed, number), data.routes(seed, number)
        for code, route in enumerate(data.ROUTES):
            histograms[route].record_many(values[codes == code])
    return {route: histogram.snapshot() for route, histogram in histograms.items()}


def same(a: Any, b: Any) -> bool:
    """Whether two snapshots have the same counts, bucket by bucket, and beside the buckets."""
    return bool(a.counts == b.counts and numpy.array_equal(a.bucket_array(), b.bucket_array()))
