"""Sums of logs: in the digits and the unit of the first interval, over the ranges of all, by low ends."""

from __future__ import annotations

import base64
import copy
import csv
import io
import pickle
import random
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import native_command
from oracle import bucket

import picollo
from picollo import Histogram, LogInterval, Merged, Snapshot, read_log, write_log

SCALES = {1: 4, 2: 7, 3: 10, 4: 14, 5: 17}
#: 3 digits, in units of 1024; 5000 is 4096 to 5119.
UNIT_1024 = "HISTFAAAACB4nJNpmSzMwMDAxAABzBCKBUw6ALH9B4gIOxMAQyACyA=="
#: Of HdrHistogram for Java, of doubles.
DOUBLE_COOKIE = 0x0C72124E


def in_units(values: "list[int]", digits: int, lowest: int, highest: int) -> Snapshot:
    """As an HdrHistogram with this lowest discernible value encodes them."""
    unit = lowest.bit_length() - 1
    histogram = Histogram(significant_digits=digits, max=max(1, highest >> unit), mode="single_writer")
    histogram.record_many([value >> unit for value in values])
    encoded = histogram.encode("hdr_v2")
    return Snapshot.decode(encoded[:16] + struct.pack(">QQ", lowest, highest) + encoded[32:])


def span(value: int, digits: int, lowest: int) -> "tuple[int, int]":
    """The bucket that HdrHistogram has for a value."""
    unit = lowest.bit_length() - 1
    low, high = bucket(value >> unit, SCALES[digits])
    return low << unit, ((high + 1) << unit) - 1


def parts(choice: random.Random) -> "list[tuple[Snapshot, list[int], int, int]]":
    """Histograms of mixed ranges, digits and units, and what is in them."""
    listed = []
    for _ in range(choice.randint(2, 8)):
        digits, lowest = choice.randint(1, 4), choice.choice((1, 1, 2, 3, 1000, 20_000, 2 ** choice.randint(1, 20)))
        highest = max(2 * lowest, 2 ** choice.randint(8, 32) - choice.randint(1, 50))
        values = [choice.randint(0, choice.randint(1, highest)) for _ in range(choice.randint(0, 200))]
        listed.append((in_units(values, digits, lowest, highest), values, digits, lowest))
    return listed


@pytest.mark.parametrize("seed", range(20))
def test_a_log_of_all_kinds(seed: int) -> None:
    made = parts(random.Random(seed))
    file = io.BytesIO()
    write_log(file, [LogInterval(place, place + 1, part[0]) for place, part in enumerate(made)])
    total = read_log(file.getvalue()).sum("all")
    # By hand: each count is at the low end of its bucket, and goes to the bucket that the first has for that.
    _, _, digits, lowest = made[0]
    counts: dict[tuple[int, int], int] = {}
    for _, values, its_digits, its_lowest in made:
        for value in values:
            key = span(span(value, its_digits, its_lowest)[0], digits, lowest)
            counts[key] = counts.get(key, 0) + 1
    assert [(b.lower, b.upper, b.count) for b in total.buckets()] == [(*key, count) for key, count in sorted(counts.items())]
    assert total.counts == (sum(len(part[1]) for part in made), 0, 0, 0), "nothing is in overflow"
    assert (total.name, total.layout.unit, total.layout.significant_digits) == ("all", 1 << lowest.bit_length() - 1, digits)
    layouts = [part[0].layout for part in made]
    assert (total.layout.low, total.layout.high) == (min(a.low for a in layouts), max(a.high for a in layouts))
    with pytest.raises(picollo.UnsupportedError):
        total.update()


def test_the_command(tmp_path: Path) -> None:
    """For each tag. That sums that wait as bytes are as good is a test of the command itself, ``hlog::groups``."""
    made = {tag: parts(random.Random(seed)) for seed, tag in enumerate("ABCD")}
    intervals = [
        LogInterval(place, place + 1, part[0], tag)
        for place in range(8)
        for tag, listed in made.items()
        for part in listed[place : place + 1]
    ]
    path = tmp_path / "a.hlog"
    write_log(path, intervals)
    told = hlog(path, "--by-tag", "--format", "csv", "--percentiles", "0,50,99,100")
    assert (told.returncode, told.stderr) == (0, "")
    rows = list(csv.DictReader(io.StringIO(told.stdout)))
    assert [row["tag"] for row in rows] == list("ABCD")
    for row in rows:
        total = read_log(path, tag=row["tag"]).sum()
        found = [int(row[name]) for name in ("count", "p0", "p50", "p99", "p100")]
        assert found == [total.total_count, *total.percentile_values((0, 50, 99, 100), "upper")]


def test_low_ends() -> None:
    coarse = Histogram(significant_digits=1, max=10**6)
    coarse.record_n(100_000, 1000)
    (wide,) = coarse.snapshot().buckets()
    for placement, values in (("low", [wide.lower]), ("midpoint", [wide.midpoint]), ("spread", None)):
        snapshot, histogram = (Histogram(significant_digits=3, max=10**6) for _ in range(2))
        into = snapshot.snapshot()
        told = into.merge(coarse.snapshot(), placement=placement)  # type: ignore[arg-type]
        assert histogram.add(coarse, placement=placement) == told  # type: ignore[arg-type]
        assert histogram.snapshot().buckets() == into.buckets() and told == Merged(1000, 0, 0, 0)
        lowers = [bucket.lower for bucket in into.buckets()]
        assert len(lowers) > 10 if values is None else lowers == [bucket(value, 10)[0] for value in values]
    with pytest.raises(ValueError, match="placement must be one of"):
        into.merge(coarse.snapshot(), placement="high")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not both"):
        into.merge(coarse.snapshot(), spread=True, placement="low")


def test_zeros_stay_zeros() -> None:
    """The midpoint of the first bucket of a unit is half of it; sums of a log keep the zero."""
    zeros, fine = in_units([0, 0], 3, 1024, 10**6), in_units([5], 3, 1, 10**6)
    file = io.StringIO()
    write_log(file, [LogInterval(0, 1, fine), LogInterval(1, 2, zeros)])
    assert [(b.lower, b.count) for b in read_log(file.getvalue()).sum().buckets()] == [(0, 2), (5, 1)]
    assert [(b.lower, b.count) for b in (fine + zeros).buckets()] == [(5, 1), (512, 2)]


@pytest.mark.parametrize("seed", range(10))
def test_sums_of_snapshots_in_units(seed: int) -> None:
    """The finest blocks and the smallest unit of all, in any order; nothing is lost."""
    choice = random.Random(seed)
    made = [part[0] for part in parts(choice)]
    layouts = [snapshot.layout for snapshot in made]
    total = Snapshot.merged(made)
    assert total.layout[:3] == (
        min(layout.relative_error for layout in layouts), min(a.low for a in layouts), max(a.high for a in layouts),
    )  # fmt: skip
    assert total.layout.unit == min(layout.unit for layout in layouts)
    assert total.counts == (sum(snapshot.total_count for snapshot in made), 0, 0, 0)
    for _ in range(3):
        choice.shuffle(made)
        assert Snapshot.merged(made).buckets() == total.buckets()
    finer = Snapshot.decode(UNIT_1024).with_digits(5)
    assert (finer.layout.unit, finer.layout.significant_digits, finer.total_count) == (1024, 5, 1)


def test_no_intervals() -> None:
    with pytest.raises(ValueError, match="<str>: there are no intervals to add up"):
        read_log("#[nothing]\n").sum()
    with pytest.raises(picollo.LogError, match=":1: "):
        read_log("nonsense\n").sum()
    snapshot = in_units([1], 1, 1, 100)
    file = io.StringIO()
    write_log(file, [LogInterval(0, 1, snapshot), LogInterval(1, 2, snapshot)])
    reader = read_log(file.getvalue())
    next(reader)
    assert reader.sum().total_count == 1, "of those that are left"


def test_zero_digits() -> None:
    snapshot = in_units([1, 5, 1000], 1, 1, 10**4).with_digits(0)
    assert [(b.lower, b.upper) for b in snapshot.buckets()] == [(1, 1), (4, 7), (512, 1023)]
    again = Snapshot.decode(snapshot.encode_text())
    assert again.buckets() == snapshot.buckets()
    for wrong in (6, -1):
        with pytest.raises(ValueError):
            snapshot.with_digits(wrong)


def test_ratios_of_doubles() -> None:
    inner = in_units([16, 17], 2, 1, 10**4)
    encoded = inner.encode("hdr_v2")

    def doubles(ratio: float) -> bytes:
        """A cookie, digits, the ratio of the range, and an encoding whose header says what values are multiplied by."""
        return struct.pack(">IIQ", DOUBLE_COOKIE, 2, 2**40) + encoded[:32] + struct.pack(">d", ratio) + encoded[40:]

    snapshot = Snapshot.decode(doubles(0.25))
    assert (snapshot.value_ratio, snapshot.copy().value_ratio) == (0.25, 0.25)
    assert snapshot.buckets() == inner.buckets()
    assert [snapshot.value_ratio * bucket.upper for bucket in snapshot.buckets()] == [4.0, 4.25]
    for other in (inner, Snapshot.decode(snapshot.encode()), Histogram().snapshot()):
        assert other.value_ratio == 1.0
    # It is theirs.
    for strange in (0.0, -1.0, float("inf")):
        assert Snapshot.decode(doubles(strange)).value_ratio == strange


def hlog(*arguments: object) -> "subprocess.CompletedProcess[str]":
    """The command."""
    return subprocess.run([native_command(), "hlog", *map(str, arguments)], capture_output=True, text=True, timeout=60)


def test_sums_of_doubles(tmp_path: Path) -> None:
    """Those of one ratio add up, and keep it; others do not."""

    def line(highest: int, ratio: float, tag: str) -> str:
        encoded = in_units([16, 17], 2, 1, highest).encode("hdr_v2")
        doubles = struct.pack(">IIQ", DOUBLE_COOKIE, 2, 2**40) + encoded[:32] + struct.pack(">d", ratio) + encoded[40:]
        return f"Tag={tag},1,1,1,{base64.b64encode(doubles).decode()}\n"

    same = line(10**4, 0.25, "A") + line(10**6, 0.25, "A") + line(10**5, 0.25, "B") + line(10**4, 0.25, "A")
    for total in (read_log(same).sum(), Snapshot.merged(i.snapshot for i in read_log(same)), read_log(same).sum().copy()):
        assert (total.value_ratio, total.total_count) == (0.25, 8)
    path = tmp_path / "a.hlog"
    path.write_text(same)
    told = hlog(path, "--by-tag", "--format", "csv")
    assert told.returncode == 0
    assert told.stderr == "picollo hlog: these are histograms of doubles: values are to be multiplied by 0.25\n"
    assert [row["count"] for row in csv.DictReader(io.StringIO(told.stdout))] == ["6", "2"]
    mixed = same + line(10**4, 0.5, "A")
    with pytest.raises(picollo.IncompatibleError, match=r"0\.25 and 0\.5 cannot be added up"):
        read_log(mixed).sum()
    path.write_text(mixed)
    told = hlog(path)
    assert told.returncode == 1
    assert "values are multiplied by 0.5, and not by 0.25 as those before" in told.stderr


def test_whole_arrays() -> None:
    histogram: Any = Histogram(significant_digits=3, max=5000, whole_array=True)
    histogram.record_many([5000, 5001, 8191, 8192])
    assert (histogram.snapshot().layout.high, histogram.counts[:3]) == (8191, (3, 0, 1))
    assert Histogram(significant_digits=3, max=5000).snapshot().layout.high == 5000
    assert copy.copy(histogram).snapshot().layout == histogram.snapshot().layout


@pytest.mark.parametrize("seed", range(10))
def test_histograms_in_units(seed: int) -> None:
    """What is recorded is what an HdrHistogram has, and what goes on from there counts in the same units."""
    choice = random.Random(seed)
    for snapshot, values, digits, lowest in parts(choice):
        layout = snapshot.layout
        histogram = Histogram(significant_digits=digits, max=layout.high, unit=lowest)
        histogram.record_many(values[: len(values) // 2])
        for value in values[len(values) // 2 :]:
            histogram.record(value)
        assert (histogram.snapshot().layout, histogram.snapshot().buckets()) == (layout, snapshot.buckets())
        again = [
            Histogram.decode(histogram.encode()), pickle.loads(pickle.dumps(histogram)), copy.copy(histogram),
            Histogram.decode(snapshot.encode_text()),
        ]  # fmt: skip
        for other in again:
            assert (other.snapshot().layout, other.snapshot().buckets()) == (layout, snapshot.buckets())
    with pytest.raises(ValueError, match="unit must be within"):
        Histogram(unit=0)
    with pytest.raises(ValueError, match="unit must be within"):
        Histogram(max=10, unit=11)
    with pytest.raises(picollo.InvalidArgumentError, match=f"unit={2**62}"):
        Histogram(unit=2**62)
