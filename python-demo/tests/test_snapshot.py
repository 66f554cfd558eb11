"""Snapshots against a naive oracle, and what may not be asked of them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import U64_MAX, Naive, bucket, scale

import picollo
from picollo import Histogram

errors = st.sampled_from([0.1, 0.05, 0.01, 0.001])
# Spread over all magnitudes, with many small and many equal values.
values = st.one_of(
    st.integers(0, 64).flatmap(lambda bits: st.integers(0, 2**bits - 1)),
    st.integers(0, 300),
    st.sampled_from([0, 1, 127, 128, 2**32, 2**63, U64_MAX]),
)
ranks = st.one_of(
    st.integers(0, 100 * 10**9).map(lambda billionths: billionths / 10**9),
    st.sampled_from([0.0, 50.0, 99.0, 99.9, 99.99, 100.0]),
)
selections = st.sampled_from(["midpoint", "lower", "upper"])


@st.composite
def ranges(draw: Any) -> tuple[int, int]:
    low, high = sorted(draw(st.lists(values, min_size=2, max_size=2, unique=True)))
    # The widest takes 28,672 counters at 0.001: fine once, not hundreds of times.
    return low, high


def filled(error: float, limits: tuple[int, int], recorded: list[int]) -> tuple[Histogram, Naive]:
    histogram, naive = Histogram(error, *limits), Naive(error, *limits)
    histogram.record_many(recorded)
    for value in recorded:
        naive.record(value)
    return histogram, naive


@given(errors, ranges(), st.lists(values, max_size=60), st.lists(ranks, max_size=20), selections)
def test_like_the_naive_histogram(
    error: float, limits: tuple[int, int], recorded: list[int], asked: list[float], selection: Any
) -> None:
    histogram, naive = filled(error, limits, recorded)
    snapshot = histogram.snapshot()
    assert snapshot.counts == (len(naive.values), naive.underflow, naive.overflow, 0)
    assert [(b.lower, b.upper, b.count) for b in snapshot.buckets()] == naive.buckets()
    if not naive.values:
        if asked:
            with pytest.raises(picollo.EmptyError):
                snapshot.percentiles(asked)
        return
    expected = [naive.percentile(rank) for rank in asked]
    found = snapshot.percentiles(asked, selection)
    assert [(p.bucket.lower, p.bucket.upper) for p in found] == expected
    assert [p.rank for p in found] == asked
    assert [p.value for p in found] == [p.bucket.value(selection) for p in found]
    assert snapshot.percentile_values(asked, selection) == [p.value for p in found]
    summary = snapshot.summary(selection)
    assert summary.mean == pytest.approx(float(naive.mean()), rel=1e-12)
    assert summary.stddev == pytest.approx(math.sqrt(naive.variance()), rel=1e-9, abs=1e-6)
    for percentile in summary.percentiles:
        assert (percentile.bucket.lower, percentile.bucket.upper) == naive.percentile(percentile.rank)
        assert percentile.value == percentile.bucket.value(selection)
    for value in naive.values[:5]:
        assert snapshot.rank_of_value(value) == pytest.approx(float(naive.rank_of_value(value)))
        assert snapshot.rank_of_value(value, interpolate=True) <= snapshot.rank_of_value(value) + 1e-9
    before = 0
    for listed in snapshot.bucket_percentiles(values=selection):
        assert listed.target_count == before + math.ceil(listed.bucket.count / 2)
        assert listed.rank == 100 * listed.target_count / len(naive.values)
        assert listed.value == listed.bucket.value(selection)
        before += listed.bucket.count


@given(errors, values)
def test_the_bucket_of_a_value(error: float, value: int) -> None:
    snapshot = Histogram(error).snapshot()
    found = snapshot.bucket_of(value)
    assert (found.lower, found.upper) == bucket(value, scale(error))
    assert found.step == found.upper - found.lower + 1
    assert found.count == 0


@given(st.lists(st.one_of(values, st.sampled_from(["reset", "update"])), max_size=60))
def test_deltas_add_up_whatever_is_reset(events: list[Any]) -> None:
    histogram = Histogram(0.01)
    watcher = histogram.snapshot()
    since_reset = total = deltas = 0
    for event in events:
        if event == "reset":
            histogram.reset()
            since_reset = 0
        elif event == "update":
            deltas += watcher.update(deltas=True).total_count
            assert deltas == total
            assert histogram.total_count == since_reset
        else:
            histogram.record(event)
            since_reset += 1
            total += 1
    assert watcher.update().total_count == since_reset


def test_updates_return_the_snapshot() -> None:
    histogram = Histogram()
    snapshot = histogram.snapshot()
    assert snapshot.update() is snapshot
    histogram.record(5)
    assert snapshot.total_count == 0
    assert snapshot.update(deltas=True).total_count == 1
    assert snapshot.update(deltas=True).total_count == 0
    assert snapshot.update().total_count == 1


def test_all_buckets() -> None:
    histogram = Histogram(0.01)
    histogram.record_many([0, 5, 5, U64_MAX])
    buckets = histogram.snapshot().buckets(non_empty=False)
    assert len(buckets) == 3776
    assert buckets[0].lower == 0
    assert buckets[-1].upper == U64_MAX
    for previous, following in zip(buckets, buckets[1:]):
        assert following.lower == previous.upper + 1
        assert following.storage_index == previous.storage_index + 1
    assert sum(b.count for b in buckets) == 4
    listed = histogram.snapshot().bucket_percentiles(non_empty=False)
    assert [p.bucket for p in listed] == buckets


def test_the_rank_of_a_bucket_is_that_of_an_observation() -> None:
    histogram = Histogram(max=1000)
    histogram.record(1)
    only = histogram.snapshot().bucket_percentiles()[0]
    assert (only.rank, only.target_count, str(only)) == (100.0, 1, "P100=1 [1 / 1]: [1, 2) 1")
    histogram.record_n(1, 91_899)
    histogram.record_n(2, 27)
    histogram.record_n(3, 1_000_000 - 91_927)
    middle = histogram.snapshot().bucket_percentiles()[1]
    assert (middle.rank, middle.target_count) == (9.1914, 91_914)
    assert str(middle) == "P9.1914=2 [2 / 2]: [2, 3) 27"


def test_empty() -> None:
    snapshot = Histogram().snapshot()
    for call in (
        lambda: snapshot.percentile(50),
        lambda: snapshot.percentiles([1, 2]),
        lambda: snapshot.percentile_values([1, 2]),
        lambda: snapshot.rank_of_value(5),
    ):
        with pytest.raises(picollo.EmptyError, match="nothing was recorded"):
            call()
    assert snapshot.percentiles([]) == []
    assert snapshot.buckets() == []
    assert snapshot.bucket_percentiles() == []
    assert snapshot.bucket_percentiles(non_empty=False) == []
    assert snapshot.counts == (0, 0, 0, 0)


@pytest.mark.parametrize("rank", [-1e-9, 100.000_000_001, math.nan, math.inf, -math.inf])
def test_ranks_out_of_range(rank: float) -> None:
    histogram = Histogram()
    histogram.record(5)
    for call in (
        lambda: histogram.percentile(rank),
        lambda: histogram.percentiles([50, rank]),
        lambda: histogram.snapshot().percentile_values([50, rank]),
    ):
        with pytest.raises(picollo.InvalidArgumentError, match=r"ranks must be within 0 \.\. 100, not"):
            call()


def test_bad_arguments() -> None:
    histogram = Histogram(0.01, 100, 200)
    histogram.record(150)
    snapshot = histogram.snapshot()
    with pytest.raises(ValueError, match="values must be one of midpoint, lower, upper"):
        snapshot.percentile(50, "median")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="values must be one of"):
        histogram.summary("median")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="values must be one of"):
        snapshot.bucket_percentiles(values="median")  # type: ignore[arg-type]
    for value in (99, 201 + 1, 0, U64_MAX):
        with pytest.raises(picollo.InvalidArgumentError, match="outside the range of the histogram"):
            snapshot.bucket_of(value)
    for value in (-1, 2**64):
        with pytest.raises(ValueError, match="must be within"):
            snapshot.bucket_of(value)
        with pytest.raises(ValueError, match="must be within"):
            snapshot.rank_of_value(value)
    with pytest.raises(TypeError):
        snapshot.percentiles("50")  # type: ignore[arg-type]
    with pytest.raises((TypeError, ValueError)):
        snapshot.percentiles(["fifty"])  # type: ignore[list-item]
    assert snapshot.rank_of_value(0) == 0
    assert snapshot.rank_of_value(U64_MAX) == 100


@given(errors, errors, ranges(), ranges(), st.lists(values, max_size=30), st.lists(values, max_size=30))
def test_adding_and_merging_lose_nothing(
    error: float,
    other_error: float,
    limits: tuple[int, int],
    other_limits: tuple[int, int],
    recorded: list[int],
    added: list[int],
) -> None:
    other, _ = filled(other_error, other_limits, added)
    everything = len(recorded) + len(added)
    merged, _ = filled(error, limits, recorded)
    snapshot = merged.snapshot()
    snapshot.merge(other.snapshot())
    assert sum(snapshot.counts) == everything
    merged.add(other.snapshot())
    assert merged.counts == snapshot.counts
    assert merged.snapshot().buckets() == snapshot.buckets()
    again, _ = filled(error, limits, recorded)
    again.add(other)
    assert again.snapshot().buckets() == snapshot.buckets()


@given(errors, st.lists(values, max_size=30), st.lists(values, max_size=30))
def test_adding_one_layout_is_recording(error: float, recorded: list[int], added: list[int]) -> None:
    histogram, _ = filled(error, (0, U64_MAX), recorded)
    other, _ = filled(error, (0, U64_MAX), added)
    together, _ = filled(error, (0, U64_MAX), recorded + added)
    histogram.add(other)
    assert histogram.snapshot().buckets() == together.snapshot().buckets()


def test_adding_bad_things() -> None:
    histogram = Histogram()
    snapshot = histogram.snapshot()
    with pytest.raises(TypeError):
        histogram.add(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        snapshot.merge(histogram)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cannot merge itself"):
        snapshot.merge(snapshot)
    histogram.record(5)
    histogram.add(histogram)
    assert histogram.total_count == 2


def test_large_histograms_are_read_too() -> None:
    """Those above a megabyte go through the calls that let other threads run."""
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
