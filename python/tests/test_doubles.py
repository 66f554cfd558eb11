"""Histograms of doubles: errors, quantiles, intervals, text, and accepted numbers."""

from __future__ import annotations

import array
import gc
import json
import math
import pickle
from fractions import Fraction
from functools import partial
from typing import Any, Callable

import pytest
from conftest import assert_refused

import picollo
from picollo import DoubleHistogram, DoubleSnapshot

numpy = pytest.importorskip("numpy")


def collected(values: Any, **options: Any) -> DoubleSnapshot:
    histogram = DoubleHistogram(**options)
    histogram.record_many(values)
    return histogram.collect()


def midpoints(values: Any) -> list[float]:
    return [bucket.midpoint for bucket in collected(values).buckets() for _ in range(bucket.count)]


def test_values_that_are_not_finite_and_no_values() -> None:
    statistics = collected([math.nan, math.inf, -math.inf, 1.5, -0.0, 0.0]).statistics
    assert (statistics.count, statistics.not_finite, statistics.lost) == (3, 3, 0)
    assert statistics.min == 0 and statistics.sum == pytest.approx(1.5, rel=0.001)
    snapshot = DoubleHistogram().collect()
    statistics, summary = snapshot.statistics, snapshot.summary()
    assert statistics.count == 0 and statistics.sum == 0 and math.isnan(statistics.mean)
    assert snapshot.quantiles([]) == [] and snapshot.buckets() == [] and len(snapshot.bucket_array()) == 0
    assert summary.percentiles == () and summary.as_dict()["p50"] is None and summary.as_dict()["mean"] is None
    assert_refused((lambda: snapshot.quantile(0.5), picollo.EmptyError, ""), (lambda: summary[50], picollo.EmptyError, ""))


VALUES = [0.5, -2.0, 3.0, 3.0, 1e300, -1e-300]


@pytest.mark.parametrize(
    "values",
    [
        array.array("d", VALUES),
        memoryview(array.array("d", VALUES)).toreadonly(),
        numpy.array(VALUES),
        numpy.array(VALUES).reshape(2, 3).T,
        numpy.repeat(numpy.array(VALUES), 2)[::2],
        numpy.array(VALUES, dtype=">f8"),
        tuple(VALUES),
        iter(VALUES),
    ],
)
def test_accepted_values(values: Any) -> None:
    assert [bucket.count for bucket in collected(values).buckets()] == [1, 1, 1, 2, 1]


class Arraylike:
    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values if dtype is None else self.values.astype(dtype)


KINDS = ("f2", "f4", "f8", "g", ">f8", "i1", "u2", "i4", "u8", "object")
MASKED = numpy.ma.masked_array(numpy.array([1.0, 9.0, 2.0, 9.0, 4.0, 9.0]), mask=[False, True] * 3)


@pytest.mark.parametrize(
    "values",
    [
        *(numpy.array([1, 2, 4], dtype) for dtype in KINDS),
        array.array("i", [1, 2, 4]),
        [1, 2, 4],
        numpy.array([[1.0, 9.0], [2.0, 9.0], [4.0, 9.0]])[:, 0],
        Arraylike(numpy.array([1, 2, 4], "i4")),
        MASKED,
        MASKED.astype("f4"),
        MASKED.astype("i8").reshape(2, 3),
        numpy.ma.masked_array([1.0, 2.0, 4.0]),
        numpy.ma.masked_invalid([1.0, math.nan, 2.0, 4.0]),
    ],
)
def test_converted_values(values: Any) -> None:
    assert midpoints(values) == midpoints([1.0, 2.0, 4.0])


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
        *((values, "number") for values in ([1 + 2j], ["1.5"], "12", b"12", {1: 2}, 5, [None], None)),
        *((Arraylike(numpy.array([value])), "values must be") for value in (1j, "1", numpy.datetime64(1, "s"))),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_refused_values(values: Any, advice: str) -> None:
    histogram = DoubleHistogram()
    with pytest.raises(TypeError, match=advice):
        histogram.record_many(values)
    assert histogram.snapshot().total_count == 0


def test_single_values() -> None:
    histogram = DoubleHistogram(exact_sum=True)
    for value in (1.5, 2, numpy.float64(0.5), Fraction(1, 4)):
        histogram.record(value)  # type: ignore[arg-type]
    histogram.record_n(0.25, 3)
    assert histogram.summary().statistics.sum == 5.0
    gauge = picollo.Registry().add_gauge("x")
    calls = histogram.record, partial(histogram.record_n, count=1), gauge.set, gauge.add
    wrongs: list[Any] = ["1.5", b"1.5", None, [1.0]]
    assert_refused(*((partial(call, wrong), TypeError, "real number") for call in calls for wrong in wrongs))
    assert (histogram.summary().statistics.sum, gauge.value) == (5.0, 0.0)


def test_adding_and_merging() -> None:
    first, second = DoubleHistogram(0.01, exact_sum=True), DoubleHistogram(0.01, exact_sum=True)
    first.record_many([1.0, -2.5])
    second.record(8.0)
    merged = first.snapshot()
    merged.merge(second.snapshot())
    second.add(first.snapshot())
    for snapshot in (merged, second.snapshot()):
        assert (snapshot.total_count, snapshot.statistics.min, snapshot.statistics.sum) == (3, -2.5, 6.5)
    assert first.footprint > 0
    no_snapshot = TypeError, "only snapshots of doubles .*, not int"
    assert_refused(
        (lambda: merged.merge(merged), ValueError, "into itself"),
        (lambda: merged.merge(5), *no_snapshot),  # type: ignore[arg-type]
        (lambda: first.add(5), *no_snapshot),  # type: ignore[arg-type]
    )


def test_text_and_buckets() -> None:
    histogram = DoubleHistogram(0.01, name="Ratio")
    histogram.record_many(numpy.arange(1, 101) / 2)
    summary, snapshot = histogram.summary(), histogram.snapshot()
    assert summary.markdown().startswith("##### Ratio\n| Percentile |")
    assert str(summary).startswith("Ratio: 100 values\n") and " ms" in summary.text(unit="ms")
    assert summary.line().startswith("Ratio: Total=100, Mean=")
    assert json.loads(summary.json("other"))["title"] == "other"
    assert summary[50] == pytest.approx(25, rel=0.01) and summary.percentiles[5].target_count == 50
    assert summary.as_dict()["p99"] == pytest.approx(49.5, rel=0.01)
    assert summary._repr_markdown_() == summary.markdown() and "Ratio" in repr(histogram)
    assert str(pickle.loads(pickle.dumps(summary))) == str(summary)
    with pytest.raises(KeyError):
        summary[33]
    buckets = snapshot.bucket_array()
    assert [tuple(bucket) for bucket in snapshot.buckets()] == [tuple(row) for row in buckets.tolist()]
    assert buckets["count"].sum() == 100 and (buckets["lower"] <= buckets["midpoint"]).all()
    for thing in (histogram, snapshot):
        with pytest.raises(TypeError):
            pickle.dumps(thing)


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
        lambda: histogram.footprint,
        lambda: histogram.add(snapshot),
        *(getattr(histogram, name) for name in ("collect", "summary", "__enter__")),
    ]
    assert_refused(*((call, picollo.ClosedError, "the histogram is closed") for call in calls))
    snapshot.close()
    calls = [lambda: snapshot.statistics, lambda: snapshot.quantiles([0.5]), snapshot.buckets]
    assert_refused(*((call, picollo.ClosedError, "the snapshot is closed") for call in calls))
    for _ in range(100):
        with DoubleHistogram() as other, other.collect():
            other.record(1.0)
    gc.collect()
