"""Sessions, with events that every Linux machine has; tests that need hardware counters report that they were
skipped."""

from __future__ import annotations

import errno
import gc
import mmap
import os
import pickle
import threading
from functools import partial
from typing import Any

import pytest
from conftest import assert_refused, forked, in_threads, outcome

import picollo
from picollo import Event, Session


@pytest.fixture(autouse=True)
def software_events() -> None:
    """Skips, with a reason, if not even software events may be counted (sandboxes)."""
    try:
        Session(["page-faults"]).close()
    except picollo.PicolloError as error:
        pytest.skip(f"this machine counts nothing at all: {error}")


def touch(pages: int) -> None:
    """Writes to this many new pages, with a page fault each."""
    with mmap.mmap(-1, pages * mmap.PAGESIZE) as memory:
        if hasattr(memory, "madvise"):
            memory.madvise(mmap.MADV_NOHUGEPAGE if hasattr(mmap, "MADV_NOHUGEPAGE") else 15)
        for page in range(pages):
            memory[page * mmap.PAGESIZE] = 1


def test_page_faults_are_counted() -> None:
    with Session(["page-faults", "task-clock"]) as session:
        touch(10)
        counts = []
        for pages in (100, 200) * 3:
            with session.measure() as measurement:
                touch(pages)
            faults, clock = measurement.readings
            assert faults.status == clock.status == 0 and faults.coverage == 1
            assert faults.value is not None and pages <= faults.value == faults.raw
            assert clock.value is not None and clock.value > 0
            counts.append(faults.value)
        # If memory is short, the program's own pages sometimes fault too.
        assert min(counts[0::2]) < 150 and min(counts[1::2]) < 250
        summary = session.histogram("page-faults").summary()
        assert summary.total_count == 6 and 100 <= summary.min < 150 and 200 <= summary.max
        assert "##### page-faults" in str(session) and "##### task-clock" in str(session)
        session.reset()
        assert session.histogram("page-faults").total_count == 0


def test_read_and_record_by_hand() -> None:
    session = Session(["page-faults"], enabled=False)

    def counted() -> Any:
        touch(100)
        session.read()
        return session.readings(deltas=False)[0].value

    for _ in range(2):
        with pytest.raises(picollo.EmptyError):
            session.record()
        assert counted() in (None, 0)
        session.record()
    session.enable()
    session.read("auto")
    assert 100 <= counted() < 250
    session.record(deltas=False)
    session.read("syscall")
    session.record(deltas=True)
    session.disable()
    session.read()
    before = counted()
    assert counted() == before
    with pytest.raises(KeyError), session.measure():
        raise KeyError
    assert session.histogram(0).total_count >= 2
    calls = (partial(call, "telepathy") for call in (session.read, session.measure))  # type: ignore[arg-type]
    assert_refused(*((call, ValueError, "how must be one of auto, syscall") for call in calls))


def test_events_keep_their_order() -> None:
    specs = ["task-clock", "page-faults", "minor-faults", "page-faults"]
    session = Session(specs)
    assert [event.spec for event in session.events] == [info.spec for info in session.info] == specs and len(session) == 4
    assert all(info.available for info in session.info) and session.missing == ()
    assert [session.index(spec) for spec in specs] == [0, 1, 2, 1]
    assert [session.index(event) for event in (session.events[0].name, session.events[2], -1)] == [0, 2, 3]
    assert session.histogram(1) is session.histogram("page-faults") is not session.histogram(3)
    assert_refused(
        *((partial(session.histogram, bad), IndexError, "the session has 4 events") for bad in (4, -5)),
        (lambda: session.histogram("cycles"), KeyError, "no event 'cycles'; it has task-clock"),
    )
    with session.measure():
        touch(10)
    assert [r.value == session.readings()[1].value for r in session.readings()][1:] == [True] * 3


def test_events() -> None:
    event = Event("page-faults")
    assert event.spec == str(event) == "page-faults" and "page-faults" in repr(event)
    assert (event.type, event.config, Event("r01c2").config) == (1, 2, 0x1C2) and event.name
    assert event == Event("page-faults") != Event("task-clock") and len({event, Event("page-faults")}) == 1
    with Session([event]) as session:
        assert session.events[0].name == event.name
    copy = pickle.loads(pickle.dumps(event))
    assert copy == event and copy.spec == event.spec


@pytest.mark.parametrize("spec", ["", "no-such-event", "cycles/", "r", "mem:", "mem:0x10/3:w", "x" * 5000, "nöt", ":::"])
def test_unknown_events(spec: str) -> None:
    with pytest.raises((picollo.NoSuchEventError, picollo.InvalidArgumentError)) as caught:
        Event(spec)
    assert len(str(caught.value)) > 10
    assert caught.value.event in (spec, None)
    with pytest.raises((picollo.NoSuchEventError, picollo.InvalidArgumentError)):
        Session(["page-faults", spec])


def test_bad_arguments() -> None:
    assert_refused(
        (lambda: Event("page\0faults"), ValueError, "NUL"),
        (lambda: Event(5), TypeError, "must be a str"),  # type: ignore[arg-type]
        (lambda: Session("page-faults"), TypeError, "a list of events"),
        (lambda: Session([5]), TypeError, ""),  # type: ignore[list-item]
        (lambda: Session(["page-faults"], thread=2**31), ValueError, "thread must be"),
        (lambda: Session(["page-faults"], thread=1.5), TypeError, "thread must be an int"),  # type: ignore[arg-type]
        (lambda: Session(["page-faults"], cpu=-(2**31) - 1), ValueError, "cpu must be"),
        (lambda: Session([]), ValueError, "at least one event"),
        (lambda: Session(["page-faults"] * 1000), picollo.InvalidArgumentError, "64"),
        (lambda: Session(["page-faults"], counter_bits=5), ValueError, "counter_bits"),
        (lambda: Session(["page-faults"], relative_error=0), ValueError, "relative_error"),
    )


def test_missing_counters_are_explained() -> None:
    info = picollo.perf_probe()
    assert info.paranoid is None or -1 <= info.paranoid <= 4
    if info.pmu_available:
        assert info.fixed_counters + info.programmable_counters > 0
        pytest.skip("this machine has hardware counters: nothing is missing")
    assert info.explanation and not info.user_read_available
    # One reason for several events.
    text = Session(["cycles", "page-faults", "instructions"], skip_unavailable=True).explain_missing()
    assert text.startswith("cycles, instructions are not counted: ") and "\n" not in text
    with Session(["page-faults"], skip_unavailable=True) as session:
        assert session.explain_missing() == "" and "not counted" not in str(session)
    with pytest.raises(picollo.PicolloError) as caught:
        Session(["page-faults", "cycles"])
    error = caught.value
    assert error.event == "cycles" and error.errno is not None and len(str(error)) > 40
    assert errno.errorcode[error.errno] in ("ENOENT", "EACCES", "EPERM", "EOPNOTSUPP", "ENODEV")
    with Session(["cycles", "page-faults"], skip_unavailable=True) as session:
        (missing,) = session.missing
        assert (missing.spec, missing.status, missing.errno) == ("cycles", error.status, error.errno)
        assert missing.message == str(error), "not cut off"
        with session.measure() as measurement:
            touch(100)
        cycles, faults = measurement.readings
        assert (cycles.value, cycles.status) == (None, error.status) and faults.value is not None and faults.value >= 100
        explained, text = session.explain_missing(), str(session)
        assert explained == f"cycles is not counted: {missing.message[len(missing.name) + 2 :]}"
        assert list(session.histograms) == ["page-faults"] and "##### page-faults" in text and explained in text
        # A missing counter is never a zero.
        refused = outcome(session.histogram, "cycles")
        assert refused == (type(error), str(error))


def test_other_threads_may_not_read_in_user_space() -> None:
    session = Session(["page-faults"])
    outcomes: list[Any] = []
    in_threads(lambda: outcomes.append(outcome(session.read)))
    in_threads(lambda: outcomes.append(outcome(session.read, "syscall")))
    assert outcomes[0][0] is picollo.WrongThreadError and issubclass(picollo.WrongThreadError, RuntimeError) and outcomes[1] is None
    session.record()
    assert session.histogram(0).total_count == 1


def test_counting_another_thread() -> None:
    ready, go, done = threading.Event(), threading.Event(), threading.Event()
    identity: list[int] = []

    def work() -> None:
        identity.append(threading.get_native_id())
        ready.set()
        go.wait()
        touch(300)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait()
    with Session(["page-faults"], thread=identity[0]) as session:
        go.set()
        done.wait()
        session.read("syscall")
        value = session.readings(deltas=False)[0].value
        assert value is not None and 300 <= value < 400
    thread.join()


def test_use_after_close() -> None:
    session = Session(["page-faults"])
    measurement = session.measure()
    with measurement:
        pass
    histogram = session.histogram(0)
    session.close()
    session.close()
    assert session.closed and "closed" in repr(session)
    methods = [getattr(session, name) for name in ("read", "record", "enable", "disable", "reset", "calibrate", "__enter__")]
    assert_refused(*((call, picollo.ClosedError, "the session is closed") for call in (*methods, measurement.__enter__)))
    # The histograms remain without the session.
    assert histogram.total_count == len(session.events) == 1
    snapshot = histogram.snapshot()
    del session, measurement
    gc.collect()
    assert histogram.total_count == snapshot.total_count == 1


def test_results_outlive_the_counting() -> None:
    """The counts are available after the block, the same as in it, even if first requested there."""
    with Session(["page-faults", "task-clock", "cycles"], skip_unavailable=True) as session:
        with session.measure() as measurement:
            touch(10)
        inside = (session.readings(), session.readings(deltas=False), session.info, str(session), session.explain_missing())
    assert session.closed
    assert (session.readings(), session.readings(deltas=False), session.info, str(session), session.explain_missing()) == inside
    assert measurement.readings == inside[0]
    with Session(["page-faults"]) as fresh, fresh.measure():
        touch(10)
    faults = fresh.histogram("page-faults")
    assert faults.total_count == 1 and faults is fresh.histograms["page-faults"]
    assert "page-faults" in str(fresh) and fresh.readings()[0].value == faults.summary().max
    # An event that cannot be counted reports that, before and after.
    for info in session.missing:
        with pytest.raises(picollo.PicolloError) as caught:
            session.histogram(info.spec)
        assert not isinstance(caught.value, picollo.ClosedError) and str(caught.value) == info.message
    # Nothing was read: the error is the same afterwards.
    with Session(["page-faults"]) as idle:
        pass
    with pytest.raises(picollo.EmptyError):
        idle.readings()
    assert idle.histogram(0).total_count == 0


def test_closing_gives_the_descriptors_back() -> None:
    def open_files() -> int:
        return len(os.listdir("/proc/self/fd"))

    gc.collect()
    before = open_files()
    sessions = [Session(["page-faults", "task-clock"]) for _ in range(5)]
    assert open_files() == before + 10
    for session in sessions[:3]:
        session.close()
    del sessions, session
    gc.collect()
    assert open_files() == before
    for _ in range(2000):
        Session(["page-faults"])
    assert open_files() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_fork() -> None:
    """A child gets a clear error, may close the session, and may open its own; the parent is not disturbed."""
    session = Session(["page-faults"])
    session.read()

    def child() -> None:
        calls = session.read, session.enable, session.disable, session.reset, session.calibrate
        assert_refused(*((call, picollo.ForkedError, "fork") for call in calls))
        session.close()
        gc.collect()
        with Session(["page-faults"]) as own, own.measure():
            touch(10)
        assert own.histogram(0).total_count == 1

    assert forked(child) == 0
    touch(200)
    session.read()
    assert (session.readings()[0].value or 0) >= 200


def test_calibration() -> None:
    with Session(["page-faults", "task-clock"]) as session:
        session.calibrate()
        assert all(info.overhead_syscall >= 0 for info in session.info)
        assert session.info[1].overhead_syscall > 0


def test_creating_lets_other_threads_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first session of a process may take milliseconds: not under the GIL."""
    from picollo import _library

    def refuse(*_: Any) -> int:
        raise AssertionError("called under the GIL")

    monkeypatch.setattr(_library.held, "session_create", refuse)
    monkeypatch.setattr(_library.held, "benchmark_create", refuse)
    monkeypatch.setattr(_library.held, "perf_probe", refuse)
    with Session(["page-faults"]) as session:
        session.read()
    picollo.perf_probe()
    picollo.benchmark(lambda: None, lambda: None, budget=0.01)
