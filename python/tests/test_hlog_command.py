"""``picollo hlog``: its output and its errors; and ``python -m picollo``, which runs the command."""

from __future__ import annotations

import base64
import csv
import gzip
import importlib.metadata
import io
import os
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import PACKAGE, command_environment, native_command, on_a_terminal, python_m

import picollo
from picollo import LogInterval, Snapshot
from picollo.__main__ import find

START = 1_500_000_000.25
TAGS = ("GET", "PUT", "")
EVERYTHING = (TAGS, range(10))


def values_of(tags: "tuple[str, ...]", places: range) -> "list[int]":
    """The recorded values of intervals: thousands of nanoseconds."""
    return [1000 * (1 + 10 * TAGS.index(tag) + place + step % 50) for place in places for tag in tags for step in range(100)]


def filled(values: "list[int]", **options: Any) -> Snapshot:
    histogram = picollo.Histogram(**{"significant_digits": 3, "max": 10**9, **options})
    histogram.record_many(values)
    return histogram.snapshot()


def write(path: Path, places: range, **options: Any) -> None:
    intervals = [(place, tag, filled(values_of((tag,), range(place, place + 1)), **options)) for place in places for tag in TAGS]
    picollo.write_log(path, [LogInterval(START + place, START + place + 1, counts, tag) for place, tag, counts in intervals])


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten seconds of three tags."""
    path = tmp_path_factory.mktemp("hlog") / "a.hlog"
    write(path, range(10))
    return path


def run(*arguments: object, status: int = 0, **options: Any) -> "tuple[str, str]":
    """Runs the command; returns its output and its error output."""
    told = subprocess.run([native_command(), "hlog", *map(str, arguments)], capture_output=True, timeout=60, **options)
    out, err = told.stdout.decode(), told.stderr.decode()
    assert told.returncode == status, err
    if status == 0 and "--skip-errors" not in arguments:
        assert err == "" or "histograms of doubles" in err
    return out, err


def rows(*arguments: object, **options: Any) -> "list[dict[str, str]]":
    return list(csv.DictReader(io.StringIO(run(*arguments, "--format", "csv", **options)[0])))


def expected(rank: float, tags: "tuple[str, ...]", places: range) -> int:
    """The upper end of the bucket, if one histogram had all values."""
    return filled(values_of(tags, places)).percentile(rank, "upper").value


# ── what it prints ─────────────────────────────────────────────────────────────────────────────────────


def test_one_row_for_all(log: Path, tmp_path: Path) -> None:
    out, _ = run(log)
    header, row = out.splitlines()
    assert header.split() == ["Count", "Mean", "P50", "P90", "P99", "P99.9", "P99.99", "Max"]
    count, _, *found = row.split()
    assert count == "3,000"
    assert [int(value.replace(",", "")) for value in found] == [expected(rank, *EVERYTHING) for rank in (50, 90, 99, 99.9, 99.99, 100)]
    assert run(log, "-o", tmp_path / "table.txt")[0] == "" and (tmp_path / "table.txt").read_text() == out


def test_tags_and_windows(log: Path) -> None:
    found = rows(log, "--by-tag", "--window", 4, "--percentiles", "0,50,99.9")
    times = [f"{START + 4 * window:.3f}".rstrip("0") for window in range(4)]
    assert [(row["tag"], row["from"], row["to"]) for row in found] == [(tag, *times[at : at + 2]) for tag in sorted(TAGS) for at in range(3)]
    for row in found:
        first = round(float(row["from"]) - START)
        tags, places = (row["tag"],), range(first, min(first + 4, 10))
        values = values_of(tags, places)
        assert int(row["count"]) == len(values)
        assert float(row["mean"]) == pytest.approx(sum(values) / len(values), rel=0.0005)
        for rank in (0, 50, 99.9):
            assert int(row[f"p{rank:g}"]) == expected(rank, tags, places)


@pytest.mark.parametrize(
    ("arguments", "places"),
    [
        (["--start=3"], range(3, 10)),
        (["--end=3"], range(0, 3)),
        (["--start=3", "--end=7"], range(3, 7)),
        (["--start=@1500000003.25"], range(3, 10)),
        (["--start=2017-07-14T02:40:03.250Z", "--end=2017-07-14T04:40:05.25+02:00"], range(3, 5)),
        (["--start=2017-07-14T02:40:09.25"], range(9, 10)),
        (["--start=-5"], range(10)),
    ],
)
def test_times(log: Path, arguments: "list[str]", places: range) -> None:
    (row,) = rows(log, *arguments, "--tag", "PUT")
    assert (int(row["count"]), int(row["p100"])) == (100 * len(places), expected(100, ("PUT",), places))


def test_picking_tags(log: Path) -> None:
    assert [row["tag"] for row in rows(log, "--tag", "PUT", "--tag", "", "--by-tag")] == ["", "PUT"]
    (row,) = rows(log, "--tag", "PUT", "--tag", "GET")
    assert int(row["p90"]) == expected(90, ("PUT", "GET"), range(10))


def test_several_files(log: Path, tmp_path: Path) -> None:
    """With any digits, compressed or not; one from standard input."""
    second, third = tmp_path / "b.hlog.gz", tmp_path / "c.hlog"
    write(second, range(10, 12), significant_digits=2, max=10**7)
    write(third, range(12, 15), significant_digits=4, max=10**6)
    assert [row["count"] for row in rows(log, second, third, "--window", 10)] == ["3000", "1500"]
    assert [row["count"] for row in rows("-", second, input=gzip.compress(log.read_bytes()))] == ["3600"]
    # Many groups. The command's own test ``hlog::groups`` checks those that are kept as bytes.
    found = rows(log, log, "--window", 1, "--by-tag")
    assert len(found) == 30 and {row["count"] for row in found} == {"200"}
    for row in found:
        place = round(float(row["from"]) - START)
        assert int(row["p50"]) == expected(50, (row["tag"],), range(place, place + 1))


def test_scales_and_forms(log: Path) -> None:
    (plain,) = rows(log)
    for scale, divisor in (("us", 1000), ("1000", 1000), ("ms", 10**6), ("0.5", 0.5)):
        (scaled,) = rows(log, "--scale", scale, "--decimals", 6)
        assert scaled["count"] == plain["count"]
        for name in ("mean", "p50", "p100"):
            assert float(scaled[name]) == pytest.approx(float(plain[name]) / divisor, abs=2e-3)
    assert run(log, "--scale", "us")[0].endswith("\n(values in us)\n")
    assert run(log, "--scale", "us", "--format", "markdown")[0].endswith(" |\n\nValues in us.\n")
    bucket = filled([]).bucket_of(max(values_of(*EVERYTHING)))
    found = [int(rows(log, "--values", values)[0]["p100"]) for values in ("lower", "midpoint", "upper")]
    assert found == [bucket.lower, bucket.midpoint, bucket.upper]
    lines = run(log, "--by-tag", "--format", "markdown")[0].splitlines()
    assert lines[0].startswith("| Tag |") and lines[1].startswith("| :-- | ----")
    assert len({len(line) for line in lines}) == 1 and len(lines) == 5


def test_hgrm(log: Path, tmp_path: Path) -> None:
    total, put = (Snapshot.merged(interval.snapshot for interval in picollo.read_log(log, tag=tag)) for tag in (None, "PUT"))
    assert run(log, "--format", "hgrm", "--ticks", 2, "--scale", "us")[0] == total.hgrm(2, 1000)
    assert run(log, "--format", "hgrm-csv")[0] == total.hgrm(csv=True)
    # Several: with a comment before each.
    out, _ = run(log, "--format", "hgrm", "--by-tag", "--window", 5)
    assert re.findall(r"^#\[(.* s)\]$", out, re.MULTILINE)[1:3] == ["no tag, 5-10 s", "GET, 0-5 s"]
    assert run(log, "--format", "hgrm", "--tag", "PUT", "-o", tmp_path / "put.hgrm")[0] == ""
    assert (tmp_path / "put.hgrm").read_text() == put.hgrm()


def test_tags_act_on_no_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a.hlog"
    tags = ["a|b", "A|B", "größe", "\u202eevil", "escape"]
    picollo.write_log(path, [LogInterval(0, 1, filled([1]), tag) for tag in tags])
    # Text is UTF-8 in every locale; control characters are escaped, and none ends a cell.
    path.write_bytes(path.read_bytes().replace(b"escape", b"a\x1b[31mb"))
    text, _ = run(path, "--by-tag", "--format", "markdown", env={**os.environ, "LC_ALL": "C"})
    assert "\u202e" not in text and "\\\\u202eevil" in text and "a\\|b" in text and "größe" in text
    assert "\x1b" not in text and "a\\x1b[31mb" in run(path, "--by-tag")[0]


def test_empty_intervals(tmp_path: Path) -> None:
    path = tmp_path / "a.hlog"
    picollo.write_log(path, [LogInterval(0, 1, filled([]))])
    assert run(path)[0].splitlines()[1].split() == ["0", *"-------"]
    assert run(path, "--format", "csv")[0].splitlines()[1] == "0,,,,,,,"
    assert "Total count    =            0" in run(path, "--format", "hgrm")[0]


def test_histograms_of_doubles(tmp_path: Path) -> None:
    """Histograms with one ratio add up, and keep it; others do not."""

    def line(ratio: float, tag: str) -> str:
        encoded = filled([16, 17], significant_digits=2).encode("hdr_v2")
        # Java's cookie of doubles, digits, the ratio of the range, and an encoding with the factor in its header.
        doubles = struct.pack(">IIQ", 0x0C72124E, 2, 2**40) + encoded[:32] + struct.pack(">d", ratio) + encoded[40:]
        return f"Tag={tag},1,1,1,{base64.b64encode(doubles).decode()}\n"

    path = tmp_path / "a.hlog"
    same = "".join(line(0.25, tag) for tag in "AABA")
    path.write_text(same)
    assert [row["count"] for row in rows(path, "--by-tag")] == ["6", "2"]
    assert run(path)[1] == "picollo hlog: these are histograms of doubles: multiply their values by 0.25\n"
    path.write_text(same + line(0.5, "A"))
    assert "values are multiplied by 0.5, and not by 0.25 as those before" in run(path, status=1)[1]


def test_pictures_are_those_of_report(log: Path, tmp_path: Path) -> None:
    """Percentiles, and the heat map over time, also for logs with a gap between them."""
    later, joined, page = tmp_path / "later.hlog", tmp_path / "joined.hlog", tmp_path / "page.html"
    write(later, range(50, 60))
    joined.write_text(log.read_text() + later.read_text())
    for path in (log, joined):
        told = subprocess.run([native_command(), "report", str(path), "-o", str(page)], capture_output=True, text=True, timeout=60)
        assert (told.returncode, told.stderr) == (0, "")
        text = page.read_text()
        assert text.count("<svg") >= 3 and "GET" in text and "PUT" in text
        assert "http://" not in text.replace("http://www.w3.org/", "") and "https://" not in text


# ── what is wrong ──────────────────────────────────────────────────────────────────────────────────────


def test_lines_that_cannot_be_read(log: Path, tmp_path: Path) -> None:
    path, times = tmp_path / "a.hlog", tmp_path / "b.hlog"
    lines = log.read_text().splitlines()
    path.write_text("\n".join([*lines[:8], "0.1,1,1,HISTFnonsense", *lines[8:], *["x"] * 20, "last,line", "not,yet"]))
    out, err = run(path, status=1)
    assert out == "" and err.startswith(f"picollo hlog: {path}:9: the histogram: the encoded data is malformed\n")
    assert "--skip-errors" in err
    out, err = run(path, "--skip-errors")
    assert out == run(log)[0]
    assert err.count(f"{path}:") == 10 and "picollo hlog: 12 more lines could not be read" in err
    # Invalid times.
    times.write_text(log.read_text() + f"#[BaseTime: -1.7e308]\n{lines[-1]}\n#[BaseTime: 1.7e308]\n{lines[-1]}\n")
    assert f"{times}:35: -1.7e308 is not a time" in run(times, "--window", 5, status=1)[1]
    out, err = run(times, "--window", 5, "--skip-errors")
    assert out == run(log, "--window", 5)[0] and err.count("is not a time") == 2
    assert run(times)[0].splitlines()[1].split()[0] == "3,200"


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("is_packed", [False, True])
def test_other_forms(log: Path, tmp_path: Path, codec: str, is_packed: bool) -> None:
    """A mark, UTF-16, gzip under any name, and an incomplete last line."""
    path = tmp_path / "a.hlog"
    data = (log.read_text() + "0.1,1,1,HISTFAAA").encode(codec)
    path.write_bytes(gzip.compress(data) if is_packed else data)
    wanted, _ = run(log, "--by-tag")
    assert run(path, "--by-tag")[0] == run("-", "--by-tag", input=path.read_bytes())[0] == wanted


def test_files_that_cannot_be_read(log: Path, tmp_path: Path) -> None:
    binary, torn, empty = tmp_path / "a.png", tmp_path / "a.hlog.gz", tmp_path / "empty.hlog"
    binary.write_bytes(bytes(range(256)) * 10)
    torn.write_bytes(gzip.compress(log.read_bytes())[:-100])
    empty.write_text("#[Histogram log format version 1.3]\n")
    for arguments, complaint in (
        ((log, tmp_path / "nowhere.hlog"), f"{tmp_path}/nowhere.hlog: No such file or directory\n"),
        ((tmp_path,), f"{tmp_path}: Is a directory\n"),
        ((binary,), rf"{binary}:\d+: the line is not an interval of a log, .*\n(.*\n)*"),
        ((torn,), f"{torn}: the compressed data is incomplete\n"),
        ((empty,), "there are no intervals in this log\n"),
        ((log, "--tag", "POST"), "the options select none of the 30 intervals; the tags are '', 'GET', 'PUT'\n"),
        ((log, "--start", 100), "the options select none of the 30 intervals.*\n"),
    ):
        out, err = run(*arguments, status=1)
        assert out == "" and re.fullmatch(f"picollo hlog: {complaint}", err), err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "the following required arguments were not provided:\n  <FILE>..."),
        (["a", "--percentiles", "50,101"], "50,101 are not percentiles: use numbers from 0 to 100"),
        (["a", "--percentiles", "nan"], "are not percentiles"),
        (["a", "--percentiles", ""], "are not percentiles"),
        (["a", "--window", "0"], "0 is not a duration from 1 ms"),
        (["a", "--window", "x"], "x is not a duration"),
        (["a", "--start", "yesterday"], "is not a time"),
        (["a", "--start", "inf"], "is not a finite time"),
        (["a", "--scale", "0"], "is not a scale: use a positive number, or ns, us, ms or s"),
        (["a", "--scale", "hours"], "is not a scale"),
        (["a", "--decimals=-1"], "invalid value '-1' for '--decimals <N>'"),
        (["a", "--format", "xml"], "invalid value 'xml' for '--format <FORMAT>'"),
        (["a", "--ticks", "x"], "invalid value 'x' for '--ticks <N>'"),
        (["a", "--ticks=0"], "0 is not in 1..=1000000"),
    ],
)
def test_wrong_usage(arguments: "list[str]", complaint: str) -> None:
    assert complaint in run(*arguments, status=2)[1]


# ── around it ──────────────────────────────────────────────────────────────────────────────────────────


def test_the_module(log: Path) -> None:
    told = python_m("hlog", log)
    assert (told.returncode, told.stdout, told.stderr) == (0, run(log)[0], "")
    for arguments in (["--help"], ["hlog", "--help"]):
        told = python_m(*arguments)
        assert (told.returncode, told.stderr) == (0, "") and "hlog" in told.stdout
    assert python_m("--version").stdout == f"picollo {picollo.__version__}\n"
    # Its status is that of the command.
    assert [python_m(*wrong).returncode for wrong in (["hlog"], ["no-such"], ["hlog", "/no/where"])] == [2, 2, 1]
    assert [entry.value for entry in importlib.metadata.distribution("picollo").entry_points] == ["picollo.__main__:command"]


def test_where_the_command_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "repository" / "python" / "src" / "picollo"
    monkeypatch.delenv("PICOLLO_COMMAND", raising=False)
    assert find(package) is None
    target = tmp_path / "repository" / "target"
    for place in (target / "debug", target / "release", target / "command", target / "stage" / "bin", package / "bin"):
        place.mkdir(parents=True)
        (place / "picollo").touch()
        assert find(package) == place / "picollo"
    monkeypatch.setenv("PICOLLO_COMMAND", "/elsewhere/picollo")
    assert find(package) == Path("/elsewhere/picollo")
    told = python_m("list", PICOLLO_COMMAND="/no/such/picollo")
    assert (told.returncode, told.stderr) == (1, "picollo: /no/such/picollo: No such file or directory\n")
    # A package without the command.
    elsewhere = tmp_path / "a" / "b" / "c" / "picollo"
    elsewhere.mkdir(parents=True)
    (elsewhere / "main.py").write_text((PACKAGE / "__main__.py").read_text())
    without = command_environment()
    del without["PICOLLO_COMMAND"]
    told = subprocess.run([sys.executable, elsewhere / "main.py", "list"], capture_output=True, text=True, env=without)
    assert told.returncode == 1 and "`cargo install --path crates/cli`" in told.stderr and told.stderr.count("\n") == 1


def test_a_closed_pipe(log: Path) -> None:
    """``picollo hlog ... | head -1``"""
    read, write_end = os.pipe()
    os.close(read)
    with os.fdopen(write_end, "w") as broken:
        told = subprocess.run([native_command(), "hlog", str(log)], stdout=broken, stderr=subprocess.PIPE, text=True)
    assert (told.returncode, told.stderr) == (1, "")


def test_progress_of_a_long_log(log: Path) -> None:
    """Overwritten lines, at most as wide as a terminal, and removed at the end. The command's own tests check
    shares."""
    wanted, lines = run(log)[0], log.read_bytes().splitlines(keepends=True)
    output, shown = on_a_terminal(native_command(), "hlog", "-", lines=lines)
    assert output == wanted
    parts = shown.split("\r")
    # Nothing in the first half second, and then at most ten times a second, for 34 lines.
    pictures = [part for part in parts if "MB/s" in part]
    assert parts[0] == "" and 1 <= len(pictures) < 34 and all("<stdin>" in part for part in pictures)
    assert max(map(len, parts)) <= 80 and parts[-1] == "" and parts[-2].strip() == ""
    assert on_a_terminal(native_command(), "hlog", "-", "--no-progress", lines=lines) == (wanted, "")
