"""Clocks."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import picollo
from picollo import Histogram, clock

UNITS = {"nanos": 10**9, "micros": 10**6, "millis": 10**3, "picos": 10**12}
CLOCKS = ["tsc", "monotonic"]


@pytest.mark.parametrize("name", CLOCKS)
def test_ticks_follow_time(name: clock.Clock) -> None:
    clock.calibrate()
    # Brackets, as this thread may be interrupted between any two of these.
    outer_begin = time.perf_counter_ns()
    begin = clock.ticks(name)
    inner_begin = time.perf_counter_ns()
    time.sleep(0.05)
    inner_end = time.perf_counter_ns()
    end = clock.ticks(name)
    outer_end = time.perf_counter_ns()
    elapsed = clock.convert(end - begin, "nanos", name)
    assert (inner_end - inner_begin) * 0.999 <= elapsed <= (outer_end - outer_begin) * 1.001


@pytest.mark.parametrize("name", CLOCKS)
def test_ticks_do_not_go_back(name: clock.Clock) -> None:
    previous = clock.ticks(name)
    for _ in range(10_000):
        now = clock.ticks(name)
        assert now >= previous
        previous = now


def test_frequencies() -> None:
    assert clock.frequency("monotonic") == 10**9
    assert 10**6 < clock.frequency() < 10**11
    assert clock.frequency("tsc") == clock.frequency()


@given(st.integers(0, 2**64 - 1), st.sampled_from(list(UNITS)), st.sampled_from(CLOCKS))
def test_conversions_are_exact(ticks: int, unit: clock.Unit, name: clock.Clock) -> None:
    expected = min(ticks * UNITS[unit] // clock.frequency(name), 2**64 - 1)
    assert clock.convert(ticks, unit, name) == expected
    assert clock.convert(ticks, "ticks", name) == ticks


@pytest.mark.parametrize("name", CLOCKS)
def test_a_second_is_a_second(name: clock.Clock) -> None:
    assert clock.convert(clock.frequency(name), "nanos", name) == 10**9


def test_clocks_have_one_place() -> None:
    for name in clock.__all__:
        assert hasattr(clock, name)
        assert not hasattr(picollo, name), f"picollo.{name} is picollo.clock.{name}"


def test_bad_arguments() -> None:
    for call in (clock.ticks, clock.frequency):
        with pytest.raises(ValueError, match="clock must be one of tsc, monotonic, not 'sundial'"):
            call("sundial")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unit must be one of ticks, nanos"):
        clock.convert(1, "fortnights")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="ticks must be within"):
        clock.convert(-1)
    with pytest.raises(ValueError, match="ticks must be within"):
        clock.convert(2**64)


@pytest.mark.parametrize("name", CLOCKS)
def test_scopes_measure(name: clock.Clock) -> None:
    histogram = Histogram(0.001)
    millis, nanos, ticks = histogram.milli_scope(name), histogram.nano_scope(name), histogram.tick_scope(name)
    outer_begin = time.perf_counter_ns()
    with millis, nanos, ticks:
        inner_begin = time.perf_counter_ns()
        time.sleep(0.02)
        inner = time.perf_counter_ns() - inner_begin
    outer = time.perf_counter_ns() - outer_begin
    for elapsed in (nanos.elapsed, clock.convert(ticks.elapsed, "nanos", name)):
        assert inner * 0.999 <= elapsed <= outer * 1.001
    assert int(inner * 0.999) // 10**6 <= millis.elapsed <= outer * 1.001 / 10**6
    assert histogram.total_count == 3


def test_known_work_takes_known_time() -> None:
    """256 dependent additions a repetition take at least a cycle each on any machine, so they grow with repetitions."""
    histogram = Histogram()

    def best(repetitions: int) -> int:
        times = []
        for _ in range(20):
            with histogram.nano_scope() as scope:
                picollo.work.add_chain_256(repetitions)
            times.append(scope.elapsed)
        return min(times)

    one, ten = best(1_000), best(10_000)
    assert 5 < ten / one < 20
    assert 0.05 < ten / (10_000 * 256) < 10
    with pytest.raises(ValueError):
        picollo.work.add_chain_256(-1)
    picollo.work.add_chain_256(0)
