"""Steps, counts between values, and the figures that a snapshot tells directly."""

from __future__ import annotations

import math
from typing import Any, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import bucket

import picollo
from picollo import Histogram, Snapshot

#: In HdrHistogram, 17 and 400 in units of 1; and 5000 in units of 1024.
UNIT_1, UNIT_1024 = "HISTFAAAAB9YhZNpmSzMwMDAygABzFCaEUIJd9h/gLAUmX6zMgEA", "HISTFAAAACB4nJNpmSzMwMDAxAABzBCKBUw6ALH9B4gIOxMAQyACyA=="


def filled(values: "list[int]", **options: Any) -> Snapshot:
    histogram = Histogram(**{"significant_digits": 2, "max": 2**40, **options})
    histogram.record_many(values)
    return histogram.snapshot()


def parts(values: "list[int]", ends: "list[int]") -> "list[list[tuple[int, int]]]":
    """The buckets of values, by the step in whose last bucket or before it they are."""
    buckets, listed = sorted(bucket(value, 7) for value in values), []
    for end in ends:
        until = bucket(end, 7)[1]
        listed.append([pair for pair in buckets if pair[1] <= until])
        buckets = [pair for pair in buckets if pair[1] > until]
    assert not buckets, "all is covered"
    return listed


values = st.lists(st.integers(0, 40).flatmap(lambda bits: st.integers(0, 2**bits - 1)), max_size=50)
small = st.lists(st.integers(0, 20_000), max_size=50)


@given(st.one_of(small.map(lambda v: (v, "linear")), values.map(lambda v: (v, "logarithmic"))), st.integers(1, 3000))
def test_steps(case: "tuple[list[int], str]", first: int) -> None:
    values, kind = case
    snapshot = filled(values)
    if kind == "linear":
        steps, ends = snapshot.linear_steps(first), [first * (place + 1) - 1 for place in range(len(snapshot.linear_steps(first)))]
    else:
        steps = snapshot.logarithmic_steps(first, 2.0)
        ends = [first * 2**place - 1 for place in range(len(steps))]
    assert [step.to for step in steps] == ends and [step.from_ for step in steps] == [0, *ends][: len(steps)]
    before: list[tuple[int, int]] = []
    total = 0
    for step, held in zip(steps, parts(values, ends)):
        before += held
        assert (step.added_count, step.cumulative_count) == (len(held), len(before))
        assert step.cumulative_value == sum(low + (high - low + 1) // 2 for low, high in before)
        assert step.bucket_count == before.count(bucket(step.to, 7))
        assert step.rank == step.rank_level == pytest.approx(100 * len(before) / len(values))
        total += step.added_count
    assert total == len(values)


@given(values.filter(bool), st.integers(1, 10))
def test_steps_of_percentiles(values: "list[int]", ticks: int) -> None:
    snapshot = filled(values)
    steps = snapshot.percentile_steps(ticks)
    rows = [line.split() for line in snapshot.hgrm(ticks).splitlines() if line and line.split()[0][0].isdigit()]
    # The last row is infinitely far from 100 %.
    assert [(step.to, step.cumulative_count) for step in steps] == [(int(float(row[0])), int(row[2])) for row in rows]
    for step in steps:
        assert step.bucket_count == snapshot.bucket_of(step.to).count > 0
        assert step.cumulative_count == snapshot.count_between(0, step.to) == sum(v <= step.to for v in values)
    assert steps[-1].rank == steps[-1].rank_level == 100


def test_steps_of_nothing_and_wrong_ones() -> None:
    empty = filled([])
    assert empty.linear_steps(5) == empty.logarithmic_steps(1, 2) == empty.percentile_steps() == []
    snapshot = filled([5, 2**39])
    calls: list[Callable[[], Any]] = [
        lambda: snapshot.linear_steps(0),
        lambda: snapshot.linear_steps(1),
        lambda: snapshot.logarithmic_steps(0, 2),
        lambda: snapshot.logarithmic_steps(1, 1),
        lambda: snapshot.logarithmic_steps(1, math.nan),
        lambda: snapshot.percentile_steps(0),
    ]
    for call in calls:
        with pytest.raises(picollo.InvalidArgumentError):
            call()
    with pytest.raises(ValueError):
        snapshot.linear_steps(-1)


@given(values, st.integers(0, 2**40), st.integers(0, 2**40))
def test_count_between(values: "list[int]", low: int, high: int) -> None:
    snapshot = filled(values)
    first, last = bucket(low, 7)[0], bucket(high, 7)[1]
    wanted = sum(first <= value <= last for value in values) if low <= high else 0
    assert snapshot.count_between(low, high) == wanted


def test_figures() -> None:
    snapshot = filled([1, 1000, 100_000])
    summary = snapshot.summary()
    assert (snapshot.min, snapshot.max, snapshot.mean, snapshot.stddev) == (
        summary.min, summary.max, summary.mean, summary.stddev,
    )  # fmt: skip
    copy = snapshot.copy()
    assert copy.buckets() == snapshot.buckets() and copy is not snapshot
    empty = filled([])
    assert math.isnan(empty.mean) and math.isnan(empty.stddev)
    for figure in ("min", "max"):
        with pytest.raises(picollo.EmptyError):
            getattr(empty, figure)


def test_layouts() -> None:
    layout = filled([], min=100, max=10**6).layout
    assert (layout.low, layout.high, layout.unit, layout.significant_digits) == (100, 10**6, 1, 2)
    assert layout.counters == len(filled([], min=100, max=10**6).buckets(non_empty=False))
    assert filled([], significant_digits=None).layout.significant_digits == 0
    assert Snapshot.decode(UNIT_1).layout.unit == 1
    snapshot = Snapshot.decode(UNIT_1024)
    assert (snapshot.layout.unit, snapshot.layout.significant_digits) == (1024, 3)
    assert [(b.lower, b.upper, b.count) for b in snapshot.buckets()] == [(4096, 5119, 1)]
    for other in (snapshot.copy(), Snapshot.decode(snapshot.encode()), Snapshot.decode(snapshot.encode_text())):
        assert (other.layout.unit, other.buckets()) == (1024, snapshot.buckets())
