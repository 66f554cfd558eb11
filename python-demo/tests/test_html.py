"""What notebooks show."""

from __future__ import annotations

import html
import pickle
import re
import time
from html.parser import HTMLParser
from typing import Any, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from picollo import Exemplars, Histogram, TraceContext


class Table(HTMLParser):
    """Reads a table back, and insists on tags that are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.caption: Optional[str] = None
        self.open: list[str] = []
        self.styles: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        assert tag in ("table", "caption", "thead", "tbody", "tr", "th", "td"), tag
        assert [name for name, _ in attributes] in ([], ["style"])
        self.styles += [value for _, value in attributes]
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")
        elif tag == "caption":
            self.caption = ""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] in ("th", "td"):
            self.rows[-1][-1] += data
        elif self.open[-1] == "caption":
            self.caption = (self.caption or "") + data
        else:
            assert data.strip() == ""


class Section(HTMLParser):
    """Reads what an interval of exemplars is in a page; insists on tags that are closed in order, and on nothing that is run or fetched."""

    TAGS = set("section h2 h3 p div table thead tbody tr th td svg rect ul li code br wbr".split())
    ATTRIBUTES = set("class style scope colspan aria-label aria-hidden viewbox preserveaspectratio width height x fill fill-opacity".split())

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.texts: list[tuple[str, str]] = []
        self.bars: list[float] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        assert tag in self.TAGS and {name for name, _ in attributes} <= self.ATTRIBUTES, (tag, attributes)
        assert "url" not in str(attributes)
        if tag in ("br", "wbr"):
            return
        self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("th", "td"):
            self.tables[-1][-1].append("")
        elif tag in ("h2", "h3", "p", "li"):
            self.texts.append((tag, ""))

    def handle_startendtag(self, tag: str, attributes: Any) -> None:
        assert tag == "rect" and self.open[-1] == "svg"
        told = dict(attributes)
        if "x" in told:
            self.bars.append(float(told["width"]))
            assert 0 <= float(told["x"]) and float(told["x"]) + self.bars[-1] <= 1000.1

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        inside = set(self.open) & {"td", "th", "h2", "h3", "p", "li"}
        if inside & {"td", "th"}:
            self.tables[-1][-1][-1] += data
        elif inside:
            self.texts[-1] = (self.texts[-1][0], self.texts[-1][1] + data)
        else:
            assert data.strip() == ""


def histogram(name: str = "", values: Any = range(1000)) -> Histogram:
    made = Histogram(0.01, name=name)
    made.record_many(values)
    return made


def cells(markdown: str) -> list[list[str]]:
    """The rows of the library's table, without its rules and empty rows."""
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in markdown.splitlines() if line[0] == "|"]
    return [row for row in rows if any(row) and not row[0].startswith(":--")]


@pytest.mark.parametrize("values", [[], [0], range(1000), [2**64 - 1]])
def test_a_summary_is_the_librarys_table(values: Any) -> None:
    made = histogram("latency (ns)", values)
    summary = made.summary()
    table = Table(summary._repr_html_())
    assert table.caption == "latency (ns)"
    assert table.rows == cells(summary.markdown(""))
    assert len(table.rows) == 19
    for other in (made, made.snapshot()):
        assert Table(other._repr_html_()).rows[1:18] == table.rows[1:18]
    assert Table(histogram()._repr_html_()).caption is None


def test_a_diff_is_the_librarys_table() -> None:
    diff = histogram("old").diff(histogram("new", range(500)), "Faster")
    table = Table(diff._repr_html_())
    assert table.caption == "Faster"
    assert table.rows == cells(diff.markdown(""))
    assert table.rows[0][1:3] == ["old", "new"]
    assert Table(histogram().diff(histogram())._repr_html_()).rows[0][1:3] == ["Before", "After"]


NASTY = ["<script>alert(1)</script>", 'a "quoted" & <b>', "pipe | and \\ and `tick`", "'", "*x* _y_ #z", "é – ∆"]


@pytest.mark.parametrize("name", NASTY)
def test_names_are_escaped(name: str) -> None:
    for shown in (histogram(name), histogram(name).diff(histogram(name), name)):
        text = shown._repr_html_()
        assert "<script" not in text and "<b>" not in text
        assert Table(text).caption == name
        assert html.escape(name) in text
    assert Table(histogram(name).diff(histogram(name))._repr_html_()).rows[0][1:3] == [name, name]


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), max_size=20))
def test_any_name(name: str) -> None:
    table = Table(histogram(name, [1]).diff(histogram("b", [2]))._repr_html_())
    assert table.rows[0][1] == (name or "Before")


def test_colours_come_from_the_page() -> None:
    """So the same table can be read on light and dark."""
    for style in Table(histogram("x").summary()._repr_html_()).styles:
        for colour in re.findall(r"(?:^|;)color:([^;]+)", style):
            assert colour == "inherit"
        assert "background:" not in style or "background:none" in style


def tables(markdown: str) -> list[list[list[str]]]:
    """The tables of a text, without their rules."""
    found: list[list[list[str]]] = []
    before = ""
    for line in markdown.splitlines():
        if line.startswith("| :") or line.startswith("| -"):
            continue
        if line.startswith("|"):
            if not before.startswith("|"):
                found.append([])
            found[-1].append([cell.strip() for cell in line[1:].rstrip().removesuffix("|").split("|")])
        before = line
    return found


def test_an_interval_is_a_section() -> None:
    slow = Exemplars(histogram(), 1_000_000, controls=1000)
    for number in range(300):
        with slow.scope():
            if number == 200:
                time.sleep(0.02)
    slow.offer(90_000_000, TraceContext("4b" * 16, "07" * 8, (5, 6)))
    interval = slow.collect()
    section = Section(interval.html())
    assert interval._repr_html_() == interval.html() == pickle.loads(pickle.dumps(interval)).html()
    causes, slowest = section.tables
    expected_causes, expected_slowest = tables(interval.markdown())
    # The same numbers as in Markdown, beside bars.
    assert causes[0] == ["Cause", "Share of the excess", "Observations", "Typical", "It"]
    assert [row[:1] + row[2:] for row in causes[1:]] == expected_causes[1:]
    assert [row[0] for row in slowest[1:9]] == [row[0] for row in expected_slowest[1:]]
    assert section.bars[0] / 10 == pytest.approx(float(causes[1][2].rstrip("%")), abs=0.51)
    assert slowest[0][-2:] == ["Trace and span", "Words"]
    offered = next(row for row in slowest[1:] if row[-2].startswith("4b"))
    assert offered[0] == "90.0 ms" and offered[-2:] == ["4b" * 16 + "07" * 8, "5 6"] and offered[3] == "not known"
    # The end of its bucket.
    assert re.fullmatch(r"Why observations above 1\.0[01] ms were slow", section.texts[0][1])
    answers = [text for tag, text in section.texts if tag in ("p", "li")]
    for line in answers[:2] + [text for tag, text in section.texts if tag == "li"]:
        assert line in interval.text()
    assert ("li", "Not known of 1: timed elsewhere, or by an event loop.") in section.texts


def test_an_interval_of_nothing_is_a_section() -> None:
    section = Section(Exemplars(Histogram()).collect().html())
    assert section.tables == [] and [text for _, text in section.texts[:2]] == [
        "Why the slowest observations were slow", "Nothing was recorded.",
    ]
