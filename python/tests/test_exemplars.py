"""Which observations were slow, and why: kept, reported and unknown facts."""

from __future__ import annotations

import json
import pickle
import random
import sys
import threading
import time
import types
from typing import Any

import pytest
from conftest import assert_refused, outcome

import picollo
from picollo import Cause, Exemplars, Histogram, KeptExemplar, TraceContext, errors

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
MILLI = 1_000_000


def spin(seconds: float) -> None:
    """Runs on the CPU for this long, by the thread's own clock."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


#: This many controls a second are always enough.
OFTEN: Any = {"controls": 1_000}


def ordinary(slow: Exemplars, count: int = 300) -> None:
    """The usual: about a millisecond of waiting."""
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
    kept = [one.value for one in interval.exemplars]
    assert kept[:16] == sorted(values, reverse=True)[:16]
    assert all(values[one.words[0]] == one.value == one.words[1] for one in interval.exemplars)
    assert {(one.trace_id, one.span_id) for one in interval.exemplars} == {(TRACE, SPAN)}
    assert histogram.total_count == interval.observations == len(values)
    # Timed elsewhere: nothing is known, and unknown values are not reported as 0.
    assert all(one.cause is Cause.NOT_KNOWN and "timed elsewhere" in one.missing for one in interval.exemplars)
    assert all(one.on_cpu_nanos is one.run_delay_nanos is one.minor_faults is None for one in interval.exemplars)
    # The next interval does not contain them.
    slow.offer(5)
    assert [one.value for one in slow.collect().exemplars] == [5]


@pytest.mark.parametrize(("unit", "of_a_second"), [("nanos", 10**9), ("micros", 10**6), ("millis", 10**3)])
def test_scopes_record_in_the_unit(unit: Any, of_a_second: int) -> None:
    histogram = Histogram()
    slow = Exemplars(histogram, unit=unit)
    begin = time.time()
    with pytest.raises(KeyError):
        with slow.scope(label=7) as scope:
            time.sleep(0.02)
            raise KeyError
    interval = slow.collect()
    (kept,) = interval.exemplars
    assert scope.kept and 0.02 <= kept.value / of_a_second < 2
    assert histogram.total_count == 1 and histogram.percentile(100).bucket.lower <= kept.value
    # When and where.
    assert kept.label == 7 and kept.thread == threading.get_native_id()
    assert begin - 0.001 <= kept.time <= time.time() - 0.02 + 0.001
    assert interval.begin <= interval.end <= time.time() + 0.001
    assert kept.trace_id == kept.span_id == "" and kept.words == (0, 0)


# ── why ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


def waits(kept: KeptExemplar) -> Cause:
    """The name of waiting here: without the kernel's account, it includes waiting for a CPU."""
    return Cause.OFF_CPU if kept.run_delay_nanos is None else Cause.OWN_WAITING


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


def test_the_table_and_the_json() -> None:
    slow = Exemplars(Histogram(), 20 * MILLI, **OFTEN)
    empty = slow.collect()
    assert empty.exemplars == () and empty.slow == empty.observations == 0
    assert all(one.share is None and one.typical_nanos is None for one in empty.shares.values())
    assert empty.text() and json.loads(empty.json())
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
    # On a busy machine others are slow as well, for other causes.
    assert share.share is not None and share.share > 0 and share.observations >= 3
    assert share.excess_nanos is not None and share.excess_nanos > 3 * 30 * MILLI
    assert share.typical_nanos is not None and 30 * MILLI < share.typical_nanos < 80 * MILLI
    assert sum(one.share or 0 for one in interval.shares.values()) == pytest.approx(1, abs=1e-6)
    text = interval.text()
    assert str(interval) == text and cause.value in text and "304" in text and "Instructions" not in text
    assert "| Cause | Excess |" in interval.markdown() == interval._repr_markdown_()
    assert isinstance(json.loads(interval.json()), dict)
    section = interval.html()
    assert interval._repr_html_() == section == pickle.loads(pickle.dumps(interval)).html() and section.startswith("<section")
    # A reported interval does not change later.
    with slow.scope():
        pass
    slow.collect()
    assert interval.text() == text


# ── whose ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_context_is_looked_up_for_what_is_kept_only() -> None:
    asked: list[int] = []

    def context() -> TraceContext:
        asked.append(len(asked))
        return TraceContext(bytes.fromhex(TRACE), bytes.fromhex(SPAN), (len(asked), 0))

    slow = Exemplars(Histogram(), slowest=1, context=context)
    kept = []
    begin = time.monotonic()
    for seconds in (0.03, 0.0, 0.0, 0.0, None):
        with slow.scope() as scope:
            # The last one takes longer than all others, even on a busy machine.
            time.sleep(time.monotonic() - begin + 0.03 if seconds is None else seconds)
        kept.append(scope.kept)
    assert kept[0] and kept[-1] and len(asked) == sum(kept)
    slowest = slow.collect().exemplars[0]
    assert (slowest.trace_id, slowest.span_id, slowest.words) == (TRACE, SPAN, (len(asked), 0))


def test_annotate() -> None:
    slow = Exemplars(Histogram())
    with slow.scope() as scope:
        pass
    scope.annotate(TraceContext(TRACE, words=(1, 2**64 - 1)))
    (kept,) = slow.collect().exemplars
    assert scope.kept and (kept.trace_id, kept.span_id, kept.words) == (TRACE, "", (1, 2**64 - 1))
    # The interval was collected, so it no longer exists.
    scope.annotate(TraceContext(TRACE))
    assert slow.collect().exemplars == ()


def test_what_a_context_raises() -> None:
    def context() -> TraceContext:
        raise LookupError("no request")

    histogram = Histogram()
    slow = Exemplars(histogram, context=context)
    scope = slow.scope()
    for _ in range(2):
        with pytest.raises(LookupError, match="no request"), scope:
            pass
    assert histogram.total_count == 2 and len(slow.collect().exemplars) >= 1


def test_opentelemetry_is_asked_where_it_is_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Exemplars(Histogram())

    def ids() -> tuple[str, str]:
        with slow.scope():
            pass
        (kept,) = slow.collect().exemplars
        return kept.trace_id, kept.span_id

    monkeypatch.delitem(sys.modules, "opentelemetry.trace", raising=False)
    assert ids() == ("", "") and "opentelemetry.trace" not in sys.modules, "it is not imported for this"
    span = types.SimpleNamespace(trace_id=int(TRACE, 16), span_id=int(SPAN, 16), is_valid=True)
    current = types.SimpleNamespace(get_span_context=lambda: span)
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", types.SimpleNamespace(get_current_span=lambda: current))
    assert ids() == (TRACE, SPAN)
    span.is_valid = False
    assert ids() == ("", "")


def test_opentelemetry_itself() -> None:
    sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="opentelemetry-sdk is not installed")
    slow = Exemplars(Histogram())
    with sdk.TracerProvider().get_tracer("test").start_as_current_span("request") as span:
        with slow.scope():
            pass
    (kept,) = slow.collect().exemplars
    context = span.get_span_context()
    assert (int(kept.trace_id, 16), int(kept.span_id, 16)) == (context.trace_id, context.span_id)


def test_publish() -> None:
    histogram, registry = Histogram(), picollo.Registry()
    number = registry.add(histogram, "request_seconds", unit="seconds", divisor=1e9)
    slow = Exemplars(histogram, **OFTEN)
    with pytest.raises(errors.EmptyError, match="no interval has ended yet"):
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
    # An interval without exemplars replaces them.
    slow.collect()
    slow.publish(registry, number)
    assert " # {" not in registry.openmetrics()


# ── errors and ends ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_wrong_arguments() -> None:
    histogram = Histogram()
    slow = Exemplars(histogram)
    ids = "(trace|span)_id must be (32|16) hexadecimal digits or (16|8) bytes"
    assert_refused(
        (lambda: Exemplars(picollo.DoubleHistogram()), TypeError, "of a histogram, not of DoubleHistogram"),  # type: ignore[arg-type]
        (lambda: Exemplars(histogram, -1), ValueError, "threshold"),
        (lambda: Exemplars(histogram, slowest=-1), ValueError, "slowest"),
        (lambda: Exemplars(histogram, slowest=2**32), ValueError, "slowest"),
        (lambda: Exemplars(histogram, threads=0), ValueError, "threads"),
        (lambda: Exemplars(histogram, rate=0), ValueError, "rate"),
        (lambda: Exemplars(histogram, controls=0), ValueError, "controls"),
        (lambda: Exemplars(histogram, slowest="many"), TypeError, "slowest must be an int"),  # type: ignore[arg-type]
        (lambda: Exemplars(histogram, unit="ticks"), ValueError, "unit must be one of"),  # type: ignore[arg-type]
        (lambda: Exemplars(histogram, context=TraceContext()), TypeError, "context must be a function"),  # type: ignore[arg-type]
        (lambda: Exemplars(histogram, slowest=10**9), errors.PicolloError, ""),
        (lambda: slow.scope(label=2**32), ValueError, "label must be within"),
        (lambda: slow.offer(-1), ValueError, "value must be within"),
        (lambda: slow.offer(2**64), ValueError, "value must be within"),
        (lambda: slow.offer(5, TraceContext(TRACE[:-1])), ValueError, ids),
        (lambda: slow.offer(5, TraceContext("g" * 32)), ValueError, ids),
        (lambda: slow.offer(5, TraceContext(b"12345")), ValueError, ids),
        (lambda: slow.offer(5, TraceContext(TRACE, TRACE)), ValueError, ids),
        (lambda: slow.offer(5, TraceContext(5)), TypeError, "trace_id must be a str or bytes, not int"),  # type: ignore[arg-type]
        (lambda: slow.offer(5, TraceContext(words=(0, -1))), ValueError, "words must be within"),
        (lambda: pickle.dumps(slow), TypeError, "cannot be pickled"),
        (lambda: slow.scope().__exit__(None, None, None), RuntimeError, "not active"),
    )
    assert histogram.total_count == 0
    with slow.scope() as scope, pytest.raises(RuntimeError, match="already active"):
        scope.__enter__()
    assert slow.collect().observations == 1
    prepared = outcome(slow.prepare_thread)
    assert prepared is None or prepared[0] is errors.UnsupportedError


def test_closing() -> None:
    histogram, registry = Histogram(), picollo.Registry()
    with Exemplars(histogram) as slow:
        scope = slow.scope()
        with scope:
            slow.close()
            histogram.close()
        with scope:
            pass
    assert repr(slow) == "<picollo.Exemplars closed>"
    calls = (slow.scope, lambda: slow.offer(5), slow.collect, slow.prepare_thread, lambda: slow.publish(registry, 1))
    assert_refused(*((call, errors.ClosedError, "the collector of exemplars is closed") for call in calls))
