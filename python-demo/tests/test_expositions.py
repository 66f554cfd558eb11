"""Expositions, as other decoders than our own read them: PyPI's ``protobuf``, ``opentelemetry-proto`` and ``prometheus_client``."""

from __future__ import annotations

import math
import os
import re
from typing import List

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import picollo
from picollo import DoubleHistogram, Histogram, Registry
from prometheus_messages import check_native, families, quantile

@settings(deadline=None)
@given(
    st.lists(st.one_of(st.integers(0, 2**42), st.integers(0, 40).map(lambda power: 2**power)), min_size=1, max_size=80),
    st.sampled_from([0.1, 0.01, 0.001]),
    st.sampled_from([0, 3, 20]),
)
def test_prometheus_protobuf(values: List[int], error: float, max_buckets: int) -> None:
    histogram, registry = Histogram(error, max=2**40), Registry()
    registry.add(histogram, "x.y", native=True, max_buckets=max_buckets, labels={"a.b": "é"}, help="Help")
    histogram.record_many(values)
    (family,) = families(registry.encode("prometheus-protobuf")).values()
    assert (family.name, family.help, family.type) == ("x_y", "Help", 4)
    metric = family.metric[0]
    assert [(label.name, label.value) for label in metric.label] == [("a_b", "é")]
    _, positive = check_native(metric.histogram)
    assert metric.histogram.sample_count == len(values)
    assert len(positive) <= (max_buckets or 320) or metric.histogram.schema == -4
    ordered = sorted(min(value, 2**40) for value in values)
    for q in (0.0, 0.5, 0.9, 1.0):
        truth = ordered[max(1, math.ceil(q * len(ordered))) - 1]
        low, high = quantile(positive, metric.histogram.zero_count, metric.histogram.schema, q)
        assert low * (1 - 2 * error) <= truth <= high * (1 + 2 * error) + 1


def test_kinds_and_classic_buckets() -> None:
    registry, histogram = Registry(), Histogram(0.01, max=10**6)
    number = registry.add(histogram, "x", bounds=[10, 1000])
    skew = DoubleHistogram()
    registry.add(skew, "skew", native=True)
    hits, depth = registry.add_counter("hits_total"), registry.add_gauge("depth")
    histogram.record_many([5, 500, 5000])
    skew.record_many([-2.0, 0.0, 5e-324, 3.0, float("nan")])
    hits.add(3)
    depth.set(-1.5)
    found = families(registry.encode("prometheus-protobuf"))
    assert [(name, family.type) for name, family in found.items()] == [
        ("x", 4),
        ("skew", 4),
        ("skew_not_finite_total", 0),
        ("hits_total", 0),
        ("depth", 1),
    ]
    of = found["x"].metric[0].histogram
    assert [(b.upper_bound, b.cumulative_count) for b in of.bucket] == [(10, 1), (1000, 2), (math.inf, 3)]
    assert of.zero_threshold == 0 and not of.positive_span and of.created.seconds > 0
    negative, positive = check_native(found["skew"].metric[0].histogram)
    assert sum(negative.values()) == 1 and sum(positive.values()) == 1
    assert found["skew"].metric[0].histogram.zero_count == 2
    assert found["hits_total"].metric[0].counter.value == 3 and found["depth"].metric[0].gauge.value == -1.5
    histogram.reset()
    assert families(registry.encode("prometheus-protobuf"))["x"].metric[0].histogram.sample_count == 3
    registry.remove(number)
    registry.remove(hits.number)
    hits.add(1)
    assert hits.value == 4 and depth.value == -1.5
    assert list(families(registry.encode("prometheus-protobuf"))) == ["skew", "skew_not_finite_total", "depth"]


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**36), min_size=1, max_size=80))
def test_otlp(values: List[int]) -> None:
    service = pytest.importorskip("opentelemetry.proto.collector.metrics.v1.metrics_service_pb2")
    histogram, registry = Histogram(0.001, max=2**40), Registry()
    registry.add(histogram, "request.time_seconds", unit="seconds", divisor=1e9, labels={"http.method": "GET"})
    hits, depth = registry.add_counter("hits", labels={"a": ""}), registry.add_gauge("depth")
    histogram.record_many(values)
    hits.add(7)
    depth.set(2.5)
    request = service.ExportMetricsServiceRequest.FromString(registry.encode("otlp"))
    scope = request.resource_metrics[0].scope_metrics[0]
    assert scope.scope.name == "picollo" and scope.scope.version
    times, counted, gauge = scope.metrics
    assert (times.name, times.unit) == ("request.time_seconds", "s")
    assert times.exponential_histogram.aggregation_temporality == 2
    (point,) = times.exponential_histogram.data_points
    assert [(of.key, of.value.string_value) for of in point.attributes] == [("http.method", "GET")]
    assert 0 < point.start_time_unix_nano <= point.time_unix_nano
    assert point.count == len(values) == point.zero_count + sum(point.positive.bucket_counts)
    assert point.sum == pytest.approx(sum(values) / 1e9, rel=0.001)
    assert point.min == pytest.approx(min(values) / 1e9, rel=0.001)
    assert point.max == pytest.approx(max(values) / 1e9, rel=0.001)
    positive = {point.positive.offset + 1 + at: count for at, count in enumerate(point.positive.bucket_counts) if count}
    ordered = sorted(values)
    for q in (0.5, 0.99):
        truth = ordered[max(1, math.ceil(q * len(ordered))) - 1] / 1e9
        low, high = quantile(positive, point.zero_count, point.scale, q)
        assert low * 0.998 <= truth <= high * 1.002
    (total,) = counted.sum.data_points
    assert counted.sum.is_monotonic and counted.sum.aggregation_temporality == 2 and total.as_int == 7
    assert [(of.key, of.value.WhichOneof("value")) for of in total.attributes] == [("a", "string_value")]
    assert gauge.gauge.data_points[0].as_double == 2.5


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**36), min_size=1, max_size=80))
def test_summaries(values: List[int]) -> None:
    parser = pytest.importorskip("prometheus_client.openmetrics.parser")
    service = pytest.importorskip("opentelemetry.proto.collector.metrics.v1.metrics_service_pb2")
    histogram, registry = Histogram(0.001, max=2**40), Registry()
    registry.add(histogram, "x_seconds", unit="seconds", divisor=1e9, labels={"a": "b"}, summary=True)
    histogram.record_many(values)
    (family,) = parser.text_string_to_metric_families(registry.openmetrics())
    assert family.type == "summary"
    shown = {s.labels["quantile"]: s.value for s in family.samples if s.name == "x_seconds"}
    metric = families(registry.encode("prometheus-protobuf"))["x_seconds"].metric[0]
    assert metric.summary.sample_count == len(values) and metric.summary.created.seconds > 0
    assert metric.summary.sample_sum == pytest.approx(sum(values) / 1e9, rel=0.001)
    assert {str(of.quantile): of.value for of in metric.summary.quantile} == pytest.approx(shown)
    ordered = sorted(values)
    for thousandths, name in ((500, "0.5"), (900, "0.9"), (990, "0.99"), (999, "0.999")):
        truth = ordered[max(1, -(-thousandths * len(values) // 1000)) - 1]
        assert shown[name] == pytest.approx(truth / 1e9, rel=0.001)
    request = service.ExportMetricsServiceRequest.FromString(registry.encode("otlp"))
    of_all = request.resource_metrics[0].scope_metrics[0].metrics[0]
    assert of_all.exponential_histogram.data_points[0].count == len(values)


def test_prometheus_text() -> None:
    parser = pytest.importorskip("prometheus_client.parser")
    registry, histogram = Registry(), Histogram(0.01, max=10**6)
    help = 'Of "all"\n\\ kinds'
    registry.add(histogram, "x_seconds", unit="seconds", help=help, labels={"a": 'q"\\\n'}, bounds=[10, 1000])
    registry.add_counter("hits", help="Hits").add(2)
    registry.add_gauge("depth").set(math.inf)
    histogram.record_many([5, 500, 5000])
    text = registry.encode("prometheus-text").decode("utf-8")
    found = {family.name: family for family in parser.text_string_to_metric_families(text)}
    assert {name: family.type for name, family in found.items()} == {
        "x_seconds": "histogram",
        "hits": "counter",
        "depth": "gauge",
    }
    assert found["x_seconds"].documentation == help
    samples = {(s.name, s.labels.get("le")): s.value for s in found["x_seconds"].samples}
    assert samples["x_seconds_bucket", "10.0"] == 1 and samples["x_seconds_bucket", "+Inf"] == 3
    assert samples["x_seconds_count", None] == 3 and ("x_seconds_created", None) not in samples
    assert {s.labels["a"] for s in found["x_seconds"].samples} == {'q"\\\n'}
    assert found["hits"].samples[0].value == 2 and found["depth"].samples[0].value == math.inf
    assert "# UNIT" not in text and "# EOF" not in text


#: Neither what is half a character nor the end of a text in C.
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)


def unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), text)


@given(ANY_TEXT, ANY_TEXT.filter(bool))
def test_any_text(value: str, help: str) -> None:
    service = pytest.importorskip("opentelemetry.proto.collector.metrics.v1.metrics_service_pb2")
    registry = Registry()
    registry.add_counter("hits", help=help, labels={"a": value}, created=False).add(3)
    (family,) = families(registry.encode("prometheus-protobuf")).values()
    assert (family.help, family.metric[0].label[0].value) == (help, value)
    (metric,) = service.ExportMetricsServiceRequest.FromString(registry.encode("otlp")).resource_metrics[0].scope_metrics[0].metrics
    assert (metric.description, metric.sum.data_points[0].attributes[0].value.string_value) == (help, value)
    # In text each is on one line, whatever is in it.
    for format, name, end in (("openmetrics", "hits", ["# EOF", ""]), ("prometheus-text", "hits_total", [""])):
        kind, about, sample, *rest = registry.encode(format).decode("utf-8").split("\n")
        assert rest == end and kind == f"# TYPE {name} counter"
        assert about.startswith(f"# HELP {name} ") and unescaped(about[len(f"# HELP {name} ") :]) == help
        inside = re.fullmatch(r'hits_total\{a="((?:[^"\\]|\\.)*)"\} 3', sample, re.DOTALL)
        assert inside and unescaped(inside[1]) == value


def test_half_a_character_is_refused() -> None:
    registry = Registry()
    for options in ({"help": "\udc80"}, {"labels": {"a": "\ud800"}}, {"labels": {"\udcff": "a"}}):
        with pytest.raises(ValueError):
            registry.add_counter("hits", **options)
    assert registry.encode("prometheus-text") == b""


def test_a_thousand_label_sets() -> None:
    service = pytest.importorskip("opentelemetry.proto.collector.metrics.v1.metrics_service_pb2")
    histogram, registry = Histogram(0.1, max=1000), Registry()
    histogram.record_many([1, 10, 100])
    expected = [[("a", str(number)), ("b", str(number % 7))] for number in range(1000)]
    numbers = [registry.add(histogram, "x", labels=dict(labels), native=True) for labels in expected]
    with pytest.raises(picollo.InvalidArgumentError):
        registry.add(histogram, "x", labels={"b": "2", "a": "800"})
    metrics = families(registry.encode("prometheus-protobuf"))["x"].metric
    assert [[(label.name, label.value) for label in metric.label] for metric in metrics] == expected
    for metric in metrics:
        check_native(metric.histogram)
        assert metric.histogram.sample_count == 3
    (family,) = service.ExportMetricsServiceRequest.FromString(registry.encode("otlp")).resource_metrics[0].scope_metrics[0].metrics
    points = family.exponential_histogram.data_points
    assert [[(of.key, of.value.string_value) for of in point.attributes] for point in points] == expected
    for format in ("openmetrics", "prometheus-text"):
        lines = registry.encode(format).decode("utf-8").split("\n")
        counted = [f'x_count{{a="{a[1]}",b="{b[1]}"}} 3' for a, b in expected]
        assert [line for line in lines if line.startswith("x_count")] == counted
        assert lines.count("# TYPE x histogram") == 1
    for number in numbers[1:]:
        registry.remove(number)
    assert len(families(registry.encode("prometheus-protobuf"))["x"].metric) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_goes_on_by_itself() -> None:
    registry, histogram = Registry(), Histogram(0.01, max=1000)
    registry.add(histogram, "x", native=True)
    hits = registry.add_counter("hits")
    histogram.record(5)
    hits.add(1)
    registry.update()
    child = os.fork()
    if child == 0:
        # Nothing but its exit is seen of what goes wrong there.
        wrong = 99
        try:
            histogram.record(5)
            hits.add(1)
            registry.add_gauge("depth").set(2.0)
            found = families(registry.encode("prometheus-protobuf"))
            counts = (found["x"].metric[0].histogram.sample_count, found["hits_total"].metric[0].counter.value, len(found))
            wrong = 0 if counts == (2, 2, 3) and all(map(registry.encode, ("openmetrics", "prometheus-text", "otlp"))) else 1
        finally:
            os._exit(wrong)
    assert os.waitpid(child, 0)[1] == 0
    found = families(registry.encode("prometheus-protobuf"))
    assert list(found) == ["x", "hits_total"] and found["x"].metric[0].histogram.sample_count == 1


def test_negotiation() -> None:
    assert Registry.negotiate() == ("prometheus-text", "text/plain; version=0.0.4; charset=utf-8")
    assert Registry.negotiate("*/*\0application/openmetrics-text").format == "prometheus-text"
    openmetrics = Registry.negotiate("text/plain;q=0.5,application/openmetrics-text;version=1.0.0")
    assert openmetrics == ("openmetrics", Registry.CONTENT_TYPE)
    accept = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;escaping=x,*/*;q=0.1"
    wanted = Registry.negotiate(accept)
    assert wanted.format == "prometheus-protobuf" and wanted.content_type.endswith("; escaping=underscores")


def test_what_is_refused() -> None:
    registry = Registry()
    counter = registry.add_counter("x")
    with pytest.raises(picollo.InvalidArgumentError):
        registry.add_counter("x_total")
    with pytest.raises(picollo.InvalidArgumentError):
        registry.add_gauge("x")
    with pytest.raises(ValueError):
        counter.add(-1)
    with pytest.raises(ValueError, match="prometheus-text"):
        registry.encode("text")
    counter.close()
    with pytest.raises(picollo.ClosedError):
        counter.add(1)
    registry.close()
    with pytest.raises(picollo.ClosedError):
        registry.encode()
