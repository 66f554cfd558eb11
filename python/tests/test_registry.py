"""Registries: PyPI's ``prometheus_client``, ``opentelemetry-proto`` and OpenTelemetry's own SDK read their
expositions."""

from __future__ import annotations

import gc
import math
import pickle
import random
import time
from functools import partial
from typing import Any, Iterator

import pytest
from conftest import assert_refused

import picollo
from picollo import DoubleHistogram, Exemplar, Histogram, Registry

parser = pytest.importorskip("prometheus_client.openmetrics.parser")

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def families(registry: Registry) -> dict[str, Any]:
    return {family.name: family for family in parser.text_string_to_metric_families(registry.openmetrics())}


def samples(family: Any) -> dict[tuple[str, str], float]:
    """By suffix of the name, and bound."""
    return {(s.name[len(family.name) :], s.labels.get("le", "")): s.value for s in family.samples}


def otlp(registry: Registry) -> dict[str, Any]:
    service = pytest.importorskip("opentelemetry.proto.collector.metrics.v1.metrics_service_pb2")
    (resource,) = service.ExportMetricsServiceRequest.FromString(registry.encode("otlp")).resource_metrics
    return {metric.name: metric for metric in resource.scope_metrics[0].metrics}


def test_a_service() -> None:
    registry = Registry()
    assert registry.openmetrics() == "# EOF\n"
    start = time.time()
    histograms = {}
    for method in ("GET", "PUT"):
        histograms[method] = Histogram(0.01, max=10**10)
        registry.add(
            histograms[method],
            "request_seconds",
            help='Time to "serve"\na \\ request',
            unit="seconds",
            labels={"method": method, "path": '/a "b" \\c\n{d,e=f} é', "empty": ""},
            bounds=[1_000_000, 10_000_000, 2**30 - 1],
            divisor=1e9,
        )
    values = [999_000, 1_500_000, 9_000_000, 2**30 - 1, 2**30, 10**9]
    histograms["GET"].record_many(values)
    family = families(registry)["request_seconds"]
    assert (family.type, family.unit) == ("histogram", "seconds")
    assert family.documentation == 'Time to "serve"\na \\ request'
    assert {s.labels["path"] for s in family.samples} == {'/a "b" \\c\n{d,e=f} é'}
    got = {(s.name.rpartition("_")[2], s.labels.get("le")): s.value for s in family.samples if s.labels["method"] == "GET"}
    assert got["bucket", "0.001"] == 1 and got["bucket", "0.01"] == 3 and got["bucket", "1.073741823"] == 5
    assert got["bucket", "+Inf"] == got["count", None] == 6
    assert got["sum", None] == pytest.approx(sum(values) / 1e9, rel=0.01)
    assert start - 1 <= got["created", None] <= time.time() + 1
    # It continues from there.
    histograms["GET"].record(5)
    assert 'request_seconds_count{empty="",method="PUT"' in registry.openmetrics()
    assert registry.openmetrics(update=False) == registry.openmetrics()


def test_doubles_summaries_counters_and_gauges() -> None:
    skew, times, registry = DoubleHistogram(0.01, exact_sum=True), Histogram(0.001), Registry()
    registry.add(skew, "skew_seconds", unit="seconds", bounds=[-1.0, 0.0, 2.5])
    registry.add(skew, "again_seconds", unit="seconds")
    registry.add(times, "x_seconds", unit="seconds", divisor=1e9, labels={"a": "b"}, summary=True)
    counter, gauge = registry.add_counter("requests", striped=True), registry.add_gauge("load")
    skew.record_many([-7.5, -1.0, -0.5, 0.0, 2.0, 100.0, math.nan])
    times.record_many(range(1, 101))
    counter.add(2)
    gauge.set(2.5)
    gauge.add(-4)
    found = families(registry)
    got = samples(found["skew_seconds"])
    assert [got["_bucket", bound] for bound in ("-1.0", "0.0", "2.5", "+Inf")] == [2, 4, 5, 6]
    assert ("_sum", "") not in got and ("_count", "") not in got, "as the standard has it"
    assert found["skew_seconds_not_finite"].samples[0].value == 1
    shown = {s.labels["quantile"]: s.value for s in found["x_seconds"].samples if s.name == "x_seconds"}
    assert found["x_seconds"].type == "summary"
    assert shown == pytest.approx({"0.5": 50e-9, "0.9": 90e-9, "0.99": 99e-9, "0.999": 100e-9})
    assert samples(found["requests"])["_total", ""] == counter.value == 2
    assert samples(found["load"])["", ""] == gauge.value == -1.5 and repr(gauge) == "<picollo.MetricGauge -1.5>"
    skew.collect()
    skew.record_many([0.25, 0.5])
    got = samples(families(registry)["again_seconds"])
    assert (got["_count", ""], got["_sum", ""]) == (2, 0.75)


#: Blocks of 64 buckets: half a bucket is less than one percent of a value.
ERROR = 0.01


def distributions() -> Iterator[list[int]]:
    source = random.Random(7)
    yield [1_234_567]
    yield [round(source.lognormvariate(13, 1.5)) for _ in range(20_000)]
    yield [source.choice((1_000, 9_000_000)) + source.randrange(100) for _ in range(20_000)]
    yield [2**power for power in range(40) for _ in range(50)]
    yield [source.choice((0, 50, 51, 1000)) for _ in range(5_000)]


def by_the_sdk(values: list[int]) -> Any:
    sdk = pytest.importorskip("opentelemetry.sdk.metrics", reason="opentelemetry-sdk is not installed")
    export, view = pytest.importorskip("opentelemetry.sdk.metrics.export"), pytest.importorskip("opentelemetry.sdk.metrics.view")
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


def quantile(point: Any, target: int) -> tuple[float, float]:
    """The bucket of the value with this rank."""
    if target <= point.zero_count:
        return 0.0, 0.0
    seen, base = point.zero_count, 2.0 ** (2.0**-point.scale)
    for index, count in enumerate(point.positive.bucket_counts, point.positive.offset):
        seen += count
        if seen >= target:
            return base**index, base ** (index + 1)
    raise AssertionError("the buckets have fewer than there are")


@pytest.mark.parametrize("values", list(distributions()), ids=["one value", "latencies", "two heaps", "powers of two", "with zeros"])
def test_as_the_sdk_of_opentelemetry(values: list[int]) -> None:
    histogram, registry = Histogram(ERROR), Registry()
    histogram.record_many(values)
    registry.add(histogram, "latency")
    (ours,) = otlp(registry)["latency"].exponential_histogram.data_points
    theirs = by_the_sdk(values)
    assert ours.count == theirs.count == len(values)
    assert ours.zero_count == theirs.zero_count == values.count(0)
    assert ours.sum == pytest.approx(theirs.sum, rel=ERROR)
    for q in (0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0):
        target = max(1, math.ceil(q * len(values)))
        truth = sorted(values)[target - 1]
        (low, high), (their_low, their_high) = quantile(ours, target), quantile(theirs, target)
        # Each has the value in its bucket; ours was rounded before, by the layout's error.
        assert their_low * (1 - 1e-9) <= truth <= their_high * (1 + 1e-9), q
        assert low * (1 - ERROR) <= truth <= high * (1 + ERROR), q
        assert low * (1 - ERROR) <= their_high and their_low <= high * (1 + ERROR), q


def test_exemplars_in_every_format() -> None:
    histogram, registry = Histogram(0.01, max=10**10), Registry()
    number = registry.add(histogram, "x_seconds", unit="seconds", divisor=1e9, native=True, bounds=[10**6, 10**9], created=False)
    hits = registry.add_counter("hits", created=False)
    histogram.record_many([5 * 10**5, 4 * 10**6, 3 * 10**9])
    exemplars = [Exemplar(4e6, 1.5e9 + 0.25, TRACE, SPAN, {"who": "a{b"}), Exemplar(5e6, 1.4e9, TRACE), Exemplar(3e9)]
    registry.set_exemplars(number, exemplars)
    registry.set_exemplars(hits.number, exemplars[1:2])
    found = families(registry)
    shown = {s.labels.get("le"): s.exemplar for s in found["x_seconds"].samples if s.exemplar}
    assert list(shown) == ["1.0", "+Inf"]
    # The latest of two in one bucket.
    assert shown["1.0"].value == 0.004 and float(shown["1.0"].timestamp) == 1.5e9 + 0.25
    assert shown["1.0"].labels == {"trace_id": TRACE, "span_id": SPAN, "who": "a{b"}
    assert shown["+Inf"].value == 3.0 and shown["+Inf"].labels == {} and shown["+Inf"].timestamp is None
    (counted,) = [s.exemplar for s in found["hits"].samples]
    assert counted.labels == {"trace_id": TRACE} and counted.value == 5e6

    metrics = otlp(registry)
    ours = metrics["x_seconds"].exponential_histogram.data_points[0].exemplars
    assert [one.as_double for one in ours] == [0.004, 0.005, 3.0]
    assert (ours[0].trace_id.hex(), ours[0].span_id.hex(), ours[0].time_unix_nano) == (TRACE, SPAN, 1_500_000_000_250_000_000)
    assert [(one.key, one.value.string_value) for one in ours[0].filtered_attributes] == [("who", "a{b")]
    assert (ours[2].trace_id, ours[2].span_id, len(ours[2].filtered_attributes)) == (b"", b"", 0)
    assert metrics["hits"].sum.data_points[0].exemplars[0].trace_id.hex() == TRACE
    assert b" # {" not in registry.encode("prometheus-text") and b"hits" in registry.encode("prometheus-protobuf")

    registry.set_exemplars(number, [])
    registry.set_exemplars(hits.number, [])
    assert " # {" not in registry.openmetrics()


def test_invalid_exemplars() -> None:
    registry = Registry()
    hits, depth = registry.add_counter("hits"), registry.add_gauge("depth")
    registry.set_exemplars(hits.number, [Exemplar(1.0, trace_id=TRACE)])
    before = registry.openmetrics()
    for bad, error in [
        (Exemplar(math.nan), picollo.InvalidArgumentError),
        (Exemplar(1.0, labels={"a b": ""}), picollo.InvalidArgumentError),
        (Exemplar(1.0, labels={"w": "x\0"}), ValueError),
        (Exemplar(1.0, labels={"w": 5}), TypeError),  # type: ignore[dict-item]
        (Exemplar(1.0, -1.0), ValueError),
        (Exemplar(1.0, math.nan), ValueError),
        (Exemplar(1.0, trace_id=TRACE[1:]), ValueError),
        (Exemplar(1.0, span_id="g" * 16), ValueError),
    ]:
        with pytest.raises(error):
            registry.set_exemplars(hits.number, [Exemplar(2.0), bad])
        assert registry.openmetrics() == before, bad
    with pytest.raises(picollo.UnsupportedError):
        registry.set_exemplars(depth.number, [Exemplar(1.0)])
    with pytest.raises(picollo.InvalidArgumentError):
        registry.set_exemplars(77, [])


def test_refusals() -> None:
    registry, histogram = Registry(), Histogram(0.01)
    registry.add(histogram, "x")
    invalid = picollo.InvalidArgumentError
    assert_refused(
        (lambda: registry.add(histogram, "x"), invalid, "must differ from those of other metrics; got x twice"),
        (lambda: registry.add(histogram, "y", labels={"le": "1"}), invalid, 'name of a label must .* got "le"'),
        (lambda: registry.add(histogram, "y", bounds=[2, 1]), invalid, "bounds must be finite and ascend"),
        (lambda: registry.add(DoubleHistogram(0.01), "y", bounds=[1.0, math.inf]), invalid, "bounds must be finite"),
        (lambda: registry.add_counter("x_total"), invalid, 'kind of "x_total" must be "histogram"'),
        (lambda: registry.add_gauge("x"), invalid, 'got "gauge"'),
        (lambda: registry.add(5, "y"), TypeError, ""),  # type: ignore[arg-type]
        (lambda: registry.add(histogram, 5), TypeError, ""),  # type: ignore[arg-type]
        (lambda: registry.add(histogram, "y\0"), ValueError, ""),
        (lambda: registry.add(histogram, "y", labels={"a": 5}), TypeError, ""),  # type: ignore[dict-item]
        (lambda: registry.add(histogram, "y", bounds=[1.5]), TypeError, ""),
        *((partial(registry.add, histogram, "y", divisor=divisor), ValueError, "") for divisor in (0, math.nan, math.inf)),
        # Half a character.
        (lambda: registry.add_counter("y", help="\udc80"), ValueError, ""),
        (lambda: registry.add_counter("y", labels={"a": "\ud800"}), ValueError, ""),
        (lambda: registry.encode("text"), ValueError, ""),
        (lambda: registry.remove(77), invalid, "no metric number 77"),
        *((partial(registry.add, histogram, "y", max_buckets=most), ValueError, "max_buckets must be") for most in (-1, 2**32)),
        (lambda: pickle.dumps(registry), TypeError, ""),
    )
    assert list(families(registry)) == ["x"]


def test_negotiation() -> None:
    assert Registry.negotiate() == ("prometheus-text", "text/plain; version=0.0.4; charset=utf-8")
    assert Registry.negotiate("*/*\0application/openmetrics-text").format == "prometheus-text"
    assert Registry.negotiate("application/openmetrics-text;version=1.0.0") == ("openmetrics", Registry.CONTENT_TYPE)


def test_removing_and_closing() -> None:
    registry = Registry()
    number = registry.add(Histogram(0.01), "x", labels={"a": "1"})
    gc.collect()
    other = registry.add(Histogram(0.01), "x", labels={"a": "2"})
    registry.update()
    registry.remove(number)
    assert {s.labels["a"] for s in families(registry)["x"].samples} == {"2"}
    with pytest.raises(picollo.InvalidArgumentError):
        registry.remove(number)
    registry.remove(other)
    assert registry.openmetrics() == "# EOF\n"
    counter = registry.add_counter("x")
    with registry:
        with pytest.raises(ValueError):
            counter.add(-1)
        counter.close()
    registry.close()
    assert "closed" in repr(registry)
    calls = (registry.update, registry.encode, lambda: registry.remove(1), lambda: registry.add(Histogram(), "x"), counter.add)
    assert_refused(*((call, picollo.ClosedError, "") for call in calls))
