"""Clocks."""

from __future__ import annotations

import time

import pytest
from conftest import assert_refused

import picollo
from picollo import Histogram, clock

UNITS: dict[clock.Unit, int] = {"nanos": 10**9, "micros": 10**6, "millis": 10**3, "picos": 10**12}
CLOCKS = pytest.mark.parametrize("name", ["tsc", "monotonic"])


@CLOCKS
def test_ticks_and_scopes_follow_time(name: clock.Clock) -> None:
    clock.calibrate()
    histogram = Histogram(0.001)
    millis, nanos, ticks = histogram.milli_scope(name), histogram.nano_scope(name), histogram.tick_scope(name)
    # Bracketed, as this thread may be interrupted between any two of these.
    outer_begin = time.perf_counter_ns()
    begin = clock.ticks(name)
    with millis, nanos, ticks:
        inner_begin = time.perf_counter_ns()
        time.sleep(0.05)
        inner = time.perf_counter_ns() - inner_begin
    end = clock.ticks(name)
    outer = time.perf_counter_ns() - outer_begin
    for elapsed in (clock.convert(end - begin, "nanos", name), nanos.elapsed, clock.convert(ticks.elapsed, "nanos", name)):
        assert inner * 0.999 <= elapsed <= outer * 1.001
    assert int(inner * 0.999) // 10**6 <= millis.elapsed <= outer * 1.001 / 10**6
    assert histogram.total_count == 3


@CLOCKS
def test_ticks_do_not_go_back(name: clock.Clock) -> None:
    read = [clock.ticks(name) for _ in range(10_000)]
    assert read == sorted(read)


@CLOCKS
def test_conversions(name: clock.Clock) -> None:
    second = clock.frequency(name)
    assert second == 10**9 if name == "monotonic" else 10**6 < second == clock.frequency() < 10**11
    assert clock.convert(second, "ticks", name) == second
    assert {unit: clock.convert(second, unit, name) for unit in UNITS} == UNITS
    assert clock.convert(2**64 - 1, "picos", name) == 2**64 - 1


def test_clocks_have_one_place() -> None:
    for name in clock.__all__:
        assert hasattr(clock, name)
        assert not hasattr(picollo, name), f"picollo.{name} is picollo.clock.{name}"


def test_bad_arguments() -> None:
    unknown = "clock must be one of tsc, monotonic, not 'sundial'"
    assert_refused(
        (lambda: clock.ticks("sundial"), ValueError, unknown),  # type: ignore[arg-type]
        (lambda: clock.frequency("sundial"), ValueError, unknown),  # type: ignore[arg-type]
        (lambda: clock.convert(1, "fortnights"), ValueError, "unit must be one of ticks, nanos"),  # type: ignore[arg-type]
        (lambda: clock.convert(-1), ValueError, "ticks must be within"),
        (lambda: clock.convert(2**64), ValueError, "ticks must be within"),
        (lambda: picollo.work.add_chain_256(-1), ValueError, ""),
    )
