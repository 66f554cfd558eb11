"""Recording one value at a time."""

from __future__ import annotations

import copy
import math
import sys
from functools import partial
from typing import Any, Callable

import pytest
from conftest import assert_refused

import picollo
from picollo import Histogram


class Seven:
    def __index__(self) -> int:
        return 7


def test_anything_that_is_an_integer() -> None:
    numpy = pytest.importorskip("numpy")
    histogram = Histogram(0.01)
    values: list[Any] = [7, True, Seven(), numpy.uint64(7), numpy.int32(7), numpy.uint64(2**64 - 1), 2**64 - 1, 0]
    for value in values:
        histogram.record(value)
    buckets = histogram.snapshot().buckets()
    assert [(b.lower, b.count) for b in buckets] == [(0, 1), (1, 1), (7, 4), (127 * 2**57, 2)]


@pytest.mark.parametrize(
    ("value", "error"),
    [
        *((value, ValueError) for value in (-1, 2**64, -(2**64), 2**200)),
        *((value, TypeError) for value in (1.0, math.nan, None, "1", b"1", [1], (), object(), 1j)),
    ],
)
def test_refused_values(value: Any, error: type[Exception]) -> None:
    histogram = Histogram()
    calls: list[Callable[[], Any]] = [
        lambda: histogram.record(value),
        lambda: histogram.record_n(value, 1),
        lambda: histogram.record_n(1, value),
        lambda: histogram.record_corrected(value, 1),
        lambda: histogram.record_corrected(1, value),
        lambda: histogram.record_in_range(value, 0, 1),
        lambda: histogram.record_in_range(0, 0, value),
    ]
    assert_refused(*((call, error, r"must be (an int, not|within 0 \.\. 2\*\*64 - 1, not)") for call in calls))
    assert histogram.counts == (0, 0, 0, 0)


def test_record_n_and_in_range_and_reset() -> None:
    histogram = Histogram(0.01)
    histogram.record_n(5, 3)
    histogram.record_n(6, 0)
    histogram.record_n(7, 2**63)
    assert [(b.lower, b.count) for b in histogram.snapshot().buckets()] == [(5, 3), (7, 2**63)]
    histogram.reset()
    assert histogram.counts == (0, 0, 0, 0)
    assert [histogram.record_in_range(value, 1000, 1003) for value in (1000, 1003, 999, 1004)] == [True, True, False, False]
    outside = r"value 5 is outside 1000 \.\. 1003"
    assert_refused(
        (lambda: histogram.record_in_range(5, 1000, 1003, strict=True), picollo.InvalidArgumentError, outside),
        (lambda: histogram.record_in_range(5, 6, 5), ValueError, "min must not be above max"),
    )
    assert histogram.counts == (2, 2, 1, 0)
    limited = Histogram(0.01, min=100, max=200)
    limited.record_many([99, 0, 100, 200, 202, 10**9])
    summary = limited.summary()
    assert limited.counts == (2, 2, 2, 0) == (2, summary.underflow_count, summary.overflow_count, summary.lost_count)
    assert (summary.min_trackable, summary.max_trackable) == (100, 200)


def test_warning_of_memory() -> None:
    with pytest.warns(UserWarning, match=r"takes \d{3} MB \(relative_error=1e-06, .*min and max") as caught:
        Histogram(1e-6).close()
    assert caught[0].filename == __file__
    # It has another relative error than requested, and is accepted.
    small = Histogram(1e-6, max=10**6)
    assert Histogram(small.relative_error, max=10**6).relative_error == small.relative_error <= 1e-6
    Histogram(1e-6, storage="sparse")
    # Existing histograms cause no second warning, and the library accepts what a histogram reports.
    with pytest.warns(UserWarning):
        large = Histogram(2e-6)
    assert copy.copy(large).relative_error == large.relative_error
    doubles = picollo.DoubleHistogram(1e-4)
    doubles.record(1.5)
    picollo.DoubleHistogram(doubles.snapshot().statistics.relative_error)
    Histogram(1.1 - 1.0)


def test_invalid_options() -> None:
    proportion, below = "relative_error must be a proportion within", "min must be below max"
    cases: list[tuple[dict[str, Any], str]] = [
        ({"min": 5, "max": 5}, "min must be below max: 5 and 5"),
        ({"min": 5, "max": 0}, below),
        ({"min": 0, "max": 0}, below),
        ({"min": -1}, "min must be within"),
        ({"max": 2**64}, "max must be within"),
        *(({"relative_error": error}, proportion) for error in (0, -0.1, math.nan, math.inf, 9e-8)),
        ({"relative_error": 2}, "within 1e-06 .. 0.1, such as 0.01 for 1 %, not 2"),
        ({"relative_error": 0.01, "significant_digits": 3}, "relative_error or significant_digits, and not both: 0.01 and 3"),
        ({"significant_digits": -1}, "significant_digits must be within"),
        ({"significant_digits": 6}, "significant_digits must be one of"),
        ({"counter_bits": 16}, "counter_bits must be one of 32, 64"),
        ({"mode": "fast"}, "mode must be one of interlocked, single_writer"),
        ({"mode": []}, "mode must be one of"),
        ({"storage": "thin"}, "storage must be one of dense, sparse"),
    ]
    unit = r'unit must be an int, the lowest value .* name the histogram "latency \(ns\)"'
    assert_refused(
        *((partial(Histogram, **options), ValueError, message) for options, message in cases),
        (lambda: Histogram(min=1.5), TypeError, ""),  # type: ignore[arg-type]
        (lambda: Histogram(unit="ns"), TypeError, unit),  # type: ignore[arg-type]
        (lambda: setattr(Histogram(), "max_trackable", 5), AttributeError, ""),
    )


@pytest.mark.parametrize(("name", "factor"), [("nano_scope", 1), ("micro_scope", 1000), ("milli_scope", 10**6), ("tick_scope", None)])
def test_scopes(name: str, factor: Any) -> None:
    histogram = Histogram(name=name)
    scope = getattr(histogram, name)()
    with pytest.raises(ValueError, match="not ended"):
        scope.elapsed
    for _ in range(3):
        with scope as entered:
            assert entered is scope
            with pytest.raises(ValueError, match="not ended"):
                scope.elapsed
            sum(range(50_000))
    assert histogram.total_count == 3
    assert scope.elapsed == pytest.approx(histogram.summary().mean, rel=3, abs=2)
    if factor is not None:
        assert 1_000 // factor <= scope.elapsed < 10**9 // factor


def test_a_scope_is_for_one_use_at_a_time() -> None:
    histogram = Histogram()
    scope = histogram.nano_scope(clock="monotonic")
    with pytest.raises(KeyError), scope:
        with pytest.raises(RuntimeError, match="already active"):
            scope.__enter__()
        raise KeyError
    with pytest.raises(RuntimeError, match="not active"):
        scope.__exit__(None, None, None)
    assert histogram.total_count == 1
    with pytest.raises(ValueError, match="clock must be one of tsc, monotonic"):
        histogram.nano_scope(clock="sundial")  # type: ignore[arg-type]


def test_other_threads_run_while_many_counters_are_corrected(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["picollo.histogram"]
    calls = []

    class Released:
        def __getattr__(self, name: str) -> Any:
            calls.append(name)
            return getattr(picollo._library.released, name)

    monkeypatch.setattr(module, "released", Released())
    cases: list[tuple[float, picollo.histogram.Mode, bool]] = [
        (1e-5, "interlocked", True),
        (1e-5, "single_writer", False),
        (0.01, "interlocked", False),
    ]
    for error, mode, expected in cases:
        calls.clear()
        histogram = picollo.Histogram(error, mode=mode)
        histogram.record_corrected(2**64 - 1, 1)
        assert ("histogram_record_corrected" in calls) == expected
        assert histogram.snapshot().counts.total == 2**64 - 1
