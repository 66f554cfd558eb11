"""Logs: reading others' logs, writing, sums, and errors in logs."""

from __future__ import annotations

import codecs
import copy
import gzip
import io
import math
import pickle
import struct
import time
from functools import partial
from pathlib import Path
from typing import Any, Iterator

import pytest
from conftest import assert_refused, in_threads

import picollo
from picollo import Histogram, LogInterval, Merged, Snapshot, _lines, read_log, write_log

#: 108 values; from a log of HdrHistogram for Java.
ENCODED = "HISTFAAAADN4nJNpmSzMwMAgxAABzFCaEURcm7yEwf4DRICJiZGFlWk//wnG1QJMTJv/MjIBAMP3CLI="
VERSION = "#[Histogram log format version 1.3]\n"
LOG = f"""\
#[free comment]
{VERSION}#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 15:24:39 UTC 2015]
"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
0.127,1.007,2.769,{ENCODED}
Tag=A,1.134,0.999,0.442,{ENCODED}
#[in between]
Tag=B,1.134,0.999,0.426,{ENCODED}
2.133,1.001,0.426,{ENCODED}
"""
START = 1441812279.474
ROWS = [
    (tag, round(START + begin, 6), round(START + end, 6), 108)
    for tag, begin, end in (("", 0.127, 1.134), ("A", 1.134, 2.133), ("B", 1.134, 2.133), ("", 2.133, 3.134))
]
MARKS = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}


def snapshot_of(*values: int, **options: Any) -> Snapshot:
    histogram = Histogram(**{"significant_digits": 3, "max": 2**40, **options})
    histogram.record_many(values)
    return histogram.snapshot()


def rows(reader: "Iterator[LogInterval]") -> "list[tuple[str, float, float, int]]":
    return [(i.tag, round(i.start, 6), round(i.end, 6), i.snapshot.total_count) for i in reader]


def log_of(start: float, *times: float, tag: str = "größe🐌") -> str:
    lines = [f"Tag={tag},{time},1.5,2.769,{ENCODED}\n" for time in times]
    return f"#[ä €🐌]\n{VERSION}#[StartTime: {start} (seconds since epoch)]\n" + "".join(lines)


# ── reading ────────────────────────────────────────────────────────────────────────────────────────────


def test_every_kind_of_source(tmp_path: Path) -> None:
    path, packed, wide = tmp_path / "a.hlog", tmp_path / "a.hlog.gz", tmp_path / "b.hlog"
    data = LOG.encode()
    path.write_bytes(data)
    packed.write_bytes(gzip.compress(data[:300]) + gzip.compress(data[300:]))
    wide.write_bytes(LOG.encode("utf-16"))
    sources: list[Any] = [
        path, str(path), packed, wide, LOG, data, bytearray(data), memoryview(data), gzip.compress(data), LOG.encode("utf-16"),
        io.BytesIO(data), io.StringIO(LOG), io.BytesIO(gzip.compress(data) + bytes(600)), ("\ufeff" + LOG).encode(),
    ]  # fmt: skip
    for source in sources:
        assert rows(read_log(source)) == ROWS, type(source)
    with open(path) as text, open(path, "rb") as binary, open(wide, encoding="utf-16") as decoded, gzip.open(packed) as unpacked:
        for file in (text, binary, decoded, unpacked):
            assert rows(read_log(file)) == ROWS and not file.closed, "it is the caller's"


def test_intervals() -> None:
    first, second, *_ = read_log(LOG)
    assert (first.line, second.line, first.max, second.max) == (5, 6, 2.769, 0.442)
    assert (first.tag, second.tag, second.snapshot.name) == ("", "A", "A")
    assert second.snapshot.percentile(99).bucket.lower <= 123456789
    # The time of the counts is the end of the interval.
    assert second.snapshot.summary().timestamp.timestamp() == pytest.approx(second.end)
    # They remain after the log is closed.
    assert pickle.loads(pickle.dumps(second)).snapshot.buckets() == second.snapshot.buckets()


@pytest.mark.parametrize("piece", [1, 7, 64, 1 << 18])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_pieces(monkeypatch: pytest.MonkeyPatch, piece: int, end: str) -> None:
    """Wherever a read splits the log, times and lines are right, in any encoding; also in joined logs."""
    monkeypatch.setattr(_lines, "PIECE", piece)
    text = LOG.replace("\n", end)
    for source in (text.encode(), text[: -len(end)], io.StringIO(text, newline=""), gzip.compress(text.encode())):
        intervals = list(read_log(source))
        assert rows(iter(intervals)) == ROWS
        assert [interval.line for interval in intervals] == [5, 6, 8, 9]
    with pytest.raises(picollo.LogError, match=":7: "):
        list(read_log(text.replace("#[in between]", "nonsense")))
    one = log_of(1e9, 1, 2).replace("\n", end)
    joined = one + "\ufeff" + one
    wanted = [("größe🐌", 1e9 + second, 1e9 + second + 1.5, 108) for second in (1, 2)] * 2
    for codec, mark in MARKS.items():
        assert rows(read_log(joined)) == rows(read_log(mark + joined.encode(codec))) == wanted


def test_a_header_in_two_pieces() -> None:
    pieces = [log_of(1e9, 1) + VERSION + "#[BaseTime: 100]\n", log_of(2e9, 3), ""]

    class InPieces(io.BytesIO):
        def read1(self, size: Any = -1) -> bytes:
            return pieces.pop(0).encode()

    for source in ("".join(pieces), InPieces()):
        assert [interval.start for interval in read_log(source)] == [1e9 + 1, 103]


@pytest.mark.parametrize("piece", [1, 50, 1 << 18])
def test_tails(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    """The log ends before an incomplete line. A preallocated file ends in NULs."""
    monkeypatch.setattr(_lines, "PIECE", piece)
    text = log_of(1e9, 1, 2)
    wanted = rows(read_log(text))
    for tail in ("\0" * 5000, "Tag=a,1,2\0\0\0", f"1,2,3,{ENCODED[:40]}", "nonsense", '"Start'):
        assert rows(read_log(text + tail)) == wanted, tail
    # With its line end it is wrong, and no longer incomplete.
    with pytest.raises(picollo.LogError, match=":6: "):
        list(read_log(text + "nonsense\n"))
    assert rows(read_log(text + "\0" * 100 + "\n", errors="skip")) == wanted
    # Half of a character, which UTF-16 can have, is read as U+FFFD.
    halves = MARKS["utf-16-le"] + ("#[\ud800]\n" + text).encode("utf-16-le", "surrogatepass")
    assert rows(read_log(halves)) == wanted


def test_selection() -> None:
    for tag, expected in (("A", ["A"]), (["A", "B"], ["A", "B"]), ("", ["", ""]), ("C", [])):
        assert [row[0] for row in rows(read_log(LOG, tag=tag))] == expected
    seen = []

    def late(tag: str, start: float, end: float) -> bool:
        seen.append((tag, round(start, 6), round(end, 6)))
        return start > START + 1

    assert rows(read_log(LOG, select=late)) == ROWS[1:]
    assert seen == [row[:3] for row in ROWS]
    # Unselected intervals are not decoded.
    broken = LOG.replace(f"Tag=A,1.134,0.999,0.442,{ENCODED}", "Tag=A,1.134,0.999,0.442,HISTF")
    assert len(rows(read_log(broken, tag=["", "B"]))) == 3


def test_life(tmp_path: Path) -> None:
    path = tmp_path / "a.hlog"
    path.write_text(LOG)
    with read_log(path) as reader:
        assert (reader.name, reader.line) == (str(path), 0)
        next(reader)
        assert reader.line == 5 and "line 5" in repr(reader)
    assert list(reader) == []
    reader.close()
    assert (reader.line, reader.name) == (5, str(path))
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
    error = caught.value
    assert str(error).startswith(f"{path}:10: ") and isinstance(error, picollo.CorruptError) and isinstance(error, ValueError)
    for one in (error, pickle.loads(pickle.dumps(error))):
        assert (str(one), one.source, one.line) == (str(error), str(path), 10)
    # Reading continues after it.
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
    # Damaged or truncated compressed data ends the log, even with skipping.
    packed = gzip.compress(LOG.encode())
    for data, why in ((packed[:-100], "compressed data is incomplete"), (packed[:-8] + bytes(8), "incorrect data check"), (packed + b"xyz", "header")):
        reader = read_log(data, errors="skip")
        with pytest.raises(picollo.LogError, match=why):
            list(reader)
        assert list(reader) == [] and reader.skipped == 0


def test_invalid_sources(tmp_path: Path) -> None:
    sources: list[Any] = [None, 5, ["a"], object()]
    assert_refused(
        *((partial(read_log, source), TypeError, "source must be a path") for source in sources),
        (lambda: read_log(tmp_path / "nowhere.hlog"), FileNotFoundError, ""),
        (lambda: read_log(tmp_path), IsADirectoryError, ""),
        (lambda: read_log(LOG, errors="ignore"), ValueError, "strict or skip"),  # type: ignore[arg-type]
    )

    class Failing(io.BytesIO):
        def read1(self, size: Any = -1) -> bytes:
            raise KeyboardInterrupt

    reader = read_log(Failing())
    for error in (KeyboardInterrupt, OSError, OSError):
        with pytest.raises(error):
            next(reader)
    reader.close()
    assert list(reader) == []


# ── writing ────────────────────────────────────────────────────────────────────────────────────────────


def test_the_text() -> None:
    file = io.StringIO()
    assert write_log(file, [LogInterval(START, START + 1.5, snapshot_of(2_769_920), "A")], comment="one\ntwo").intervals == 1
    *header, line = file.getvalue().splitlines()
    assert header == [
        "#[Histogram log format version 1.3]",
        "#[one]",
        "#[two]",
        "#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 15:24:39 UTC 2015]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
    assert line.startswith("Tag=A,1441812279.474,1.500,2.771,HISTFAAA")


def test_round_trip(tmp_path: Path) -> None:
    intervals = [
        LogInterval(1e9 + place, 1e9 + place + 0.5, snapshot_of(*range(place * 100)), tag)
        for place, tag in enumerate(["", "A", "größe", "a/b"] * 5)
    ]
    targets: list[Any] = [tmp_path / "a.hlog", str(tmp_path / "b.hlog"), tmp_path / "a.hlog.gz", io.BytesIO(), io.StringIO()]
    for target in targets:
        assert write_log(target, intervals).intervals == len(intervals)
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
    taken = snapshot_of(5, significant_digits=2, max=1000)
    assert (math.isnan(taken.start), math.isnan(taken.end), taken.tag) == (True, True, "")
    first, second = tmp_path / "a.hlog", tmp_path / "b.hlog"
    with write_log(first, start=1e9) as log:
        log.write(taken, 1e9, 1e9 + 1.5, "A")
        log.write(taken, 1e9 + 2, 1e9 + 3)
        # Attributes are written; arguments have priority.
        taken.start, taken.end, taken.tag = 1e9 + 4, 1e9 + 5, "B"
        log.write(taken)
        log.write(taken, end=1e9 + 6, tag="")
        log.write(taken, 1e9 + 3, tag="C")
    wanted = [(1e9, 1e9 + 1.5, "A"), (1e9 + 2, 1e9 + 3, ""), (1e9 + 4, 1e9 + 5, "B"), (1e9 + 4, 1e9 + 6, ""), (1e9 + 3, 1e9 + 5, "C")]
    with write_log(second, start=1e9) as log:
        for interval, row in zip(read_log(first), wanted):
            read = interval.snapshot
            made = (read, read.copy(), copy.deepcopy(read), pickle.loads(pickle.dumps(read)), read.with_digits(1), read.corrected(1))
            assert [(s.start, s.end, s.tag) for s in made] == [row] * len(made)
            log.write(read.copy())
    assert [(i.start, i.end, i.tag) for i in read_log(second)] == wanted
    assert first.read_text() == second.read_text()


def test_default_times(tmp_path: Path) -> None:
    """An interval begins where the previous one of its tag ended, and ends when its counts were taken. Others may
    follow."""
    histogram, path = Histogram(significant_digits=3), tmp_path / "a.hlog"
    snapshot = histogram.snapshot()
    before = time.time()
    with write_log(path) as log:
        for count in range(3):
            histogram.record(5)
            log.write(snapshot.update(deltas=True))
            log.write(snapshot, tag="A")
            assert len(list(read_log(path))) == 2 * count + 2
    after = time.time()
    for tag in ("", "A"):
        first, second, third = read_log(path, tag=tag)
        assert before - 0.001 <= first.start <= first.end == pytest.approx(second.start, abs=0.002)
        assert second.end == pytest.approx(third.start, abs=0.002) and third.end <= after + 0.002
        assert [i.snapshot.total_count for i in (first, second, third)] == [1, 1, 1]
    with write_log(path, start=2e9) as log:
        log.write(snapshot, end=2e9 - 5)
    (earlier,) = read_log(path)
    assert earlier.start == earlier.end == 2e9 - 5, "it ended before the log was opened"


def test_refused_intervals(tmp_path: Path) -> None:
    path, one = tmp_path / "a.hlog", snapshot_of(1)
    with write_log(path, start=0) as log:
        wrongs: list[tuple[tuple[Any, ...], type[Exception], str]] = [
            ((snapshot_of(2**63, max=None), 0, 1), picollo.IncompatibleError, "2\\*\\*63"),
            *(((one, 0, 1, tag), ValueError, "tag must not contain") for tag in ("a,b", "a b", "a\nb", "a\x1fb", "a\x85b", "a\u2028b")),
            ((one, 0, 1, "a\0b"), ValueError, "NUL"),
            ((one, 0, 1, "a\ud800"), ValueError, "halves of characters"),
            *(((one, time, 1), ValueError, "must be a time") for time in (math.nan, math.inf, 1e16)),
            ((one, 2, 1), ValueError, "must not end before"),
            ((5,), TypeError, "snapshots and histograms, not int"),
        ]
        assert_refused(*((partial(log.write, *arguments), *why) for arguments, *why in wrongs))  # type: ignore[arg-type]
        assert log.intervals == 0
    log.close()
    # Only the header exists.
    assert path.read_text().count("\n") == 3 and list(read_log(path)) == []
    assert_refused(
        (lambda: log.write(one, 0, 1), picollo.ClosedError, "the log is closed"),
        (lambda: write_log(path, start=math.nan), ValueError, ""),
        (lambda: write_log(tmp_path / "nowhere" / "a.hlog"), FileNotFoundError, ""),
    )


def test_threads_write_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.hlog"
    with write_log(path, start=0) as log:

        def write(tag: str) -> None:
            for place in range(50):
                log.write(snapshot_of(*range(place)), place, place + 1, tag)

        in_threads(*(partial(write, str(number)) for number in range(4)))
    assert log.intervals == len(list(read_log(path))) == 200


# ── sums ───────────────────────────────────────────────────────────────────────────────────────────────


def test_placements_and_sums() -> None:
    """Sums have the digits of the first interval, cover the ranges of all, and use low ends."""
    coarse = Histogram(significant_digits=1, max=10**6)
    coarse.record_n(100_000, 1000)
    (wide,) = coarse.snapshot().buckets()
    for placement, value in (("low", wide.lower), ("midpoint", wide.midpoint), ("spread", None)):
        snapshot, histogram = (Histogram(significant_digits=3, max=10**6) for _ in range(2))
        into = snapshot.snapshot()
        told = into.merge(coarse.snapshot(), placement=placement)  # type: ignore[arg-type]
        assert histogram.add(coarse, placement=placement) == told  # type: ignore[arg-type]
        assert histogram.snapshot().buckets() == into.buckets() and told == Merged(1000, 0, 0, 0)
        lowers = [bucket.lower for bucket in into.buckets()]
        assert len(lowers) > 10 if value is None else lowers == [into.bucket_of(value).lower]
    with pytest.raises(ValueError, match="placement must be one of"):
        into.merge(coarse.snapshot(), placement="high")  # type: ignore[arg-type]
    file = io.StringIO()
    write_log(file, [LogInterval(at, at + 1, one) for at, one in enumerate((snapshot_of(1, max=100), coarse.snapshot(), snapshot_of(2)))])
    total = read_log(file.getvalue()).sum("total")
    assert (total.name, total.total_count, total.layout.high) == ("total", 1002, 2**40)
    assert total.bucket_of(100_000).count == 0 and total.bucket_of(wide.lower).count == 1000
    reader = read_log(file.getvalue())
    next(reader)
    assert reader.sum().total_count == 1001, "of those that are left"
    assert_refused(
        (lambda: read_log("#[nothing]\n").sum(), ValueError, "<str>: there are no intervals to add up"),
        (lambda: read_log("nonsense\n").sum(), picollo.LogError, ":1: "),
    )


def test_ratios_of_doubles() -> None:
    """Histograms with one ratio add up, and keep it; others do not."""
    inner = snapshot_of(16, 17, significant_digits=2, max=10**4)
    encoded = inner.encode("hdr_v2")

    def doubles(ratio: float) -> Snapshot:
        """Java's cookie, digits, the ratio of the range, and an encoding whose header has the factor of values."""
        return Snapshot.decode(struct.pack(">IIQ", 0x0C72124E, 2, 2**40) + encoded[:32] + struct.pack(">d", ratio) + encoded[40:])

    snapshot = doubles(0.25)
    assert (snapshot.value_ratio, snapshot.copy().value_ratio) == (0.25, 0.25)
    assert snapshot.buckets() == inner.buckets()
    for other in (inner, Snapshot.decode(snapshot.encode()), Histogram().snapshot()):
        assert other.value_ratio == 1.0
    # Any ratio in the data is accepted.
    for strange in (0.0, -1.0, math.inf):
        assert doubles(strange).value_ratio == strange
    total = Snapshot.merged([snapshot, doubles(0.25)])
    assert (total.value_ratio, total.copy().value_ratio, total.total_count) == (0.25, 0.25, 4)
    with pytest.raises(picollo.IncompatibleError, match=r"0\.25 and 0\.5 cannot be added up"):
        snapshot + doubles(0.5)
