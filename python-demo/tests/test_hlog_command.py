"""``python -m picollo hlog``: what it prints, and what it says when something is wrong."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import oracle
import pytest
from conftest import PACKAGE_ROOT, command_environment, native_command

import picollo
from picollo import LogInterval
from picollo.__main__ import find

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


def run(*arguments: object, status: int = 0, **options: Any) -> "tuple[str, str]":
    """The command: what it prints, and what it says beside."""
    told = subprocess.run([native_command(), "hlog", *map(str, arguments)], capture_output=True, timeout=60, **options)
    out, err = told.stdout.decode(), told.stderr.decode()
    assert told.returncode == status, err
    if status == 0 and "--skip-errors" not in arguments:
        assert err == ""
    return out, err


def rows_of(text: str) -> "list[dict[str, str]]":
    return list(csv.DictReader(io.StringIO(text)))


def expected(rank: float, tags: "tuple[str, ...]", places: "range") -> int:
    """The upper end of the bucket of the sorted values."""
    values = sorted(value for place in places for tag in tags for value in values_of(tag, place))
    return oracle.bucket(values[oracle.target(rank, len(values)) - 1], 10)[1]


# ── what it prints ─────────────────────────────────────────────────────────────────────────────────────


def test_one_row_for_all(log: Path) -> None:
    out, _ = run(log)
    header, row = out.splitlines()
    assert header.split() == ["Count", "Mean", "P50", "P90", "P99", "P99.9", "P99.99", "Max"]
    count, _, *found = row.split()
    assert count == "3,000"
    for rank, value in zip((50, 90, 99, 99.9, 99.99, 100), found):
        assert int(value.replace(",", "")) == expected(rank, TAGS, range(10))


def test_tags_and_windows(log: Path) -> None:
    out, _ = run(log, "--by-tag", "--window", 4, "--percentiles", "0,50,99.9", "--format", "csv")
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
def test_times(log: Path, arguments: "list[str]", places: "range") -> None:
    arguments = [argument if not argument.startswith("-5") else "-5" for argument in arguments]
    joined = [f"{arguments[at]}={arguments[at + 1]}" for at in range(0, len(arguments), 2)]
    out, _ = run(log, *joined, "--tag", "PUT", "--format", "csv")
    (row,) = rows_of(out)
    assert int(row["count"]) == 100 * len(places)
    assert int(row["p100"]) == expected(100, ("PUT",), places)


def test_picking_tags(log: Path) -> None:
    out, _ = run(log, "--tag", "PUT", "--tag", "", "--by-tag", "--format", "csv")
    assert [row["tag"] for row in rows_of(out)] == ["", "PUT"]
    out, _ = run(log, "--tag", "PUT", "--tag", "GET", "--format", "csv")
    (row,) = rows_of(out)
    assert int(row["p90"]) == expected(90, ("PUT", "GET"), range(10))


def test_several_files(log: Path, tmp_path: Path) -> None:
    """Of any digits, compressed or not; one from standard input."""
    second, third = tmp_path / "b.hlog.gz", tmp_path / "c.hlog"
    write(second, range(10, 12), significant_digits=2, max=10**7)
    write(third, range(12, 15), significant_digits=4, max=10**6)
    out, _ = run(log, second, third, "--window", 10, "--format", "csv")
    assert [row["count"] for row in rows_of(out)] == ["3000", "1500"]
    told = subprocess.run(
        [sys.executable, "-m", "picollo", "hlog", "-", str(second), "--format", "csv"],
        input=gzip.compress(log.read_bytes()),
        capture_output=True,
        env=command_environment(),
    )
    assert (told.returncode, told.stderr) == (0, b"")
    assert [row["count"] for row in rows_of(told.stdout.decode())] == ["3600"]


def test_scales(log: Path) -> None:
    plain = rows_of(run(log, "--format", "csv")[0])[0]
    for scale, divisor in (("us", 1000), ("1000", 1000), ("ms", 10**6), ("0.5", 0.5)):
        scaled = rows_of(run(log, "--format", "csv", "--scale", scale, "--decimals", 6)[0])[0]
        assert scaled["count"] == plain["count"]
        for name in ("mean", "p50", "p100"):
            assert float(scaled[name]) == pytest.approx(float(plain[name]) / divisor, abs=2e-3)
    out, _ = run(log, "--scale", "us")
    assert out.endswith("\n(values in us)\n")
    out, _ = run(log, "--scale", "us", "--format", "markdown")
    assert out.endswith(" |\n\nValues in us.\n")


def test_value_selections(log: Path) -> None:
    found = [
        int(rows_of(run(log, "--values", values, "--format", "csv")[0])[0]["p100"])
        for values in ("lower", "midpoint", "upper")
    ]
    lower, upper = oracle.bucket(max(values_of("", 9)), 10)
    assert found == [lower, lower + (upper - lower + 1) // 2, upper]


def test_markdown(log: Path) -> None:
    out, _ = run(log, "--by-tag", "--format", "markdown")
    lines = out.splitlines()
    assert lines[0].startswith("| Tag |") and lines[1].startswith("| :-- | ----")
    assert len({len(line) for line in lines}) == 1 and len(lines) == 5


def test_hgrm(log: Path, tmp_path: Path) -> None:
    total = picollo.Snapshot.merged(interval.snapshot for interval in picollo.read_log(log))
    out, _ = run(log, "--format", "hgrm", "--ticks", 2, "--scale", "us")
    assert out == total.hgrm(2, 1000)
    out, _ = run(log, "--format", "hgrm-csv")
    assert out == total.hgrm(csv=True)
    # Several: with a comment before each, or in files of their own.
    out, _ = run(log, "--format", "hgrm", "--by-tag", "--window", 5)
    assert re.findall(r"^#\[(.* s)\]$", out, re.MULTILINE)[1:3] == ["no tag, 5-10 s", "GET, 0-5 s"]
    out, _ = run(log, "--format", "hgrm", "--by-tag", "-o", tmp_path / "a.hgrm")
    assert out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.GET.hgrm", "a.PUT.hgrm", "a.no_tag.hgrm"]
    put = picollo.Snapshot.merged(interval.snapshot for interval in picollo.read_log(log, tag="PUT"))
    assert (tmp_path / "a.PUT.hgrm").read_text() == put.hgrm()


def test_tags_are_no_paths(tmp_path: Path) -> None:
    path, out = tmp_path / "a.hlog", tmp_path / "out"
    out.mkdir()
    snapshot = picollo.Histogram(significant_digits=1, max=100).snapshot()
    tags = ["../../up", "/etc/passwd", "..", "a|b", "A|B", "größe", "\u202eevil"]
    picollo.write_log(path, [LogInterval(0, 1, snapshot, tag) for tag in tags])
    run(path, "--format", "hgrm", "--by-tag", "-o", out / "x.hgrm")
    assert len(list(out.iterdir())) == len(tags)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.hlog", "out"]
    # Nor do they act on the terminal, or end a cell.
    text, _ = run(path, "--by-tag", "--format", "markdown")
    assert "\u202e" not in text and "\\\\u202eevil" in text and "a\\|b" in text


def test_output_to_a_file(log: Path, tmp_path: Path) -> None:
    wanted, _ = run(log)
    out, _ = run(log, "-o", tmp_path / "table.txt")
    assert (out, (tmp_path / "table.txt").read_text()) == ("", wanted)


def test_empty_intervals(tmp_path: Path) -> None:
    path = tmp_path / "a.hlog"
    picollo.write_log(path, [LogInterval(0, 1, picollo.Histogram(significant_digits=3).snapshot())])
    out, _ = run(path)
    assert out.splitlines()[1].split() == ["0", "-", "-", "-", "-", "-", "-", "-"]
    out, _ = run(path, "--format", "csv")
    assert out.splitlines()[1] == "0,,,,,,,"
    out, _ = run(path, "--format", "hgrm")
    assert "Total count    =            0" in out


def test_many_groups(tmp_path: Path) -> None:
    """That those that wait as bytes are as good is a test of the command itself, ``hlog::groups``."""
    path = tmp_path / "a.hlog"
    write(path, range(20))
    out, _ = run(path, path, "--window", 1, "--by-tag", "--format", "csv")
    rows = rows_of(out)
    assert len(rows) == 60 and {row["count"] for row in rows} == {"200"}
    for row in rows:
        place = round(float(row["from"]) - START)
        assert int(row["p50"]) == expected(50, (row["tag"],), range(place, place + 1))


def test_pictures_are_those_of_report(log: Path, tmp_path: Path) -> None:
    """Percentiles, and the heat map over time, also of logs with a gap between them."""
    later = tmp_path / "later.hlog"
    write(later, range(50, 60))
    joined = tmp_path / "joined.hlog"
    joined.write_text(log.read_text() + later.read_text())
    for path in (log, joined):
        page = tmp_path / "page.html"
        told = subprocess.run([native_command(), "report", str(path), "-o", str(page)], capture_output=True, text=True, timeout=60)
        assert (told.returncode, told.stderr) == (0, "")
        text = page.read_text()
        assert text.count("<svg") >= 3 and "GET" in text and "PUT" in text
        assert "http://" not in text.replace("http://www.w3.org/", "") and "https://" not in text
    _, err = run(log, "--plot", tmp_path / "a.png", status=1)
    assert err == "picollo hlog: --plot is no more: `picollo report LOG -o PAGE.html` draws percentiles and heat maps\n"
    assert not (tmp_path / "a.png").exists()


# ── what is wrong ──────────────────────────────────────────────────────────────────────────────────────


def test_lines_that_cannot_be_read(log: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.hlog"
    lines = log.read_text().splitlines()
    path.write_text("\n".join([*lines[:8], "0.1,1,1,HISTFnonsense", *lines[8:], *["x"] * 20, "last,line", "not,yet"]))
    out, err = run(path, status=1)
    assert out == ""
    assert err.startswith(f"picollo hlog: {path}:9: the histogram: the encoded data is malformed\n")
    assert "--skip-errors" in err
    out, err = run(path, "--skip-errors")
    assert out == run(log)[0]
    assert err.count(f"{path}:") == 10 and "picollo hlog: 12 more lines could not be read" in err


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("is_packed", [False, True])
def test_other_forms(
    log: Path, tmp_path: Path, codec: str, is_packed: bool
) -> None:
    """A mark, UTF-16, gzip whatever its name is, and a last line that is not there yet."""
    path = tmp_path / "a.hlog"
    data = (log.read_text() + "0.1,1,1,HISTFAAA").encode(codec)
    path.write_bytes(gzip.compress(data) if is_packed else data)
    wanted, _ = run(log, "--by-tag")
    assert run(path, "--by-tag")[0] == wanted
    with open(path, "rb") as file:
        told = command("-", "--by-tag", stdin=file)
    assert (told.stdout, told.stderr) == (wanted, "")


def test_files_that_cannot_be_read(log: Path, tmp_path: Path) -> None:
    out, err = run(log, tmp_path / "nowhere.hlog", status=1)
    assert (out, err) == ("", f"picollo hlog: {tmp_path}/nowhere.hlog: No such file or directory\n")
    _, err = run(tmp_path, status=1)
    assert err == f"picollo hlog: {tmp_path}: Is a directory\n"
    binary = tmp_path / "a.png"
    binary.write_bytes(bytes(range(256)) * 10)
    _, err = run(binary, status=1)
    assert re.match(rf"picollo hlog: {binary}:\d+: this is no interval of a log: ", err)
    torn = tmp_path / "a.hlog.gz"
    torn.write_bytes(gzip.compress(log.read_bytes())[:-100])
    _, err = run(torn, status=1)
    assert err == f"picollo hlog: {torn}: what is compressed ends in the middle\n"


def test_times_that_are_none(log: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.hlog"
    last = log.read_text().splitlines()[-1]
    path.write_text(log.read_text() + f"#[BaseTime: -1.7e308]\n{last}\n#[BaseTime: 1.7e308]\n{last}\n")
    _, err = run(path, "--window", 5, status=1)
    assert f"{path}:35: this is no time: -1.7e308" in err
    out, err = run(path, "--window", 5, "--skip-errors")
    assert out == run(log, "--window", 5)[0] and err.count("this is no time") == 2
    out, _ = run(path)
    assert out.splitlines()[1].split()[0] == "3,200"


def test_nothing_to_show(log: Path, tmp_path: Path) -> None:
    _, err = run(log, "--tag", "POST", status=1)
    assert err == "picollo hlog: none of the 30 intervals was picked; the tags are '', 'GET', 'PUT'\n"
    _, err = run(log, "--start", 100, status=1)
    assert "none of the 30 intervals was picked" in err
    empty = tmp_path / "empty.hlog"
    empty.write_text("#[Histogram log format version 1.3]\n")
    _, err = run(empty, status=1)
    assert err == "picollo hlog: there are no intervals in this log\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "the following required arguments were not provided:\n  <FILE>..."),
        (["a", "--percentiles", "50,101"], "50,101 are no percentiles: numbers from 0 to 100"),
        (["a", "--percentiles", "nan"], "are no percentiles"),
        (["a", "--percentiles", ""], "are no percentiles"),
        (["a", "--window", "0"], "no number of seconds"),
        (["a", "--window", "x"], "no number of seconds"),
        (["a", "--start", "yesterday"], "is no time"),
        (["a", "--start", "inf"], "is no time"),
        (["a", "--scale", "0"], "neither a positive number nor one of ns, us, ms, s"),
        (["a", "--scale", "hours"], "neither a positive number"),
        (["a", "--decimals=-1"], "invalid value '-1' for '--decimals <N>'"),
        (["a", "--format", "xml"], "invalid value 'xml' for '--format <FORMAT>'"),
        (["a", "--ticks", "x"], "invalid value 'x' for '--ticks <N>'"),
        (["a", "--ticks=0"], "0 is not in 1..=1000000"),
    ],
)
def test_wrong_usage(arguments: "list[str]", complaint: str) -> None:
    _, err = run(*arguments, status=2)
    assert complaint in err


# ── around it ──────────────────────────────────────────────────────────────────────────────────────────


def command(*arguments: object, **options: Any) -> "subprocess.CompletedProcess[str]":
    """The command, through the package."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "picollo", "hlog", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=command_environment(**options.pop("env", {})),
        **options,
    )


def test_the_module(log: Path) -> None:
    told = command(log)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout == run(log)[0]
    for arguments in (["--help"], ["hlog", "--help"]):
        told = python_m(*arguments)
        assert (told.returncode, told.stderr) == (0, "") and "hlog" in told.stdout
    assert python_m("--version").stdout == f"picollo {picollo.__version__}\n"
    # Its status is that of the command.
    assert [python_m(*wrong).returncode for wrong in (["hlog"], ["no-such"], ["hlog", "/no/where"])] == [2, 2, 1]


def python_m(*arguments: str, **changes: str) -> "subprocess.CompletedProcess[str]":
    program = [sys.executable, "-W", "error", "-m", "picollo", *arguments]
    return subprocess.run(program, capture_output=True, text=True, env=command_environment(**changes), timeout=60)


def test_where_the_command_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "repository" / "python-demo" / "picollo"
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
    # Of a package that came without it.
    elsewhere = tmp_path / "a" / "b" / "picollo"
    elsewhere.mkdir(parents=True)
    (elsewhere / "main.py").write_text((PACKAGE_ROOT / "picollo" / "__main__.py").read_text())
    without = command_environment()
    del without["PICOLLO_COMMAND"]
    told = subprocess.run([sys.executable, elsewhere / "main.py", "list"], capture_output=True, text=True, env=without)
    assert told.returncode == 1 and "`cargo install --path cli`" in told.stderr and told.stderr.count("\n") == 1


def test_the_script_is_declared() -> None:
    text = (PACKAGE_ROOT / "pyproject.toml").read_text()
    assert 'picollo = "picollo.__main__:command"' in text


def test_terminals_that_cannot_show_everything(tmp_path: Path) -> None:
    """Text is UTF-8, whatever the locale says; what acts on a terminal is written out."""
    path = tmp_path / "a.hlog"
    snapshot = picollo.Histogram(significant_digits=1, max=100).snapshot()
    picollo.write_log(path, [LogInterval(0, 1, snapshot, "größe"), LogInterval(1, 2, snapshot, "evil")])
    path.write_bytes(path.read_bytes().replace(b"evil", b"a\x1b[31mb"))
    told = subprocess.run(
        [sys.executable, "-m", "picollo", "hlog", str(path), "--by-tag"], capture_output=True, env=command_environment(LC_ALL="C")
    )
    assert (told.returncode, told.stderr) == (0, b"")
    assert "größe".encode() in told.stdout and b"a\\x1b[31mb" in told.stdout and b"\x1b" not in told.stdout


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
            env=command_environment(),
        )
    assert (told.returncode, told.stderr) == (1, "")


def on_a_terminal(log: Path, *arguments: str) -> "tuple[str, str]":
    """What it prints of a log that comes slowly, and what a terminal has shown meanwhile."""
    leader, follower = pty.openpty()
    program = [native_command(), "hlog", "-", *arguments]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=follower) as process:
        os.close(follower)
        assert process.stdin is not None and process.stdout is not None
        for line in log.read_bytes().splitlines(keepends=True):
            process.stdin.write(line)
            process.stdin.flush()
            time.sleep(0.05)
        process.stdin.close()
        output = process.stdout.read().decode()
        assert process.wait(60) == 0
    shown = b""
    with contextlib.suppress(OSError):  # how Linux reports that nobody is left at the other end
        while part := os.read(leader, 1 << 16):
            shown += part
    os.close(leader)
    return output, shown.decode()


def test_progress_of_a_long_log(log: Path) -> None:
    """Lines over each other, no wider than a terminal, and gone at the end. Shares are tested in the command itself."""
    wanted = run(log)[0]
    output, shown = on_a_terminal(log)
    assert output == wanted
    parts = shown.split("\r")
    # Nothing in the first half second, and then ten times a second at most, of 34 lines.
    pictures = [part for part in parts if "MB/s" in part]
    assert parts[0] == "" and 1 <= len(pictures) < 34 and all("<stdin>" in part for part in pictures)
    assert max(map(len, parts)) <= 80 and parts[-1] == "" and parts[-2].strip() == ""
    assert on_a_terminal(log, "--no-progress") == (wanted, "")
