"""Summaries, diffs and their texts."""

from __future__ import annotations

import copy
import csv
import datetime
import io
import json
import math
import pickle
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import picollo
from picollo import Histogram
from picollo.percentile import ValueSelection
from picollo.summary import RANKS, Summary


def of(*values: int, name: str = "") -> Summary:
    histogram = Histogram(0.01, name=name)
    histogram.record_many(values)
    return histogram.summary()


def test_numbers() -> None:
    before = time.time_ns()
    summary = of(*range(1, 101))
    after = time.time_ns()
    assert summary.total_count == 100
    assert (summary.min, summary.p50, summary.p90, summary.p95, summary.p99, summary.p999, summary.max) == (
        1,
        50,
        90,
        95,
        99,
        100,
        100,
    )
    assert summary.mean == 50.5
    assert summary.stddev == pytest.approx(math.sqrt((100**2 - 1) / 12))
    assert summary.relative_error == 0.5 / 64
    assert (summary.min_trackable, summary.max_trackable) == (0, 2**64 - 1)
    assert summary.values == "midpoint"
    assert not summary.approximate
    assert tuple(p.rank for p in summary.percentiles) == RANKS
    assert [p.target_count for p in summary.percentiles][:6] == [1, 1, 5, 10, 25, 50]
    assert before <= summary.timestamp_unix_nanos <= after
    assert summary.timestamp.tzinfo is datetime.timezone.utc
    assert abs(summary.timestamp.timestamp() - summary.timestamp_unix_nanos / 1e9) < 1e-5


def test_by_rank() -> None:
    summary = of(*range(1, 101))
    assert summary[50] == summary.p50
    assert summary[99.9] == 100
    with pytest.raises(KeyError, match="has no rank 42; it has 0, 1, 5"):
        summary[42]


def test_as_a_row() -> None:
    row = of(*range(1, 101)).as_dict()
    assert row["total_count"] == 100
    assert row["p50"] == 50
    assert row["p99.9"] == 100
    assert len(row) == 6 + 16
    empty = of().as_dict()
    assert empty["total_count"] == 0
    assert empty["mean"] is None
    assert empty["p50"] is None


def test_empty() -> None:
    summary = of()
    assert summary.total_count == 0
    assert math.isnan(summary.mean)
    assert math.isnan(summary.stddev)
    assert summary.percentiles == ()
    with pytest.raises(picollo.EmptyError, match="nothing was recorded"):
        summary.p50
    with pytest.raises(picollo.EmptyError):
        summary[50]
    assert str(summary) == "no values" and "n/a" in summary.markdown()
    assert "P50=n/a" in summary.line()
    assert json.loads(summary.json())["mean"] is None
    assert "Nothing to compare: " in str(summary.diff(of(1))) and "n/a" in str(summary.diff(of(1)))


def test_json_and_csv() -> None:
    summary = of(1, 2, 3)
    parsed = json.loads(summary.json('a "title" \\ with\nall'))
    assert parsed["title"] == 'a "title" \\ with\nall'
    assert parsed["total_count"] == 3
    assert [p["value"] for p in parsed["percentiles"]] == [p.value for p in summary.percentiles]
    rows = list(csv.DictReader(io.StringIO(summary.csv('comma, "quote"'))))
    assert len(rows) == 16
    assert {row["title"] for row in rows} == {'comma, "quote"'}
    assert [float(row["rank"]) for row in rows] == list(RANKS)
    assert [int(row["value"]) for row in rows] == [p.value for p in summary.percentiles]


def test_diff_texts() -> None:
    a, b = of(10, 20, name="old"), of(20, 40, name="new")
    diff = a.diff(b, title="change")
    assert str(diff).startswith("change\nThe median of new is 2.0 × higher than that of old: 10 → 20 (+100 %).")
    assert diff.markdown() == diff._repr_markdown_()
    assert "##### change" in diff.markdown()
    assert "old |" in diff.markdown() and "+100.0%" in diff.markdown()
    assert json.loads(diff.json())["change_percent"]["mean"] == 100.0
    assert list(csv.DictReader(io.StringIO(diff.csv())))[0]["name_b"] == "new"
    assert diff.line().startswith("change: old -> new: Total=2 -> 2")
    assert "other" in str(a.diff(b, other_name="other"))
    assert "first" in str(a.diff(b, name="first"))
    assert diff.before is a
    assert diff.after is b
    with pytest.raises(TypeError, match="compared with a summary"):
        a.diff(5)  # type: ignore[arg-type]


def test_diffs_of_histograms() -> None:
    a, b = Histogram(0.01, name="a"), Histogram(0.01, name="b")
    a.record_many([1, 2])
    b.record_many([2, 3])
    assert str(a.diff(b)) == str(a.summary().diff(b.summary())) == str(a.diff(b.summary()))


@pytest.mark.parametrize("title", ["", "plain", "Grüße", "日本語", "a|b", "line\nbreak", "x" * 10_000, "`*_<b>\\", "\U0001f600"])
def test_any_title(title: str) -> None:
    summary = of(1)
    for text in (summary.markdown(title), summary.line(title), summary.csv(title), summary.diff(summary, title).line()):
        assert text
    assert json.loads(summary.json(title))["title"] == title
    assert len({line.count("|") for line in summary.markdown("").splitlines()}) == 1


@given(st.text(max_size=100))
def test_titles_never_fail(title: str) -> None:
    summary = of(1)
    if "\0" in title:
        with pytest.raises(ValueError, match="NUL"):
            summary.json(title)
        return
    assert json.loads(summary.json(title))["title"] == title
    assert "\n" not in summary.line(title)
    assert summary.diff(summary, title, title, title).markdown()


def test_bad_titles() -> None:
    summary = of(1)
    for call in (summary.markdown, summary.line, summary.json, summary.csv, summary.diff(summary).line):
        with pytest.raises(ValueError, match="NUL"):
            call("a\0b")
        with pytest.raises(UnicodeEncodeError):
            call("\ud800")
        with pytest.raises(TypeError, match="title must be a str"):
            call(5)  # type: ignore[arg-type]


def test_summaries_outlive_and_travel() -> None:
    histogram = Histogram(0.01, name="x")
    histogram.record_many([1, 2, 3])
    summary = histogram.summary()
    del histogram
    text = str(summary)
    for other in (pickle.loads(pickle.dumps(summary)), copy.copy(summary), copy.deepcopy(summary)):
        assert str(other) == text
        assert other.percentiles == summary.percentiles
        assert other.name == "x"
    assert summary.line() in repr(summary)


def test_value_selections() -> None:
    histogram = Histogram(0.1)
    histogram.record_many([1000] * 10)
    selections: tuple[ValueSelection, ...] = ("midpoint", "lower", "upper")
    found = {values: histogram.summary(values) for values in selections}
    bucket = histogram.snapshot().bucket_of(1000)
    assert [s.p50 for s in found.values()] == [bucket.midpoint, bucket.lower, bucket.upper]
    assert [s.values for s in found.values()] == ["midpoint", "lower", "upper"]
