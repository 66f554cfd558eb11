"""What notebooks show."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser
from typing import Any, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from picollo import Histogram


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
