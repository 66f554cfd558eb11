"""numpy and pandas: the same numbers as without them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from conftest import run_python
from hypothesis import given
from hypothesis import strategies as st
from oracle import Naive

import picollo
from picollo import Histogram, Snapshot

numpy = pytest.importorskip("numpy")

U64_MAX = 2**64 - 1


def snapshot_of(values: Any, **options: Any) -> Snapshot:
    histogram = Histogram(0.01, **options)
    histogram.record_many(values)
    return histogram.snapshot()


@pytest.mark.parametrize("non_empty", [True, False])
@pytest.mark.parametrize("values", [[], [0], [U64_MAX], [5, 5, 10**6, 2**63, U64_MAX]])
def test_bucket_arrays_are_the_buckets(values: list[int], non_empty: bool) -> None:
    snapshot = snapshot_of(values)
    array = snapshot.bucket_array(non_empty)
    assert array.dtype.names == picollo.Bucket._fields
    assert [tuple(map(int, row)) for row in array] == [tuple(bucket) for bucket in snapshot.buckets(non_empty)]
    # It has memory of its own.
    snapshot.close()
    assert int(array["count"].sum()) == len(values)


@given(st.lists(st.integers(0, U64_MAX) | st.integers(0, 5000)))
def test_counts_and_edges_agree_with_numpy(values: list[int]) -> None:
    counts, edges = snapshot_of(values).counts_and_edges()
    assert counts.dtype == edges.dtype == numpy.uint64
    if not values:
        assert len(counts) == len(edges) == 0
        return
    assert len(edges) == len(counts) + 1
    assert counts[0] and counts[-1] and counts.sum() == len(values)
    assert bool((edges[1:] > edges[:-1]).all())
    where = numpy.searchsorted(edges, numpy.array(values, "u8"), side="right") - 1
    # The open end of the last bucket is one too low.
    where = numpy.minimum(where, len(counts) - 1)
    assert numpy.array_equal(numpy.bincount(where, minlength=len(counts)), counts)


def test_edges_of_the_last_bucket() -> None:
    counts, edges = snapshot_of([U64_MAX]).counts_and_edges()
    assert (counts.tolist(), int(edges[-1])) == ([1], U64_MAX)
    counts, edges = snapshot_of([7]).counts_and_edges()
    assert (counts.tolist(), edges.tolist()) == ([1], [7, 8])


def test_percentile_arrays() -> None:
    snapshot = snapshot_of(range(1000))
    ranks = [0, 50, 99.9, 100]
    for selection in ("midpoint", "lower", "upper"):
        found = snapshot.percentile_array(ranks, selection)
        assert found.dtype == numpy.uint64
        assert found.tolist() == snapshot.percentile_values(ranks, selection)
    assert snapshot.percentile_array(50).shape == ()
    assert snapshot.percentile_array(numpy.array([[50, 99], [0, 100]])[:, ::-1]).tolist() == [
        snapshot.percentile_values([99, 50]),
        snapshot.percentile_values([100, 0]),
    ]
    assert snapshot.percentile_array([]).shape == (0,)
    with pytest.raises(picollo.InvalidArgumentError, match="not 101.0, nan"):
        snapshot.percentile_array([1, 101, math.nan])
    with pytest.raises(picollo.EmptyError):
        snapshot_of([]).percentile_array([50])
    snapshot.close()
    with pytest.raises(picollo.ClosedError):
        snapshot.percentile_array([50])


@given(st.lists(st.integers(0, 10**6), min_size=1), st.lists(st.floats(0, 100).map(lambda r: round(r, 6)), min_size=1))
def test_percentile_arrays_against_sorted_values(values: list[int], ranks: list[float]) -> None:
    naive = Naive(0.01)
    for value in values:
        naive.record(value)
    found = snapshot_of(values).percentile_array(ranks, "lower")
    assert found.tolist() == [naive.percentile(rank)[0] for rank in ranks]


def test_series() -> None:
    pytest.importorskip("pandas")
    histogram = Histogram(0.01, name="latency", min=10)
    histogram.record_many([5, *range(10, 1010)])
    summary = histogram.summary()
    series = summary.to_series()
    assert series.name == "latency" and series.dtype == "float64"
    assert dict(series) == summary.as_dict()
    empty = Histogram().summary().to_series()
    assert empty["total_count"] == 0 and math.isnan(empty["p50"]) and empty.name is None


def test_frames_of_summaries() -> None:
    pandas = pytest.importorskip("pandas")
    full, huge, empty = Histogram(0.01, name="full"), Histogram(name="huge"), Histogram(name="empty")
    full.record_many(range(1000))
    huge.record_n(U64_MAX, 2**60 + 1)
    summaries = [histogram.summary() for histogram in (full, huge, empty)]
    frame = picollo.to_frame(summaries)
    assert list(frame.index) == ["full", "huge", "empty"]
    assert list(frame.columns) == list(summaries[0].as_dict())
    assert frame["p99"].dtype == "UInt64" and frame["mean"].dtype == "float64"
    # Exact, where a double would not be.
    assert int(frame["total_count"]["huge"]) == 2**60 + 1
    assert frame["p50"]["empty"] is pandas.NA and math.isnan(frame["mean"]["empty"])
    assert frame["total_count"]["full"] == 1000
    assert list(picollo.to_frame(summaries, index=[1, 2, 3]).index) == [1, 2, 3]
    assert list(picollo.to_frame([Histogram().summary()] * 2).index) == [0, 1]
    assert len(picollo.to_frame([])) == 0
    assert summaries[0].to_frame().equals(picollo.to_frame(summaries[:1]))


def test_frames_of_buckets() -> None:
    pytest.importorskip("pandas")
    snapshot = snapshot_of([5, 5, 10**6, U64_MAX])
    frame = snapshot.to_frame()
    assert list(frame.columns) == list(picollo.Bucket._fields)
    assert [tuple(row) for row in frame.itertuples(index=False)] == [tuple(bucket) for bucket in snapshot.buckets()]
    assert len(snapshot_of([]).to_frame()) == 0


def test_frames_of_diffs() -> None:
    pytest.importorskip("pandas")
    before, after = Histogram(name="A"), Histogram(name="B")
    before.record_many([0, 100, 100])
    after.record_many([0, 150, 150])
    frame = before.diff(after).to_frame()
    assert list(frame.columns) == ["A", "B", "change"]
    assert frame.loc["p50"].tolist() == [100, 150, 0.5]
    assert frame.loc["p0"].tolist() == [0, 0, 0]
    assert math.isnan(Histogram().diff(after).to_frame().loc["total_count", "change"])
    assert list(before.diff(before).to_frame().columns) == ["A (before)", "A (after)", "change"]
    assert list(Histogram().diff(Histogram()).to_frame().columns) == ["Before", "After", "change"]


def test_neither_is_needed_nor_loaded() -> None:
    result = run_python(
        """
        import sys
        import picollo
        histogram = picollo.Histogram()
        histogram.record(5)
        str(histogram), histogram.snapshot().buckets(), histogram._repr_html_()
        for name in ("numpy", "pandas", "matplotlib"):
            assert name not in sys.modules, name
            sys.modules[name] = None
        for call in (histogram.snapshot().bucket_array, histogram.snapshot().counts_and_edges):
            try:
                call()
            except ImportError as error:
                assert "pip install numpy" in str(error), error
            else:
                raise AssertionError
        for call in (histogram.summary().to_series, histogram.summary().to_frame, histogram.diff(histogram).to_frame):
            try:
                call()
            except ImportError as error:
                assert "pip install pandas" in str(error), error
            else:
                raise AssertionError
        """
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
