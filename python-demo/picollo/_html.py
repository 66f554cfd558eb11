"""Tables for notebooks, from the library's Markdown."""

from __future__ import annotations

import html
from typing import Mapping, Optional

# No colours but those of the page, thinned: the same table is readable on light and on dark.
_LINE = "1px solid rgba(128,128,128,0.35)"
_TABLE = "border-collapse:collapse;color:inherit;font-variant-numeric:tabular-nums"
_CELL = "padding:0.15em 0.7em;color:inherit;background:none"


def table(markdown: str, caption: str, headings: Optional[Mapping[int, str]] = None) -> str:
    """A Markdown table without heading as HTML.

    :param caption: shown above, escaped here; ``""`` for none.
    :param headings: replaces headings of columns, as a name that was escaped for Markdown is not one for HTML.
    """
    lines = [line.strip().strip("|") for line in markdown.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.split("|")] for line in lines]
    header, marks, body = rows[0], rows[1], rows[2:]
    aligns = ["right" if mark.endswith(":") else "left" for mark in marks]
    for column, heading in (headings or {}).items():
        header[column] = heading
    text = [f'<table style="{_TABLE}">']
    if caption:
        style = "text-align:left;font-weight:bold;padding:0.3em 0.7em;color:inherit;caption-side:top"
        text.append(f'<caption style="{style}">{html.escape(caption)}</caption>')
    text.append("<thead>" + _row("th", header, aligns, f"border-bottom:{_LINE}") + "</thead><tbody>")
    rule = ""
    for cells in body:
        if not any(cells):  # Markdown's empty row separates; a line does here
            rule = f"border-top:{_LINE}"
            continue
        text.append(_row("td", cells, aligns, rule))
        rule = ""
    text.append("</tbody></table>")
    return "\n".join(text)


def _row(tag: str, cells: list[str], aligns: list[str], line: str) -> str:
    styles = [";".join(filter(None, (_CELL, f"text-align:{align}", line))) for align in aligns]
    return "<tr>" + "".join(
        f'<{tag} style="{style}">{html.escape(cell)}</{tag}>' for style, cell in zip(styles, cells)
    ) + "</tr>"
