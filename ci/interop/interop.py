"""Makes histograms, lets the peers read our files and write files for us, and compares all counts: see ci/interop.sh.

    interop.py prepare DIRECTORY [SEED]     histograms and logs
    interop.py check DIRECTORY              compares the results of each peer

For each peer, NAME-cases.jsonl has a histogram per line: its digits, its lowest discernible and highest value, values
with their counts (as text, since JavaScript's numbers have 53 bits), and our encodings of it. NAME-ours.hlog has the
log. The peer reads both, and writes NAME.jsonl (for each case the counts that it read, its own encoding of the same
values, and figures of them), NAME-read.jsonl (the intervals that it read from the log) and NAME.hlog. The lowest value
of a bucket identifies its count.
"""

from __future__ import annotations

import base64
import contextlib
import json
import random
import struct
import sys
import zlib
from itertools import accumulate
from pathlib import Path
from typing import Any, Iterator

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "python" / "src"))

import picollo  # noqa: E402

SCALES = {0: 0, 1: 4, 2: 7, 3: 10, 4: 14, 5: 17}
#: Bits of the highest value, so that no peer needs more than a few megabytes.
MOST_BITS = {0: 62, 1: 62, 2: 62, 3: 62, 4: 40, 5: 26}
START = 1_500_000_000.25
TAGS = ("", "A", "get/users", "größe")
#: Lowest discernible values. If one is no power of two, the unit is the power below it.
LOWESTS = (2, 3, 1000, 20_000, 2**20 + 12_345, 2**31, 2**40)
RANKS = (10, 25, 50, 75, 90, 99, 99.9, 100)
TICKS = 3
PEERS = ("python", "js", "rust")


def takes(peer: str, digits: int, highest: int, counts: "list[int]") -> bool:
    """Whether a peer supports a histogram."""
    if peer == "js":  # numbers are doubles
        return highest < 2**53 and sum(counts) < 2**53
    # Counts that need all eight bits of the ninth byte become zero there, and it refuses 0 digits.
    return peer != "python" or (digits > 0 and max(counts, default=0) < 2**62)


def cases(seed: int) -> Iterator[dict[str, Any]]:
    """Sparse and dense cases of each number of digits, and edge cases."""
    choice = random.Random(seed)

    def case(
        kind: str, digits: int, highest: int, values: "list[tuple[int, int]]", lowest: int = 1
    ) -> dict[str, Any]:
        return {"kind": kind, "digits": digits, "lowest": lowest, "highest": highest, "values": values}

    def value(highest: int) -> int:
        return choice.randrange(2 ** choice.randint(0, highest.bit_length())) % (highest + 1)

    for digits, most in MOST_BITS.items():
        top = 2**most - 1
        yield case("empty", digits, top, [])
        yield case("zero", digits, top, [(0, 1)])
        yield case("ends", digits, top, [(0, 3), (1, 2), (top, 1)])
        # Counts of every encoded length.
        yield case("counts", digits, 10_000, [(bits * 100, 2**bits - 1) for bits in range(1, 50, 3)])
        yield case("large", digits, 10_000, [(1, 2**60), (9_999, 2**61 + 1)])
        yield case("largest", digits, 10_000, [(1, 2**62), (9_999, 2**61 + 1)])
        # Across the ends of the blocks, where steps double.
        block = 2 ** SCALES[digits]
        edges = [block * 2**k + offset for k in range(0, 60) for offset in (-1, 0, 1)]
        yield case("edges", digits, top, [(edge, 1) for edge in edges if edge <= top])
        for _ in range(6):
            highest = max(2, value(top))
            count = choice.randrange(40)
            yield case("sparse", digits, highest, [(value(highest), choice.randint(1, 1000)) for _ in range(count)])
        for _ in range(3):
            # Every bucket of a run, some of them empty, alone and with distant others.
            first, length = value(top // 2), choice.randint(500, 2000)
            values = []
            for _ in range(length):
                step = max(1, first >> SCALES[digits])
                values.append((first, choice.choice((0, 1, 1, 2, 50, 10_000))))
                first += step
                if first > top:
                    break
            values = [pair for pair in values if pair[1]] + [(value(top), 1) for _ in range(choice.choice((0, 20)))]
            yield case("dense", digits, top, values)
        for lowest in (*LOWESTS, *(choice.randrange(2, 2 ** choice.randint(2, 40)) for _ in range(5))):
            # The same memory as without a unit. JavaScript's numbers end at 2^53.
            for bits in {min(62, most + unit_of(lowest)), 52}:
                highest = max(2 * lowest, choice.randrange(2 ** (bits - 1), 2**bits))
                edges = [lowest, 2 ** unit_of(lowest), block << unit_of(lowest), 2 * block << unit_of(lowest), highest]
                values = [(edge + offset, 1) for edge in edges for offset in (-1, 0, 1) if edge + offset <= highest]
                values += [(value(highest), choice.randint(1, 1000)) for _ in range(choice.randrange(30))]
                if block << unit_of(lowest) < 2 ** (bits - 1):
                    yield case("unit", digits, highest, values, lowest)


def unit_of(lowest: int) -> int:
    """log2 of the unit."""
    return lowest.bit_length() - 1


def snapshot_of(case: dict[str, Any]) -> picollo.Snapshot:
    """A snapshot with the counts of a case."""
    histogram = picollo.Histogram(
        significant_digits=case["digits"], max=case["highest"], unit=case["lowest"], mode="single_writer"
    )
    for value, count in case["values"]:
        histogram.record_n(value, count)
    return histogram.snapshot()


def lowest_alike(value: int, scale: int) -> int:
    """The lowest of the values that share a count with this one: the steps double with every block of 2**scale
    buckets."""
    step = 2 ** max(0, (value >> scale).bit_length() - 1)
    return value // step * step


def expected(case: dict[str, Any]) -> "list[list[int]]":
    """The expected counts, by the naive rule."""
    counts: dict[int, int] = {}
    for value, count in case["values"]:
        unit = unit_of(case["lowest"])
        lower = lowest_alike(int(value) >> unit, SCALES[case["digits"]]) << unit
        counts[lower] = counts.get(lower, 0) + int(count)
    return [[lower, count] for lower, count in sorted(counts.items())]


def times(place: int) -> "tuple[float, float]":
    """Begin and end of an interval, in whole milliseconds."""
    return START + place * 0.5, START + place * 0.5 + 0.125 * (1 + place % 4)


def counts_of(snapshot: picollo.Snapshot) -> "list[list[int]]":
    return [[bucket.lower, bucket.count] for bucket in snapshot.buckets()]


def prepare(directory: Path, seed: int) -> None:
    made = list(enumerate(cases(seed)))
    print(f"{len(made)} histograms, seed {seed}")
    with contextlib.ExitStack() as files:
        written = {}
        for peer in PEERS:
            lines = files.enter_context(open(directory / f"{peer}-cases.jsonl", "w", encoding="utf-8"))
            log = picollo.write_log(directory / f"{peer}-ours.hlog", start=START, comment="of picollo\nfor a peer")
            written[peer] = (lines, files.enter_context(log))
        for place, case in made:
            snapshot = snapshot_of(case)
            begin, end = times(place)
            tag = TAGS[place % len(TAGS)]
            line = {
                "id": place,
                **case,
                "lowest": str(case["lowest"]),
                "highest": str(case["highest"]),
                "values": [[str(value), str(count)] for value, count in case["values"]],
                "compressed": snapshot.encode_text("hdr_v2_compressed"),
                "raw": base64.b64encode(snapshot.encode("hdr_v2")).decode(),
                "ranks": RANKS,
                "ticks": TICKS,
                "step": str(max(1 << unit_of(case["lowest"]), case["highest"] // 200)),
                "start": begin,
                "end": end,
                "tag": tag,
            }
            for peer, (lines, log) in written.items():
                if takes(peer, case["digits"], case["highest"], [count for _, count in case["values"]]):
                    lines.write(json.dumps(line) + "\n")
                    log.write(snapshot, begin, end, tag)


class Checks:
    """Counts the comparisons."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0

    def equal(self, found: Any, wanted: Any, what: str) -> None:
        if found == wanted:
            self.passed += 1
            return
        self.failed += 1
        if self.failed <= 20:
            print(f"FAILED {what}:\n  found  {_short(found)}\n  wanted {_short(wanted)}", file=sys.stderr)


def _short(thing: Any) -> str:
    text = repr(thing)
    return text if len(text) < 500 else text[:500] + "..."


def lines_of(path: Path) -> "list[dict[str, Any]]":
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def numbers(pairs: Any) -> "list[list[int]]":
    """Pairs of numbers, which may be text."""
    return [[int(value), int(count)] for value, count in pairs]


def counters_of(data: str) -> "list[int]":
    """The counters of an encoding, up to the last non-zero one. (Encodings of runs of zeros differ.)"""
    raw = base64.b64decode(data)
    if raw.startswith(b"\x1c\x84\x93\x14"):
        raw = zlib.decompress(raw[8:])
    (length,) = struct.unpack(">I", raw[4:8])
    payload, at = raw[40 : 40 + length], 0
    counters: list[int] = []
    while at < len(payload):
        # Seven bits per byte, low first, the ninth byte whole; the lowest bit is the sign.
        number, shift = 0, 0
        while True:
            byte = payload[at]
            at += 1
            is_last = shift == 56 or byte < 128
            number |= (byte if is_last else byte & 127) << shift
            shift += 7
            if is_last:
                break
        counters.extend([0] * (number + 1 >> 1) if number & 1 else [number >> 1])
    while counters and not counters[-1]:
        counters.pop()
    return counters


def steps_of(steps: "list[picollo.CountStep]") -> "list[list[int]]":
    return [[step.to, step.added_count] for step in steps]


def check_figures(case: dict[str, Any], result: dict[str, Any], what: str, checks: Checks) -> None:
    """Compares a peer's figures of a histogram with ours of its encoding."""
    snapshot = picollo.Snapshot.decode(result["wrote"]["compressed"])
    figures = result["figures"]
    checks.equal(snapshot.layout.unit, 1 << unit_of(case["lowest"]), f"{what}, unit")
    if not case["values"]:
        return
    if "equivalent" in figures:
        buckets = snapshot.buckets()
        checks.equal(buckets[0].lower, int(figures["min"]), f"{what}, smallest value")
        checks.equal(buckets[-1].upper, int(figures["max"]), f"{what}, largest value")
        found = [snapshot.bucket_of(value) for value, _ in numbers(case["values"])]
        equivalent = [[bucket.lower, bucket.upper] for bucket in found]
        checks.equal(equivalent, numbers(figures["equivalent"]), f"{what}, equivalent values")
    if "percentiles" in figures:
        checks.equal(snapshot.percentile_values(RANKS, "upper"), list(map(int, figures["percentiles"])), f"{what}, percentiles")
        checks.equal(steps_of(snapshot.linear_steps(int(case["step"]))), numbers(figures["linear"]), f"{what}, linear steps")
        # If a bucket is wider than a step, the crate ends before it; Java continues to its end, and so do we.
        if case["digits"] > 0:
            steps = snapshot.logarithmic_steps(int(case["step"]), 2)
            checks.equal(steps_of(steps), numbers(figures["logarithmic"]), f"{what}, logarithmic steps")
        # Its levels are doubles, which sometimes miss a rank that they should meet, or cannot distinguish large counts.
        steps = snapshot.percentile_steps(TICKS)
        levels = [step.rank_level for step in steps]
        ranks = [100 * reached / snapshot.total_count for reached in accumulate(bucket.count for bucket in snapshot.buckets())]
        meets = any(abs(rank - level) < 1e-9 for rank in ranks[:-1] for level in levels)
        if snapshot.total_count < 2**53 and not meets:
            checks.equal(steps_of(steps), numbers(figures["quantiles"]), f"{what}, steps of percentiles")


def check(directory: Path, peer: str, checks: Checks) -> None:
    mine = lines_of(directory / f"{peer}-cases.jsonl")
    results = {result["id"]: result for result in lines_of(directory / f"{peer}.jsonl")}
    checks.equal(sorted(results), [case["id"] for case in mine], f"{peer}: the cases")
    for case in mine:
        case["lowest"] = int(case["lowest"])
        result = results.get(case["id"])
        if result is None:
            continue
        what = f"{peer}: case {case['id']} ({case['kind']}, {case['digits']} digits)"
        wanted = expected(case)
        for form, found in result["read"].items():
            checks.equal(numbers(found), wanted, f"{what}, ours ({form}) read by it")
        for form, encoded in result["wrote"].items():
            checks.equal(counts_of(picollo.Snapshot.decode(encoded)), wanted, f"{what}, its own ({form}) read by us")
            again = picollo.Snapshot.decode(encoded).encode_text("hdr_v2")
            checks.equal(counters_of(again), counters_of(encoded), f"{what}, its counters ({form}) as we write them again")
        check_figures(case, result, what, checks)

    # Our log, read by it.
    read = lines_of(directory / f"{peer}-read.jsonl")
    for case, interval in zip(mine, read):
        what = f"{peer}: our log, case {case['id']}"
        checks.equal(numbers(interval["counts"]), expected(case), f"{what}, counts")
        checks.equal(interval["tag"] or "", case["tag"], f"{what}, tag")
        checks.equal(round(interval["start"] * 1000), round(case["start"] * 1000), f"{what}, start")
        checks.equal(round(interval["end"] * 1000), round(case["end"] * 1000), f"{what}, end")
    checks.equal(len(read), len(mine), f"{peer}: intervals of our log")

    # Its log, read by us.
    intervals = list(picollo.read_log(directory / f"{peer}.hlog"))
    for case, ours in zip(mine, intervals):
        what = f"{peer}: its log, case {case['id']}"
        checks.equal(counts_of(ours.snapshot), expected(case), f"{what}, counts")
        checks.equal(ours.tag, case["tag"], f"{what}, tag")
        checks.equal(round(ours.start * 1000), round(case["start"] * 1000), f"{what}, start")
        checks.equal(round(ours.end * 1000), round(case["end"] * 1000), f"{what}, end")
    checks.equal(len(intervals), len(mine), f"{peer}: intervals of its log")


def main(command: str, directory: str, seed: str = "1") -> int:
    if command == "prepare":
        prepare(Path(directory), int(seed))
        return 0
    passed, failed = 0, 0
    for peer in PEERS:
        checks = Checks()
        check(Path(directory), peer, checks)
        print(f"{peer:<8} {checks.passed:6,} passed, {checks.failed} failed")
        # A peer without comparisons has not passed.
        passed, failed = passed + checks.passed, failed + checks.failed + (checks.passed == 0)
    print("interop: FAILED" if failed else f"interop: {passed:,} checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
