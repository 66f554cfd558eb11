"""Pictures that need nothing but the library: for terminals, as SVG, and as a report that is one HTML file.

::

    print(snapshot.sparkline(), snapshot.chart("density", unit="ns"), sep="\\n\\n")
    picollo.svg(before, after, title="Requests", unit="ns").save("requests.svg")
    picollo.report(before, after, title="Requests", unit="ns").save("requests.html")

:mod:`picollo.plot` draws with matplotlib instead, for those who want to change what is drawn.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import byref, c_char_p, c_void_p
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Literal, Optional, Sequence, Union

from . import _structs as structs
from ._handle import locked
from ._library import released
from ._text import c_text, read_text

if TYPE_CHECKING:
    from .histogram import Histogram
    from .snapshot import Snapshot

    Source = Union[Histogram, Snapshot]

#: What is drawn; a heat map only as SVG.
Kind = Literal["percentiles", "density", "heat map"]
Theme = Literal["auto", "light", "dark"]

_KINDS = {
    "percentiles": structs.PICTURE_PERCENTILES,
    "density": structs.PICTURE_DENSITY,
    "heat map": structs.PICTURE_HEAT_MAP,
}
_THEMES = {"auto": structs.THEME_AUTO, "light": structs.THEME_LIGHT, "dark": structs.THEME_DARK}


class Document(str):
    """The text of an SVG or HTML document."""

    __slots__ = ()

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the document to a file."""
        Path(path).write_text(self, encoding="utf-8", newline="")


class Svg(Document):
    """A picture, which notebooks show."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


class Report(Document):
    """A report: an HTML document with its data. Notebooks show it in a frame of its own."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        import html

        style = "width:100%;height:40em;border:0"
        return f'<iframe sandbox style="{style}" srcdoc="{html.escape(self)}"></iframe>'


def svg(
    *sources: Source,
    kind: Kind = "percentiles",
    labels: Optional[Sequence[str]] = None,
    title: str = "",
    unit: str = "",
    theme: Theme = "auto",
    width: int = 0,
    height: int = 0,
) -> Svg:
    """A picture of one or more histograms or snapshots, over each other, or in a heat map next to each other.

    :param labels: what they are called (default: their names).
    :param unit: what values were recorded in. ``"ps"``, ``"ns"``, ``"us"``, ``"ms"`` and ``"s"`` become times on the axes.
    :param theme: ``"auto"`` is light, or dark where the reader prefers that.
    :param width: in CSS pixels (default: 720).
    :param height: in CSS pixels (default: 400).
    """
    options = structs.PictureOptions()
    options.struct_size = ctypes.sizeof(options)
    options.theme = _code(theme, _THEMES, "theme")
    options.width, options.height = _size(width, "width"), _size(height, "height")
    code = _code(kind, _KINDS, "kind")
    texts = c_text(title, "title"), c_text(unit, "unit")
    return Svg(
        _drawn(
            sources,
            labels,
            lambda drawn, buffer: released.pictures_format_svg(*drawn, code, *texts, byref(options), *buffer),
            "SVG",
        )
    )


def report(
    *sources: Source, labels: Optional[Sequence[str]] = None, title: str = "", unit: str = ""
) -> Report:
    """One HTML document with tables and pictures of histograms or snapshots, comparisons with the first, and all the data.

    It refers to nothing outside and runs no script. See :func:`svg`.
    """
    texts = c_text(title, "title"), c_text(unit, "unit")
    return Report(
        _drawn(
            sources, labels, lambda drawn, buffer: released.report_format_html(*drawn, *texts, *buffer), "report"
        )
    )


def sparkline(snapshot: Snapshot, columns: int, ascii: bool) -> str:
    """See :meth:`Snapshot.sparkline`."""
    columns = _size(columns, "columns")
    with snapshot._lock:
        handle = snapshot._handle()
        return read_text(
            lambda *buffer: snapshot._functions.snapshot_format_sparkline(handle, columns, bool(ascii), *buffer),
            "sparkline",
        )


def chart(
    snapshot: Snapshot, kind: Kind, title: str, unit: str, columns: int, rows: int, ascii: bool
) -> str:
    """See :meth:`Snapshot.chart`."""
    code = _code(kind, {name: code for name, code in _KINDS.items() if name != "heat map"}, "kind")
    texts = c_text(title, "title"), c_text(unit, "unit")
    sizes = _size(columns, "columns"), _size(rows, "rows")
    with snapshot._lock:
        handle = snapshot._handle()
        return read_text(
            lambda *buffer: snapshot._functions.snapshot_format_chart(
                handle, code, *texts, *sizes, bool(ascii), *buffer
            ),
            "chart",
        )


def _drawn(
    sources: Sequence[Source],
    labels: Optional[Sequence[str]],
    call: Callable[[tuple[Any, ...], tuple[Any, ...]], int],
    what: str,
) -> str:
    from .histogram import snapshot_of

    snapshots = [snapshot_of(source, "pictures are of histograms and snapshots") for source in sources]
    if labels is None:
        labels = [snapshot.name for snapshot in snapshots]
    elif len(labels) != len(sources):
        raise ValueError(f"{len(sources)} distributions need as many labels, not {len(labels)}")
    length = len(snapshots)
    titles = (c_char_p * length)(*(c_text(label, "label") for label in labels))
    with locked(*snapshots):
        handles = (c_void_p * length)(*(snapshot._handle() for snapshot in snapshots))
        return read_text(lambda *buffer: call((handles, titles, length), buffer), what)


def _code(name: str, codes: dict[str, int], what: str) -> int:
    if name not in codes:
        raise ValueError(f"{what} must be one of {', '.join(map(repr, codes))}, not {name!r}")
    return codes[name]


def _size(number: int, what: str) -> int:
    if not 0 <= number < 2**32:
        raise ValueError(f"{what} must be within 0 .. 2**32 - 1, not {number}")
    return number
