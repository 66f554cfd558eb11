"""Closing, freeing in any order, garbage collection, fork, threads and interpreter shutdown."""

from __future__ import annotations

import array
import copy
import gc
import multiprocessing
import os
import pickle
import threading
import time
import weakref
from typing import Any, Callable

import pytest
from conftest import assert_refused, forked, in_threads, output_of

import picollo
from picollo import Histogram, _library


@pytest.fixture
def freed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The freed handles, in order."""
    gc.collect()  # garbage of other tests
    addresses: list[int] = []
    original = _library.Owner.__del__

    def watched(owner: _library.Owner) -> None:
        addresses.append(owner._address)
        original(owner)

    monkeypatch.setattr(_library.Owner, "__del__", watched)
    return addresses


def test_every_handle_is_given_back_once(freed: list[int]) -> None:
    histogram = Histogram(0.01)
    address = histogram._handle().value
    snapshot = histogram.snapshot()
    other = snapshot._handle().value
    histogram.close()
    histogram.close()
    assert freed == [address]
    reference = weakref.ref(histogram)
    del histogram
    assert freed == [address] and reference() is None
    del snapshot
    assert freed == [address, other]
    # An object that could not be made is not freed.
    freed.clear()
    with pytest.raises(ValueError):
        Histogram(min=5, max=5)
    gc.collect()
    assert freed == []


def test_use_after_close() -> None:
    histogram = Histogram(0.01)
    snapshot, scope, record = histogram.snapshot(), histogram.nano_scope(), histogram.record
    with histogram:
        record(5)
    closed: list[Callable[[], Any]] = [
        *(lambda value=value: record(value) for value in (5, -5)),
        lambda: histogram.record_n(5, 1),
        *(lambda values=values: histogram.record_many(values) for values in ([5], [])),
        lambda: histogram.record_corrected(5, 1),
        lambda: histogram.record_in_range(5, 1, 9),
        lambda: histogram.add(snapshot),
        lambda: histogram.add(histogram),
        lambda: copy.copy(histogram),
        lambda: histogram.percentile(50),
        lambda: histogram.counts,
        lambda: histogram.footprint,
        lambda: histogram.relative_error,
        lambda: histogram.diff(Histogram()),
        lambda: str(histogram),
        *(getattr(histogram, name) for name in ("reset", "snapshot", "summary", "encode", "scope", "__enter__")),
        *(getattr(histogram, f"{name}_scope") for name in ("nano", "micro", "milli", "tick")),
    ]
    assert_refused(*((call, picollo.ClosedError, "the histogram is closed") for call in closed))
    # Objects made from it still work.
    with scope:
        pass
    assert histogram.closed and "closed" in repr(histogram) and snapshot.update().total_count == 2
    snapshot.close()
    snapshot.close()
    other = Histogram().snapshot()
    closed = [
        lambda: snapshot.counts,
        lambda: snapshot.percentiles([50]),
        lambda: snapshot.percentile_values([50]),
        lambda: snapshot.rank_of_value(5),
        lambda: snapshot.bucket_of(5),
        lambda: snapshot.merge(other),
        lambda: snapshot.corrected(1),
        lambda: snapshot.with_digits(3),
        lambda: snapshot + other,
        lambda: other + snapshot,
        lambda: other.merge(snapshot),
        lambda: Histogram().add(snapshot),
        *(getattr(snapshot, name) for name in ("update", "summary", "buckets", "bucket_percentiles", "encode", "encode_text", "hgrm", "copy")),
    ]
    assert_refused(*((call, picollo.ClosedError, "the snapshot is closed") for call in closed))
    assert "closed" in repr(snapshot)


def test_scopes_and_sessions_are_not_pickled() -> None:
    """They cannot leave their process; histograms and snapshots can (test_interchange)."""
    for thing in (Histogram().nano_scope(), picollo.Session(["task-clock"], skip_unavailable=True)):
        with pytest.raises((TypeError, ValueError), match="pickle"):
            pickle.dumps(thing)


@pytest.mark.parametrize("mode", ["interlocked", "single_writer"])
def test_threads_share_a_histogram(mode: picollo.histogram.Mode) -> None:
    """Nothing is lost: interlocked histograms ensure that themselves; for the others the GIL serializes calls."""
    if mode == "single_writer" and not picollo._handle.HAS_GIL:
        pytest.skip("this build of Python has no GIL: single-writer histograms take one thread at a time")
    histogram = Histogram(0.01, mode=mode)
    batch = list(range(1000))
    start = threading.Barrier(5)
    seen: list[int] = []

    def write() -> None:
        start.wait()
        for _ in range(5):
            for value in range(1000):
                histogram.record(value)
            histogram.record_many(batch)

    def read() -> None:
        snapshot = histogram.snapshot()
        start.wait()
        while sum(seen) < 4 * 5 * 2000 and len(seen) < 10**6:
            seen.append(snapshot.update(deltas=True).total_count)
            histogram.summary()

    in_threads(*[write] * 4, read)
    assert histogram.total_count == sum(seen) == 4 * 5 * 2000


@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_two_threads_lose_nothing_by_default(storage: picollo.histogram.Storage) -> None:
    """Long batches let other threads run, so that two record at once, and a third sees it grow. A single writer would
    lose about half on two cores."""
    batch = array.array("Q", [i % 4 for i in range(1_000_000)])
    histogram = Histogram(0.01, storage=storage)
    snapshot = histogram.snapshot()
    written: list[int] = []
    in_the_middle: list[int] = []
    give_up = time.monotonic() + 30

    def write() -> None:
        for done in range(10_000):
            if done >= 4 and (in_the_middle or time.monotonic() > give_up):
                return
            histogram.record_many(batch)
            written.append(1)

    def read() -> None:
        while not in_the_middle and time.monotonic() < give_up:
            if (count := snapshot.update().total_count) % len(batch):
                in_the_middle.append(count)

    in_threads(write, write, read)
    assert in_the_middle and histogram.total_count == len(written) * len(batch)


@pytest.mark.parametrize("error", [0.01, 1e-5])
def test_threads_share_a_snapshot(error: float) -> None:
    """Also a large one, whose calls let other threads run in the middle."""
    histogram = Histogram(error)
    histogram.record_many(range(100))
    snapshot = histogram.snapshot()
    seen: list[Any] = []

    def use() -> None:
        for _ in range(5):
            snapshot.update()
            seen.append((snapshot.counts.total, snapshot.summary().total_count, len(snapshot.buckets())))
            histogram.summary()

    in_threads(*[use] * 4)
    assert seen == [(100, 100, 100)] * 20


def test_closing_while_others_record() -> None:
    """The memory is freed when the last call that uses it ends."""
    for _ in range(50):
        histogram = Histogram(0.01)
        start = threading.Barrier(4)
        outcomes: list[str] = []

        def use(histogram: Histogram = histogram, start: threading.Barrier = start) -> None:
            start.wait()
            try:
                while True:
                    histogram.record(5)
                    histogram.record_many([1, 2, 3])
                    histogram.summary()
            except picollo.ClosedError:
                outcomes.append("closed")

        def close(histogram: Histogram = histogram, start: threading.Barrier = start) -> None:
            start.wait()
            histogram.record(1)
            histogram.close()

        in_threads(use, use, use, close)
        assert outcomes == ["closed"] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_fork() -> None:
    """Parent and child continue with separate histograms."""
    histogram = Histogram(0.01)
    histogram.record_many([1, 2, 3])
    snapshot = histogram.snapshot()

    def child() -> None:
        histogram.record(4)
        counts = (histogram.total_count, snapshot.update(deltas=True).total_count, snapshot.update().total_count)
        assert counts == (4, 1, 4)
        histogram.close()
        snapshot.close()
        gc.collect()
        Histogram().record(1)

    assert forked(child) == 0
    histogram.record(5)
    histogram.record(6)
    assert histogram.total_count == 5
    assert snapshot.update(deltas=True).total_count == 2


def _in_a_pool(count: int) -> dict[str, Any]:
    histogram = Histogram(0.01)
    histogram.record_many(range(count))
    return histogram.summary().as_dict()


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_multiprocessing(method: str) -> None:
    with multiprocessing.get_context(method).Pool(2) as pool:
        rows = pool.map(_in_a_pool, [10, 20])
    assert [row["total_count"] for row in rows] == [10, 20]


SHUTDOWNS = {
    "kept by all that can keep": """
        import sys, threading, picollo
        class Holder:
            pass
        holder = Holder()
        holder.me = holder
        holder.histogram = picollo.Histogram()
        holder.snapshot = holder.histogram.snapshot()
        alive = picollo.Histogram()
        with alive.nano_scope():
            pass
        sys.keep = [alive.snapshot(), picollo.Histogram().nano_scope()]
        picollo.keep = picollo.Histogram()
        session = picollo.Session(["task-clock"], skip_unavailable=True)
        with session.measure():
            pass
        histogram = session.histogram(0) if session.info[0].available else None
        measurement = session.measure()
        things = [picollo.Histogram().snapshot() for _ in range(100)]
        thread = threading.Thread(target=things.clear)
        thread.start()
        thread.join()
    """,
    "used by a finalizer and an exit handler": """
        import atexit, picollo
        class Late:
            def __init__(self):
                self.histogram = picollo.Histogram()
            def __del__(self):
                self.histogram.record(5)
                assert self.histogram.snapshot().total_count == 1
                self.histogram.close()
        late, histogram = Late(), picollo.Histogram()
        def last():
            histogram.record(1)
            assert "P50=1" in histogram.summary().line()
        atexit.register(last)
    """,
    "recorded by daemon threads": """
        import threading, time, picollo
        histogram = picollo.Histogram()
        def forever():
            snapshot = histogram.snapshot()
            while True:
                histogram.record(5)
                with histogram.nano_scope():
                    pass
                snapshot.update(deltas=True).summary()
        for _ in range(3):
            threading.Thread(target=forever, daemon=True).start()
        time.sleep(0.05)
    """,
}


@pytest.mark.parametrize("code", SHUTDOWNS.values(), ids=SHUTDOWNS.keys())
def test_interpreter_shutdown_is_quiet(code: str) -> None:
    for _ in range(3):
        assert output_of(code) == ""
