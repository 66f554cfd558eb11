"""Segments: histograms that others watch, as forked workers write them."""

import os
import pickle
import shutil
import sys
import tempfile
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
