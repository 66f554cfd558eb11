"""Pictures. What is drawn is tested in the core; here it is the way there, and that the documents are well formed."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, get_args

import pytest

import picollo
from picollo import Histogram, Snapshot
from picollo.picture import Kind


def histogram(values: Any = range(1000, 3000), name: str = "") -> Histogram:
    made = Histogram(0.01, name=name)
    made.record_many(values)
    return made


@pytest.mark.parametrize("values", [[], [0], [5], range(1000), [2**64 - 1], [0, 2**64 - 1]])
@pytest.mark.parametrize("kind", get_args(Kind))
def test_svg(kind: Kind, values: Any) -> None:
    snapshot = histogram(values, "a <b> & \"c\"").snapshot()
    svg = snapshot.svg(kind, unit="ns")
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
    assert "<pre" not in report and all(f"<dt>{fact}</dt>" in report for fact in ("Date", "Host", "Command", "Kernel"))
    data = report.split('id="picollo-data">')[1].split("</script>")[0]
    decoded = json.loads(data)["snapshots"]
    for source, found in zip(sources, decoded):
        assert found["summary"]["title"] == source.name
        again = Snapshot.decode(found["native_base64"])
        assert again.buckets() == source.snapshot().buckets()
        assert [bucket[2] for bucket in found["buckets"]] == [bucket.count for bucket in again.buckets()]
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


def test_refused() -> None:
    snapshot = histogram().snapshot()
    with pytest.raises(ValueError, match="kind must be one of 'percentiles', 'density', not 'heat map'"):
        snapshot.chart("heat map")
    with pytest.raises(ValueError, match="kind must be"):
        snapshot.svg("pie")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="theme must be"):
        snapshot.svg(theme="blue")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="columns must be"):
        snapshot.sparkline(-1)
    with pytest.raises(ValueError, match="need as many labels"):
        picollo.svg(snapshot, labels=[])
    with pytest.raises(TypeError, match="not int"):
        picollo.report(5)  # type: ignore[arg-type]
    snapshot.close()
    with pytest.raises(picollo.ClosedError):
        snapshot.sparkline()
    with pytest.raises(picollo.ClosedError):
        picollo.report(snapshot)
