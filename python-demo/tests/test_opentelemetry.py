"""OTLP beside what OpenTelemetry's own SDK makes of the same values."""

from __future__ import annotations

import math
import random
from typing import Any, Dict, Iterator, List, Tuple

import pytest

import picollo

sdk = pytest.importorskip("opentelemetry.sdk.metrics", reason="opentelemetry-sdk is not installed")
export = pytest.importorskip("opentelemetry.sdk.metrics.export")
view = pytest.importorskip("opentelemetry.sdk.metrics.view")
service = pytest.importorskip("opentelemetry.proto.collector.metrics.v1.metrics_service_pb2")

#: Blocks of 64 buckets: half a bucket is less than one per cent of a value.
ERROR = 0.01


def distributions() -> Iterator[Tuple[str, List[int]]]:
    source = random.Random(7)
    yield "one value", [1_234_567]
    yield "latencies", [round(source.lognormvariate(13, 1.5)) for _ in range(20_000)]
    yield "two heaps", [source.choice((1_000, 9_000_000)) + source.randrange(100) for _ in range(20_000)]
    yield "powers of two", [2**power for power in range(40) for _ in range(50)]
    yield "with zeros", [source.choice((0, 50, 51, 1000)) for _ in range(5_000)]


def by_the_sdk(values: List[int]) -> Any:
    reader = export.InMemoryMetricReader()
    of_all = view.View(instrument_name="*", aggregation=view.ExponentialBucketHistogramAggregation(max_size=320))
    provider = sdk.MeterProvider(metric_readers=[reader], views=[of_all])
    instrument = provider.get_meter("test").create_histogram("latency")
    for value in values:
        instrument.record(value)
    (resource,) = reader.get_metrics_data().resource_metrics
    (point,) = resource.scope_metrics[0].metrics[0].data.data_points
    provider.shutdown()
    return point


def by_picollo(values: List[int]) -> Any:
    histogram = picollo.Histogram(ERROR)
    histogram.record_many(values)
    registry = picollo.Registry()
    registry.add(histogram, "latency")
    (resource,) = service.ExportMetricsServiceRequest.FromString(registry.encode("otlp")).resource_metrics
    (metric,) = [metric for metric in resource.scope_metrics[0].metrics if metric.name == "latency"]
    (point,) = metric.exponential_histogram.data_points
    return point


def quantile(point: Any, q: float) -> Tuple[float, float]:
    """The bucket of the value with this rank."""
    target = max(1, math.ceil(q * point.count))
    if target <= point.zero_count:
        return 0.0, 0.0
    seen, base = point.zero_count, 2.0 ** (2.0**-point.scale)
    for at, count in enumerate(point.positive.bucket_counts):
        seen += count
        if seen >= target:
            index = point.positive.offset + at
            return base**index, base ** (index + 1)
    raise AssertionError("the buckets have fewer than there are")


@pytest.mark.parametrize("name, values", list(distributions()))
def test_as_the_sdk(name: str, values: List[int]) -> None:
    ours, theirs = by_picollo(values), by_the_sdk(values)
    assert ours.count == theirs.count == len(values)
    assert ours.zero_count == theirs.zero_count == values.count(0)
    assert ours.sum == pytest.approx(theirs.sum, rel=ERROR)
    ordered = sorted(values)
    for q in (0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0):
        truth = ordered[max(1, math.ceil(q * len(values))) - 1]
        low, high = quantile(ours, q)
        their_low, their_high = quantile(theirs, q)
        # Each has the value in its bucket; ours was rounded before, by the layout's error.
        assert their_low * (1 - 1e-9) <= truth <= their_high * (1 + 1e-9), (name, q)
        assert low * (1 - ERROR) <= truth <= high * (1 + ERROR), (name, q)
        assert low * (1 - ERROR) <= their_high and their_low <= high * (1 + ERROR), (name, q)


def test_names_and_units_are_theirs() -> None:
    registry = picollo.Registry()
    registry.add_counter("http.server.requests", help="Served").add(3)
    (resource,) = service.ExportMetricsServiceRequest.FromString(registry.encode("otlp")).resource_metrics
    found: Dict[str, Any] = {metric.name: metric for metric in resource.scope_metrics[0].metrics}
    metric = found["http.server.requests"]
    assert metric.description == "Served" and metric.sum.is_monotonic
    assert metric.sum.data_points[0].as_int == 3 or metric.sum.data_points[0].as_double == 3
