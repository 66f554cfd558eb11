"""Pictures. The core tests what they show; these tests check the calls, and that the documents are well formed."""

from __future__ import annotations

import json
import threading
import weakref
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, get_args

import pytest
from conftest import assert_refused

import picollo
from picollo import Histogram, Snapshot
from picollo._library import released
from picollo.picture import Kind


def histogram(values: Any = range(1000, 3000), name: str = "") -> Histogram:
    made = Histogram(0.01, name=name)
    made.record_many(values)
    return made


@pytest.mark.parametrize("values", [[], [0], range(1000), [0, 2**64 - 1]])
@pytest.mark.parametrize("kind", get_args(Kind))
def test_svg(kind: Kind, values: Any) -> None:
    svg = histogram(values, "a <b> & \"c\"").snapshot().svg(kind, unit="ns")
    root = ElementTree.fromstring(svg)
    namespace = "{http://www.w3.org/2000/svg}"
    assert root.tag == namespace + "svg" and svg._repr_svg_() == svg
    assert root.findtext(namespace + "title") == f"a <b> & \"c\": {kind}"
    texts = [element.text for element in root.iter(namespace + "text")]
    assert ("no observations" in texts) is (not values)
    assert ("Time" in texts or "Time, logarithmic" in texts) is bool(values)


def test_many(tmp_path: Path) -> None:
    before, after = histogram(name="before"), histogram(range(5000), "after").snapshot()
    svg = picollo.svg(before, after, kind="density", title="T", unit="cycles", theme="dark", width=500, height=300)
    assert ElementTree.fromstring(svg).get("viewBox") == "0 0 500 300"
    assert ">before<" in svg and ">after<" in svg and "Value (cycles), logarithmic" in svg
    assert "prefers-color-scheme" not in svg
    assert ">x<" in picollo.svg(before, after, labels=["x", "y"])
    svg.save(tmp_path / "density.svg")
    assert (tmp_path / "density.svg").read_bytes() == svg.encode()
    assert "no observations" in picollo.svg()


def test_report(tmp_path: Path) -> None:
    sources = [histogram(name="before"), histogram(range(500, 6000), "</script>"), histogram([])]
    report = picollo.report(*sources, title="Requests", unit="ns")
    assert report.count("<svg ") == 3 and " slower than before (+" in report and "nothing to compare" in report
    decoded = json.loads(report.split('id="picollo-data">')[1].split("</script>")[0])["snapshots"]
    for source, found in zip(sources, decoded):
        assert found["summary"]["title"] == source.name
        assert Snapshot.decode(found["native_base64"]).buckets() == source.snapshot().buckets()
    report.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text("utf-8") == report
    assert "&lt;svg " in report._repr_html_() and "<svg " not in report._repr_html_()


def test_terminal() -> None:
    snapshot = histogram(name="Name").snapshot()
    assert len(snapshot.sparkline()) == 40 and "█" in snapshot.sparkline(7)
    assert snapshot.sparkline(20, ascii=True).isascii()
    assert histogram([]).snapshot().sparkline() == "no observations"
    assert snapshot.chart("density", unit="ns", rows=3, columns=20).splitlines()[0] == "Name"
    assert len(snapshot.chart(title="", rows=3, ascii=True).splitlines()) == 5


def test_drawing_beside_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """It releases the GIL: meanwhile others wait for the snapshot, and closing it frees nothing yet."""
    snapshot, drawing = Histogram().snapshot(), released.report_format_html
    pointer = weakref.ref(snapshot._handle())
    thread = threading.Thread(target=snapshot.update)

    def draw_beside_others(*arguments: Any) -> int:
        if thread.ident is None:  # the first of several calls
            thread.start()
            thread.join(0.1)
        assert thread.is_alive()
        snapshot.close()
        assert pointer() is not None
        return int(drawing(*arguments))

    monkeypatch.setattr(released, "report_format_html", draw_beside_others)
    monkeypatch.setattr(threading, "excepthook", lambda _: None)  # it finds the snapshot closed
    picollo.report(snapshot)
    thread.join()
    assert pointer() is None


def test_refused() -> None:
    snapshot = histogram().snapshot()
    assert_refused(
        (lambda: snapshot.chart("heat map"), ValueError, "kind must be one of 'percentiles', 'density', not 'heat map'"),
        (lambda: snapshot.svg("pie"), ValueError, "kind must be"),  # type: ignore[arg-type]
        (lambda: snapshot.svg(theme="blue"), ValueError, "theme must be"),
        (lambda: snapshot.sparkline(-1), ValueError, "columns must be"),
        (lambda: picollo.svg(snapshot, labels=[]), ValueError, "need as many labels"),
        (lambda: picollo.report(5), TypeError, "not int"),  # type: ignore[arg-type]
    )
    snapshot.close()
    closed = picollo.ClosedError, ""
    assert_refused((snapshot.sparkline, *closed), (lambda: picollo.report(snapshot), *closed))


# ── with matplotlib ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("recorded", [[(value, 1) for value in range(1, 1001)], [], [(0, 1)], [(2**64 - 1, 1)], [(10, 2**63), (20, 1)]])
def test_plot(recorded: list[tuple[int, int]]) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    made = Histogram(0.01, name="a $name_ with^ signs")
    for value, count in recorded:
        made.record_n(value, count)
    snapshot, before = made.snapshot(), dict(matplotlib.rcParams)
    ax: Any = made.plot(unit="ns")
    ax.figure.draw_without_rendering()
    values, edges, _ = ax.patches[0].get_data()
    for begin, end, value in zip(edges, edges[1:], values) if len(recorded) > 9 else ():
        if begin < end:  # the rank of the last value is 100
            # In the middle of each step, the value is the percentile at that rank.
            bucket = snapshot.percentile(100 * (1 - 2 / (begin + end))).bucket
            assert bucket.lower <= value <= bucket.upper
    texts = {text.get_text() for text in ax.figure.findobj(matplotlib.text.Text)}
    assert {"Percentile", "Duration"} <= texts and (len(recorded) < 9 or {"90%", "99%", "800 ns"} <= texts)
    assert snapshot.plot(ax, label="again", unit="bytes") is ax and ax.get_ylabel() == "Value (bytes)"
    assert ax.get_legend_handles_labels()[1] == [made.name, "again"] and dict(matplotlib.rcParams) == before
    matplotlib.pyplot.close("all")
    made.close()
    with pytest.raises(picollo.ClosedError):
        made.plot()
