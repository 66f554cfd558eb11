"""Histograms of doubles: errors, quantiles by both rules, intervals, text, and what is taken for a number."""

from __future__ import annotations

import array
import gc
import json
import math
import pickle
import re
import threading
from fractions import Fraction
from typing import Any, Callable

import pytest
from conftest import REPOSITORY, run_python
from hypothesis import given
from hypothesis import strategies as st

import picollo
from picollo import DoubleHistogram, DoubleSnapshot

numpy = pytest.importorskip("numpy")

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def collected(values: Any, **options: Any) -> DoubleSnapshot:
    histogram = DoubleHistogram(**options)
    histogram.record_many(values)
    return histogram.collect()


@given(st.lists(FINITE, min_size=1, max_size=50), st.sampled_from([0.1, 0.01, 0.001]), st.lists(st.integers(0, 1000), max_size=9))
def test_quantiles_of_sorted_values(values: list[float], error: float, thousandths: list[int]) -> None:
    snapshot = collected(values, relative_error=error)
    found = snapshot.quantiles([n / 1000 for n in thousandths])
    ordered = sorted(values)
    for n, reported in zip(thousandths, found):
        rank = max(1, math.ceil(Fraction(n * len(values), 1000)))
        truth = Fraction(ordered[rank - 1])
        assert abs(Fraction(reported) - truth) <= Fraction(error) * abs(truth)


@given(st.lists(FINITE, min_size=1, max_size=50), st.floats(0, 1))
def test_quantiles_of_dot_net(values: list[float], quantile: float) -> None:
    reported = collected(values, relative_error=0.01, dotnet_ranks=True).quantile(quantile)
    truth = Fraction(sorted(values)[min(max(0, math.floor(quantile * len(values))), len(values) - 1)])
    assert abs(Fraction(reported) - truth) <= Fraction(0.01) * abs(truth)


@given(st.lists(FINITE, max_size=50))
def test_exact_sums(values: list[float]) -> None:
    statistics = collected(values, exact_sum=True).statistics
    truth = sum(map(Fraction, values), Fraction())
    try:
        assert statistics.sum == float(truth)
    except OverflowError:
        assert math.isinf(statistics.sum)
    if values:
        assert (statistics.min, statistics.max) == (min(values), max(values))
    assert statistics.count == len(values)


def test_what_is_not_finite() -> None:
    statistics = collected([math.nan, math.inf, -math.inf, 1.5, -0.0, 0.0]).statistics
    assert (statistics.count, statistics.not_finite, statistics.lost) == (3, 3, 0)
    assert statistics.min == 0 and statistics.sum == pytest.approx(1.5, rel=0.001)


def test_nothing() -> None:
    snapshot = DoubleHistogram().collect()
    statistics = snapshot.statistics
    assert statistics.count == 0 and statistics.sum == 0 and math.isnan(statistics.mean)
    with pytest.raises(picollo.EmptyError):
        snapshot.quantile(0.5)
    assert snapshot.quantiles([]) == []
    assert snapshot.buckets() == [] and len(snapshot.bucket_array()) == 0
    summary = snapshot.summary()
    assert summary.percentiles == () and summary.as_dict()["p50"] is None and summary.as_dict()["mean"] is None
    with pytest.raises(picollo.EmptyError):
        summary[50]


VALUES = [0.5, -2.0, 3.0, 3.0, 1e300, -1e-300]


@pytest.mark.parametrize(
    "values",
    [
        array.array("d", VALUES),
        memoryview(array.array("d", VALUES)).toreadonly(),
        numpy.array(VALUES),
        numpy.array(VALUES).reshape(2, 3),
        numpy.array(VALUES).reshape(2, 3).T,
        numpy.array([*VALUES, *VALUES])[:6],
        numpy.repeat(numpy.array(VALUES), 2)[::2],
        numpy.array(VALUES, dtype=">f8"),
        VALUES,
        tuple(VALUES),
        iter(VALUES),
        (value for value in VALUES),
    ],
)
def test_what_is_taken(values: Any) -> None:
    assert [bucket.count for bucket in collected(values).buckets()] == [1, 1, 1, 2, 1]


@pytest.mark.parametrize(
    "values",
    [numpy.array([1, 2, 3]), numpy.array([1, 2, 3], "f4"), array.array("i", [1, 2, 3]), [1, 2, 3], numpy.array([1, 2, 3], "u1"), range(1, 4)],
)
def test_what_is_converted(values: Any) -> None:
    assert collected(values, exact_sum=True).statistics.sum == 6.0


@pytest.mark.parametrize("values", ["12", b"12", {1: 2}, 5, [None], ["x"], None])
def test_what_is_refused(values: Any) -> None:
    histogram = DoubleHistogram()
    with pytest.raises(TypeError):
        histogram.record_many(values)
    assert histogram.snapshot().total_count == 0


def test_single_values() -> None:
    histogram = DoubleHistogram(exact_sum=True)
    histogram.record(1.5)
    histogram.record(2)
    histogram.record(numpy.float64(0.5))
    histogram.record(Fraction(1, 4))  # type: ignore[arg-type]
    histogram.record_n(0.25, 3)
    assert histogram.summary().statistics.sum == 5.0
    for wrong in ("x", None, [1.0]):
        with pytest.raises((TypeError, ValueError)):
            histogram.record(wrong)  # type: ignore[arg-type]


def test_intervals() -> None:
    histogram = DoubleHistogram()
    total = DoubleSnapshot()
    for round_number in range(3):
        histogram.record_many([1.0] * 10)
        assert histogram.snapshot().total_count == 10 and histogram.summary().statistics.count == 10
        interval = histogram.collect()
        assert interval.total_count == 10
        total.merge(interval)
    assert histogram.collect().total_count == 0
    assert total.total_count == 30
    histogram.add(total)
    assert histogram.collect().total_count == 30
    with pytest.raises(ValueError):
        total.merge(total)
    with pytest.raises(TypeError):
        total.merge(picollo.Histogram().snapshot())  # type: ignore[arg-type]


def test_threads_lose_nothing() -> None:
    histogram = DoubleHistogram(0.01, exact_sum=True)
    values = numpy.random.default_rng(1).integers(-1000, 1000, 50_000).astype("f8")

    def record() -> None:
        for _ in range(4):
            histogram.record_many(values)

    threads = [threading.Thread(target=record) for _ in range(3)]
    for thread in threads:
        thread.start()
    count, total = 0, 0.0
    while any(thread.is_alive() for thread in threads):
        statistics = histogram.collect().statistics
        count, total = count + statistics.count, total + statistics.sum
    statistics = histogram.collect().statistics
    assert count + statistics.count == 12 * len(values)
    assert total + statistics.sum == 12 * values.sum()


def test_text() -> None:
    histogram = DoubleHistogram(0.01, name="Ratio")
    histogram.record_many(numpy.arange(1, 101) / 2)
    summary = histogram.summary()
    assert summary.markdown().startswith("##### Ratio\n| Percentile |")
    assert str(summary).startswith("Ratio: 100 values\n") and " ms" in summary.text(unit="ms")
    assert summary.line().startswith("Ratio: Total=100, Mean=")
    assert json.loads(summary.json("other"))["title"] == "other"
    assert len(summary.csv().splitlines()) == 17
    assert summary[50] == pytest.approx(25, rel=0.01) and summary.percentiles[5].target_count == 50
    assert summary.as_dict()["p99"] == pytest.approx(49.5, rel=0.01)
    assert "<table" in summary._repr_html_() and "Ratio" in repr(histogram)
    again = pickle.loads(pickle.dumps(summary))
    assert str(again) == str(summary)
    with pytest.raises(KeyError):
        summary[33]
    for thing in (histogram, histogram.snapshot()):
        with pytest.raises(TypeError):
            pickle.dumps(thing)


def test_bucket_arrays() -> None:
    snapshot = collected([-1.5, 2.5, 2.5])
    buckets = snapshot.bucket_array()
    assert buckets["count"].tolist() == [1, 2]
    assert (buckets["lower"] <= [-1.5, 2.5]).all() and (buckets["upper"] >= [-1.5, 2.5]).all()
    assert [bucket.midpoint for bucket in snapshot.buckets()] == buckets["midpoint"].tolist()


def test_limits() -> None:
    empty = DoubleHistogram().footprint
    histogram = DoubleHistogram(max_bytes=empty + 512 + 8192)
    histogram.record_many([1.5] * 10 + [3.0] * 7)
    assert (histogram.summary().statistics.count, histogram.summary().statistics.lost) == (10, 7)
    assert histogram.footprint <= empty + 512 + 8192
    with pytest.raises(picollo.InvalidArgumentError):
        DoubleHistogram(max_bytes=10)
    for wrong in (0, -1, math.nan, math.inf):
        with pytest.raises(ValueError):
            DoubleHistogram(wrong)
    for quantiles in ([-0.1], [1.1], [math.nan]):
        with pytest.raises(picollo.InvalidArgumentError):
            collected([1.0]).quantiles(quantiles)


def test_closing() -> None:
    histogram = DoubleHistogram()
    snapshot = histogram.snapshot()
    histogram.close()
    histogram.close()
    assert histogram.closed and "closed" in repr(histogram)
    calls: list[Callable[[], Any]] = [
        lambda: histogram.record(1.0),
        lambda: histogram.record_n(1.0, 1),
        lambda: histogram.record_many([1.0]),
        lambda: histogram.collect(),
        lambda: histogram.summary(),
        lambda: histogram.footprint,
        lambda: histogram.add(snapshot),
        lambda: histogram.__enter__(),
    ]
    for call in calls:
        with pytest.raises(picollo.ClosedError, match="the histogram is closed"):
            call()
    snapshot.close()
    calls = [lambda: snapshot.statistics, lambda: snapshot.quantiles([0.5]), lambda: snapshot.buckets()]
    for call in calls:
        with pytest.raises(picollo.ClosedError, match="the snapshot is closed"):
            call()
    # What could not be made is closed, too.
    for _ in range(100):
        with DoubleHistogram() as other, other.collect():
            other.record(1.0)
    gc.collect()


@pytest.mark.parametrize("page", ["doubles-and-sparse.md", "metrics.md"])
def test_the_examples_of_the_pages_run(page: str) -> None:
    text = (REPOSITORY / "docs" / page).read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert examples
    result = run_python("\n".join(examples))
    assert (result.returncode, result.stderr) == (0, "")


def doubles_of(values: Any) -> list[float]:
    histogram = picollo.DoubleHistogram()
    histogram.record_many(values)
    return [bucket.midpoint for bucket in histogram.snapshot().buckets() for _ in range(bucket.count)]


def test_what_is_masked_is_left_out() -> None:
    data = numpy.array([1.0, 2.0, 4.0, 8.0])
    masked = numpy.ma.masked_array(data, mask=[False, True, False, True])
    assert doubles_of(masked) == doubles_of([1.0, 4.0])
    assert doubles_of(masked.astype("f4")) == doubles_of([1.0, 4.0])
    assert doubles_of(masked.astype("i8").reshape(2, 2)) == doubles_of([1.0, 4.0])
    assert doubles_of(numpy.ma.masked_invalid([1.0, float("nan")])) == doubles_of([1.0])
    assert doubles_of(numpy.ma.masked_array(data)) == doubles_of(list(data))


@pytest.mark.parametrize(
    ("values", "advice"),
    [
        (numpy.array([1 + 2j]), "real"),
        (numpy.array([1 + 2j], "c8"), "real"),
        (numpy.array(["1.5"]), "astype"),
        (numpy.array([b"1.5"]), "astype"),
        (numpy.array(["2024-01-01"], "M8[s]"), "timedelta64"),
        (numpy.array([5], "m8[ns]"), "timedelta64"),
        (numpy.zeros(2, [("a", "f8")]), "astype"),
        (numpy.array(["1.5"], object), "number"),
        (numpy.array([1 + 2j], object), "number"),
        (numpy.ma.masked_array([1 + 2j, 1], mask=[False, True]), "real"),
        (numpy.complex128(1), "real"),
        ([1 + 2j], "number"),
        (["1.5"], "number"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_is_no_double_is_refused(values: Any, advice: str) -> None:
    histogram = picollo.DoubleHistogram()
    with pytest.raises(TypeError, match=advice):
        histogram.record_many(values)
    assert not list(histogram.snapshot().buckets())


def test_what_looks_like_an_array_of_what_is_no_double_is_refused() -> None:
    class Arraylike:
        def __init__(self, values: Any) -> None:
            self.values = values

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return self.values if dtype is None else self.values.astype(dtype)

    assert doubles_of(Arraylike(numpy.array([1, 2], "i4"))) == doubles_of([1.0, 2.0])
    for values in (numpy.array([1j]), numpy.array(["1"]), numpy.array([1], "M8[s]"), numpy.array(["1"], object)):
        with pytest.raises(TypeError, match="values must be"):
            doubles_of(Arraylike(values))


def test_numbers_of_all_kinds_are_taken() -> None:
    expected = doubles_of([1.0, 2.0, 4.0])
    for dtype in ("f2", "f4", "f8", "g", ">f8", "i1", "u2", "i4", "u8", "object"):
        assert doubles_of(numpy.array([1, 2, 4], dtype)) == expected, dtype
    assert doubles_of(numpy.array([True, True])) == doubles_of([1.0, 1.0])
    assert doubles_of(numpy.array([[1.0, 9.0], [2.0, 9.0], [4.0, 9.0]])[:, 0]) == expected
