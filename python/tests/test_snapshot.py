"""Snapshots: every field is right, and invalid queries fail. Core tests the arithmetic."""

from __future__ import annotations

import math
from typing import Any, Callable

import pytest
from conftest import assert_refused

import picollo
from picollo import Histogram

U64_MAX = 2**64 - 1


def test_every_field_arrives() -> None:
    histogram = Histogram(0.01, min=10, max=10**6)
    histogram.record_many([5, *range(10, 110), 100_000, 2**40])
    snapshot = histogram.snapshot()
    assert snapshot.counts == (101, 1, 1, 0) and snapshot.total_count == 101
    buckets = snapshot.buckets()
    assert [(b.lower, b.upper, b.count) for b in buckets] == [*((v, v, 1) for v in range(10, 110)), (99_328, 100_351, 1)]
    assert snapshot.percentile_values([0, 50, 100], "lower") == [10, 60, 99_328]
    assert snapshot.percentile_values([0, 50, 100], "upper") == [10, 60, 100_351]
    asked = snapshot.percentiles([50, 100])
    assert [(p.rank, p.value, p.bucket, p.target_count) for p in asked] == [(50, 60, buckets[50], 51), (100, 99_840, buckets[-1], 101)]
    assert snapshot.rank_of_value(60) == pytest.approx(100 * 51 / 101)
    assert 99 < snapshot.rank_of_value(99_400, interpolate=True) < 100
    assert (snapshot.rank_of_value(0), snapshot.rank_of_value(U64_MAX)) == (0, 100)
    assert snapshot.bucket_of(60) == buckets[50] and snapshot.bucket_of(99_400).step == 1024
    listed = snapshot.bucket_percentiles(values="upper")
    assert [p.bucket for p in listed] == buckets and listed[-1].value == 100_351
    assert str(listed[-1]).startswith("P100=100,351 [") and listed[-1].target_count == 101
    everything = snapshot.buckets(non_empty=False)
    assert sum(b.count for b in everything) == 101 and everything[-1].storage_index == len(everything) - 1
    assert snapshot.count_between(10, 60) == 51
    steps = snapshot.linear_steps(60_000), snapshot.logarithmic_steps(100, 10), snapshot.percentile_steps(1)
    assert [(s.added_count, s.cumulative_count) for s in steps[0]] == [(100, 100), (1, 101)] and steps[2][-1].to == 100_351
    assert steps[1][0].added_count == 90 and steps[1][0].cumulative_value == sum(range(10, 100))
    assert snapshot.corrected(50_000).total_count == 102
    summary = snapshot.summary()
    assert (snapshot.min, snapshot.max, snapshot.mean, snapshot.stddev) == (summary.min, summary.max, summary.mean, summary.stddev)
    merged = Histogram(0.01, min=10, max=10**6).snapshot()
    assert merged.merge(snapshot) == (0, 0, 0, 0) and merged.counts == snapshot.counts
    assert (merged + snapshot - snapshot).buckets() == snapshot.copy().buckets() == buckets
    total = Histogram(0.1)
    total.add(snapshot)
    assert sum(total.counts) == 103


def test_ranks_between_values() -> None:
    histogram = Histogram(0.1)
    histogram.record_n(1000, 100)
    snapshot = histogram.snapshot()
    bucket = snapshot.bucket_of(1000)
    low, middle, high = snapshot.interpolated_percentiles([0, 50, 100])
    assert bucket.lower <= low < middle < high <= bucket.upper
    assert snapshot.rank_of_value(middle, interpolate=True) == pytest.approx(50, abs=1) and snapshot.rank_of_value(middle) == 100
    interval = picollo.quantile_interval(histogram, 0.5, 0.9)
    assert (interval.value, interval.lower, interval.upper) == (bucket.midpoint, bucket.lower, bucket.upper)
    assert interval.total_count == 100 and interval.coverage >= 0.9


def test_updates_return_the_snapshot() -> None:
    histogram = Histogram()
    snapshot = histogram.snapshot()
    assert snapshot.update() is snapshot
    histogram.record(5)
    assert snapshot.total_count == 0
    assert [snapshot.update(deltas=deltas).total_count for deltas in (True, True, False)] == [1, 0, 1]


def test_empty() -> None:
    snapshot = Histogram().snapshot()
    calls: list[Callable[[], Any]] = [
        lambda: snapshot.percentile(50),
        lambda: snapshot.percentile_values([1, 2]),
        lambda: snapshot.rank_of_value(5),
        lambda: snapshot.min,
        lambda: snapshot.max,
    ]
    for call in calls:
        with pytest.raises(picollo.EmptyError, match="nothing was recorded"):
            call()
    assert snapshot.percentiles([]) == [] and snapshot.buckets() == []
    assert snapshot.bucket_percentiles() == snapshot.bucket_percentiles(non_empty=False) == []
    assert snapshot.linear_steps(5) == snapshot.logarithmic_steps(1, 2) == snapshot.percentile_steps() == []
    assert snapshot.counts == (0, 0, 0, 0) and math.isnan(snapshot.mean) and math.isnan(snapshot.stddev)


def test_bad_arguments() -> None:
    histogram = Histogram(0.01, 100, 2**40)
    histogram.record_many([150, 2**39])
    snapshot = histogram.snapshot()
    invalid, ranks = picollo.InvalidArgumentError, r"ranks must be within 0 \.\. 100, not"
    assert_refused(
        (lambda: snapshot.percentile(50, "median"), ValueError, "values must be one of midpoint, lower, upper"),  # type: ignore[arg-type]
        (lambda: histogram.summary("median"), ValueError, "values must be one of"),  # type: ignore[arg-type]
        (lambda: snapshot.bucket_percentiles(values="median"), ValueError, "values must be one of"),  # type: ignore[arg-type]
        (lambda: snapshot.bucket_of(99), invalid, "outside the range of the histogram"),
        (lambda: snapshot.bucket_of(U64_MAX), invalid, "outside the range of the histogram"),
        (lambda: snapshot.bucket_of(-1), ValueError, "must be within"),
        (lambda: snapshot.rank_of_value(2**64), ValueError, "must be within"),
        (lambda: snapshot.percentiles("50"), TypeError, ""),  # type: ignore[arg-type]
        (lambda: snapshot.percentiles(["fifty"]), ValueError, ""),  # type: ignore[list-item]
        (lambda: snapshot.linear_steps(0), invalid, ""),
        (lambda: snapshot.linear_steps(1), invalid, "16,777,216"),
        (lambda: snapshot.linear_steps(-1), ValueError, ""),
        (lambda: snapshot.logarithmic_steps(0, 2), invalid, ""),
        (lambda: snapshot.logarithmic_steps(1, math.nan), invalid, ""),
        (lambda: snapshot.percentile_steps(0), invalid, ""),
        *((lambda rank=rank: histogram.percentile(rank), invalid, ranks) for rank in (-1e-9, 100.000_000_001, math.nan, -math.inf)),
        (lambda: histogram.percentiles([50, 101]), invalid, ranks),
        (lambda: snapshot.percentile_values([50, 101]), invalid, ranks),
    )


def test_large_histograms_are_read_too() -> None:
    """Histograms above a megabyte use the calls that let other threads run."""
    histogram = Histogram(1e-5)
    assert histogram.footprint > 2**20
    histogram.record_many([1, 2, 3])
    snapshot = histogram.snapshot()
    histogram.record(2**40)
    assert snapshot.update(deltas=True).counts == (1, 0, 0, 0)
    assert [b.count for b in snapshot.buckets()] == [1]
    assert snapshot.percentile(50).bucket == snapshot.bucket_of(2**40)
    assert histogram.summary().total_count == 4
    snapshot.merge(histogram.snapshot())
    assert snapshot.total_count == 5
