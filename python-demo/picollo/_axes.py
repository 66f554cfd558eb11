"""What plots are made of: axes with units, bins, colours."""

from __future__ import annotations

import math
from typing import Any, Optional, Sequence

from .arrays import need

#: Text and lines that belong to no distribution.
INK = "#333333"

_SECONDS = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps"))
_SIZES = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def new_axes(wide: bool = False) -> Any:
    """The axes of a new figure."""
    pyplot = need("matplotlib.pyplot", "a plot")
    return pyplot.subplots(figsize=(8.5, 4.2) if wide else (7, 4.2), layout="constrained")[1]


def new_pair() -> Any:
    """Two axes of a new figure, side by side."""
    pyplot = need("matplotlib.pyplot", "a plot")
    return pyplot.subplots(1, 2, figsize=(11, 4.2), layout="constrained")[1]


def tick_text(value: float, unit: str) -> str:
    """A value beside an axis: ``1.5 µs``, ``20k``."""
    if value == 0:
        return "0"
    seconds = _SECONDS.get(unit)
    if seconds is not None:
        time = value * seconds
        # A little less than one, as 1000 * 1e-9 is.
        size, name = next(((s, n) for s, n in _TIMES if abs(time) >= s * 0.9999999), _TIMES[-1])
        if name == "s" and abs(time) >= 1e6:
            return f"{time:.1e} s"
        return f"{time / size:.6g} {name}"
    for size, name in _SIZES:
        if abs(value) >= size * 0.9999999:
            return f"{value / size:.6g}{name}"
    return f"{value:.6g}"


def value_axis(ax: Any, which: str, values: Sequence[Any], unit: str, log: Optional[bool]) -> bool:
    """Scale, limits, ticks and label of the axis of values, given arrays of ascending values. Whether it is logarithmic."""
    ticker = need("matplotlib.ticker", "a plot")
    values = [array for array in values if len(array)]
    low = min((float(array[0]) for array in values), default=0.0)
    high = max((float(array[-1]) for array in values), default=1.0)
    if log is None:
        log = high > 20 * max(low, 1.0)
    axis = ax.xaxis if which == "x" else ax.yaxis
    set_scale = ax.set_xscale if which == "x" else ax.set_yscale
    set_limits = ax.set_xlim if which == "x" else ax.set_ylim
    if log:
        if low < 1:  # zero has a place on this one
            set_scale("symlog", linthresh=1, linscale=0.3)
            set_limits(-0.1, max(high, 1.0) * 1.3)
        else:
            set_scale("log")
            margin = max((high / low) ** 0.04, 1.02)
            set_limits(low / margin, high * margin)
        decades = math.log10(max(high, 10.0) / max(low, 1.0))
        if low >= 1:
            axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if decades < 2.5 else (1,), numticks=9))
            axis.set_minor_locator(ticker.LogLocator(subs=range(2, 10), numticks=50))
        else:
            stride = math.ceil((decades + 1) / 8)
            axis.set_major_locator(ticker.FixedLocator([0.0, *(10.0**k for k in range(0, int(decades) + 1, stride))]))
            axis.set_minor_locator(ticker.NullLocator())
        axis.set_minor_formatter(ticker.NullFormatter())
    else:
        # Not less than what doubles, and eyes, can tell apart.
        margin = max((high - low) * 0.05, high * 1e-3, 0.5)
        bottom = low - margin
        set_limits(0 if which == "y" and low <= high / 2 else max(bottom, -margin), high + margin)
        axis.set_major_locator(ticker.MaxNLocator(7 if which == "y" else 6, steps=[1, 2, 5, 10], integer=True))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: tick_text(value, unit) if value >= 0 else ""))
    axis.set_label_text("Duration" if unit in _SECONDS else f"Value ({unit})" if unit else "Value")
    return log


def percentile_axis(ax: Any, right: float) -> None:
    """An axis of 1 / (1 - quantile) up to ``right``, with percentiles beside it."""
    ticker = need("matplotlib.ticker", "a plot")
    ax.set_xscale("log")
    ax.set_xlim(1, right * 1.15)
    decades = math.floor(math.log10(right) + 1e-9)
    stride = math.ceil((decades + 1) / 7)
    places = [(10.0**k, _nines(k)) for k in range(0, decades + 1, stride)]
    if decades <= 3:
        places.insert(1, (2.0, "50%"))
    ax.xaxis.set_major_locator(ticker.FixedLocator([place for place, _ in places]))
    ax.xaxis.set_major_formatter(ticker.FixedFormatter([text for _, text in places]))
    ax.xaxis.set_minor_locator(ticker.NullLocator())
    ax.set_xlabel("Percentile")


def _nines(count: int) -> str:
    if count < 3:
        return ("0%", "90%", "99%")[count]
    return f"99.{'9' * (count - 2)}%" if count <= 6 else f"{count} nines"


def bin_edges(bins: int, log: bool, values: Sequence[Any], widest: float = 1.0) -> Any:
    """Edges of bins that cover all values: of equal ratio, or of equal width but not narrower than the widest bucket."""
    numpy = need("numpy", "a plot")
    values = [array for array in values if len(array)]
    if not values:
        return numpy.array([0.0, 1.0])
    low = min(float(array.min()) for array in values)
    high = max(float(array.max()) for array in values)
    # Where doubles are further apart than a bucket is wide.
    high = max(high, low * (1 + 1e-12), low + 1)
    if not log:
        return numpy.linspace(low, high, min(bins, max(1, round((high - low) / widest))) + 1)
    if low >= 1:
        return numpy.geomspace(low, high, bins + 1)
    zero = numpy.array([0.0])
    return numpy.concatenate([zero, numpy.geomspace(1.0, max(high, 2.0), max(bins, 2))])


def rebinned(lower: Any, upper: Any, counts: Any, edges: Any) -> Any:
    """Counts of ascending buckets spread over other bins in proportion. Nothing is lost: the edges cover the buckets."""
    numpy = need("numpy", "a plot")
    # The cumulated counts climb along each bucket and are level in the gaps between them.
    total = numpy.cumsum(counts)
    places = numpy.empty(2 * len(lower))
    places[0::2], places[1::2] = lower, upper
    heights = numpy.empty(2 * len(lower))
    heights[0::2], heights[1::2] = numpy.append(0.0, total[:-1]), total
    found = numpy.diff(numpy.interp(edges, places, heights, left=0.0, right=total[-1]))
    return numpy.maximum(found, 0.0)


def color_mesh(ax: Any, times: Any, edges: Any, cells: Any) -> None:
    """Cells of a heat map, from light to dark by their logarithm; those without counts are left blank."""
    numpy = need("numpy", "a plot")
    colors = need("matplotlib.colors", "a plot")
    blank = numpy.ma.masked_less_equal(cells, 0.0)
    high = float(blank.max())
    # Fractions of a count, from spreading a bucket, are not worth four more decades.
    low = max(float(blank.min()), high / 1e4)
    norm = colors.LogNorm(low if low < high else high / 10, high, clip=True)
    hues = colors.LinearSegmentedColormap.from_list("picollo", ["#DCE9F5", "#7FB3D9", "#2C7BB6", "#08306B"])
    mesh = ax.pcolormesh(times, edges, blank, norm=norm, cmap=hues, rasterized=True, linewidth=0)
    bar = ax.figure.colorbar(mesh, ax=ax, pad=0.015)
    ticker = need("matplotlib.ticker", "a plot")
    bar.ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: tick_text(value, "")))
    bar.ax.yaxis.set_minor_formatter(ticker.NullFormatter())
    bar.set_label("Values per second", color=INK)
    bar.outline.set_visible(False)


def finish(ax: Any, title: str, is_filled: bool, *, legend: bool, where: str, grid: bool = True) -> None:
    """What all plots have in common."""
    ax.set_title(title, color=INK, fontsize=11, loc="left")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color("#999999")
    ax.tick_params(colors=INK, which="both", labelsize=9)
    ax.xaxis.label.set_color(INK)
    ax.yaxis.label.set_color(INK)
    ax.set_axisbelow(True)
    if grid:
        ax.grid(True, color="#DDDDDD", linewidth=0.7)
    if not is_filled:
        ax.text(0.5, 0.5, "nothing was recorded", transform=ax.transAxes, ha="center", va="center", color="#777777")
    if legend and where == "above":  # where it hides nothing
        ax.legend(loc="lower right", bbox_to_anchor=(1, 0.99), ncols=4, frameon=False, fontsize=9, labelcolor=INK)
    elif legend:
        ax.legend(loc=where, frameon=True, framealpha=0.85, edgecolor="none", fontsize=9, labelcolor=INK)
