"""Pictures that need only the library: for terminals, as SVG, and as a report in one HTML file.

::

    print(snapshot.sparkline(), snapshot.chart("density", unit="ns"), sep="\\n\\n")
    picollo.svg(before, after, title="Requests", unit="ns").save("requests.svg")
    picollo.report(before, after, title="Requests", unit="ns").save("requests.html")

:meth:`Snapshot.plot` draws percentile curves with matplotlib, which nothing else of the package needs or loads.
"""

from __future__ import annotations

import ctypes
import math
import os
from ctypes import byref, c_char_p, c_void_p
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Literal, Optional, Sequence, Union, get_args

from . import _structs as structs
from . import arrays
from ._calls import c_text, read_text
from ._handle import locked
from ._library import released

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .histogram import Histogram
    from .snapshot import Snapshot

    Source = Union[Histogram, Snapshot]

#: The kind of picture; a heat map only as SVG.
Kind = Literal["percentiles", "density", "heat map"]
Theme = Literal["auto", "light", "dark"]

KINDS = structs.codes("PICTURE", get_args(Kind))
_THEMES = structs.codes("THEME", get_args(Theme))


class Document(str):
    """The text of an SVG or HTML document."""

    __slots__ = ()

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the document to a file."""
        Path(path).write_bytes(self.encode())


class Svg(Document):
    """A picture that notebooks show."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


class Report(Document):
    """A report: an HTML document with its data. Notebooks show it in a separate frame."""

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
    """A picture of one or more histograms or snapshots, overlaid, or side by side in a heat map.

    :param labels: the names to show (default: those of the histograms).
    :param unit: the unit of the values. ``"ps"``, ``"ns"``, ``"us"``, ``"ms"`` and ``"s"`` become times on the axes.
    :param theme: ``"auto"`` is light, or dark if the reader prefers that.
    :param width: in CSS pixels (default: 720).
    :param height: in CSS pixels (default: 400).
    """
    sizes = ctypes.sizeof(structs.PictureOptions), code(theme, _THEMES, "theme"), size(width, "width"), size(height, "height")
    given = code(kind, KINDS, "kind"), c_text(title, "title"), c_text(unit, "unit"), byref(structs.PictureOptions(*sizes))
    return Svg(_drawn(sources, labels, lambda drawn, buffer: released.pictures_format_svg(*drawn, *given, *buffer), "SVG"))


def report(
    *sources: Source, labels: Optional[Sequence[str]] = None, title: str = "", unit: str = ""
) -> Report:
    """One HTML document with tables and pictures of histograms or snapshots, comparisons with the first, and all the data.

    It has no external references and runs no script. See :func:`svg`.
    """
    texts = c_text(title, "title"), c_text(unit, "unit")
    return Report(_drawn(sources, labels, lambda drawn, buffer: released.report_format_html(*drawn, *texts, *buffer), "report"))


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
        # An array has only the addresses. The list keeps the snapshots, which others may close meanwhile.
        pointers = [snapshot._handle() for snapshot in snapshots]
        handles = (c_void_p * length)(*pointers)
        return read_text(lambda *buffer: call((handles, titles, length), buffer), what)


def code(name: str, codes: dict[str, int], what: str) -> int:
    """The library's number for a name."""
    if name not in codes:
        raise ValueError(f"{what} must be one of {', '.join(map(repr, codes))}, not {name!r}")
    return codes[name]


def size(number: int, what: str) -> int:
    """Checks a number of columns, rows or pixels."""
    if not 0 <= number < 2**32:
        raise ValueError(f"{what} must be within 0 .. 2**32 - 1, not {number}")
    return number


_SECONDS = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}


def plot(snapshot: Snapshot, ax: Optional[Axes], unit: str, label: str) -> Axes:
    """Draws values by percentile: each step to the right along the axis leaves a tenth of the values."""
    numpy, ticker = arrays.need("numpy", "a plot"), arrays.need("matplotlib.ticker", "a plot")
    axes: Any = ax or arrays.need("matplotlib.pyplot", "a plot").subplots(layout="constrained")[1]
    buckets = snapshot.bucket_array()
    # Doubles, because sums of counts may exceed 64 bits.
    cumulated = numpy.cumsum(buckets["count"].astype("f8"))
    total = float(cumulated[-1]) if len(cumulated) else 0.0
    values = buckets["lower"].astype("f8") + numpy.floor(buckets["step"].astype("f8") / 2)
    # A bucket holds the values between two of 1 / (1 - quantile). All ranks beyond the last value have that value.
    ends = total / numpy.maximum(total - cumulated, 1.0)
    edges = numpy.concatenate([[1.0], ends[:-1], [max(float(ends[-1]), 10.0)]]) if total else numpy.array([1.0, 10.0])
    axes.stairs(values if total else [math.nan], edges, baseline=None, label=label or None)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda place, _: f"{100 - 100 / place:.12g}%" if place >= 1 else ""))
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    axes.set_xlabel("Percentile")
    scale = _SECONDS.get(unit)
    if scale is not None:
        prefixes = ticker.EngFormatter(unit="s")
        axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: prefixes(value * scale)))
    axes.set_ylabel("Duration" if scale is not None else f"Value ({unit})" if unit else "Value")
    drawn: Axes = axes
    return drawn
