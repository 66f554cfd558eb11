"""Recording one value at a time."""

from __future__ import annotations

import math
import sys
from typing import Any, Callable

import pytest

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


@pytest.mark.parametrize("value", [-1, 2**64, -(2**64), 2**200])
def test_integers_that_do_not_fit(value: int) -> None:
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
    for call in calls:
        with pytest.raises(ValueError, match=r"must be within 0 \.\. 2\*\*64 - 1, not"):
            call()
    assert histogram.counts == (0, 0, 0, 0)


@pytest.mark.parametrize("value", [1.0, math.nan, math.inf, None, "1", b"1", [1], (), object(), 1j])
def test_what_is_no_integer(value: Any) -> None:
    histogram = Histogram()
    with pytest.raises(TypeError, match="value must be an int, not"):
        histogram.record(value)
    with pytest.raises(TypeError):
        histogram.record_n(value, 1)
    assert histogram.counts == (0, 0, 0, 0)


def test_record_n() -> None:
    histogram = Histogram()
    histogram.record_n(5, 3)
    histogram.record_n(6, 0)
    histogram.record_n(7, 2**63)
    assert [(b.lower, b.count) for b in histogram.snapshot().buckets()] == [(5, 3), (7, 2**63)]


def test_out_of_range_is_counted_apart() -> None:
    histogram = Histogram(0.01, min=100, max=200)
    for value in (99, 0, 100, 200, 202, 10**9):
        histogram.record(value)
    counts = histogram.counts
    assert (counts.total, counts.underflow, counts.overflow, counts.lost) == (2, 2, 2, 0)
    summary = histogram.summary()
    assert (summary.min_trackable, summary.max_trackable) == (100, 200)
    assert (summary.underflow_count, summary.overflow_count, summary.lost_count) == (2, 2, 0)
    assert str(summary).startswith("2 values, 2 below the range, 2 above the range\n")
    text = summary.markdown()
    assert "| Underflow" in text
    assert "| Overflow" in text
    assert "| Range Min:" in text


def test_record_corrected() -> None:
    histogram = Histogram(0.001)
    histogram.record_corrected(10, 3)
    assert [b.lower for b in histogram.snapshot().buckets()] == [4, 7, 10]
    histogram.reset()
    histogram.record_corrected(10, 0)
    histogram.record_corrected(3, 3)
    assert [b.lower for b in histogram.snapshot().buckets()] == [3, 10]


def test_record_in_range() -> None:
    histogram = Histogram(0.01)
    assert histogram.record_in_range(1000, 1000, 1003) is True
    assert histogram.record_in_range(1003, 1000, 1003) is True
    assert histogram.record_in_range(999, 1000, 1003) is False
    assert histogram.record_in_range(1004, 1000, 1003) is False
    with pytest.raises(picollo.InvalidArgumentError, match=r"value 5 is outside 1000 \.\. 1003"):
        histogram.record_in_range(5, 1000, 1003, strict=True)
    assert histogram.counts == (2, 2, 1, 0)
    with pytest.raises(ValueError, match="min must not be above max"):
        histogram.record_in_range(5, 6, 5)
    assert histogram.counts == (2, 2, 1, 0)


def test_a_32_bit_counter_that_wraps_says_so() -> None:
    histogram = Histogram(counter_bits=32)
    histogram.record_n(5, 2**32 - 1)
    assert histogram.counts == (2**32 - 1, 0, 0, 0)
    histogram.record(5)
    counts = histogram.counts
    assert counts.total + counts.lost == 2**32
    assert counts.lost == 2**32


def test_reset() -> None:
    histogram = Histogram()
    histogram.record_many(range(100))
    histogram.reset()
    assert histogram.counts == (0, 0, 0, 0)
    histogram.record(7)
    assert histogram.total_count == 1


def test_without_live_reset() -> None:
    small, large = Histogram(live_reset=False), Histogram()
    assert small.footprint < large.footprint
    small.record(1)
    with pytest.raises(picollo.UnsupportedError, match="reset"):
        small.reset()
    assert small.total_count == 1


def test_footprint() -> None:
    # 28,672 counters with a baseline.
    assert 2 * 8 * 28_672 <= Histogram(0.001).footprint < 2 * 8 * 28_672 + 4096
    assert Histogram(0.01, 50, 100).footprint < 4096
    assert Histogram(0.001, counter_bits=32).footprint < Histogram(0.001).footprint


def test_options_that_cannot_be() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"min": 5, "max": 5}, "min must be below max: 5 and 5"),
        ({"min": 5, "max": 0}, "min must be below max"),
        ({"min": 0, "max": 0}, "min must be below max"),
        ({"min": -1}, "min must be within"),
        ({"max": 2**64}, "max must be within"),
        ({"relative_error": 0}, "relative_error must be positive"),
        ({"relative_error": -0.1}, "relative_error must be positive"),
        ({"relative_error": math.nan}, "relative_error must be positive"),
        ({"relative_error": math.inf}, "relative_error must be positive"),
        ({"significant_digits": -1}, "significant_digits must be within"),
        ({"significant_digits": 6}, "significant_digits must be one of"),
        ({"counter_bits": 0}, "counter_bits must be one of 32, 64"),
        ({"counter_bits": 16}, "counter_bits must be one of 32, 64"),
        ({"mode": "fast"}, "mode must be one of interlocked, single_writer"),
        ({"mode": []}, "mode must be one of"),
        ({"storage": "thin"}, "storage must be one of dense, sparse"),
    ]
    for options, message in cases:
        with pytest.raises(ValueError, match=message):
            Histogram(**options)
    with pytest.raises(TypeError):
        Histogram(min=1.5)  # type: ignore[arg-type]


def test_errors_are_clamped_and_told() -> None:
    assert Histogram(0.01).relative_error == 0.5 / 64
    assert Histogram(0.001).relative_error == 0.5 / 512
    assert Histogram(5.0).relative_error == 0.5 / 8
    assert Histogram(1e-9, max=1000).relative_error == 0.5 / 2**19
    assert Histogram(significant_digits=3).relative_error == 0.5 / 1024


@pytest.mark.parametrize("mode", ["interlocked", "thread_local", "scalable", "per_cpu"])
def test_other_modes_work_or_say_that_they_do_not(mode: Any) -> None:
    try:
        histogram = Histogram(mode=mode)
    except picollo.UnsupportedError as error:
        pytest.skip(f"this library does not offer it yet: {error}")
    histogram.record_many(range(1000))
    histogram.record(5)
    assert histogram.total_count == 1001


def test_sparse_storage_works_or_says_that_it_does_not() -> None:
    try:
        histogram = Histogram(storage="sparse")
    except picollo.UnsupportedError as error:
        pytest.skip(f"this library does not offer it yet: {error}")
    histogram.record_many(range(1000))
    assert histogram.total_count == 1000


def test_scopes() -> None:
    for name, factor in [("nano_scope", 1), ("micro_scope", 1000), ("milli_scope", 10**6), ("tick_scope", None)]:
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


def test_a_scope_records_when_its_block_raises() -> None:
    histogram = Histogram()
    with pytest.raises(KeyError), histogram.nano_scope():
        raise KeyError
    assert histogram.total_count == 1


def test_a_scope_is_for_one_use_at_a_time() -> None:
    histogram = Histogram()
    scope = histogram.nano_scope(clock="monotonic")
    with scope:
        with pytest.raises(RuntimeError, match="already active"):
            scope.__enter__()
    assert histogram.total_count == 1
    with pytest.raises(ValueError, match="clock must be one of tsc, monotonic"):
        histogram.nano_scope(clock="sundial")  # type: ignore[arg-type]


def test_a_scope_left_twice_records_once() -> None:
    histogram = Histogram()
    scope = histogram.nano_scope()
    with scope:
        pass
    with pytest.raises(RuntimeError, match="not active"):
        scope.__exit__(None, None, None)
    assert histogram.total_count == 1


def test_names_are_not_invented() -> None:
    histogram = Histogram()
    with pytest.raises(AttributeError):
        histogram.max_trackable = 5  # type: ignore[attr-defined]


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
