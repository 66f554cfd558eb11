"""Exemplars, and requests that a collector accepts or does not, read by PyPI's ``opentelemetry-proto`` and ``prometheus_client``."""

from __future__ import annotations

import math
import os
import random
import threading
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, Dict, List
from urllib.request import Request, urlopen

import pytest
from conftest import in_threads
from hypothesis import given
from hypothesis import strategies as st
from prometheus_messages import check_native, families

import picollo
from picollo import Exemplar, Histogram, OtlpExport, Registry

service = pytest.importorskip("opentelemetry.proto.collector.metrics.v1.metrics_service_pb2")
parser = pytest.importorskip("prometheus_client.openmetrics.parser")

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def metrics_of(request: bytes) -> Dict[str, Any]:
    (resource,) = service.ExportMetricsServiceRequest.FromString(request).resource_metrics
    return {metric.name: metric for metric in resource.scope_metrics[0].metrics}


def test_exemplars_in_every_format() -> None:
    histogram, registry = Histogram(0.01, max=10**10), Registry()
    number = registry.add(
        histogram, "x_seconds", unit="seconds", divisor=1e9, native=True, bounds=[10**6, 10**9], created=False
    )
    hits = registry.add_counter("hits", created=False)
    histogram.record_many([5 * 10**5, 4 * 10**6, 3 * 10**9])
    exemplars = [
        Exemplar(4e6, 1.5e9 + 0.25, TRACE, SPAN, {"who": "a{b"}),
        Exemplar(5e6, 1.4e9, TRACE),
        Exemplar(3e9),
    ]
    registry.set_exemplars(number, exemplars)
    registry.set_exemplars(hits.number, exemplars[1:2])
    found = {family.name: family for family in parser.text_string_to_metric_families(registry.openmetrics())}
    shown = {s.labels.get("le"): s.exemplar for s in found["x_seconds"].samples if s.exemplar}
    assert list(shown) == ["1.0", "+Inf"]
    # The latest of two in one bucket.
    assert shown["1.0"].value == 0.004 and float(shown["1.0"].timestamp) == 1.5e9 + 0.25
    assert shown["1.0"].labels == {"trace_id": TRACE, "span_id": SPAN, "who": "a{b"}
    assert shown["+Inf"].value == 3.0 and shown["+Inf"].labels == {} and shown["+Inf"].timestamp is None
    (counted,) = [s.exemplar for s in found["hits"].samples]
    assert counted.labels == {"trace_id": TRACE} and counted.value == 5e6

    messages = families(registry.encode("prometheus-protobuf"))
    of = messages["x_seconds"].metric[0].histogram
    check_native(of)
    # Of native histograms those that have a time.
    assert [(one.value, one.timestamp.seconds, one.timestamp.nanos) for one in of.exemplars] == [
        (0.004, 1_500_000_000, 250_000_000),
        (0.005, 1_400_000_000, 0),
    ]
    assert [bucket.exemplar.value for bucket in of.bucket] == [0, 0.004, 3.0]
    assert messages["hits_total"].metric[0].counter.exemplar.value == 5e6

    metrics = metrics_of(registry.encode("otlp"))
    ours = metrics["x_seconds"].exponential_histogram.data_points[0].exemplars
    assert [one.as_double for one in ours] == [0.004, 0.005, 3.0]
    assert (ours[0].trace_id.hex(), ours[0].span_id.hex(), ours[0].time_unix_nano) == (TRACE, SPAN, 1_500_000_000_250_000_000)
    assert [(one.key, one.value.string_value) for one in ours[0].filtered_attributes] == [("who", "a{b")]
    assert (ours[2].trace_id, ours[2].span_id, len(ours[2].filtered_attributes)) == (b"", b"", 0)
    assert metrics["hits"].sum.data_points[0].exemplars[0].trace_id.hex() == TRACE
    assert b" # {" not in registry.encode("prometheus-text")

    registry.set_exemplars(number, [])
    registry.set_exemplars(hits.number, [])
    assert " # {" not in registry.openmetrics()


def test_what_is_no_exemplar() -> None:
    registry = Registry()
    hits, depth = registry.add_counter("hits"), registry.add_gauge("depth")
    registry.set_exemplars(hits.number, [Exemplar(1.0, trace_id=TRACE)])
    before = registry.openmetrics()
    for bad, error in [
        (Exemplar(math.nan), picollo.InvalidArgumentError),
        (Exemplar(math.inf), picollo.InvalidArgumentError),
        (Exemplar(1.0, labels={"a b": ""}), picollo.InvalidArgumentError),
        (Exemplar(1.0, trace_id=TRACE, labels={"trace_id": ""}), picollo.InvalidArgumentError),
        (Exemplar(1.0, trace_id=TRACE, labels={"w": "x" * 88}), picollo.InvalidArgumentError),
        (Exemplar(1.0, labels={"w": "x\0"}), ValueError),
        (Exemplar(1.0, labels={"w": 5}), TypeError),  # type: ignore[dict-item]
        (Exemplar(1.0, -1.0), ValueError),
        (Exemplar(1.0, math.nan), ValueError),
        (Exemplar(1.0, trace_id=TRACE[1:]), ValueError),
        (Exemplar(1.0, span_id="g" * 16), ValueError),
        (Exemplar(1.0, span_id=TRACE), ValueError),
    ]:
        with pytest.raises(error):
            registry.set_exemplars(hits.number, [Exemplar(2.0), bad])
        assert registry.openmetrics() == before, bad
    registry.set_exemplars(hits.number, [Exemplar(1.0, trace_id=TRACE, labels={"w": "x" * 87})])
    with pytest.raises(picollo.UnsupportedError):
        registry.set_exemplars(depth.number, [Exemplar(1.0)])
    with pytest.raises(picollo.InvalidArgumentError):
        registry.set_exemplars(77, [])


@given(st.lists(st.tuples(st.lists(st.integers(0, 10**6), max_size=8), st.booleans()), min_size=1, max_size=12))
def test_differences_add_up(intervals: List[Any]) -> None:
    histogram, registry = Histogram(0.001, max=10**7), Registry()
    registry.add(histogram, "x", max_buckets=4, labels={"a": "1"})
    hits = registry.add_counter("hits")
    delta, everything = OtlpExport("delta", {"service.name": "shop"}), OtlpExport()
    arrived: List[int] = []
    recorded: List[int] = []
    waiting, end = 0, None
    for values, accepted in intervals:
        histogram.record_many(values)
        hits.add(len(values))
        recorded += values
        waiting += len(values)
        delta.update(registry)
        everything.update(registry)
        (resource,) = service.ExportMetricsServiceRequest.FromString(delta.request()).resource_metrics
        assert [(of.key, of.value.string_value) for of in resource.resource.attributes] == [("service.name", "shop")]
        metrics = metrics_of(delta.request())
        x, total = metrics["x"].exponential_histogram, metrics["hits"].sum
        (point,), (number,) = x.data_points, total.data_points
        assert x.aggregation_temporality == total.aggregation_temporality == 1
        assert point.count == number.as_int == waiting
        assert point.count == point.zero_count + sum(point.positive.bucket_counts)
        assert len([count for count in point.positive.bucket_counts if count]) <= 4
        assert point.sum == pytest.approx(sum(recorded[len(arrived) :]), rel=0.001, abs=1e-9)
        assert end is None or number.start_time_unix_nano == end
        assert number.start_time_unix_nano <= number.time_unix_nano
        whole = metrics_of(everything.request())
        assert whole["hits"].sum.aggregation_temporality == 2
        assert whole["hits"].sum.data_points[0].as_int == len(recorded)
        everything.accept()
        if accepted:
            delta.accept()
            arrived = list(recorded)
            waiting, end = 0, number.time_unix_nano
            assert delta.request() == b""
            with pytest.raises(picollo.EmptyError):
                delta.accept()


class Collector(BaseHTTPRequestHandler):
    """Busy, broken, refusing, gone without a word, or content, by chance; keeps what it accepted."""

    random = random.Random(5)
    accepted: List[bytes] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.random.choice([200, 200, 400, 429, 503, 0, 1])
        if status == 1:
            self.wfile.write(b"\0garbage\r\n")
        elif status:
            if status == 200:
                self.accepted.append(body)
            self.send_response(status)
            self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


def test_a_collector_that_is_not_always_there() -> None:
    server = HTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    Collector.accepted.clear()
    registry = Registry()
    hits, export = registry.add_counter("hits"), OtlpExport("delta")
    refused = 0
    try:
        for _ in range(60):
            hits.add(7)
            export.update(registry)
            request = Request(
                f"http://127.0.0.1:{server.server_port}/v1/metrics",
                export.request(),
                {"Content-Type": OtlpExport.CONTENT_TYPE},
            )
            try:
                with urlopen(request, timeout=10):
                    export.accept()
            except (OSError, HTTPException):
                refused += 1
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    points = [metrics_of(body)["hits"].sum.data_points[0] for body in Collector.accepted]
    assert 0 < refused < 60 and len(points) == 60 - refused
    for earlier, later in zip(points, points[1:]):
        assert later.start_time_unix_nano == earlier.time_unix_nano
    export.update(registry)
    left = metrics_of(export.request())["hits"].sum.data_points[0].as_int
    assert sum(point.as_int for point in points) + left == hits.value == 420


def test_exports_are_checked() -> None:
    with pytest.raises(ValueError, match="cumulative"):
        OtlpExport("both")
    with pytest.raises(ValueError):
        OtlpExport(resource={"a": "\0"})
    registry = Registry()
    export = OtlpExport("delta")
    assert export.request() == b"" and "OtlpExport" in repr(export)
    registry.close()
    with pytest.raises(picollo.ClosedError):
        export.update(registry)
    with pytest.raises(TypeError):
        export.__reduce__()
    with export:
        pass
    for call in (export.request, export.accept, lambda: export.update(Registry())):
        with pytest.raises(picollo.ClosedError):
            call()
    assert "closed" in repr(export)


def test_threads_share_an_export() -> None:
    registry = Registry()
    hits, export = registry.add_counter("hits"), OtlpExport("delta")
    failures = []

    def push() -> None:
        try:
            for _ in range(50):
                hits.add(1)
                export.update(registry)
                export.request()
        except BaseException as error:
            failures.append(error)

    in_threads(*[push] * 4)
    assert not failures
    export.update(registry)
    assert metrics_of(export.request())["hits"].sum.data_points[0].as_int == 200


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_export() -> None:
    registry = Registry()
    hits, export = registry.add_counter("hits"), OtlpExport("delta")
    hits.add(2)
    export.update(registry)
    child = os.fork()
    if child == 0:
        wrong = 1
        try:
            export.accept()
            hits.add(3)
            export.update(registry)
            wrong = int(metrics_of(export.request())["hits"].sum.data_points[0].as_int != 3)
        finally:
            os._exit(wrong)
    assert os.waitpid(child, 0)[1] == 0
    # The child's acceptance is its own.
    export.update(registry)
    assert metrics_of(export.request())["hits"].sum.data_points[0].as_int == 2
