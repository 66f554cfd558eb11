"""``python -m picollo hlog``: what it prints, and what it says when something is wrong."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Optional

import oracle
import pytest
from conftest import PACKAGE_ROOT

import picollo
from picollo import LogInterval
from picollo.__main__ import main
from picollo.commands import _progress, _table, hlog

START = 1_500_000_000.25
TAGS = ("GET", "PUT", "")


def values_of(tag: str, place: int) -> "list[int]":
    """What was recorded in an interval: thousands of nanoseconds."""
    shift = 10 * TAGS.index(tag)
    return [1000 * (1 + shift + place + step % 50) for step in range(100)]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten seconds of three tags."""
    path = tmp_path_factory.mktemp("hlog") / "a.hlog"
    write(path, range(10))
    return path


def write(path: Path, places: "range", **options: Any) -> None:
    intervals = []
    for place in places:
        for tag in TAGS:
            histogram = picollo.Histogram(**{"significant_digits": 3, "max": 10**9, **options})
            histogram.record_many(values_of(tag, place))
            intervals.append(LogInterval(START + place, START + place + 1, histogram.snapshot(), tag))
    picollo.write_log(path, intervals)


def run(
    *arguments: object, status: int = 0, stdin: Optional[bytes] = None, capsys: "pytest.CaptureFixture[str]"
) -> "tuple[str, str]":
    """The command, in this process."""
    assert main(["hlog", *map(str, arguments)]) == status
    told = capsys.readouterr()
    if status == 0 and "--skip-errors" not in arguments:
        assert told.err == ""
    return told.out, told.err


def rows_of(text: str) -> "list[dict[str, str]]":
    return list(csv.DictReader(io.StringIO(text)))


def expected(rank: float, tags: "tuple[str, ...]", places: "range") -> int:
    """The upper end of the bucket of the sorted values."""
    values = sorted(value for place in places for tag in tags for value in values_of(tag, place))
    return oracle.bucket(values[oracle.target(rank, len(values)) - 1], 10)[1]


# ── what it prints ─────────────────────────────────────────────────────────────────────────────────────


def test_one_row_for_all(log: Path, capsys: "pytest.CaptureFixture[str]") -> None:
    out, _ = run(log, capsys=capsys)
    header, row = out.splitlines()
    assert header.split() == ["Count", "Mean", "P50", "P90", "P99", "P99.9", "P99.99", "Max"]
    count, _, *found = row.split()
    assert count == "3,000"
    for rank, value in zip((50, 90, 99, 99.9, 99.99, 100), found):
        assert int(value.replace(",", "")) == expected(rank, TAGS, range(10))


def test_tags_and_windows(log: Path, capsys: "pytest.CaptureFixture[str]") -> None:
    out, _ = run(log, "--by-tag", "--window", 4, "--percentiles", "0,50,99.9", "--format", "csv", capsys=capsys)
    rows = rows_of(out)
    assert [(row["tag"], row["from"], row["to"]) for row in rows] == [
        (tag, f"{START + 4 * window:.3f}".rstrip("0"), f"{START + 4 * window + 4:.3f}".rstrip("0"))
        for tag in sorted(TAGS)
        for window in range(3)
    ]
    for row in rows:
        first = round(float(row["from"]) - START)
        places = range(first, min(first + 4, 10))
        assert int(row["count"]) == 100 * len(places)
        values = [value for place in places for value in values_of(row["tag"], place)]
        assert float(row["mean"]) == pytest.approx(sum(values) / len(values), rel=0.0005)
        for rank in (0, 50, 99.9):
            assert int(row[f"p{rank:g}"]) == expected(rank, (row["tag"],), places)


@pytest.mark.parametrize(
    ("arguments", "places"),
    [
        (["--start", "3"], range(3, 10)),
        (["--end", "3"], range(0, 3)),
        (["--start", "3", "--end", "7"], range(3, 7)),
        (["--start", "@1500000003.25"], range(3, 10)),
        (["--start", "2017-07-14T02:40:03.250Z", "--end", "2017-07-14T04:40:05.25+02:00"], range(3, 5)),
        (["--start", "2017-07-14T02:40:09.25"], range(9, 10)),
        (["--start", "-5"], range(10)),
    ],
)
def test_times(log: Path, arguments: "list[str]", places: "range", capsys: "pytest.CaptureFixture[str]") -> None:
    arguments = [argument if not argument.startswith("-5") else "-5" for argument in arguments]
    joined = [f"{arguments[at]}={arguments[at + 1]}" for at in range(0, len(arguments), 2)]
    out, _ = run(log, *joined, "--tag", "PUT", "--format", "csv", capsys=capsys)
    (row,) = rows_of(out)
    assert int(row["count"]) == 100 * len(places)
    assert int(row["p100"]) == expected(100, ("PUT",), places)


def test_picking_tags(log: Path, capsys: "pytest.CaptureFixture[str]") -> None:
    out, _ = run(log, "--tag", "PUT", "--tag", "", "--by-tag", "--format", "csv", capsys=capsys)
    assert [row["tag"] for row in rows_of(out)] == ["", "PUT"]
    out, _ = run(log, "--tag", "PUT", "--tag", "GET", "--format", "csv", capsys=capsys)
    (row,) = rows_of(out)
    assert int(row["p90"]) == expected(90, ("PUT", "GET"), range(10))


def test_several_files(log: Path, tmp_path: Path, capsys: "pytest.CaptureFixture[str]") -> None:
    """Of any digits, compressed or not; one from standard input."""
    second, third = tmp_path / "b.hlog.gz", tmp_path / "c.hlog"
    write(second, range(10, 12), significant_digits=2, max=10**7)
    write(third, range(12, 15), significant_digits=4, max=10**6)
    out, _ = run(log, second, third, "--window", 10, "--format", "csv", capsys=capsys)
    assert [row["count"] for row in rows_of(out)] == ["3000", "1500"]
    told = subprocess.run(
        [sys.executable, "-m", "picollo", "hlog", "-", str(second), "--format", "csv"],
        input=gzip.compress(log.read_bytes()),
        capture_output=True,
        cwd=PACKAGE_ROOT,
    )
    assert (told.returncode, told.stderr) == (0, b"")
    assert [row["count"] for row in rows_of(told.stdout.decode())] == ["3600"]


def test_scales(log: Path, capsys: "pytest.CaptureFixture[str]") -> None:
    plain = rows_of(run(log, "--format", "csv", capsys=capsys)[0])[0]
    for scale, divisor in (("us", 1000), ("1000", 1000), ("ms", 10**6), ("0.5", 0.5)):
        scaled = rows_of(run(log, "--format", "csv", "--scale", scale, "--decimals", 6, capsys=capsys)[0])[0]
        assert scaled["count"] == plain["count"]
        for name in ("mean", "p50", "p100"):
            assert float(scaled[name]) == pytest.approx(float(plain[name]) / divisor, abs=2e-3)
    out, _ = run(log, "--scale", "us", capsys=capsys)
    assert out.endswith("\n(values in us)\n")
    out, _ = run(log, "--scale", "us", "--format", "markdown", capsys=capsys)
    assert out.endswith(" |\n\nValues in us.\n")


def test_value_selections(log: Path, capsys: "pytest.CaptureFixture[str]") -> None:
    found = [
        int(rows_of(run(log, "--values", values, "--format", "csv", capsys=capsys)[0])[0]["p100"])
        for values in ("lower", "midpoint", "upper")
    ]
    lower, upper = oracle.bucket(max(values_of("", 9)), 10)
    assert found == [lower, lower + (upper - lower + 1) // 2, upper]


def test_markdown(log: Path, capsys: "pytest.CaptureFixture[str]") -> None:
    out, _ = run(log, "--by-tag", "--format", "markdown", capsys=capsys)
    lines = out.splitlines()
    assert lines[0].startswith("| Tag |") and lines[1].startswith("| :-- | ----")
    assert len({len(line) for line in lines}) == 1 and len(lines) == 5


def test_hgrm(log: Path, tmp_path: Path, capsys: "pytest.CaptureFixture[str]") -> None:
    total = picollo.Snapshot.merged(interval.snapshot for interval in picollo.read_log(log))
    out, _ = run(log, "--format", "hgrm", "--ticks", 2, "--scale", "us", capsys=capsys)
    assert out == total.hgrm(2, 1000)
    out, _ = run(log, "--format", "hgrm-csv", capsys=capsys)
    assert out == total.hgrm(csv=True)
    # Several: with a comment before each, or in files of their own.
    out, _ = run(log, "--format", "hgrm", "--by-tag", "--window", 5, capsys=capsys)
    assert re.findall(r"^#\[(.* s)\]$", out, re.MULTILINE)[1:3] == ["no tag, 5-10 s", "GET, 0-5 s"]
    out, _ = run(log, "--format", "hgrm", "--by-tag", "-o", tmp_path / "a.hgrm", capsys=capsys)
    assert out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.GET.hgrm", "a.PUT.hgrm", "a.no_tag.hgrm"]
    put = picollo.Snapshot.merged(interval.snapshot for interval in picollo.read_log(log, tag="PUT"))
    assert (tmp_path / "a.PUT.hgrm").read_text() == put.hgrm()


def test_tags_are_no_paths(tmp_path: Path, capsys: "pytest.CaptureFixture[str]") -> None:
    path, out = tmp_path / "a.hlog", tmp_path / "out"
    out.mkdir()
    snapshot = picollo.Histogram(significant_digits=1, max=100).snapshot()
    tags = ["../../up", "/etc/passwd", "..", "a|b", "A|B", "größe", "\u202eevil"]
    picollo.write_log(path, [LogInterval(0, 1, snapshot, tag) for tag in tags])
    run(path, "--format", "hgrm", "--by-tag", "-o", out / "x.hgrm", capsys=capsys)
    assert len(list(out.iterdir())) == len(tags)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.hlog", "out"]
    # Nor do they act on the terminal, or end a cell.
    text, _ = run(path, "--by-tag", "--format", "markdown", capsys=capsys)
    assert "\u202e" not in text and "\\\\u202eevil" in text and "a\\|b" in text
    assert _table.printable("a\x1b[31mb\n") == "a\\x1b[31mb\\n"


def test_output_to_a_file(log: Path, tmp_path: Path, capsys: "pytest.CaptureFixture[str]") -> None:
    wanted, _ = run(log, capsys=capsys)
    out, _ = run(log, "-o", tmp_path / "table.txt", capsys=capsys)
    assert (out, (tmp_path / "table.txt").read_text()) == ("", wanted)


def test_empty_intervals(tmp_path: Path, capsys: "pytest.CaptureFixture[str]") -> None:
    path = tmp_path / "a.hlog"
    picollo.write_log(path, [LogInterval(0, 1, picollo.Histogram(significant_digits=3).snapshot())])
    out, _ = run(path, capsys=capsys)
    assert out.splitlines()[1].split() == ["0", "-", "-", "-", "-", "-", "-", "-"]
    out, _ = run(path, "--format", "csv", capsys=capsys)
    assert out.splitlines()[1] == "0,,,,,,,"
    out, _ = run(path, "--format", "hgrm", capsys=capsys)
    assert "Total count    =            0" in out


def test_more_groups_than_are_kept_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: "pytest.CaptureFixture[str]"
) -> None:
    path = tmp_path / "a.hlog"
    write(path, range(20))
    arguments = (path, path, "--window", 1, "--by-tag", "--format", "csv")
    wanted, _ = run(*arguments, capsys=capsys)
    assert len(rows_of(wanted)) == 60
    monkeypatch.setattr(hlog, "_READY", 50_000)
    found, _ = run(*arguments, capsys=capsys)
    assert found == wanted


@pytest.mark.parametrize("arguments", [[], ["--by-tag"], ["--window", "2"], ["--window", "2", "--tag", "PUT"]])
def test_plots(log: Path, tmp_path: Path, arguments: "list[str]", capsys: "pytest.CaptureFixture[str]") -> None:
    pytest.importorskip("matplotlib")
    run(log, *arguments, "--scale", "us", "--plot", tmp_path / "a.png", capsys=capsys)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_plots_with_gaps(log: Path, tmp_path: Path, capsys: "pytest.CaptureFixture[str]") -> None:
    pytest.importorskip("matplotlib")
    later = tmp_path / "later.hlog"
    write(later, range(50, 60))
    run(log, later, "--window", 5, "--by-tag", "--plot", tmp_path / "a.svg", capsys=capsys)
    assert "<svg" in (tmp_path / "a.svg").read_text()


# ── what is wrong ──────────────────────────────────────────────────────────────────────────────────────


def test_lines_that_cannot_be_read(log: Path, tmp_path: Path, capsys: "pytest.CaptureFixture[str]") -> None:
    path = tmp_path / "a.hlog"
    lines = log.read_text().splitlines()
    path.write_text("\n".join([*lines[:8], "0.1,1,1,HISTFnonsense", *lines[8:], *["x"] * 20, "last,line", "not,yet"]))
    out, err = run(path, status=1, capsys=capsys)
    assert out == ""
    assert err.startswith(f"picollo hlog: {path}:9: the histogram: this is no encoded histogram, or a damaged one: ")
    assert "--skip-errors" in err
    out, err = run(path, "--skip-errors", capsys=capsys)
    assert out == run(log, capsys=capsys)[0]
    assert err.count(f"{path}:") == 10 and "picollo hlog: 12 more lines could not be read" in err


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("is_packed", [False, True])
def test_other_forms(
    log: Path, tmp_path: Path, codec: str, is_packed: bool, capsys: "pytest.CaptureFixture[str]"
) -> None:
    """A mark, UTF-16, gzip whatever its name is, and a last line that is not there yet."""
    path = tmp_path / "a.hlog"
    data = (log.read_text() + "0.1,1,1,HISTFAAA").encode(codec)
    path.write_bytes(gzip.compress(data) if is_packed else data)
    wanted, _ = run(log, "--by-tag", capsys=capsys)
    assert run(path, "--by-tag", capsys=capsys)[0] == wanted
    with open(path, "rb") as file:
        told = command("-", "--by-tag", stdin=file)
    assert (told.stdout, told.stderr) == (wanted, "")


def test_files_that_cannot_be_read(log: Path, tmp_path: Path, capsys: "pytest.CaptureFixture[str]") -> None:
    out, err = run(log, tmp_path / "nowhere.hlog", status=1, capsys=capsys)
    assert (out, err) == ("", f"picollo hlog: {tmp_path}/nowhere.hlog: No such file or directory\n")
    _, err = run(tmp_path, status=1, capsys=capsys)
    assert err == f"picollo hlog: {tmp_path}: Is a directory\n"
    binary = tmp_path / "a.png"
    binary.write_bytes(bytes(range(256)) * 10)
    _, err = run(binary, status=1, capsys=capsys)
    assert re.match(rf"picollo hlog: {binary}:\d+: this is no interval of a log: ", err)
    torn = tmp_path / "a.hlog.gz"
    torn.write_bytes(gzip.compress(log.read_bytes())[:-100])
    _, err = run(torn, status=1, capsys=capsys)
    assert "Compressed file ended before the end-of-stream marker" in err


def test_times_that_are_none(log: Path, tmp_path: Path, capsys: "pytest.CaptureFixture[str]") -> None:
    path = tmp_path / "a.hlog"
    last = log.read_text().splitlines()[-1]
    path.write_text(log.read_text() + f"#[BaseTime: -1.7e308]\n{last}\n#[BaseTime: 1.7e308]\n{last}\n")
    _, err = run(path, "--window", 5, status=1, capsys=capsys)
    assert f"{path}:35: this is no time: -1.7e+308" in err
    out, err = run(path, "--window", 5, "--skip-errors", capsys=capsys)
    assert out == run(log, "--window", 5, capsys=capsys)[0] and err.count("this is no time") == 2
    out, _ = run(path, capsys=capsys)
    assert out.splitlines()[1].split()[0] == "3,200"


def test_nothing_to_show(log: Path, tmp_path: Path, capsys: "pytest.CaptureFixture[str]") -> None:
    _, err = run(log, "--tag", "POST", status=1, capsys=capsys)
    assert err == "picollo hlog: none of the 30 intervals was picked; the tags are '', 'GET', 'PUT'\n"
    _, err = run(log, "--start", 100, status=1, capsys=capsys)
    assert "none of the 30 intervals was picked" in err
    empty = tmp_path / "empty.hlog"
    empty.write_text("#[Histogram log format version 1.3]\n")
    _, err = run(empty, status=1, capsys=capsys)
    assert err == "picollo hlog: there are no intervals in this log\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "the following arguments are required: FILE"),
        (["a", "--percentiles", "50,101"], "'50,101' are no percentiles"),
        (["a", "--percentiles", "nan"], "are no percentiles"),
        (["a", "--percentiles", ""], "are no percentiles"),
        (["a", "--window", "0"], "no number of seconds"),
        (["a", "--window", "x"], "no number of seconds"),
        (["a", "--start", "yesterday"], "is no time"),
        (["a", "--start", "inf"], "is no time"),
        (["a", "--scale", "0"], "neither a positive number nor one of ns, us, ms, s"),
        (["a", "--scale", "hours"], "neither a positive number"),
        (["a", "--decimals", "-1"], "decimals"),
        (["a", "--format", "xml"], "invalid choice"),
        (["a", "--ticks", "x"], "no number from 1"),
        (["a", "--ticks=0"], "no number from 1"),
    ],
)
def test_wrong_usage(arguments: "list[str]", complaint: str, capsys: "pytest.CaptureFixture[str]") -> None:
    with pytest.raises(SystemExit) as caught:
        main(["hlog", *arguments])
    assert caught.value.code == 2
    assert complaint in capsys.readouterr().err


def test_wrong_plots(log: Path, tmp_path: Path, capsys: "pytest.CaptureFixture[str]") -> None:
    pytest.importorskip("matplotlib")
    _, err = run(log, "--plot", tmp_path / "a.nonsense", status=1, capsys=capsys)
    assert "a.nonsense: Format 'nonsense' is not supported" in err


def test_without_matplotlib(log: Path, tmp_path: Path) -> None:
    (tmp_path / "matplotlib.py").write_text("raise ImportError('not here')")
    told = command(log, "--plot", tmp_path / "a.png", path=tmp_path)
    assert told.returncode == 1
    assert told.stderr == (
        "picollo hlog: --plot needs matplotlib, which cannot be imported (not here): pip install matplotlib\n"
    )


# ── around it ──────────────────────────────────────────────────────────────────────────────────────────


def command(*arguments: object, path: Optional[Path] = None, **options: Any) -> "subprocess.CompletedProcess[str]":
    """The command, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, filter(None, (path, PACKAGE_ROOT))))}
    environment["PICOLLO_LIBRARY"] = picollo.library_path
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "picollo", "hlog", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**environment, **options.pop("env", {})},
        **options,
    )


def test_the_module(log: Path, capsys: "pytest.CaptureFixture[str]") -> None:
    told = command(log)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout == run(log, capsys=capsys)[0]
    for arguments in (["--help"], ["hlog", "--help"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 0
        assert "hlog" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"picollo {picollo.__version__}\n"


def test_the_script_is_declared() -> None:
    text = (PACKAGE_ROOT / "pyproject.toml").read_text()
    assert 'picollo = "picollo.__main__:command"' in text and '"picollo.commands"' in text


def test_terminals_that_cannot_show_everything(tmp_path: Path) -> None:
    path = tmp_path / "a.hlog"
    picollo.write_log(path, [LogInterval(0, 1, picollo.Histogram(significant_digits=1, max=100).snapshot(), "größe")])
    told = command(path, "--by-tag", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert (told.returncode, told.stderr) == (0, "")
    assert "gr\\xf6\\xdfe" in told.stdout


def test_who_reads_no_more(log: Path) -> None:
    """``picollo hlog ... | head -1``"""
    read, write_end = os.pipe()
    os.close(read)
    with os.fdopen(write_end, "w") as broken:
        told = subprocess.run(
            [sys.executable, "-m", "picollo", "hlog", str(log)],
            stdout=broken,
            stderr=subprocess.PIPE,
            text=True,
            cwd=PACKAGE_ROOT,
            env={**os.environ, "PICOLLO_LIBRARY": picollo.library_path},
        )
    assert (told.returncode, told.stderr) == (1, "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    stream = Terminal()
    with _progress.Progress(100_000_000, stream=stream) as progress:
        progress.update(1)
        assert stream.getvalue() == "", "who does not wait sees nothing"
        now[0] = 1.0
        progress.update(25_000_000, "a.hlog")
        assert stream.getvalue() == "\r 25% [########                      ] 25 MB, 25 MB/s, 3 s left  a.hlog"
        progress.update(26_000_000)
        assert stream.getvalue().count("%") == 1, "not at every line"
        now[0] = 2.0
        progress.update(200_000_000)
        assert "100% [##############################]" in stream.getvalue()
        now[0] = 3.0
        progress.update(30_000_000, "x" * 200)
        assert max(map(len, stream.getvalue().split("\r"))) <= 80
    assert stream.getvalue().endswith("\r"), "nothing is left of it"
    unknown = Terminal()
    progress = _progress.Progress(None, stream=unknown)
    now[0] = 5.0
    progress.update(10_000_000)
    assert unknown.getvalue() == "\r10 MB, 5 MB/s"
    off = Terminal()
    progress = _progress.Progress(None, is_on=False, stream=off)
    now[0] = 10.0
    progress.update(1)
    plain = io.StringIO()
    _progress.Progress(None, stream=plain).update(1)
    assert off.getvalue() == plain.getvalue() == ""


def test_progress_of_a_long_log(log: Path, monkeypatch: pytest.MonkeyPatch, capsys: "pytest.CaptureFixture[str]") -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(_progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(_progress, "_BETWEEN", 0.0)
    assert main(["hlog", str(log), str(log)]) == 0
    shares = [int(share) for share in re.findall(r"(\d+)% \[", stream.getvalue())]
    assert shares == sorted(shares) and shares[-1] == 100 and len(shares) == 60
    stream.truncate(0)
    assert main(["hlog", str(log), "--no-progress"]) == 0
    assert "%" not in stream.getvalue()
    capsys.readouterr()
