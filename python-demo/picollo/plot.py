"""Plots with matplotlib: ``pip install 'picollo[plot]'``. Nothing else of the package needs or loads it.

::

    import picollo.plot

    picollo.plot.percentiles(before, after, unit="ns")
    picollo.plot.density(before, after, unit="ns")
    picollo.plot.compare(before, after, unit="ns").savefig("compare.png")
    picollo.plot.heatmap(timeline, unit="ns")

Every function takes histograms or snapshots, draws on ``ax`` or on a new figure, changes none of matplotlib's settings, and draws
something sensible of nothing, of a single value, and of as many as there can be. ``unit`` is what the values were recorded in:
``"ns"``, ``"us"``, ``"ms"``, ``"s"`` and ``"ps"`` become times on the axes, whatever else is written beside the label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

from . import _axes as axes
from . import arrays
from .histogram import Histogram, snapshot_of
from .snapshot import Snapshot
from .timeline import Interval, Timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: What is drawn.
Source = Union[Histogram, Snapshot]

#: Distinguishable by those who see fewer colours, and on paper (Okabe and Ito).
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


class _Data:
    """A distribution ready to draw."""

    def __init__(self, source: Source, label: str) -> None:
        snapshot = snapshot_of(source, "plots take histograms and snapshots")
        numpy = arrays.need("numpy", "a plot")
        buckets = snapshot.bucket_array()
        self.label = label
        # Doubles from here on: sums of counts may exceed 64 bits, and no eye tells the 16th digit.
        self.counts = buckets["count"].astype("f8")
        self.lower = buckets["lower"].astype("f8")
        self.upper = buckets["upper"].astype("f8") + 1
        self.middle = numpy.where(buckets["step"] > 1, (self.lower + self.upper) / 2, self.lower)
        self.cumulated = numpy.cumsum(self.counts)
        self.total = float(self.cumulated[-1]) if len(self.counts) else 0.0

    def at(self, rank: float) -> int:
        """The bucket of a percentile rank."""
        return int(self.cumulated.searchsorted(rank / 100 * self.total))


def _data(sources: Sequence[Source], labels: Optional[Sequence[str]]) -> list[_Data]:
    if not sources:
        raise TypeError("nothing to plot: give at least one histogram or snapshot")
    if labels is None:
        names = [getattr(source, "name", "") for source in sources]
        labels = [name or (f"#{place}" if len(names) > 1 else "") for place, name in enumerate(names, 1)]
    elif len(labels) != len(sources):
        raise ValueError(f"{len(sources)} distributions need as many labels, not {len(labels)}")
    return [_Data(source, label) for source, label in zip(sources, labels)]


def percentiles(
    *sources: Source,
    labels: Optional[Sequence[str]] = None,
    unit: str = "",
    title: str = "",
    log: Optional[bool] = None,
    ax: Optional[Axes] = None,
) -> Axes:
    """Values by percentile. Each step to the right along the axis leaves a tenth of the values: 90 %, 99 %, 99.9 %, ...

    :param labels: of the curves (default: the names of the histograms).
    :param log: logarithmic values (default: where they span more than a factor of 20).
    """
    return _percentiles(_data(sources, labels), unit, title, log, ax or axes.new_axes())


def _percentiles(data: list[_Data], unit: str, title: str, log: Optional[bool], ax: Axes) -> Axes:
    numpy = arrays.need("numpy", "a plot")
    drawn = [item for item in data if item.total]
    right = max([10.0, *(item.total for item in data)])
    for item, color in zip(data, _colors()):
        if not item.total:
            ax.plot([], [], color=color, label=_label(item))
            continue
        # Bucket i holds the values between these two of 1 / (1 - quantile); above the last value there is nothing to tell.
        ends = item.total / numpy.maximum(item.total - item.cumulated, 1.0)
        begins = numpy.append(1.0, ends[:-1])
        x, y = numpy.empty(2 * len(ends)), numpy.repeat(item.middle, 2)
        x[0::2], x[1::2] = begins, ends
        dot = (x[-1], y[-1])
        # All ranks beyond the last value have that value: so even one makes a line.
        x[-1] = max(x[-1], 10.0)
        ax.plot(x, y, color=color, linewidth=1.8, label=_label(item), solid_joinstyle="round")
        ax.plot(*dot, "o", color=color, markersize=4, clip_on=False)
    axes.percentile_axis(ax, right)
    axes.value_axis(ax, "y", [item.middle for item in drawn], unit, log)
    axes.finish(ax, title or _title(data, "percentiles"), bool(drawn), legend=len(data) > 1, where="upper left")
    return ax


def density(
    *sources: Source,
    labels: Optional[Sequence[str]] = None,
    unit: str = "",
    title: str = "",
    log: Optional[bool] = None,
    bins: int = 100,
    mark: Sequence[float] = (50, 99),
    up_to: float = 99.9,
    ax: Optional[Axes] = None,
) -> Axes:
    """How the values are spread: the share of them in each of many bins of equal width, the same for all distributions.

    :param log: logarithmic values, and bins of equal ratio (default: where values span more than a factor of 20).
    :param mark: percentile ranks to mark with lines, dashed and dotted in turn.
    :param up_to: the percentile rank at which the picture ends, so that a few large values do not squeeze all others. What is
        beyond is told. 100 shows everything.
    """
    if bins < 1:
        raise ValueError(f"bins must be at least 1, not {bins}")
    if not 0 <= up_to <= 100:
        raise ValueError(f"up_to must be within 0 .. 100, not {up_to}")
    return _density(_data(sources, labels), unit, title, log, bins, mark, up_to, ax or axes.new_axes())


def _density(
    data: list[_Data],
    unit: str,
    title: str,
    log: Optional[bool],
    bins: int,
    mark: Sequence[float],
    up_to: float,
    ax: Axes,
) -> Axes:
    drawn = [item for item in data if item.total]
    end = max((float(item.upper[item.at(up_to)]) for item in drawn), default=0.0)
    beyond = [float(item.counts[item.lower >= end].sum() / item.total) for item in drawn]
    spans = [span for item in drawn for span in (item.lower[:1], item.upper[-1:].clip(max=end))]
    log = axes.value_axis(ax, "x", spans, unit, log)
    widest = max((float((item.upper - item.lower)[item.lower < end].max(initial=1.0)) for item in drawn), default=1.0)
    edges = axes.bin_edges(bins, log, spans, widest)
    for item, color in zip(data, _colors()):
        if not item.total:
            ax.plot([], [], color=color, label=_label(item))
            continue
        share = axes.rebinned(item.lower, item.upper, item.counts, edges) / item.total * 100
        ax.stairs(share, edges, color=color, linewidth=1.5, label=_label(item))
        ax.stairs(share, edges, color=color, alpha=0.15, fill=True)
        for place, rank in enumerate(mark):
            at = item.middle[item.at(rank)]
            style = ("--", ":")[place % 2]
            ax.axvline(at, color=color, linestyle=style, linewidth=1)
            if len(data) == 1:
                ax.annotate(
                    f" P{rank:g}", (at, 1 - 0.05 * place), xycoords=("data", "axes fraction"), va="top", fontsize=8, color=axes.INK
                )
    if len(data) > 1 and mark and drawn:
        for place, rank in enumerate(mark):
            ax.plot([], [], color=axes.INK, linestyle=("--", ":")[place % 2], linewidth=1, label=f"P{rank:g}")
    ax.set_ylabel("Share of values (%)")
    ax.set_ylim(bottom=0)
    if any(beyond):
        text = f"up to {max(beyond) * 100:.2g}% beyond →" if len(data) > 1 else f"{beyond[0] * 100:.2g}% beyond →"
        ax.annotate(text, (1, 0.02), xycoords="axes fraction", ha="right", va="bottom", fontsize=8, color=axes.INK)
    axes.finish(ax, title or _title(data, "density"), bool(drawn), legend=len(data) > 1, where="upper right")
    return ax


def compare(
    *sources: Source,
    labels: Optional[Sequence[str]] = None,
    unit: str = "",
    title: str = "",
    log: Optional[bool] = None,
) -> Figure:
    """Distributions over each other: their density beside their percentiles. Returns a new figure."""
    data = _data(sources, labels)
    left, right = axes.new_pair()
    _density(data, unit, "Density", log, 100, (50, 99), 99.9, left)
    _percentiles(data, unit, "Percentiles", log, right)
    if title or any(item.label for item in data):
        left.figure.suptitle(title or _title(data, "", " and "), color=axes.INK)
    figure: Figure = left.figure
    return figure


def heatmap(
    timeline: Timeline,
    *,
    unit: str = "",
    title: str = "",
    log: Optional[bool] = None,
    bins: int = 80,
    mark: Sequence[float] = (50, 99),
    ax: Optional[Axes] = None,
) -> Axes:
    """The distribution over time: a column for each interval, darker where more values a second were recorded.

    :param mark: percentile ranks to draw as lines.
    """
    numpy = arrays.need("numpy", "a plot")
    if bins < 1:
        raise ValueError(f"bins must be at least 1, not {bins}")
    ax = ax or axes.new_axes(wide=True)
    intervals = _without_gaps(timeline.intervals)
    filled = [interval for interval in intervals if len(interval.buckets)]
    spans = [
        numpy.array([interval.buckets["lower"][0], float(interval.buckets["upper"][-1]) + 1], "f8") for interval in filled
    ]
    log = axes.value_axis(ax, "y", spans, unit, log)
    start = intervals[0].begin if intervals else 0.0
    stop = intervals[-1].end if intervals else 1.0
    if filled:
        widest = max(float(interval.buckets["step"].max()) for interval in filled)
        edges = axes.bin_edges(bins, log, spans, widest)
        cells = numpy.zeros((len(edges) - 1, len(intervals)))
        for column, interval in enumerate(intervals):
            if len(interval.buckets):
                lower = interval.buckets["lower"].astype("f8")
                upper = interval.buckets["upper"].astype("f8") + 1
                counts = axes.rebinned(lower, upper, interval.buckets["count"].astype("f8"), edges)
                cells[:, column] = counts / max(interval.end - interval.begin, 1e-9)
        times = numpy.array([start, *(interval.end for interval in intervals)]) - start
        axes.color_mesh(ax, times, edges, cells)
        _lines(ax, intervals, start, mark)
    ax.set_xlim(0, max(stop - start, 1e-9))
    ax.set_xlabel("Time (s)")
    name = timeline.name or "Values"
    axes.finish(ax, title or f"{name} over time", bool(filled), legend=bool(filled and mark), where="above", grid=False)
    return ax


def _without_gaps(intervals: Sequence[Interval]) -> list[Interval]:
    """Columns are side by side: where nothing was sampled, as in a log with gaps, there is an empty one. (Times of logs are rounded
    to milliseconds, which makes no gaps.)"""
    filled: list[Interval] = []
    for interval in intervals:
        gap = interval.begin - filled[-1].end if filled else 0.0
        if gap > 0.01 * (interval.end - interval.begin):
            filled.append(Interval(filled[-1].end, interval.begin, interval.summary, interval.buckets[:0]))
        filled.append(interval)
    return filled


def _lines(ax: Axes, intervals: Sequence[Any], start: float, mark: Sequence[float]) -> None:
    """Percentiles in the middle of each interval, with gaps where nothing was recorded."""
    numpy = arrays.need("numpy", "a plot")
    x = [(interval.begin + interval.end) / 2 - start for interval in intervals]
    for place, rank in enumerate(mark):
        y = []
        for interval in intervals:
            buckets = interval.buckets
            cumulated = numpy.cumsum(buckets["count"].astype("f8"))
            found = numpy.searchsorted(cumulated, rank / 100 * cumulated[-1]) if len(buckets) else 0
            y.append((buckets["lower"][found] + buckets["step"][found] / 2) if len(buckets) else numpy.nan)
        color = ("#D55E00", "#000000", "#CC79A7")[place % 3]
        ax.plot(x, y, label=f"P{rank:g}", color=color, linewidth=1.5, marker="o", markersize=2.5)


def _colors() -> Any:
    from itertools import cycle

    return cycle(COLORS)


def _label(item: _Data) -> str:
    return item.label if item.total else f"{item.label} (empty)"


def _title(data: list[_Data], what: str, between: str = ", ") -> str:
    names = between.join(item.label for item in data if item.label)
    return f"{names}: {what}" if names and what and len(data) == 1 else (names if len(data) > 1 and not what else what.capitalize())
