"""Segments: histograms that other processes watch while forked workers write them."""

import os
import pickle
import shutil
import sys
import tempfile
from functools import partial
from typing import Any, Iterator

import pytest
from conftest import assert_refused, forked, in_threads, outcome

import picollo

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="segments are there on Linux only")


@pytest.fixture
def place() -> Iterator[str]:
    path = tempfile.mkdtemp(prefix="picollo-py-", dir="/dev/shm")
    yield path
    shutil.rmtree(path)


def test_workers_record_into_one_histogram(place: str) -> None:
    with picollo.Segment("checkout", directory=place, max_bytes=8 << 20) as segment:
        latency = segment.histogram("request", unit="ns", labels={"route": "/pay"})
        requests = segment.counter("requests")
        path = segment.path
        assert path.startswith(f"{place}/checkout.{os.getpid()}.") and path in repr(segment)

    def work(attaches: bool) -> None:
        own = picollo.Segment.attach(path).histogram("request", labels={"route": "/pay"}) if attaches else latency
        for value in range(1, 1001):
            own.record(value)
            requests.add()

    assert [forked(partial(work, attaches)) for attaches in (False, True) * 2] == [0] * 4
    summary = latency.snapshot().summary()
    assert (summary.total_count, requests.value) == (4000, 4000)
    latency.record_n(1_564_672, 100_000)
    assert latency.name == "request (ns)" and str(latency).startswith("request: 104,000 values\n") and "1.56 ms" in str(latency)
    assert "1.56 ms" in str(latency.diff(latency)) and "1.56 ms" in str(picollo.compare(latency, latency))
    # The handle of the segment is closed, but its histograms are not.
    latency.record(1)
    assert latency.snapshot().summary().total_count == 104_001


def test_refusals(place: str) -> None:
    segment = picollo.Segment("refusals", directory=place, max_bytes=8 << 20)
    segment.histogram("x")
    assert_refused(
        (lambda: segment.histogram("x", relative_error=0.1), picollo.IncompatibleError, ""),
        (lambda: segment.counter("x"), picollo.IncompatibleError, ""),
        (lambda: segment.counter("n", striped=True) and segment.counter("n"), picollo.IncompatibleError, "another name or label"),
        (lambda: segment.histogram(""), picollo.InvalidArgumentError, "has a name"),
        (lambda: segment.histogram("x").reset(), picollo.UnsupportedError, ""),
        (lambda: picollo.Segment("refusals", directory=place), picollo.InvalidArgumentError, "already"),
        (lambda: picollo.Segment("a/b", directory=place), picollo.InvalidArgumentError, "letters"),
        (lambda: picollo.Segment.attach(f"{place}/nothing.1.2"), picollo.PicolloError, "No such file"),
        (lambda: pickle.dumps(segment), TypeError, "cannot be pickled"),
        (lambda: segment.close() or segment.histogram("y"), picollo.ClosedError, ""),  # type: ignore[func-returns-value]
    )


def test_retired_names_are_free(place: str) -> None:
    segment = picollo.Segment("checkout", directory=place, max_bytes=8 << 20)
    latency = segment.histogram("request", unit="ns", help="How long", labels={"route": "/pay"}, divisor=1e9)
    latency.record_n(5, 3)
    segment.retire("request", labels={"route": "/pay"})
    assert segment.histogram("request", labels={"route": "/pay"}).total_count == 0
    assert latency.total_count == 3
    # Any number of threads may record into a copy, too.
    assert pickle.loads(pickle.dumps(latency))._arguments(latency.snapshot())["mode"] == "interlocked"
    assert_refused(
        (lambda: segment.retire("late"), picollo.InvalidArgumentError, "nothing of that name"),
        (lambda: segment.retire("request", labels={"route": "/none"}), picollo.InvalidArgumentError, ""),
    )
    estimate = picollo.Segment.estimate
    assert estimate(interlocked=True) < estimate(mode="per_cpu") and estimate(live_reset=True) > 2 * estimate(interlocked=True)
    resets = picollo.Segment("resets", directory=place, max_bytes=8 << 20, live_reset=True).histogram("x")
    resets.record_n(5, 3)
    resets.reset()
    resets.record(6)
    assert resets.total_count == 1


def test_a_single_writer_is_its_threads(place: str) -> None:
    segment = picollo.Segment("single", directory=place, max_bytes=8 << 20)
    own = segment.histogram("x", mode="single_writer")
    own.record_many(range(1, 100_001))
    assert segment.histogram("x", mode="single_writer").total_count == 100_000
    refused: list[Any] = []
    in_threads(lambda: refused.append(outcome(segment.histogram, "x", mode="single_writer")))
    assert refused[0][0] is picollo.IncompatibleError and "another thread" in refused[0][1]
    assert_refused(
        (lambda: segment.histogram("x"), picollo.IncompatibleError, ""),
        (lambda: segment.histogram("y", mode="thread_local"), picollo.UnsupportedError, ""),
        (lambda: segment.histogram("y", mode="none"), ValueError, "one of"),  # type: ignore[arg-type]
    )
