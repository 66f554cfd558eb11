"""numpy and pandas: the same numbers as without them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from conftest import assert_refused, output_of
from hypothesis import given
from hypothesis import strategies as st

import picollo
from picollo import Histogram, Snapshot

numpy = pytest.importorskip("numpy")

U64_MAX = 2**64 - 1


def snapshot_of(values: Any) -> Snapshot:
    histogram = Histogram(0.01)
    histogram.record_many(values)
    return histogram.snapshot()


@pytest.mark.parametrize("non_empty", [True, False])
@pytest.mark.parametrize("values", [[], [5, 5, 10**6, 2**63, U64_MAX]])
def test_bucket_arrays_are_the_buckets(values: list[int], non_empty: bool) -> None:
    snapshot = snapshot_of(values)
    array = snapshot.bucket_array(non_empty)
    assert array.dtype.names == picollo.Bucket._fields
    assert [tuple(map(int, row)) for row in array] == [tuple(bucket) for bucket in snapshot.buckets(non_empty)]
    # It has separate memory.
    snapshot.close()
    assert int(array["count"].sum()) == len(values)


@given(st.lists(st.integers(0, U64_MAX) | st.integers(0, 5000)))
def test_counts_and_edges_agree_with_numpy(values: list[int]) -> None:
    counts, edges = snapshot_of(values).counts_and_edges()
    assert counts.dtype == edges.dtype == numpy.uint64
    if not values:
        assert len(counts) == len(edges) == 0
        return
    assert len(edges) == len(counts) + 1
    assert counts[0] and counts[-1] and counts.sum() == len(values)
    assert bool((edges[1:] > edges[:-1]).all())
    where = numpy.searchsorted(edges, numpy.array(values, "u8"), side="right") - 1
    # The open end of the last bucket is one too low.
    where = numpy.minimum(where, len(counts) - 1)
    assert numpy.array_equal(numpy.bincount(where, minlength=len(counts)), counts)


def test_percentile_arrays() -> None:
    snapshot = snapshot_of(range(1000))
    ranks = [0, 50, 99.9, 100]
    for selection in ("midpoint", "lower", "upper"):
        found = snapshot.percentile_array(ranks, selection)
        assert found.dtype == numpy.uint64
        assert numpy.array_equal(found, snapshot.percentile_values(ranks, selection))
    assert snapshot.percentile_array(50).shape == () and snapshot.percentile_array([]).shape == (0,)
    asked = numpy.array([[50, 99], [0, 100]])[:, ::-1]
    assert numpy.array_equal(snapshot.percentile_array(asked), [snapshot.percentile_values(row) for row in asked.tolist()])
    closed = snapshot_of([])
    closed.close()
    assert_refused(
        (lambda: snapshot.percentile_array([1, 101, math.nan]), picollo.InvalidArgumentError, "not 101.0, nan"),
        (lambda: snapshot_of([]).percentile_array([50]), picollo.EmptyError, ""),
        (lambda: closed.percentile_array([50]), picollo.ClosedError, ""),
    )


def test_frames_of_summaries() -> None:
    pandas = pytest.importorskip("pandas")
    full, huge, empty = Histogram(0.01, name="full"), Histogram(name="huge"), Histogram(name="empty")
    full.record_many(range(1000))
    huge.record_n(U64_MAX, 2**60 + 1)
    summaries = [histogram.summary() for histogram in (full, huge, empty)]
    frame = picollo.to_frame(summaries)
    assert list(frame.index) == ["full", "huge", "empty"]
    assert list(frame.columns) == list(summaries[0].as_dict())
    assert frame["p99"].dtype == "UInt64" and frame["mean"].dtype == "float64"
    # Exact, where a double would not be.
    assert int(frame["total_count"]["huge"]) == 2**60 + 1
    assert frame["p50"]["empty"] is pandas.NA and math.isnan(frame["mean"]["empty"])
    assert list(picollo.to_frame(summaries, index=[1, 2, 3]).index) == [1, 2, 3]
    assert list(picollo.to_frame([Histogram().summary()] * 2).index) == [0, 1] and len(picollo.to_frame([])) == 0


def test_neither_is_needed_nor_loaded() -> None:
    told = output_of(
        """
        import sys
        import picollo
        histogram = picollo.Histogram()
        histogram.record(5)
        str(histogram), histogram.snapshot().buckets(), histogram._repr_markdown_()
        for name in ("numpy", "pandas", "matplotlib"):
            assert name not in sys.modules, name
            sys.modules[name] = None
        snapshot = histogram.snapshot()
        for package, call in (("numpy", snapshot.bucket_array), ("pandas", lambda: picollo.to_frame([]))):
            try:
                call()
            except ImportError as error:
                assert f"pip install {package}" in str(error), error
            else:
                raise AssertionError
        """
    )
    assert told == ""
