"""Tables of text."""

from __future__ import annotations

import csv
import io
from typing import Literal, Sequence

#: How a table is written.
Format = Literal["text", "markdown", "csv"]


def printable(text: str) -> str:
    """Text from elsewhere, without what would act on a terminal."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], left: int, format: Format) -> str:
    """A table; the first ``left`` columns are aligned to the left, the others to the right."""
    if format == "csv":
        file = io.StringIO()
        csv.writer(file, lineterminator="\n").writerows([headings, *rows])
        return file.getvalue()
    escape = str if format == "text" else _markdown
    lines = [[escape(printable(cell)) for cell in row] for row in (headings, *rows)]
    widths = [max(3, *map(len, column)) for column in zip(*lines)]
    aligned = [
        [cell.ljust(width) if place < left else cell.rjust(width) for place, (cell, width) in enumerate(zip(line, widths))]
        for line in lines
    ]
    if format == "text":
        return "".join("  ".join(line).rstrip() + "\n" for line in aligned)
    marks = [(":" + "-" * (width - 1) if place < left else "-" * (width - 1) + ":") for place, width in enumerate(widths)]
    return "".join("| " + " | ".join(line) + " |\n" for line in (aligned[0], marks, *aligned[1:]))


def _markdown(cell: str) -> str:
    return "".join("\\" + char if char in "\\|`*_<>[]" else char for char in cell)
