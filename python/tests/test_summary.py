"""Summaries, diffs and their texts. Core tests the contents of the texts."""

from __future__ import annotations

import datetime
import json
import math
import time
from functools import partial
from typing import Any

import pytest
from conftest import assert_refused

import picollo
from picollo import Histogram
from picollo.summary import RANKS, Summary


def histogram(*values: int, name: str = "") -> Histogram:
    made = Histogram(0.01, name=name)
    made.record_many(values)
    return made


def summary_of(*values: int, name: str = "") -> Summary:
    return histogram(*values, name=name).summary()


def test_numbers() -> None:
    before = time.time_ns()
    summary = summary_of(*range(1, 101))
    after = time.time_ns()
    named = (summary.min, summary.p50, summary.p90, summary.p95, summary.p99, summary.p999, summary.max)
    assert named == (1, 50, 90, 95, 99, 100, 100) and (summary[50], summary[99.9]) == (50, 100)
    assert summary.total_count == 100 and summary.mean == 50.5
    assert summary.stddev == pytest.approx(math.sqrt((100**2 - 1) / 12))
    assert summary.relative_error == 0.5 / 64 and summary.values == "midpoint"
    assert (summary.min_trackable, summary.max_trackable) == (0, 2**64 - 1)
    assert tuple(p.rank for p in summary.percentiles) == RANKS
    assert [p.target_count for p in summary.percentiles][:6] == [1, 1, 5, 10, 25, 50]
    assert before <= summary.timestamp_unix_nanos <= after
    assert summary.timestamp.tzinfo is datetime.timezone.utc
    assert abs(summary.timestamp.timestamp() - summary.timestamp_unix_nanos / 1e9) < 1e-5
    row = summary.as_dict()
    assert (row["total_count"], row["p50"], row["p99.9"], len(row)) == (100, 50, 100, 6 + 16)
    with pytest.raises(KeyError, match="has no rank 42; it has 0, 1, 5"):
        summary[42]
    with pytest.raises(AttributeError, match="p50 cannot be set"):
        summary.p50 = 5


def test_empty() -> None:
    summary = summary_of()
    assert summary.total_count == 0 and summary.percentiles == ()
    assert math.isnan(summary.mean) and math.isnan(summary.stddev)
    assert {summary.as_dict()[name] for name in ("mean", "p50")} == {None}
    empty = picollo.EmptyError, "nothing was recorded"
    assert_refused((lambda: summary.p50, *empty), (lambda: summary[50], *empty))
    assert str(summary) == "no values" and "n/a" in summary.markdown() and "P50=n/a" in summary.line()
    assert json.loads(summary.json())["mean"] is None
    assert "Nothing to compare: " in str(summary.diff(summary_of(1)))


def test_texts() -> None:
    made = histogram(*range(2000, 12000, 7), name="Example")
    summary = made.summary()
    assert str(summary) == str(made.snapshot()) == made.text() == str(made) and str(made).startswith("Example: 1,429 values\n")
    assert made._repr_markdown_() == summary._repr_markdown_() == summary.markdown()
    assert summary.markdown().startswith("##### Example\n") and "##### Example" not in summary.markdown("")
    assert made.text("Latency", unit="ns").startswith("Latency: 1,429 values\n") and " µs" in made.text("Latency (ns)")
    assert made.text("Latency (parcels)").startswith("Latency (parcels): ") and summary.line() in repr(summary)
    with pytest.raises(TypeError):
        made.text(unit=5)  # type: ignore[arg-type]
    parsed = json.loads(summary.json('a "title" \\ with\nall'))
    assert parsed["title"] == 'a "title" \\ with\nall' and parsed["total_count"] == 1429
    assert [(p["rank"], p["value"]) for p in parsed["percentiles"]] == [(p.rank, p.value) for p in summary.percentiles]


def test_diffs() -> None:
    a, b = summary_of(10, 20, name="old"), summary_of(20, 40, name="new")
    diff = a.diff(b, title="change")
    assert str(diff).startswith("change\nThe median of new is 2.0 × higher than that of old: 10 → 20 (+100 %).")
    assert diff.markdown() == diff._repr_markdown_()
    assert all(part in diff.markdown() for part in ("##### change", "old |", "+100.0%"))
    assert json.loads(diff.json())["change_percent"]["mean"] == 100.0
    assert diff.line().startswith("change: old -> new: Total=2 -> 2")
    assert "other" in str(a.diff(b, other_name="other")) and "first" in str(a.diff(b, name="first"))
    assert diff.before is a and diff.after is b
    with pytest.raises(TypeError, match="compared with a summary"):
        a.diff(5)  # type: ignore[arg-type]
    first, second = histogram(1, 2), histogram(2, 3)
    assert str(first.diff(second)) == str(first.summary().diff(second.summary())) == str(first.diff(second.summary()))


def test_titles() -> None:
    summary = summary_of(1)
    for title in ("", "plain", "日本語", "a|b", "line\nbreak", "x" * 10_000, "`*_<b>\\", "\U0001f600"):
        assert summary.markdown(title) and summary.line(title) and summary.diff(summary, title).line()
        assert json.loads(summary.json(title))["title"] == title
    wrongs: list[tuple[Any, type[Exception], str]] = [
        ("a\0b", ValueError, "NUL"), ("\ud800", UnicodeEncodeError, ""), (5, TypeError, "title must be a str"),
    ]  # fmt: skip
    for call in (summary.markdown, summary.line, summary.json, summary.diff(summary).line):
        assert_refused(*((partial(call, title), *why) for title, *why in wrongs))  # type: ignore[arg-type]
