"""Plots: what is drawn is what was recorded. How they look was judged by eye."""

from __future__ import annotations

from typing import Any, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import picollo
from picollo import Histogram, Timeline

numpy = pytest.importorskip("numpy")
matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import picollo.plot as plot  # noqa: E402
from matplotlib import pyplot  # noqa: E402
from picollo import _axes  # noqa: E402

U64_MAX = 2**64 - 1


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    pyplot.close("all")


def histogram(values: Any, name: str = "h") -> Histogram:
    made = Histogram(0.01, name=name)
    made.record_many(values)
    return made


def rendered(ax: Any) -> list[str]:
    """Draws, and returns every text that shows."""
    ax.figure.draw_without_rendering()
    texts = [text.get_text() for text in ax.figure.findobj(matplotlib.text.Text) if text.get_visible()]
    return [text for text in texts if text]


def test_percentile_curves() -> None:
    made = histogram(range(1, 1001))
    ax: Any = plot.percentiles(made, unit="ns")
    assert ax.get_xscale() == "log" and ax.get_xlabel() == "Percentile"
    x, y = ax.lines[0].get_data()
    snapshot = made.snapshot()
    # In the middle of each step, the value is the percentile at that rank.
    for begin, end, value in zip(x[0::2], x[1::2], y[0::2]):
        if begin == end:  # the last value: its rank is 100
            continue
        rank = 100 * (1 - 2 / (begin + end))
        bucket = snapshot.percentile(rank).bucket
        assert bucket.lower <= value <= bucket.upper + 1
    assert (x[0], x[-1]) == (1, 1000)
    texts = rendered(ax)
    assert {"0%", "90%", "99%", "99.9%", "Duration"} <= set(texts)
    assert any("ns" in text for text in texts)


def test_density_holds_every_value() -> None:
    values = [3] * 10 + list(range(1000, 2000)) + [10**6] * 5
    ax: Any = plot.density(histogram(values), unit="bytes", up_to=100)
    (outline, *_) = [patch for patch in ax.patches if not patch.get_fill()]
    share, edges, _ = outline.get_data()
    assert share.sum() == pytest.approx(100)
    assert edges[0] <= 3 and edges[-1] >= 10**6
    inside = share[(edges[:-1] >= 850) & (edges[1:] <= 2300)].sum()
    assert inside == pytest.approx(100 * 1000 / 1015, rel=1e-6)
    assert "Value (bytes)" in rendered(ax) and "Share of values (%)" in rendered(ax)
    assert not any("beyond" in text for text in rendered(ax))


def test_density_tells_what_is_beyond() -> None:
    values = [100] * 9_995 + [10**9] * 5
    ax: Any = plot.density(histogram(values))
    assert ax.get_xlim()[1] < 10_000
    assert "0.05% beyond →" in rendered(ax)
    ax = plot.density(histogram(values), histogram([50], "other"))
    assert "up to 0.05% beyond →" in rendered(ax)


@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 10**12)), min_size=1, max_size=20),
    st.integers(1, 120),
    st.booleans(),
)
def test_rebinning_loses_nothing(recorded: list[tuple[int, int]], bins: int, log: bool) -> None:
    made = Histogram(0.01)
    for value, count in recorded:
        made.record_n(value, count)
    buckets = made.snapshot().bucket_array()
    lower, upper = buckets["lower"].astype("f8"), buckets["upper"].astype("f8") + 1
    edges = _axes.bin_edges(bins, log, [lower, upper])
    assert len(edges) >= 2 and bool((numpy.diff(edges) > 0).all())
    found = _axes.rebinned(lower, upper, buckets["count"].astype("f8"), edges)
    assert found.sum() == pytest.approx(sum(count for _, count in recorded), rel=1e-9)
    assert bool((found >= 0).all())


EDGES: dict[str, list[tuple[int, int]]] = {
    "empty": [],
    "zero": [(0, 1)],
    "one value": [(12345, 1)],
    "one bucket": [(12345, 10**12)],
    "the largest": [(U64_MAX, 1)],
    "all there is": [(0, 1), (U64_MAX, 1)],
    "zeros": [(0, 5), (1, 3), (2, 1)],
    "many": [(1000, 10**12), (10**6, 10**9), (10**9, 1)],
    "more than doubles count": [(10, 2**63), (20, 1)],
}


@pytest.mark.parametrize(("unit", "log"), [("ns", None), ("", False)])
@pytest.mark.parametrize("recorded", EDGES.values(), ids=EDGES.keys())
def test_anything_can_be_drawn(recorded: list[tuple[int, int]], unit: str, log: Any) -> None:
    made = Histogram(0.01, name="a $name_ with^ signs")
    timeline = Timeline(made)
    timeline.sample()
    for value, count in recorded:
        made.record_n(value, count)
    timeline.sample()
    empty = Histogram(name="nothing")
    _, axs = pyplot.subplots(1, 4, dpi=50)
    plot.percentiles(made, unit=unit, log=log, ax=axs[0])
    plot.density(made, unit=unit, log=log, ax=axs[1])
    plot.density(made, empty, made.snapshot(), unit=unit, log=log, ax=axs[2])
    plot.heatmap(timeline, unit=unit, log=log, ax=axs[3])
    texts = rendered(axs[0])
    assert ("nothing was recorded" in texts) == (not recorded)
    assert "nothing (empty)" in texts
    for text in texts:
        assert "nan" not in text and "inf" not in text
    for ax in axs:
        assert all(numpy.isfinite([*ax.get_xlim(), *ax.get_ylim()]))


def test_comparisons() -> None:
    a, b = histogram(range(1000), "a"), histogram(range(2000), "b")
    figure = plot.compare(a, b.snapshot(), unit="ns")
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["Density", "Percentiles"]
    texts = rendered(figure.axes[0])
    assert {"a", "b", "a and b", "P50", "P99"} <= set(texts)
    assert {"x", "y"} <= set(rendered(plot.percentiles(a, b, labels=["x", "y"])))
    assert {"#1 (empty)", "#2 (empty)"} <= set(rendered(plot.percentiles(Histogram(), Histogram())))


def test_heat_maps() -> None:
    made = histogram([1] * 1000, "requests")  # before the timeline began: in none of its columns
    timeline = Timeline(made)
    for values in ([100] * 10, [], [200] * 20):
        made.record_many(values)
        interval = timeline.sample()
        made.reset()  # which a timeline does not notice
        assert interval.summary.total_count == interval.buckets["count"].sum() == len(values)
        assert interval.end >= interval.begin
    ax: Any = plot.heatmap(timeline, unit="ns")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Time (s)", "Duration")
    assert {"requests over time", "Values per second", "P50", "P99"} <= set(rendered(ax))
    cells = ax.collections[0].get_array()
    seconds = numpy.array([interval.end - interval.begin for interval in timeline.intervals])
    assert (cells.filled(0).sum(axis=0) * seconds).round(6).tolist() == [10, 0, 20]
    medians = ax.lines[0].get_ydata()
    assert numpy.isnan(medians[1]) and medians[0] < medians[2]


def test_timelines() -> None:
    pandas = pytest.importorskip("pandas")
    made = histogram([5])
    timeline = Timeline(made, keep=2)
    for count in (1, 2, 3):
        made.record_n(5, count)
        timeline.sample()
    frame = timeline.to_frame()
    assert isinstance(frame, pandas.DataFrame) and frame["total_count"].tolist() == [2, 3]
    assert frame.index[0] >= 0 and frame.index.is_monotonic_increasing
    assert len(Timeline(made).to_frame()) == 0
    with pytest.raises(ValueError, match="keep must be at least 1"):
        Timeline(made, keep=0)


def test_what_cannot_be_drawn() -> None:
    made = histogram([1])
    with pytest.raises(TypeError, match="give at least one"):
        plot.density()
    with pytest.raises(TypeError, match="not list"):
        plot.percentiles([1, 2])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="need as many labels"):
        plot.percentiles(made, labels=["a", "b"])
    with pytest.raises(ValueError, match="bins"):
        plot.density(made, bins=0)
    with pytest.raises(ValueError, match="up_to"):
        plot.density(made, up_to=101)
    made.close()
    with pytest.raises(picollo.ClosedError):
        plot.density(made)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "ns", "0"),
        (1, "ns", "1 ns"),
        (1000, "ns", "1 µs"),
        (1500, "us", "1.5 ms"),
        (10**9, "ns", "1 s"),
        (1, "ps", "1 ps"),
        (0.5, "ns", "500 ps"),
        (7200, "s", "7200 s"),
        (999, "", "999"),
        (20_000, "", "20k"),
        (1_500_000, "bytes", "1.5M"),
        (2**64, "", "18.4467E"),
    ],
)
def test_ticks(value: float, unit: str, text: str) -> None:
    assert _axes.tick_text(value, unit) == text


def test_settings_are_left_alone() -> None:
    before = dict(matplotlib.rcParams)
    plot.compare(histogram([1, 2]), histogram([3]))
    assert dict(matplotlib.rcParams) == before
