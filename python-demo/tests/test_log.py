"""Logs: reading what others write, writing, and what is wrong with a log."""

from __future__ import annotations

import copy
import gzip
import io
import math
import pickle
import time
import unicodedata
from functools import partial
from pathlib import Path
from typing import Any, Iterator

import pytest
from conftest import in_threads, run_python
from hypothesis import example, given
from hypothesis import strategies as st

import picollo
from picollo import Histogram, LogInterval, Snapshot, _lines, read_log, write_log

#: 108 values; from a log of HdrHistogram for Java.
ENCODED = "HISTFAAAADN4nJNpmSzMwMAgxAABzFCaEURcm7yEwf4DRICJiZGFlWk//wnG1QJMTJv/MjIBAMP3CLI="
LOG = f"""\
#[free comment]
#[Histogram log format version 1.3]
#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 15:24:39 UTC 2015]
"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
0.127,1.007,2.769,{ENCODED}
Tag=A,1.134,0.999,0.442,{ENCODED}
#[in between]
Tag=B,1.134,0.999,0.426,{ENCODED}
2.133,1.001,0.426,{ENCODED}
"""


def snapshot_of(*values: int, **options: Any) -> Snapshot:
    histogram = Histogram(**{"significant_digits": 3, "max": 2**40, **options})
    histogram.record_many(values)
    return histogram.snapshot()


EMPTY = snapshot_of()


def rows(reader: "Iterator[LogInterval]") -> "list[tuple[str, float, float, int]]":
    return [(i.tag, round(i.start, 6), round(i.end, 6), i.snapshot.total_count) for i in reader]


START = 1441812279.474
ROWS = [
    ("", START + 0.127, START + 1.134, 108),
    ("A", START + 1.134, START + 2.133, 108),
    ("B", START + 1.134, START + 2.133, 108),
    ("", START + 2.133, START + 3.134, 108),
]
ROWS = [(tag, round(start, 6), round(end, 6), count) for tag, start, end, count in ROWS]


# ── reading ────────────────────────────────────────────────────────────────────────────────────────────


def test_every_kind_of_source(tmp_path: Path) -> None:
    path, packed = tmp_path / "a.hlog", tmp_path / "a.hlog.gz"
    path.write_text(LOG)
    packed.write_bytes(gzip.compress(LOG[:300].encode()) + gzip.compress(LOG[300:].encode()))
    data = LOG.encode()
    sources: list[Any] = [
        path, str(path), packed, str(packed), LOG, data, bytearray(data), memoryview(data), gzip.compress(data),
        io.BytesIO(data), io.StringIO(LOG), io.BytesIO(gzip.compress(data)),
    ]  # fmt: skip
    for source in sources:
        assert rows(read_log(source)) == ROWS, type(source)
    for mode in ("r", "rb"):
        with open(path, mode) as file:
            assert rows(read_log(file)) == ROWS
            assert not file.closed, "it is the caller's"
    with gzip.open(packed) as file:
        assert rows(read_log(file)) == ROWS


def test_intervals() -> None:
    first, second, *_ = read_log(LOG)
    assert (first.line, second.line) == (5, 6)
    assert (first.max, second.max) == (2.769, 0.442)
    assert (first.tag, second.tag, second.snapshot.name) == ("", "A", "A")
    assert second.snapshot.percentile(99).bucket.lower <= 123456789
    # The time of the counts is the end of the interval.
    assert second.snapshot.summary().timestamp.timestamp() == pytest.approx(second.end)
    # They stay when the log is gone.
    assert pickle.loads(pickle.dumps(second)).snapshot.buckets() == second.snapshot.buckets()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends(end: str, last: bool) -> None:
    text = LOG.replace("\n", end)
    reader = read_log(text if last else text[: -len(end)])
    assert [interval.line for interval in reader] == [5, 6, 8, 9]
    assert rows(read_log(("\ufeff" + text).encode())) == ROWS


@pytest.mark.parametrize("piece", [1, 7, 64, 300])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_pieces(monkeypatch: pytest.MonkeyPatch, piece: int, end: str) -> None:
    """Wherever the log is cut while it is read, times and lines go on."""
    monkeypatch.setattr(_lines, "PIECE", piece)
    text = LOG.replace("\n", end)
    for source in (text.encode(), io.StringIO(text, newline=""), gzip.compress(text.encode())):
        intervals = list(read_log(source))
        assert rows(iter(intervals)) == ROWS
        assert [interval.line for interval in intervals] == [5, 6, 8, 9]
    broken = text.replace("#[in between]", "nonsense")
    with pytest.raises(picollo.LogError, match=":7: "):
        list(read_log(broken))


def test_times() -> None:
    def starts(*lines: str) -> "list[float]":
        return [interval.start for interval in read_log("\n".join(lines) + "\n")]

    line = f"{{}},1,0,{ENCODED}".format
    assert starts(line(5.5), line(7)) == [5.5, 7.0]
    assert starts("#[StartTime: 1e9 ]", line(5.5)) == [1e9 + 5.5]
    assert starts("#[StartTime: 1e9 ]", line(1e9 + 5.5)) == [1e9 + 5.5]
    assert starts("#[BaseTime: 100 ]", line(5.5)) == [105.5]
    assert starts("#[Basetime: 100 ]", line(5.5), "#[BaseTime: 200 ]", line(5.5)) == [105.5, 205.5]


def test_selection() -> None:
    assert [row[0] for row in rows(read_log(LOG, tag="A"))] == ["A"]
    assert [row[0] for row in rows(read_log(LOG, tag=["A", "B"]))] == ["A", "B"]
    assert [row[0] for row in rows(read_log(LOG, tag=""))] == ["", ""]
    assert rows(read_log(LOG, tag="C")) == []
    seen = []

    def late(tag: str, start: float, end: float) -> bool:
        seen.append((tag, round(start, 6), round(end, 6)))
        return start > START + 1

    assert rows(read_log(LOG, select=late)) == ROWS[1:]
    assert seen == [row[:3] for row in ROWS]
    # What is not selected is not decoded.
    broken = LOG.replace(f"Tag=A,1.134,0.999,0.442,{ENCODED}", "Tag=A,1.134,0.999,0.442,HISTF")
    assert len(rows(read_log(broken, tag=["", "B"]))) == 3


def test_long_tags() -> None:
    for length in (1, 227, 228, 231, 232, 5000):
        for character in ("x", "ß", "€"):
            tag = character * length
            (interval,) = read_log(f"Tag={tag},1,1,1,{ENCODED}\n")
            assert interval.tag == tag


def test_life(tmp_path: Path) -> None:
    path = tmp_path / "a.hlog"
    path.write_text(LOG)
    with read_log(path) as reader:
        assert reader.name == str(path)
        assert (reader.size, reader.line) == (len(LOG), 0)
        next(reader)
        assert reader.line == 5 and 0 < reader.position <= len(LOG)
        assert "line 5" in repr(reader)
    assert list(reader) == []
    reader.close()
    assert list(read_log(b"")) == [] and list(read_log(gzip.compress(b""))) == []


def test_threads_share_a_reader() -> None:
    reader = read_log(LOG * 500)
    lines: list[int] = []

    def read() -> None:
        for interval in reader:
            lines.append(interval.line)
            assert interval.snapshot.total_count == 108

    in_threads(*[read] * 4)
    assert len(lines) == len(set(lines)) == 2000


# ── what is wrong ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("nonsense", "this is no interval of a log: 'nonsense'"),
        ("x,1,2,3", "no interval"),
        ("0.1,0.2,0.3,HISTF", "the histogram: this is no encoded histogram, or a damaged one"),
        (f"0.1,0.2,0.3,{ENCODED[:-9]}", "damaged"),
        ("Tag=A\0B,0,0,0," + ENCODED, "no interval"),
        ("\x1b[31m" + "y" * 100, r"'\\x1b\[31my{55}\.\.\.'"),
    ],
)
def test_lines_that_cannot_be_read(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "a.hlog"
    path.write_text(LOG + line + "\n" + f"9,1,0,{ENCODED}\n")
    reader = read_log(path)
    for _ in range(4):
        next(reader)
    with pytest.raises(picollo.LogError, match=complaint) as caught:
        next(reader)
    assert (caught.value.source, caught.value.line) == (str(path), 10)
    assert str(caught.value).startswith(f"{path}:10: ")
    assert isinstance(caught.value, picollo.CorruptError) and isinstance(caught.value, ValueError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.source, again.line) == (str(caught.value), str(path), 10)
    # Reading goes on after it.
    assert [interval.line for interval in reader] == [11]
    skipping = read_log(path, errors="skip")
    assert len(list(skipping)) == 5 and skipping.skipped == 1


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(picollo.LogError, match=":5: the histogram: .* more counters than max_counters") as caught:
        list(read_log(LOG, max_counters=10))
    assert caught.value.status == picollo.OutOfMemoryError.STATUS
    assert len(list(read_log(LOG, max_counters=100_000))) == 4
    monkeypatch.setattr(_lines, "LONGEST_LINE", 2 << 18)
    reader = read_log(LOG.encode() + b"x" * (3 << 18))
    assert next(reader).line == 5
    with pytest.raises(picollo.LogError, match="longer than 524,288 bytes"):
        list(reader)
    assert list(reader) == []


def test_compressed_files_that_end_early() -> None:
    packed = gzip.compress((LOG * 500).encode())
    for damaged in (packed[:-5], packed[: len(packed) // 2], packed[:5], packed[:200] + b"\xff" * 200 + packed[400:]):
        reader = read_log(damaged)
        with pytest.raises(picollo.LogError, match="<bytes>:"):
            for _ in reader:
                pass
        assert list(reader) == []


@pytest.mark.parametrize("source", [None, 5, 1.5, ["a"], object()])
def test_what_is_no_source(source: Any) -> None:
    with pytest.raises(TypeError, match="a log is read from"):
        read_log(source)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_log(tmp_path / "nowhere.hlog")
    with pytest.raises(IsADirectoryError):
        read_log(tmp_path)
    with pytest.raises(ValueError, match="strict or skip"):
        read_log(LOG, errors="ignore")  # type: ignore[arg-type]


@given(st.integers(0, len(LOG) + 10), st.binary(max_size=30), st.booleans())
@example(0, b"\x1f\x8b", True)
@example(0, b"\x1f\x8b", False)
def test_damaged_logs(at: int, noise: bytes, cut: bool) -> None:
    """Anything may come; every line is an interval, an error, or nothing."""
    data = LOG.encode()
    damaged = data[:at] + noise + (b"" if cut else data[at + len(noise) :])
    reader = read_log(damaged, max_counters=100_000)
    while True:
        try:
            next(reader).snapshot.summary()
        except StopIteration:
            break
        except picollo.LogError as error:
            assert 1 <= error.line <= 50
    try:
        list(read_log(damaged, errors="skip", max_counters=100_000))
    except picollo.LogError:
        assert damaged.startswith(b"\x1f\x8b"), "lines are skipped; what pretends to be compressed has none"


def test_memory_does_not_depend_on_the_length(tmp_path: Path) -> None:
    path = tmp_path / "long.hlog.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(150):
            file.write((LOG * 1000).encode())
    if not Path("/proc/self/status").exists():
        pytest.skip("no /proc/self/status to read the memory in use from")
    code = f"""
        import pathlib, picollo
        assert sum(1 for _ in picollo.read_log({str(path)!r}, tag="none")) == 0
        status = pathlib.Path("/proc/self/status").read_text().splitlines()
        print(*(line.split()[1] for line in status if line.startswith("VmHWM")))
    """
    # 120 MB of text.
    result = run_python(code)
    assert (result.returncode, result.stderr) == (0, "")
    assert int(result.stdout) < 60_000


# ── writing ────────────────────────────────────────────────────────────────────────────────────────────


def test_the_text() -> None:
    file = io.StringIO()
    assert write_log(file, [LogInterval(START, START + 1.5, snapshot_of(2_769_920), "A")], comment="one\ntwo").intervals == 1
    lines = file.getvalue().splitlines()
    assert lines[:5] == [
        "#[Histogram log format version 1.3]",
        "#[one]",
        "#[two]",
        "#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 15:24:39 UTC 2015]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
    assert lines[5].startswith("Tag=A,1441812279.474,1.500,2.771,HISTFAAA")
    assert len(lines) == 6


def test_round_trip(tmp_path: Path) -> None:
    intervals = [
        LogInterval(1e9 + place, 1e9 + place + 0.5, snapshot_of(*range(place * 100)), tag)
        for place, tag in enumerate(["", "A", "größe", "a/b"] * 5)
    ]
    targets: list[Any] = [tmp_path / "a.hlog", str(tmp_path / "b.hlog"), tmp_path / "a.hlog.gz", io.BytesIO(), io.StringIO()]
    for target in targets:
        writer = write_log(target, intervals)
        assert writer.intervals == len(intervals)
        if hasattr(target, "seek"):
            target.seek(0)
        found = list(read_log(target))
        assert rows(iter(found)) == rows(iter(intervals))
        assert [i.snapshot.buckets() for i in found] == [i.snapshot.buckets() for i in intervals]
    assert (tmp_path / "a.hlog.gz").read_bytes()[:2] == b"\x1f\x8b"
    # From log to log.
    write_log(tmp_path / "only-a.hlog", read_log(tmp_path / "a.hlog", tag="A"))
    assert len(list(read_log(tmp_path / "only-a.hlog"))) == 5


def test_times_and_tags_stay_with_snapshots(tmp_path: Path) -> None:
    histogram = picollo.Histogram(significant_digits=2, max=1000)
    histogram.record(5)
    taken = histogram.snapshot()
    assert (math.isnan(taken.start), math.isnan(taken.end), taken.tag) == (True, True, "")
    first, second = tmp_path / "a.hlog", tmp_path / "b.hlog"
    with picollo.write_log(first, start=1e9) as log:
        log.write(taken, 1e9, 1e9 + 1.5, "A")
        log.write(taken, 1e9 + 2, 1e9 + 3)
        # What was set is written; what is said goes before it.
        taken.start, taken.end, taken.tag = 1e9 + 4, 1e9 + 5, "B"
        log.write(taken)
        log.write(taken, end=1e9 + 6, tag="")
        log.write(taken, 1e9 + 3, tag="C")
    wanted = [(1e9, 1e9 + 1.5, "A"), (1e9 + 2, 1e9 + 3, ""), (1e9 + 4, 1e9 + 5, "B"), (1e9 + 4, 1e9 + 6, ""), (1e9 + 3, 1e9 + 5, "C")]
    with picollo.write_log(second, start=1e9) as log:
        for interval, row in zip(picollo.read_log(first), wanted):
            read = interval.snapshot
            made = (read, read.copy(), copy.deepcopy(read), pickle.loads(pickle.dumps(read)), read.with_digits(1), read.corrected(1))
            assert [(s.start, s.end, s.tag) for s in made] == [row] * len(made)
            log.write(read.copy())
    assert [(i.start, i.end, i.tag) for i in picollo.read_log(second)] == wanted
    assert first.read_text() == second.read_text()


def test_default_times(tmp_path: Path) -> None:
    """An interval begins where the one before of its tag ended, and ends when its counts were taken."""
    histogram = Histogram(significant_digits=3)
    snapshot = histogram.snapshot()
    before = time.time()
    with write_log(tmp_path / "a.hlog") as log:
        for _ in range(3):
            histogram.record(5)
            log.write(snapshot.update(deltas=True))
            log.write(snapshot, tag="A")
    after = time.time()
    for tag in ("", "A"):
        first, second, third = read_log(tmp_path / "a.hlog", tag=tag)
        assert before - 0.001 <= first.start <= first.end == pytest.approx(second.start, abs=0.002)
        assert second.end == pytest.approx(third.start, abs=0.002) and third.end <= after + 0.002
        assert [i.snapshot.total_count for i in (first, second, third)] == [1, 1, 1]


def test_others_may_follow(tmp_path: Path) -> None:
    path = tmp_path / "a.hlog"
    with write_log(path) as log:
        for count in (1, 2, 3):
            log.write(snapshot_of(5), 1e9, 1e9 + 1)
            assert len(list(read_log(path))) == count


@pytest.mark.parametrize("error", [0.1, 0.03, 0.01, 0.001, 0.0001, 1e-6])
def test_any_precision_can_be_written(error: float) -> None:
    """In buckets that HdrHistogram has: as fine, but for those finer than its finest."""
    values = [0, 1, 77, 1000, 123_456, 10**6]
    snapshot = snapshot_of(*values, significant_digits=None, relative_error=error, max=2**20)
    file = io.BytesIO()
    write_log(file, [LogInterval(0, 1, snapshot)])
    (interval,) = read_log(file.getvalue())
    assert interval.snapshot.total_count == len(values)
    own = max(error, 0.5 / 131072)
    for bucket, value in zip(interval.snapshot.buckets(), values):
        assert abs(bucket.midpoint - value) <= 2 * own * value


def test_what_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "a.hlog"
    with write_log(path, start=0) as log:
        with pytest.raises(picollo.IncompatibleError, match="2\\*\\*63"):
            log.write(snapshot_of(2**63, max=None), 0, 1)
        for tag in ("a,b", "a b", "a\nb", "a\x1fb", "a\x85b", "a\u2028b"):
            with pytest.raises(ValueError, match="tag must not contain"):
                log.write(snapshot_of(1), 0, 1, tag)
        with pytest.raises(ValueError, match="NUL"):
            log.write(snapshot_of(1), 0, 1, "a\0b")
        for wrong in (math.nan, math.inf, 1e16):
            with pytest.raises(ValueError, match="must be a time"):
                log.write(snapshot_of(1), wrong, 1)
        with pytest.raises(ValueError, match="must not end before"):
            log.write(snapshot_of(1), 2, 1)
        with pytest.raises(TypeError, match="snapshots and histograms, not int"):
            log.write(5)  # type: ignore[arg-type]
        assert log.intervals == 0
    log.close()
    with pytest.raises(picollo.ClosedError, match="the log is closed"):
        log.write(snapshot_of(1), 0, 1)
    # The header is there, and nothing else.
    assert path.read_text().count("\n") == 3
    assert list(read_log(path)) == []
    with pytest.raises(ValueError):
        write_log(path, start=math.nan)
    with pytest.raises(FileNotFoundError):
        write_log(tmp_path / "nowhere" / "a.hlog")


def test_every_character_of_tags() -> None:
    """A tag is refused, or it is there when it is read again: alone in its line, and as it was."""
    file, written, refused = io.StringIO(newline=""), [], set()
    with write_log(file, start=0) as log:
        for place in [*range(0x3100), 0xD7FF, 0xE000, 0xFEFF, 0xFFFD, 0xFFFF, 0x1F40C, 0x10FFFF]:
            for tag in (chr(place), f"a{chr(place)}b"):
                try:
                    log.write(EMPTY, 0, 1, tag)
                    written.append(tag)
                except ValueError as error:
                    assert "a tag must not contain" in str(error) or "NUL" in str(error)
                    refused.add(chr(place))
    assert [interval.tag for interval in read_log(file.getvalue().encode())] == written
    assert len(file.getvalue().splitlines()) == 3 + len(written), "no line end of Unicode is among them"
    controls = {chr(place) for place in range(0x100) if unicodedata.category(chr(place)) == "Cc"}
    assert refused == {",", " ", "\u2028", "\u2029", *controls} - {"\t"}
    with pytest.raises(ValueError, match="halves of characters"):
        write_log(io.StringIO()).write(EMPTY, 0, 1, "a\ud800")


def test_threads_write_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.hlog"
    with write_log(path, start=0) as log:

        def write(tag: str) -> None:
            for place in range(50):
                log.write(snapshot_of(*range(place)), place, place + 1, tag)

        in_threads(*(partial(write, str(number)) for number in range(4)))
    assert log.intervals == len(list(read_log(path))) == 200


def test_timeline_of_a_log() -> None:
    pytest.importorskip("numpy")
    timeline = picollo.Timeline.of(read_log(LOG, tag=""), name="A")
    assert timeline.name == "A"
    assert [round(interval.begin - START, 3) for interval in timeline.intervals] == [0.127, 2.133]
    assert timeline.intervals[0].buckets["count"].sum() == 108
    with pytest.raises(picollo.UnsupportedError, match="no histogram"):
        timeline.sample()


def test_timeline_of_a_log_with_gaps() -> None:
    pytest.importorskip("matplotlib")
    import picollo.plot

    timeline = picollo.Timeline.of(
        LogInterval(start, start + 1.001, snapshot_of(*range(100))) for start in (0.0, 1.0, 2.002, 10.0)
    )
    assert [(round(i.begin, 3), len(i.buckets)) for i in picollo.plot._without_gaps(timeline.intervals)] == [
        (0.0, 100), (1.0, 100), (2.002, 100), (3.003, 0), (10.0, 100),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="must be in order"):
        picollo.Timeline.of([LogInterval(5, 6, snapshot_of(1)), LogInterval(0, 1, snapshot_of(1))])
