"""Single calls leave nothing behind, in C and through ctypes."""

from __future__ import annotations

import copy
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
    """How many blocks more the interpreter has after these calls. The collector has to run at the same places."""
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


@needs_blocks
def test_growth_finds_a_leak() -> None:
    kept: list[Any] = []
    assert all(growth(lambda: kept.append(object()), 200) >= 200 for _ in range(4))


@needs_blocks
def test_nothing_leaks() -> None:
    """The blocks that the interpreter has allocated are as many after thousands of calls as before."""
    histogram, many = Histogram(0.1), 4_000
    kept = histogram.nano_scope()

    @timed(histogram)
    def nothing(*args: Any, **kwargs: Any) -> None:
        pass

    @timed(histogram)
    def fail() -> None:
        raise KeyError

    class Thing:
        method = nothing

    thing = Thing()

    def scopes() -> None:
        with histogram.nano_scope() as a, histogram.micro_scope() as b, histogram.tick_scope("monotonic"):
            pass
        a.elapsed + b.elapsed
        with kept:
            outcome(kept.__enter__)
        outcome(kept.__exit__)

    closed = Histogram(0.1)
    closed.close()
    calls: list[Callable[[], Any]] = [
        lambda: histogram.record(2**63),
        lambda: histogram.record_n(2**63, 2**40),
        lambda: outcome(histogram.record, -1),
        lambda: outcome(histogram.record, "x"),
        lambda: outcome(histogram.record, value=2**62),
        lambda: outcome(histogram.record_n, 2**62, count=2**62),
        lambda: outcome(closed.record, 5),
        lambda: outcome(closed.nano_scope),
        scopes,
        lambda: (clock.ticks(), clock.ticks("monotonic"), outcome(clock.ticks, "x")),
        lambda: nothing(2**40, x=2**40),
        lambda: (thing.method(), Thing.method, outcome(fail), repr(nothing), copy.copy(nothing)),
        lambda: timed(histogram)(lambda: None)(),
        lambda: Histogram(0.1, max=1000).close(),
        lambda: setattr(Histogram(0.1, max=1000), "_pointer", None),
    ]
    for call in calls:
        rounds = many if call is not calls[-1] and call is not calls[-2] and call is not calls[-3] else many // 20
        # Caches of the interpreter fill whenever it likes, a leak grows each time.
        grown = min(growth(call, rounds) for _ in range(4))
        assert grown < rounds // 10, f"{inspect.getsource(call)} leaves {grown} blocks after {rounds} calls"


def test_references_are_given_back() -> None:
    """What calls take part in is referred to as often after them as before."""
    histogram, value, count = Histogram(0.1), 2**63 + 1, 2**40 + 1
    kept = histogram.nano_scope()

    def given(*args: Any, **kwargs: Any) -> Any:
        return value

    call = timed(histogram)(given)

    class Thing:
        method = call

    thing = Thing()
    watched = [histogram, histogram._pointer, value, count, kept, given, call, thing, picollo.Scope, type(call), Histogram, None, clock]

    def everything() -> None:
        histogram.record(value)
        histogram.record_n(value, count=count)
        histogram.record_n(value, count)
        outcome(histogram.record, value, count)
        outcome(histogram.record, thing)
        with histogram.nano_scope() as first, histogram.milli_scope() as second, kept:
            histogram.scope(), histogram.tick_scope("monotonic")
        (first.elapsed, second.elapsed, clock.ticks(), outcome(clock.ticks, value))
        call(value, x=count)
        thing.method(value)
        (thing.method, Thing.method, call.__name__, repr(call), copy.copy(call), weakref.ref(call))
        timed(histogram)(given)(value)
        histogram._pointer = histogram._pointer

    def references() -> list[int]:
        gc.collect()
        return [sys.getrefcount(thing) for thing in watched]

    for _ in range(50):
        everything()
    before = references()
    for _ in range(500):
        everything()
    after = references()
    # Immortal objects have a constant; others may gain some in passing, but none a call.
    assert all(abs(now - then) < 100 for now, then in zip(after, before)), list(zip(map(type, watched), before, after))


def test_cycles_through_handles_are_collected() -> None:
    histogram = Histogram(0.1, max=100)
    histogram._pointer.back = histogram
    reference = weakref.ref(histogram)
    del histogram
    gc.collect()
    assert reference() is None
