"""Data that is almost right: streams cut in their trailer, checksums in part, logs with damage in any form."""

from __future__ import annotations

import base64
import codecs
import gzip
import random
import zlib
from pathlib import Path
from typing import Any

import pytest
from conftest import run_python

import picollo
from picollo import Histogram, Snapshot, read_log

COOKIE = b"\x1c\x84\x93\x14"


def filled(*values: int) -> Histogram:
    histogram = Histogram(significant_digits=3, max=2**40)
    histogram.record_many(values)
    return histogram


def stream(trailer: bytes, announced: int = 0, tail: bytes = b"") -> bytes:
    """A compressed encoding whose zlib stream ends in this instead of its checksum."""
    packed = zlib.compress(filled(*range(100), 10**6, 2**39).encode("hdr_v2"))
    body = packed[:-4] + trailer
    return COOKIE + (len(body) + announced).to_bytes(4, "big") + body + tail


CHECKSUM = zlib.compress(filled(*range(100), 10**6, 2**39).encode("hdr_v2"))[-4:]


def test_checksums() -> None:
    """Whole or missing; nothing between. Missing is what the length in front ends before."""
    wanted = Snapshot.decode(stream(CHECKSUM)).buckets()
    assert len(wanted) == 102
    forms = {True: [stream(b""), stream(CHECKSUM), stream(CHECKSUM, tail=b"x" * 9)], False: []}
    # In part, wrong, longer than what is there, and a line that was cut where the trailer begins.
    forms[False] += [stream(CHECKSUM[:length]) for length in (1, 2, 3)]
    forms[False] += [stream(bytes(4)), stream(CHECKSUM[::-1]), stream(CHECKSUM[:3] + b"\xff"), stream(b"\0")]
    forms[False] += [stream(b"", announced=4), stream(CHECKSUM, announced=1), stream(CHECKSUM, announced=-5)]
    forms[False] += [stream(CHECKSUM)[:length] for length in (*range(12, 40), -1, -2, -3, -4, -5)]
    for is_right, listed in forms.items():
        for data in listed:
            for form in (data, base64.b64encode(data).decode()):
                if is_right:
                    assert Snapshot.decode(form).buckets() == wanted
                else:
                    with pytest.raises(picollo.CorruptError):
                        Snapshot.decode(form)
            line = b"1,2,3," + base64.b64encode(data)
            assert len(list(read_log(line))) == is_right, "one that is cut is not there yet"
            if is_right:
                assert len(list(read_log(line + b"\n"))) == 1
            else:
                with pytest.raises(picollo.LogError, match=":1: the histogram: "):
                    list(read_log(line + b"\n"))


def damaged(text: bytes, choice: random.Random) -> bytes:
    """Some bytes gone, changed, or put in between: marks, halves of characters, commas, NULs."""
    data = bytearray(text)
    odd = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xd8\x00", b"\x00\xdc", b",", b",,,,", b"\0", b"\0\0\0", b"\r", b"\n", b"\x1f\x8b"]
    for _ in range(choice.randint(1, 4)):
        at = choice.randrange(len(data) + 1)
        kind = choice.randrange(4)
        if kind == 0:
            del data[at : at + choice.randint(1, 20)]
        elif kind == 1:
            data[at : at + 1] = bytes([choice.randrange(256)])
        elif kind == 2:
            data[at:at] = choice.choice(odd)
        else:
            del data[at:]
    return bytes(data)


@pytest.mark.parametrize("form", ["utf-8", "utf-16-le", "utf-16-be", "gzip", "utf-16-le in gzip"])
def test_damaged_logs(form: str) -> None:
    """Every line is an interval, an error that names it, or nothing; reading in pieces finds what reading at once does."""
    choice = random.Random(form)
    encoded = filled(1, 2, 3).snapshot().encode_text()
    text = (
        "#[ä🐌]\n#[Histogram log format version 1.3]\n#[StartTime: 1e9 (seconds since epoch)]\n"
        + "".join(f"Tag=ß🐌{number},{number},1,2,{encoded}\n{number},5,1,0,2,5,{encoded}\n" for number in range(5))
    )
    codec = form.split()[0].replace("gzip", "utf-8")
    mark = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}.get(codec, b"")
    plain = mark + text.encode(codec)
    for _ in range(150):
        data = damaged(plain, choice)
        if "gzip" in form:
            data = gzip.compress(data, mtime=0) if choice.random() < 0.5 else damaged(gzip.compress(plain, mtime=0), choice)
        reader, found, errors = read_log(data, max_counters=100_000), [], 0
        while True:
            try:
                interval = next(reader)
                found.append((interval.tag, repr(interval.start), interval.line))
            except StopIteration:
                break
            except picollo.LogError as error:
                errors += 1
                assert 1 <= error.line <= 60 and str(error).startswith("<bytes>:")
        assert len(found) <= 10 and errors <= 40
        # From each place where a reader was, the rest is the same.
        reader = read_log(data, max_counters=100_000)
        for place in range(len(found)):
            after = reader.reached
            rest = _readable(read_log(data, max_counters=100_000, after=after))
            assert rest == found[place:]
            _readable_one(reader)


def _readable(reader: picollo.LogReader) -> "list[tuple[str, str, int]]":
    found = []
    while (interval := _readable_one(reader)) is not None:
        found.append((interval.tag, repr(interval.start), interval.line))
    return found


def _readable_one(reader: picollo.LogReader) -> Any:
    while True:
        try:
            return next(reader)
        except StopIteration:
            return None
        except picollo.LogError:
            continue


@pytest.mark.parametrize("filler", [b"\n", b"\r", b"\0", b"x", b"#"])
def test_what_unpacks_to_very_much(filler: bytes, tmp_path: Path) -> None:
    """A thousand times of what is in the file: an end or an error, in the memory of one line at most."""
    if not Path("/proc/self/status").exists():
        pytest.skip("no /proc/self/status to read the memory in use from")
    path = tmp_path / "a.hlog.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(4 if filler in b"\r\n" else 24):
            file.write(filler * (1 << 23))
    code = f"""
        import pathlib, picollo
        try:
            with picollo.read_log({str(path)!r}) as reader:
                print(sum(1 for _ in reader))
        except picollo.LogError as error:
            print("longer than 134,217,728 bytes" in str(error))
        status = pathlib.Path("/proc/self/status").read_text().splitlines()
        print(*(line.split()[1] for line in status if line.startswith("VmHWM")))
    """
    result = run_python(code)
    assert (result.returncode, result.stderr) == (0, "")
    told, memory = result.stdout.split()
    assert told == ("0" if filler in b"\r\n" else "True")
    assert int(memory) < 350_000
