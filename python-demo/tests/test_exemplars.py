"""Which observations were slow, and why: what is kept, what is told, and what is not."""

from __future__ import annotations

import gc
import json
import random
import sys
import threading
import time
import types
from typing import Any, Callable, List, Optional

import pytest
from conftest import in_threads

import picollo
from picollo import Cause, Exemplars, Histogram, KeptExemplar, TraceContext, errors

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
MILLI = 1_000_000


def spin(seconds: float) -> None:
    """On the CPU for so long, by the thread's own clock."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


#: So many controls a second that there are always enough.
OFTEN: Any = {"controls": 1_000}


def ordinary(slow: Exemplars, count: int = 300) -> None:
    """What is usual: about a millisecond of waiting."""
    for _ in range(count):
        with slow.scope():
            time.sleep(0.001)


# ── what is kept ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_slowest_are_kept_with_their_context() -> None:
    histogram, source = Histogram(), random.Random(20)
    slow = Exemplars(histogram, slowest=16)
    values = [source.randrange(1, 10**9) for _ in range(5_000)]
    for number, value in enumerate(values):
        slow.offer(value, context=TraceContext(TRACE, SPAN, (number, value)))
    interval = slow.collect()
    by_value = sorted(values, reverse=True)
    kept = [one.value for one in interval.exemplars]
    assert kept[:16] == by_value[:16]
    assert all(values[one.words[0]] == one.value == one.words[1] for one in interval.exemplars)
    assert {(one.trace_id, one.span_id) for one in interval.exemplars} == {(TRACE, SPAN)}
    assert histogram.total_count == interval.observations == len(values)
    # Timed elsewhere: nothing is known, and nothing of it is told as 0.
    assert all(one.cause is Cause.NOT_KNOWN and "timed elsewhere" in one.missing for one in interval.exemplars)
    assert all(one.on_cpu_nanos is one.run_delay_nanos is one.minor_faults is None for one in interval.exemplars)
    # The next interval knows nothing of them.
    slow.offer(5)
    assert [one.value for one in slow.collect().exemplars] == [5]


def test_none_of_the_slowest() -> None:
    slow = Exemplars(Histogram(), slowest=0)
    with slow.scope():
        time.sleep(0.01)
    assert len(slow.collect().exemplars) == 1, "that of its octave"
    for value in range(600, 700):
        slow.offer(value)
    assert len(slow.collect().exemplars) <= 1


@pytest.mark.parametrize("slowest", [1, 100])
def test_as_many_as_asked_for(slowest: int) -> None:
    slow = Exemplars(Histogram(), slowest=slowest)
    for value in range(1, 1_001):
        slow.offer(value)
    assert [one.value for one in slow.collect().exemplars][:slowest] == list(range(1_000, 1_000 - slowest, -1))


def test_threads_lose_no_slowest_one() -> None:
    histogram = Histogram()
    slow = Exemplars(histogram, slowest=8)
    each, threads = 20_000, 8

    def work(first: int) -> None:
        for number in range(each):
            slow.offer(first + number * threads)

    in_threads(*(lambda first=first: work(first + 1) for first in range(threads)))
    top = each * threads
    assert [one.value for one in slow.collect().exemplars][:8] == list(range(top, top - 8, -1))
    assert histogram.total_count == top


def test_scopes_record_in_the_unit() -> None:
    for unit, of_a_second in (("nanos", 10**9), ("micros", 10**6), ("millis", 10**3)):
        histogram = Histogram()
        slow = Exemplars(histogram, unit=unit)  # type: ignore[arg-type]
        with slow.scope() as scope:
            time.sleep(0.02)
        (kept,) = slow.collect().exemplars
        assert scope.kept and 0.02 <= kept.value / of_a_second < 2
        assert histogram.total_count == 1 and histogram.percentile(100).bucket.lower <= kept.value


def test_scopes_record_what_raises() -> None:
    histogram = Histogram()
    slow = Exemplars(histogram)
    with pytest.raises(KeyError):
        with slow.scope():
            raise KeyError
    assert histogram.total_count == 1 and len(slow.collect().exemplars) == 1


def test_an_exemplar_says_when_and_where() -> None:
    slow = Exemplars(Histogram())
    begin = time.time()
    with slow.scope(label=7):
        time.sleep(0.01)
    interval = slow.collect()
    (kept,) = interval.exemplars
    assert kept.label == 7 and kept.thread == threading.get_native_id()
    assert begin - 0.001 <= kept.time <= time.time() - 0.01 + 0.001
    assert interval.begin <= interval.end <= time.time() + 0.001
    assert kept.trace_id == kept.span_id == "" and kept.words == (0, 0)


# ── why ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


def waits(kept: KeptExemplar) -> Cause:
    """What waiting is called here: without the kernel's account of it, it is not told apart from waiting for a CPU."""
    return Cause.OFF_CPU if kept.run_delay_nanos is None else Cause.OWN_WAITING


def plant(slow: Exemplars, work: Callable[[], None], times: int = 5) -> List[KeptExemplar]:
    """The exemplars of slow work among ordinary one."""
    for _ in range(times):
        ordinary(slow, 100)
        with slow.scope(label=0):
            work()
    return list(slow.collect().exemplars[:times])


def test_a_planted_wait_is_told() -> None:
    kept = plant(Exemplars(Histogram(), slowest=5, **OFTEN), lambda: time.sleep(0.06))
    # A machine that is busy may hold one of them back for longer than it waits.
    assert sum(one.cause is waits(one) for one in kept) >= 4, kept
    assert all(one.value >= 60 * MILLI for one in kept)
    for one in kept:
        assert one.on_cpu_nanos is not None and one.on_cpu_nanos < 20 * MILLI
        assert one.voluntary_switches is not None and one.voluntary_switches >= 1


def test_planted_work_is_told() -> None:
    kept = plant(Exemplars(Histogram(), slowest=5, **OFTEN), lambda: spin(0.06))
    right = {Cause.ON_CPU, Cause.MORE_INSTRUCTIONS}
    # On a busy machine it waits for the CPU as well, and this is told of those.
    for one in kept:
        assert one.on_cpu_nanos is not None and one.on_cpu_nanos >= 59 * MILLI
        half = one.value < 1.5 * one.on_cpu_nanos
        assert not half or one.cause in right, one
        assert one.cause not in (Cause.OWN_WAITING, Cause.OFF_CPU), one


def test_counters() -> None:
    slow = Exemplars(Histogram(), 20 * MILLI, counters=True, **OFTEN)
    ordinary(slow)
    for _ in range(3):
        with slow.scope():
            spin(0.06)
    interval = slow.collect()
    is_refused = "Instructions were counted of 0 of" in interval.text()
    for one in interval.exemplars[:3]:
        assert (one.instructions is None) == (one.cycles is None), one
        if is_refused:
            assert one.instructions is None and one.usual_ipc is None and one.cause is not Cause.MORE_INSTRUCTIONS, one
        elif one.instructions is not None and one.cycles is not None:
            assert one.instructions > 1_000_000 and one.cycles > 1_000_000, one
    # Nothing is counted for those who did not ask.
    uncounted = Exemplars(Histogram(), 1)
    with uncounted.scope():
        pass
    assert "Instructions" not in uncounted.collect().text()


def test_the_table_and_the_json() -> None:
    slow = Exemplars(Histogram(), 20 * MILLI, **OFTEN)
    ordinary(slow)
    for _ in range(4):
        with slow.scope():
            time.sleep(0.05)
    interval = slow.collect()
    # The end of its bucket.
    assert interval.threshold is not None and 20 * MILLI <= interval.threshold <= 20.1 * MILLI
    assert 4 <= interval.slow <= interval.observations == 304
    assert interval.known >= 4 and interval.controls >= 3
    cause = waits(interval.exemplars[0])
    share = interval.shares[cause]
    assert share.share is not None and share.share > 0.5 and share.observations >= 3
    assert share.typical_nanos is not None and 30 * MILLI < share.typical_nanos < 80 * MILLI
    assert sum(one.share or 0 for one in interval.shares.values()) == pytest.approx(1, abs=1e-6)
    text = interval.text()
    assert str(interval) == text and cause.value in text and "304" in text
    assert "| Cause | Excess |" in interval.markdown() == interval._repr_markdown_()
    told = json.loads(interval.json())
    assert isinstance(told, dict) and interval.json() == interval.json()
    # What is told does not change with what comes.
    with slow.scope():
        pass
    slow.collect()
    assert (interval.text(), len(interval.exemplars)) == (text, len(interval.exemplars))


def test_an_empty_interval() -> None:
    interval = Exemplars(Histogram()).collect()
    assert interval.exemplars == () and interval.slow == interval.observations == 0
    assert all(one.share is None and one.typical_nanos is None for one in interval.shares.values())
    assert interval.text() and json.loads(interval.json())


# ── whose ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_context_is_looked_up_for_what_is_kept_only() -> None:
    asked: List[int] = []

    def context() -> TraceContext:
        asked.append(len(asked))
        return TraceContext(bytes.fromhex(TRACE), bytes.fromhex(SPAN), (len(asked), 0))

    slow = Exemplars(Histogram(), slowest=1, context=context)
    kept = []
    for seconds in (0.03, 0.0, 0.0, 0.0, 0.06):
        with slow.scope() as scope:
            time.sleep(seconds)
        kept.append(scope.kept)
    assert kept[0] and kept[-1] and len(asked) == sum(kept)
    slowest = slow.collect().exemplars[0]
    assert (slowest.trace_id, slowest.span_id, slowest.words) == (TRACE, SPAN, (len(asked), 0))


def test_annotate() -> None:
    slow = Exemplars(Histogram())
    with slow.scope() as scope:
        pass
    assert scope.kept
    scope.annotate(TraceContext(TRACE, words=(1, 2**64 - 1)))
    (kept,) = slow.collect().exemplars
    assert (kept.trace_id, kept.span_id, kept.words) == (TRACE, "", (1, 2**64 - 1))
    # Collected: it is not there any more.
    scope.annotate(TraceContext(TRACE))
    assert kept.words == (1, 2**64 - 1) and slow.collect().exemplars == ()


def test_what_a_context_raises() -> None:
    def context() -> TraceContext:
        raise LookupError("no request")

    histogram = Histogram()
    slow = Exemplars(histogram, context=context)
    scope = slow.scope()
    with pytest.raises(LookupError, match="no request"):
        with scope:
            pass
    assert histogram.total_count == 1 and len(slow.collect().exemplars) == 1
    with pytest.raises(LookupError), scope:
        pass


def test_opentelemetry_is_asked_where_it_is_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "opentelemetry.trace", raising=False)
    slow = Exemplars(Histogram())
    with slow.scope():
        pass
    assert slow.collect().exemplars[0].trace_id == ""
    assert "opentelemetry.trace" not in sys.modules, "it is not imported for this"
    span = types.SimpleNamespace(trace_id=int(TRACE, 16), span_id=int(SPAN, 16), is_valid=True)
    current = types.SimpleNamespace(get_span_context=lambda: span)
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", types.SimpleNamespace(get_current_span=lambda: current))
    with slow.scope():
        pass
    (kept,) = slow.collect().exemplars
    assert (kept.trace_id, kept.span_id) == (TRACE, SPAN)
    span.is_valid = False
    with slow.scope():
        pass
    assert slow.collect().exemplars[0].trace_id == ""


def test_opentelemetry_itself() -> None:
    sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="opentelemetry-sdk is not installed")
    slow = Exemplars(Histogram())
    with sdk.TracerProvider().get_tracer("test").start_as_current_span("request") as span:
        with slow.scope():
            pass
    (kept,) = slow.collect().exemplars
    assert int(kept.trace_id, 16) == span.get_span_context().trace_id
    assert int(kept.span_id, 16) == span.get_span_context().span_id


def test_publish() -> None:
    histogram, registry = Histogram(), picollo.Registry()
    number = registry.add(histogram, "request_seconds", unit="seconds", divisor=1e9)
    slow = Exemplars(histogram, **OFTEN)
    with pytest.raises(errors.EmptyError):
        slow.publish(registry, number)
    ordinary(slow)
    with slow.scope() as scope:
        time.sleep(0.3)
    scope.annotate(TraceContext(TRACE, SPAN))
    cause = slow.collect().exemplars[0].cause
    slow.publish(registry, number)
    line = [line for line in registry.openmetrics().splitlines() if " # {" in line][-1]
    assert f'trace_id="{TRACE}"' in line and f'span_id="{SPAN}"' in line
    assert cause in (Cause.OWN_WAITING, Cause.OFF_CPU) and f'cause="{cause}"' in line
    assert 0.3 <= float(line.split("} ")[-1].split()[0]) < 2
    with pytest.raises(errors.InvalidArgumentError):
        slow.publish(registry, number + 1)
    # Those of an interval without any take their place.
    slow.collect()
    slow.publish(registry, number)
    assert " # {" not in registry.openmetrics()


# ── errors and ends ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_wrong_arguments() -> None:
    histogram = Histogram()
    with pytest.raises(TypeError, match="of a histogram, not of DoubleHistogram"):
        Exemplars(picollo.DoubleHistogram())  # type: ignore[arg-type]
    for name, wrong in (("threshold", -1), ("slowest", -1), ("slowest", 2**32), ("threads", 0), ("rate", 0), ("controls", 0)):
        with pytest.raises(ValueError, match=name):
            Exemplars(histogram, **{name: wrong})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="slowest must be an int"):
        Exemplars(histogram, slowest="many")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unit must be one of"):
        Exemplars(histogram, unit="ticks")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="context must be a function"):
        Exemplars(histogram, context=TraceContext())  # type: ignore[arg-type]
    with pytest.raises(errors.PicolloError):
        Exemplars(histogram, slowest=10**9)
    slow = Exemplars(histogram)
    with pytest.raises(ValueError, match="label must be within"):
        slow.scope(label=2**32)
    for value in (-1, 2**64):
        with pytest.raises(ValueError, match="value must be within"):
            slow.offer(value)
    for context in (TraceContext(TRACE[:-1]), TraceContext("g" * 32), TraceContext(b"12345"), TraceContext(TRACE, TRACE)):
        with pytest.raises(ValueError, match="(trace|span)_id must be (32|16) hexadecimal digits or (16|8) bytes"):
            slow.offer(5, context=context)
    with pytest.raises(TypeError, match="trace_id must be a str or bytes, not int"):
        slow.offer(5, context=TraceContext(5))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="words must be within"):
        slow.offer(5, context=TraceContext(words=(0, -1)))
    assert histogram.total_count == 0


def test_wrong_uses_of_a_scope() -> None:
    slow = Exemplars(Histogram())
    scope = slow.scope()
    with pytest.raises(RuntimeError, match="not active"):
        scope.__exit__(None, None, None)
    with scope:
        with pytest.raises(RuntimeError, match="already active"):
            scope.__enter__()
    with scope:
        pass
    assert slow.collect().observations == 2


def test_closing() -> None:
    histogram = Histogram()
    slow = Exemplars(histogram)
    scope = slow.scope()
    with scope:
        slow.close()
        histogram.close()
    with scope:
        pass
    assert repr(slow) == "<picollo.Exemplars closed>"
    registry = picollo.Registry()
    for call in (slow.scope, lambda: slow.offer(5), slow.collect, slow.prepare_thread, lambda: slow.publish(registry, 1)):
        with pytest.raises(errors.ClosedError, match="the collector of exemplars is closed"):
            call()
    slow.close()
    del slow, scope
    gc.collect()
    with Exemplars(Histogram()) as other:
        other.offer(5)
    with pytest.raises(errors.ClosedError):
        other.collect()
    with pytest.raises(TypeError, match="cannot be pickled"):
        import pickle

        pickle.dumps(Exemplars(Histogram()))


def test_a_scope_costs_little() -> None:
    """Not a benchmark: that nothing is looked up, allocated or told where nothing is slow."""
    slow = Exemplars(Histogram(), 2**62, slowest=1)
    scope = slow.scope()
    with scope:
        time.sleep(0.05)
    best: Optional[float] = None
    for _ in range(20):
        begin = time.perf_counter()
        for _ in range(1_000):
            with scope:
                pass
        taken = (time.perf_counter() - begin) / 1_000
        best = taken if best is None else min(best, taken)
    assert best is not None and best < 10e-6
