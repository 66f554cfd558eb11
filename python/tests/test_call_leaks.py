"""Single calls leak nothing, in C and through ctypes."""

from __future__ import annotations

import gc
import inspect
import sys
import weakref
from typing import Any, Callable

import pytest
from conftest import outcome

import picollo
from picollo import Histogram, clock, timed

needs_blocks = pytest.mark.skipif(sys.getallocatedblocks() == 0, reason="the interpreter has no allocator of its own that counts blocks")


def growth(call: Callable[[], Any], rounds: int) -> int:
    """The growth of the interpreter's blocks over these calls. The collector must run at the same places."""
    gc.collect()
    gc.disable()
    try:
        before = sys.getallocatedblocks()
        for _ in range(rounds):
            call()
        gc.collect()
        return sys.getallocatedblocks() - before
    finally:
        gc.enable()


def calls_of(histogram: Histogram) -> tuple[list[Callable[[], Any]], list[Any]]:
    """Calls of every kind, and the objects that they use."""
    value, count, kept, closed = 2**63 + 1, 2**40 + 1, histogram.nano_scope(), Histogram(0.1)
    closed.close()

    def given(*args: Any, **kwargs: Any) -> Any:
        return value

    def fail() -> None:
        raise KeyError

    call, failing = timed(histogram)(given), timed(histogram)(fail)

    class Thing:
        method = call

    thing = Thing()

    def scopes() -> None:
        with histogram.nano_scope() as a, histogram.micro_scope() as b, histogram.tick_scope("monotonic"):
            histogram.scope()
        a.elapsed + b.elapsed
        with kept:
            outcome(kept.__enter__)
        outcome(kept.__exit__)

    calls: list[Callable[[], Any]] = [
        lambda: histogram.record(value),
        lambda: histogram.record_n(value, count=count),
        lambda: histogram.record_n(value, count),
        lambda: (outcome(histogram.record, -1), outcome(histogram.record, "x"), outcome(histogram.record, thing)),
        lambda: (outcome(histogram.record, value=value), outcome(histogram.record, value, count)),
        lambda: (outcome(closed.record, value), outcome(closed.nano_scope)),
        scopes,
        lambda: (clock.ticks(), clock.ticks("monotonic"), outcome(clock.ticks, value)),
        lambda: call(value, x=count),
        lambda: (thing.method(value), Thing.method, outcome(failing)),
        lambda: timed(histogram)(given)(value),
        lambda: setattr(histogram, "_pointer", histogram._pointer),
        lambda: Histogram(0.1, max=1000).close(),
        lambda: setattr(Histogram(0.1, max=1000), "_pointer", None),
    ]
    taking_part = [histogram, histogram._pointer, value, count, kept, given, call, thing, picollo.Scope, type(call), Histogram, None, clock]
    return calls, taking_part


@needs_blocks
def test_nothing_leaks() -> None:
    """The interpreter has as many allocated blocks after thousands of calls as before."""
    kept: list[Any] = []
    assert all(growth(lambda: kept.append(object()), 200) >= 200 for _ in range(4)), "a leak is found"
    calls, _ = calls_of(Histogram(0.1))
    for number, call in enumerate(calls):
        rounds = 4000 if number < len(calls) - 4 else 200
        # Caches of the interpreter fill at any time, but a leak grows each time.
        grown = min(growth(call, rounds) for _ in range(4))
        assert grown < rounds // 10, f"{inspect.getsource(call)} leaves {grown} blocks after {rounds} calls"


def test_references_are_given_back() -> None:
    """The objects of calls have as many references after them as before."""
    calls, taking_part = calls_of(Histogram(0.1))

    def references(rounds: int) -> list[int]:
        for _ in range(rounds):
            for call in calls:
                call()
        gc.collect()
        return [sys.getrefcount(thing) for thing in taking_part]

    before, after = references(50), references(500)
    # Immortal objects have a constant count; others may gain a few references, but not one per call.
    assert all(abs(now - then) < 100 for now, then in zip(after, before)), list(zip(map(type, taking_part), before, after))


def test_cycles_through_handles_are_collected() -> None:
    histogram = Histogram(0.1, max=100)
    histogram._pointer.back = histogram
    reference = weakref.ref(histogram)
    del histogram
    gc.collect()
    assert reference() is None
