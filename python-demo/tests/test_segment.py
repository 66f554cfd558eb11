"""Segments: histograms that others watch, as forked workers write them."""

import os
import pickle
import shutil
import sys
import tempfile
import threading
from typing import Iterator

import picollo
import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="segments are there on Linux only")


@pytest.fixture
def place() -> Iterator[str]:
    path = tempfile.mkdtemp(prefix="picollo-py-", dir="/dev/shm")
    yield path
    shutil.rmtree(path)


def wait(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_workers_record_into_one_histogram(place: str) -> None:
    with picollo.Segment("checkout", directory=place, max_bytes=8 << 20) as segment:
        latency = segment.histogram("request", unit="ns", labels={"route": "/pay"})
        requests = segment.counter("requests")
        path = segment.path
        assert path.startswith(f"{place}/checkout.{os.getpid()}.") and path in repr(segment)
    for worker in range(4):
        child = os.fork()
        if child == 0:
            try:
                own = latency
                if worker % 2:
                    own = picollo.Segment.attach(path).histogram("request", labels={"route": "/pay"})
                for value in range(1, 1001):
                    own.record(value)
                    requests.add()
                os._exit(0)
            except BaseException:
                os._exit(1)
        assert wait(child) == 0
    summary = latency.snapshot().summary()
    assert (summary.total_count, requests.value) == (4000, 4000)
    # The handle of the segment is closed; what it gave out is not.
    latency.record(1)
    assert latency.snapshot().summary().total_count == 4001


def test_what_is_refused(place: str) -> None:
    segment = picollo.Segment("refusals", directory=place, max_bytes=8 << 20)
    segment.histogram("x")
    with pytest.raises(picollo.IncompatibleError):
        segment.histogram("x", relative_error=0.1)
    with pytest.raises(picollo.IncompatibleError):
        segment.counter("x")
    with pytest.raises(picollo.InvalidArgumentError, match="has a name"):
        segment.histogram("")
    with pytest.raises(picollo.UnsupportedError):
        segment.histogram("x").reset()
    with pytest.raises(picollo.InvalidArgumentError, match="already"):
        picollo.Segment("refusals", directory=place)
    with pytest.raises(picollo.InvalidArgumentError, match="letters"):
        picollo.Segment("a/b", directory=place)
    with pytest.raises(picollo.PicolloError, match="No such file"):
        picollo.Segment.attach(f"{place}/nothing.1.2")
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(segment)
    segment.close()
    with pytest.raises(picollo.ClosedError):
        segment.histogram("y")


def test_workers_count_in_words_of_their_own(place: str) -> None:
    segment = picollo.Segment("striped", directory=place, max_bytes=8 << 20)
    counted = segment.striped_counter("counted", labels={"of": "workers"})
    for _ in range(2):
        child = os.fork()
        if child == 0:
            for _ in range(1000):
                counted.add()
            segment.striped_counter("counted", labels={"of": "workers"}).add(10)
            os._exit(0)
        assert wait(child) == 0
    assert counted.value == 2020
    with picollo.Viewer(segment.path) as viewer:
        assert [(entry.kind, entry.labels) for entry in viewer.entries] == [("counter", {"of": "workers"})]
        assert viewer.counter(0) == 2020
    with pytest.raises(picollo.IncompatibleError, match="another name or label"):
        segment.counter("counted", labels={"of": "workers"})
    del segment
    counted.add()
    assert int(counted) == 2021


def test_what_is_published_is_viewed(place: str) -> None:
    segment = picollo.Segment("checkout", directory=place, max_bytes=8 << 20)
    latency = segment.histogram("request", unit="ns", help="How long", labels={"route": "/pay"}, divisor=1e9)
    requests = segment.counter("requests")
    with picollo.Viewer(segment.path) as viewer:
        assert viewer.path == segment.path and segment.path in repr(viewer)
        first, second = viewer.entries
        assert first[:7] == (0, "histogram", "request", "ns", "How long", {"route": "/pay"}, 1e9)
        assert (second.kind, second.name, second.writer, second.labels) == ("counter", "requests", None, {})
        assert first.bytes > 1000 and first.created_unix_nanos > 1_600_000_000_000_000_000
        info = viewer.info
        assert (info.name, info.pid, info.is_live, info.entries, info.refused) == ("checkout", os.getpid(), True, 2, 0)
        assert info.program and 0 < info.memory < info.capacity == 8 << 20
        latency.record_many(range(1, 1001))
        requests.add(1000)
        snapshot = viewer.snapshot(first)
        assert (snapshot.total_count, viewer.counter(second), snapshot.name) == (1000, 1000, "request")
        assert snapshot.percentile(50).value == latency.percentile(50).value
        latency.record(5)
        assert viewer.update(0, snapshot, deltas=True).total_count == 1
        # By another viewer of the same.
        assert picollo.Viewer.find(segment.path).update(0, snapshot).total_count == 1001
        segment.counter("late")
        assert len(viewer.entries) == 2 and [entry.name for entry in viewer.refresh().entries] == ["request", "requests", "late"]
        segment.retire("late")
        assert [entry.is_retired for entry in viewer.refresh().entries] == [False, False, True]
        assert viewer.faults == []
        with pytest.raises(picollo.InvalidArgumentError, match="nothing of that name"):
            segment.retire("late")
        with pytest.raises(picollo.InvalidArgumentError):
            segment.retire("request", labels={"route": "/none"})
        assert first.bytes <= picollo.Segment.estimate() < first.bytes + 4096
        assert picollo.Segment.estimate(interlocked=True) < picollo.Segment.estimate(mode="per_cpu")
        for refusal in (lambda: viewer.snapshot(1), lambda: viewer.counter(0), lambda: viewer.snapshot(3)):
            with pytest.raises(picollo.InvalidArgumentError):
                refusal()
        with pytest.raises(picollo.UnsupportedError):
            snapshot.update()
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(viewer)
    with pytest.raises(picollo.ClosedError):
        viewer.refresh()
    with pytest.raises(picollo.ClosedError):
        viewer.entries
    assert snapshot.total_count == 1001


def test_segments_are_listed(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PICOLLO_DIR", place)
    assert picollo.segments() == []
    # The environment of the process: the library reads it, too.
    paths = [picollo.Segment(name, max_bytes=8 << 20).path for name in ("one", "two")]
    assert picollo.segments() == paths
    assert picollo.Viewer.find("two").path == paths[1]
    with pytest.raises(picollo.InvalidArgumentError, match="2 segments"):
        picollo.Viewer.find(os.getpid())
    with pytest.raises(picollo.InvalidArgumentError, match="picollo list"):
        picollo.Viewer.find("three")
    with pytest.raises(picollo.PicolloError, match="No such file"):
        picollo.Viewer(f"{place}/nothing")


def test_resets_where_asked_for(place: str) -> None:
    segment = picollo.Segment("resets", directory=place, max_bytes=8 << 20, live_reset=True)
    histogram = segment.histogram("x")
    histogram.record_n(5, 3)
    histogram.reset()
    histogram.record(6)
    assert picollo.Viewer(segment.path).snapshot(0).total_count == 1
    assert picollo.Segment.estimate(live_reset=True) > 2 * picollo.Segment.estimate(interlocked=True)


def test_a_single_writer_is_its_threads(place: str) -> None:
    segment = picollo.Segment("single", directory=place, max_bytes=8 << 20)
    own = segment.histogram("x", mode="single_writer")
    own.record_many(range(1, 100_001))
    assert segment.histogram("x", mode="single_writer").total_count == 100_000
    assert picollo.Viewer(segment.path).entries[0].writer == os.getpid()
    refused = []

    def ask() -> None:
        try:
            segment.histogram("x", mode="single_writer")
        except picollo.IncompatibleError as error:
            refused.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert len(refused) == 1 and "another thread" in refused[0]
    with pytest.raises(picollo.IncompatibleError):
        segment.histogram("x")
    with pytest.raises(picollo.UnsupportedError):
        segment.histogram("y", mode="thread_local")
    with pytest.raises(ValueError, match="one of"):
        segment.histogram("y", mode="none")  # type: ignore[arg-type]
