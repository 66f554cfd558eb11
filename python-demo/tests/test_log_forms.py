"""Logs in the forms that other writers give them: UTF-16, joined files, files whose writers still run."""

from __future__ import annotations

import codecs
import gzip
import io
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

import picollo
from picollo import LogPosition, _lines, read_log

#: 108 values; from a log of HdrHistogram for Java.
ENCODED = "HISTFAAAADN4nJNpmSzMwMAgxAABzFCaEURcm7yEwf4DRICJiZGFlWk//wnG1QJMTJv/MjIBAMP3CLI="
#: 17 and 400, from HdrHistogram.NET: without a checksum.
DOTNET = "HISTFAAAAB9YhZNpmSzMwMDAygABzFCaEUIJd9h/gLAUmX6zMgEA"
VERSION = "#[Histogram log format version 1.3]\n"
MARKS = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}


def log_of(start: float, *times: float, tag: str = "größe") -> str:
    lines = [f"Tag={tag},{time},1.5,2.769,{ENCODED}\n" for time in times]
    return f"#[ä €🐌]\n{VERSION}#[StartTime: {start} (seconds since epoch)]\n" + "".join(lines)


def found(source: Any, **options: Any) -> "list[tuple[str, float, int]]":
    return [(i.tag, round(i.start, 6), i.snapshot.total_count) for i in read_log(source, **options)]


@pytest.mark.parametrize("codec", MARKS)
@pytest.mark.parametrize("piece", [1, 2, 3, 7, 64, 1 << 18])
def test_utf_16(codec: str, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lines, "PIECE", piece)
    text = log_of(1e9, 1, 2, tag="größe🐌")
    wanted = found(text)
    assert wanted == [("größe🐌", 1e9 + 1, 108), ("größe🐌", 1e9 + 2, 108)]
    data = MARKS[codec] + text.encode(codec)
    path, packed = tmp_path / "a.hlog", tmp_path / "a.hlog.gz"
    path.write_bytes(data)
    packed.write_bytes(gzip.compress(data))
    for source in (path, packed, data, gzip.compress(data), io.BytesIO(data)):
        assert found(source) == wanted
    # A file of text that was opened so is decoded already.
    with open(path, encoding="utf-16") as file:
        assert found(file) == wanted
    # Marks where files were joined, and the line ends of Windows.
    joined = MARKS[codec] + (text + "\ufeff" + text).replace("\n", "\r\n").encode(codec)
    assert found(joined) == wanted * 2
    # Cut anywhere, it ends before that line, be it before the padding of base64.
    for cut in (1, 2, 3, 4, 5, 20, 100):
        assert found(data[:-cut]) == wanted[: 2 if cut <= 2 else 1], cut


@pytest.mark.parametrize("codec", MARKS)
def test_halves_of_characters(codec: str) -> None:
    """Surrogates alone are no characters; they are told as U+FFFD, and the line is what it is without."""

    def coded(text: str) -> bytes:
        return MARKS[codec] + text.encode(codec, "surrogatepass")

    line = f"Tag={{}},5,1,1,{ENCODED}\n".format
    assert found(coded(line("a\ud800b"))) == [("a\ufffdb", 5.0, 108)]
    assert found(coded(line("a\udc00b"))) == [("a\ufffdb", 5.0, 108)]
    assert found(coded(line("a") + "\ud83d")) == [("a", 5.0, 108)]
    assert found(coded("")) == [] and found(coded("")[:1]) == []
    with pytest.raises(picollo.LogError, match=":2: "):
        found(coded(line("a") + "\ud800\n"))
    # The bytes of UTF-8 have none, and a str may.
    for source in (line("a\ud800b"), line("a\ud800b").encode("utf-8", "surrogatepass")):
        with pytest.raises(picollo.LogError, match="no interval"):
            found(source)
    # UTF-16 in the middle of UTF-8 is none.
    mixed = line("a").encode() + coded(line("b"))
    assert found(mixed, errors="skip") == [("a", 5.0, 108)]


@pytest.mark.parametrize("piece", [1, 20, 90, 1 << 18])
def test_joined_logs(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has its own times, wherever the pieces are cut that they are read in."""
    monkeypatch.setattr(_lines, "PIECE", piece)
    parts = [log_of(1e9, 1, 2), log_of(2e9, 1, 2e9 + 5), log_of(3e9, 3e9 + 1), log_of(4e9, 7)]
    wanted = [row for part in parts for row in found(part)]
    assert [row[1] for row in wanted] == [1e9 + 1, 1e9 + 2, 2e9 + 1, 4e9 + 5, 3e9 + 1, 4e9 + 7]
    for between in ("", "\ufeff", "\n", "#[comment]\n"):
        for end in ("\n", "\r\n", "\r"):
            text = between.join(parts).replace("\n", end)
            assert found(text.encode()) == wanted, (between, end)
    # A base is that of the header, until an interval came.
    based = f"#[BaseTime: 100]\n#[StartTime: 1e9]\n5,1,1,{ENCODED}\n#[StartTime: 1e9]\n#[comment]\n5,1,1,{ENCODED}\n"
    assert [row[1] for row in found(based.encode())] == [105.0, 1e9 + 5]


@pytest.mark.parametrize("form", ["plain", "gzip", "utf-16-le"])
@pytest.mark.parametrize(("piece", "end"), [(1, "\n"), (50, "\r\n"), (1 << 18, "\r"), (1 << 18, "\n")])
def test_running_writers(form: str, piece: int, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log ends before the line that is not whole. From there the rest is read, with the times of the header."""
    monkeypatch.setattr(_lines, "PIECE", piece)
    text = log_of(1e9, 1, 2) + log_of(2e9, 3, 2e9 + 5) + "\n#[end]\n"
    text = text.replace("\n", end)

    def data(text: str) -> bytes:
        if form == "gzip":
            return gzip.compress(text.encode())
        return MARKS[form] + text.encode(form) if form in MARKS else text.encode()

    wanted = found(text)
    lines = [interval.line for interval in read_log(text)]
    path = tmp_path / "a.hlog"
    choice = random.Random(1)
    for _ in range(20):
        rows, numbers, after = [], [], LogPosition()
        for size in [*sorted(choice.sample(range(len(text)), 9)), len(text)]:
            path.write_bytes(data(text[:size]))
            with read_log(path, after=after) as reader:
                for interval in reader:
                    rows.append((interval.tag, round(interval.start, 6), interval.snapshot.total_count))
                    numbers.append(interval.line)
            after = pickle.loads(pickle.dumps(reader.reached))
            assert after.offset <= len(text[:size].encode())
            assert rows == wanted[: len(rows)]
        assert (rows, numbers) == (wanted, lines)
        whole = (len(text.encode()), text.count(end), False)
        assert end == "\r" or (after.offset, after.line, after.in_line) == whole


def test_where_a_reader_is() -> None:
    text = log_of(1e9, 1, 2, 3)
    reader = read_log(text)
    assert reader.reached == LogPosition()
    next(reader)
    begun = reader.reached
    assert text.encode()[begun.offset :].startswith("Tag=größe,2,".encode())
    assert (begun.line, begun.start, begun.base, begun.has_intervals) == (4, 1e9, 1e9, True)
    reader.close()
    assert reader.reached == begun, "what was not asked for is not read"
    assert [row[1] for row in found(text, after=begun)] == [1e9 + 2, 1e9 + 3]
    # Files that are open already go on from where they are.
    with io.BytesIO(text.encode()[begun.offset :]) as file:
        assert [row[1] for row in found(file, after=begun._replace(offset=0))] == [1e9 + 2, 1e9 + 3]
    # Beyond the end there is nothing.
    assert found(text, after=LogPosition(10**6)) == []
    with pytest.raises(ValueError):
        read_log(text, after=LogPosition(-1))


def test_tails(tmp_path: Path) -> None:
    """A file that was given room beforehand ends in NULs."""
    text = log_of(1e9, 1, 2)
    wanted = found(text)
    for tail in ("\0" * 5000, "Tag=a,1,2\0\0\0", f"1,2,3,{ENCODED[:40]}", "nonsense", '"Start'):
        reader = read_log(text + tail)
        assert len(list(reader)) == 2, tail
        assert reader.reached.offset == len(text.encode())
    # With its line end it is wrong, and no longer on its way.
    with pytest.raises(picollo.LogError, match=":6: "):
        found(text + "nonsense\n")
    assert found(text + "\0" * 100 + "\n", errors="skip") == wanted


def test_streams_without_a_checksum() -> None:
    (interval,) = read_log(f"5,1,0.000,{DOTNET}\n")
    assert [(bucket.lower, bucket.count) for bucket in interval.snapshot.buckets()] == [(17, 1), (400, 1)]


def test_decimal_commas() -> None:
    """Seven fields are numbers with decimal commas, eight with a tag. Others are none."""
    line = f"5,25,1,5,0,442,{ENCODED}\n"
    for source in (line, "Tag=a," + line):
        (interval,) = read_log(source)
        assert (interval.start, interval.end, interval.max) == (5.25, 6.75, 0.442)
    for wrong in (
        f"5.25,1.5,0.442,0,0,0,{ENCODED}",
        f"1,2,3,4,5,{ENCODED}",
        f"1,2,3,4,5,6,7,{ENCODED}",
        f"a,25,1,5,0,442,{ENCODED}",
        ",,,,,," + ENCODED,
        "1,2,3,4,5,6,",
        "1,2,3,4,5,6,7",
    ):
        with pytest.raises(picollo.LogError):
            found(wrong + "\n")
