"""Closing, freeing in any order, garbage collection, fork, threads and interpreter shutdown."""

from __future__ import annotations

import array
import copy
import gc
import itertools
import multiprocessing
import os
import pickle
import random
import threading
import time
import weakref
from typing import Any, Callable

import pytest
from conftest import in_threads, run_python

import picollo
from picollo import Histogram, Snapshot, _library
from picollo._arguments import MODES


@pytest.fixture
def freed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The handles given back, in order."""
    gc.collect()  # what other tests left
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
    del histogram
    assert freed == [address]
    del snapshot
    assert freed == [address, other]


def test_failed_creation_frees_nothing(freed: list[int]) -> None:
    with pytest.raises(ValueError):
        Histogram(min=5, max=5)
    gc.collect()
    assert freed == []


def test_use_after_close() -> None:
    histogram = Histogram(0.01)
    snapshot = histogram.snapshot()
    scope = histogram.nano_scope()
    record = histogram.record
    histogram.close()
    assert histogram.closed
    assert "closed" in repr(histogram)
    calls: list[Callable[[], Any]] = [
        lambda: histogram.record(5),
        lambda: record(5),
        lambda: histogram.record(-5),
        lambda: histogram.record_n(5, 1),
        lambda: histogram.record_many([5]),
        lambda: histogram.record_many([]),
        lambda: histogram.record_corrected(5, 1),
        lambda: histogram.record_in_range(5, 1, 9),
        lambda: histogram.add(snapshot),
        lambda: histogram.add(histogram),
        lambda: histogram.reset(),
        lambda: histogram.snapshot(),
        lambda: histogram.summary(),
        lambda: histogram.encode(),
        lambda: copy.copy(histogram),
        lambda: histogram.percentile(50),
        lambda: histogram.percentiles([50]),
        lambda: histogram.counts,
        lambda: histogram.total_count,
        lambda: histogram.footprint,
        lambda: histogram.relative_error,
        lambda: histogram.diff(Histogram()),
        lambda: histogram.nano_scope(),
        lambda: histogram.micro_scope(),
        lambda: histogram.milli_scope(),
        lambda: histogram.tick_scope(),
        lambda: histogram.__enter__(),
        lambda: str(histogram),
    ]
    for call in calls:
        with pytest.raises(picollo.ClosedError, match="the histogram is closed"):
            call()
    # What was made from it goes on.
    with scope:
        pass
    assert snapshot.update().total_count == 1
    snapshot.close()
    snapshot.close()
    assert "closed" in repr(snapshot)
    calls = [
        lambda: snapshot.update(),
        lambda: snapshot.counts,
        lambda: snapshot.summary(),
        lambda: snapshot.percentiles([50]),
        lambda: snapshot.percentile_values([50]),
        lambda: snapshot.rank_of_value(5),
        lambda: snapshot.bucket_of(5),
        lambda: snapshot.buckets(),
        lambda: snapshot.bucket_percentiles(),
        lambda: snapshot.merge(Histogram().snapshot()),
        lambda: snapshot.encode(),
        lambda: snapshot.encode_text(),
        lambda: snapshot.hgrm(),
        lambda: snapshot.corrected(1),
        lambda: snapshot.with_digits(3),
        lambda: snapshot + Histogram().snapshot(),
        lambda: Histogram().snapshot() + snapshot,
        lambda: Histogram().snapshot().merge(snapshot),
        lambda: Histogram().add(snapshot),
    ]
    for call in calls:
        with pytest.raises(picollo.ClosedError, match="the snapshot is closed"):
            call()


def test_context_managers_close() -> None:
    with Histogram() as histogram, histogram.snapshot() as snapshot:
        histogram.record(5)
        assert snapshot.update().total_count == 1
    assert histogram.closed
    with pytest.raises(picollo.ClosedError):
        snapshot.update()


def test_free_in_any_order() -> None:
    for order in itertools.permutations(range(4)):
        histogram = Histogram(0.01)
        histogram.record(5)
        things: list[Any] = [histogram, histogram.snapshot(), histogram.snapshot(), histogram.nano_scope()]
        del histogram
        for index in order:
            for thing in things:
                if isinstance(thing, Snapshot):
                    assert thing.update(deltas=False).total_count >= 1
            things[index] = None


def test_random_lives() -> None:
    """Thousands of objects made, used, closed and forgotten in random order, in cycles too."""
    choice = random.Random(1)
    alive: list[Any] = []
    for _ in range(5000):
        action = choice.randrange(6)
        histograms = [thing for thing in alive if isinstance(thing, Histogram)]
        if action == 0 or not histograms:
            alive.append(Histogram(0.1, 0, 1000))
        elif action == 1:
            alive.append(choice.choice(histograms).snapshot())
        elif action == 2:
            scope = choice.choice(histograms).nano_scope()
            with scope:
                alive.append([scope, alive])
        elif action == 3:
            thing = choice.choice(alive)
            if isinstance(thing, Snapshot):
                thing.update(deltas=choice.random() < 0.5).summary()
            elif isinstance(thing, Histogram):
                thing.record_many([1, 2, 3])
        else:
            alive.pop(choice.randrange(len(alive)))
        if len(alive) > 100:
            alive.clear()
            gc.collect()


def test_weak_references() -> None:
    histogram = Histogram()
    reference = weakref.ref(histogram)
    del histogram
    assert reference() is None


def test_no_leaks() -> None:
    """A thousand histograms of 460 kB each would be noticed."""

    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    if not os.path.exists("/proc/self/statm"):
        pytest.skip("no /proc/self/statm to read the memory in use from")
    for round_ in range(2):
        for _ in range(500):
            histogram = Histogram()
            histogram.record_many([1, 2**40])
            histogram.snapshot().summary()
            histogram.percentiles([50, 99])
        if round_ == 0:
            before = resident()
    assert resident() - before < 20 * 2**20


def test_scopes_and_sessions_are_not_pickled() -> None:
    """They belong to their place; histograms and snapshots travel (test_interchange)."""
    for thing in (Histogram().nano_scope(), picollo.Session(["task-clock"], skip_unavailable=True)):
        with pytest.raises((TypeError, ValueError), match="pickle"):
            pickle.dumps(thing)


@pytest.mark.parametrize("mode", ["interlocked", "single_writer"])
def test_threads_share_a_histogram(mode: picollo.histogram.Mode) -> None:
    """Nothing is lost: interlocked histograms see to it themselves; for the others it is the GIL that keeps calls apart."""
    if mode == "single_writer" and not picollo._handle.HAS_GIL:
        pytest.skip("this build of Python has no GIL: single-writer histograms take one thread at a time")
    histogram = Histogram(0.01, mode=mode)
    batch = list(range(1000))
    start = threading.Barrier(5)
    stop = threading.Event()

    def write() -> None:
        start.wait()
        for _ in range(5):
            for value in range(1000):
                histogram.record(value)
            histogram.record_many(batch)

    seen: list[int] = []

    def read() -> None:
        snapshot = histogram.snapshot()
        start.wait()
        while not stop.is_set():
            seen.append(snapshot.update(deltas=True).total_count)
            histogram.summary()
        seen.append(snapshot.update(deltas=True).total_count)

    writers = [threading.Thread(target=write) for _ in range(4)]
    reader = threading.Thread(target=read)
    for thread in [*writers, reader]:
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    reader.join()
    assert histogram.total_count == sum(seen) == 4 * 5 * 2000


def test_two_threads_lose_nothing_by_default() -> None:
    """Long batches let other threads run, so that two record at once. A single writer would lose about half on two cores."""
    batch = array.array("Q", [i % 4 for i in range(1_000_000)])
    histograms = [Histogram(), Histogram(storage="sparse"), picollo.HistogramArray(2)[1]]
    for histogram in histograms:

        def write() -> None:
            for _ in range(4):
                histogram.record_many(batch)

        in_threads(write, write)
        assert histogram.total_count == 2 * 4 * len(batch)


def test_two_threads_lose_nothing_by_default_one_value_at_a_time() -> None:
    """What a first program does; one thread's values come while the other's batch, which lets go of the GIL, is recorded."""
    singles, batch = 500_000, array.array("Q", [i % 4 for i in range(1_000_000)])
    histogram = Histogram()

    def write_singles() -> None:
        record = histogram.record
        for value in range(singles):
            record(value & 3)

    in_threads(write_singles, write_singles)
    assert histogram.total_count == 2 * singles
    histogram = Histogram()

    def write_batches() -> None:
        for _ in range(20):
            histogram.record_many(batch)

    in_threads(write_singles, write_batches)
    assert histogram.total_count == singles + 20 * len(batch)


def test_modes_have_the_numbers_of_the_library() -> None:
    """As in c-tests/layout.c: zero, which is what the library takes for no answer, is the safe one."""
    assert MODES == {"interlocked": 0, "single_writer": 1, "thread_local": 2, "scalable": 3, "per_cpu": 4}


def test_histograms_are_interlocked_unless_told_otherwise() -> None:
    """So a long batch lets other threads run: they see it grow."""
    batch = array.array("Q", range(1_000_000))
    histogram = Histogram(0.01)
    snapshot = histogram.snapshot()
    stop = threading.Event()

    def record() -> None:
        while not stop.is_set():
            histogram.record_many(batch)

    thread = threading.Thread(target=record)
    thread.start()
    give_up = time.monotonic() + 30
    in_the_middle = False
    while not in_the_middle and time.monotonic() < give_up:
        in_the_middle = snapshot.update().total_count % len(batch) != 0
    stop.set()
    thread.join()
    assert in_the_middle
    assert histogram.total_count % len(batch) == 0


@pytest.mark.parametrize("mode", ["interlocked", "thread_local"])
def test_these_modes_take_long_batches_from_many_threads(mode: picollo.histogram.Mode) -> None:
    """Without the GIL in between, and without losing any."""
    try:
        histogram = Histogram(0.01, mode=mode)
    except picollo.UnsupportedError as error:
        pytest.skip(f"this library does not offer it yet: {error}")
    batch = array.array("Q", range(100_000))

    def write() -> None:
        for _ in range(10):
            histogram.record_many(batch)
            histogram.record(5)

    in_threads(*[write] * 4)
    assert histogram.total_count == 4 * 10 * 100_001


def test_threads_share_a_snapshot() -> None:
    """Also a large one, whose calls let other threads run in the middle."""
    for error in (0.01, 1e-5):
        histogram = Histogram(error)
        histogram.record_many(range(100))
        snapshot = histogram.snapshot()
        failures: list[BaseException] = []

        def use(snapshot: Snapshot = snapshot, histogram: Histogram = histogram) -> None:
            try:
                for _ in range(5):
                    snapshot.update()
                    assert snapshot.counts.total == 100
                    assert snapshot.summary().total_count == 100
                    assert len(snapshot.buckets()) == 100
                    histogram.summary()
            except BaseException as failure:
                failures.append(failure)

        in_threads(*[use] * 4)
        assert failures == []


def test_closing_while_others_record() -> None:
    """The memory goes when the last call that uses it ends."""
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

        threads = [threading.Thread(target=use) for _ in range(3)]
        for thread in threads:
            thread.start()
        start.wait()
        histogram.record(1)
        histogram.close()
        for thread in threads:
            thread.join()
        assert outcomes == ["closed"] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_fork() -> None:
    """Parent and child go on with histograms of their own."""
    histogram = Histogram(0.01)
    histogram.record_many([1, 2, 3])
    snapshot = histogram.snapshot()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            histogram.record(4)
            counts = (histogram.total_count, snapshot.update(deltas=True).total_count, snapshot.update().total_count)
            os.write(write, repr(counts).encode())
            del histogram, snapshot
            gc.collect()
            Histogram().record(1)
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read) as file:
        told = file.read()
    assert os.waitpid(child, 0)[1] == 0
    assert told == "(4, 1, 4)"
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
    "alive at the end": """
        import picollo
        histogram = picollo.Histogram()
        snapshot = histogram.snapshot()
        with histogram.nano_scope():
            pass
    """,
    "in a cycle": """
        import picollo
        class Holder:
            pass
        holder = Holder()
        holder.me = holder
        holder.histogram = picollo.Histogram()
        holder.snapshot = holder.histogram.snapshot()
    """,
    "kept by a module": """
        import sys, picollo
        sys.keep = [picollo.Histogram(), picollo.Histogram().snapshot(), picollo.Histogram().nano_scope()]
        picollo.keep = picollo.Histogram()
    """,
    "used by a finalizer": """
        import picollo
        class Late:
            def __init__(self):
                self.histogram = picollo.Histogram()
            def __del__(self):
                self.histogram.record(5)
                assert self.histogram.snapshot().total_count == 1
                self.histogram.close()
        late = Late()
    """,
    "used by an exit handler": """
        import atexit, picollo
        histogram = picollo.Histogram()
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
    "freed by another thread": """
        import threading, picollo
        things = [picollo.Histogram().snapshot() for _ in range(100)]
        thread = threading.Thread(target=things.clear)
        thread.start()
        thread.join()
    """,
    "a session alive at the end": """
        import picollo
        session = picollo.Session(["task-clock"], skip_unavailable=True)
        with session.measure():
            pass
        histogram = session.histogram(0) if session.info[0].available else None
        measurement = session.measure()
    """,
}


@pytest.mark.parametrize("code", SHUTDOWNS.values(), ids=SHUTDOWNS.keys())
def test_interpreter_shutdown_is_quiet(code: str) -> None:
    for _ in range(3):
        result = run_python(code)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
