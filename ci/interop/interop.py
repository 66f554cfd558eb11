"""Makes histograms, has the peers read what we write and write what we read, and compares all counts: see ci/interop.sh.

    interop.py prepare DIRECTORY [SEED]     histograms and logs
    interop.py check DIRECTORY              what each peer made of them

For each peer there is NAME-cases.jsonl, of a histogram a line: its digits, its highest value, values with their counts (as text,
since JavaScript's numbers have 53 bits), and our encodings of it; and NAME-ours.hlog. The peer reads both, and writes NAME.jsonl
(for each case the counts that it read, and its own encoding of the same values), NAME-read.jsonl (the intervals that it read from
the log) and NAME.hlog. Counts are told by the lowest values of their buckets.
"""

from __future__ import annotations

import base64
import contextlib
import json
import random
import sys
from pathlib import Path
from typing import Any, Iterator

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent / "python-demo"), str(HERE.parent.parent / "python-demo" / "tests")]

import oracle  # noqa: E402
import picollo  # noqa: E402

SCALES = {1: 4, 2: 7, 3: 10, 4: 14, 5: 17}
#: Bits of the highest value, so that no peer needs more than some megabytes.
MOST_BITS = {1: 62, 2: 62, 3: 62, 4: 40, 5: 26}
START = 1_500_000_000.25
TAGS = ("", "A", "get/users", "größe")
PEERS = ("python", "js", "rust")


def takes(peer: str, highest: int, counts: "list[int]") -> bool:
    """Whether a peer has room for a histogram."""
    if peer == "js":  # numbers are doubles
        return highest < 2**53 and sum(counts) < 2**53
    # What takes all eight bits of the ninth byte comes out as zero there.
    return peer != "python" or max(counts, default=0) < 2**62


def cases(seed: int) -> Iterator[dict[str, Any]]:
    """Sparse and dense ones of each number of digits, and those at the edges."""
    choice = random.Random(seed)

    def case(kind: str, digits: int, highest: int, values: "list[tuple[int, int]]") -> dict[str, Any]:
        return {"kind": kind, "digits": digits, "highest": highest, "values": values}

    def value(highest: int) -> int:
        return choice.randrange(2 ** choice.randint(0, highest.bit_length())) % (highest + 1)

    for digits, most in MOST_BITS.items():
        top = 2**most - 1
        yield case("empty", digits, top, [])
        yield case("zero", digits, top, [(0, 1)])
        yield case("ends", digits, top, [(0, 3), (1, 2), (top, 1)])
        # Counts of every length that they are written in.
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
            # Every bucket of a run, some of them empty; alone, and with others far away.
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


def expected(case: dict[str, Any]) -> "list[list[int]]":
    """What there is to read, by the naive rule."""
    counts: dict[int, int] = {}
    for value, count in case["values"]:
        lower, _ = oracle.bucket(int(value), SCALES[case["digits"]])
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
            histogram = picollo.Histogram(significant_digits=case["digits"], max=case["highest"], mode="single_writer")
            for value, count in case["values"]:
                histogram.record_n(value, count)
            begin, end = times(place)
            tag = TAGS[place % len(TAGS)]
            line = {
                "id": place,
                **case,
                "highest": str(case["highest"]),
                "values": [[str(value), str(count)] for value, count in case["values"]],
                "compressed": histogram.snapshot().encode_text("hdr_v2_compressed"),
                "raw": base64.b64encode(histogram.encode("hdr_v2")).decode(),
                "start": begin,
                "end": end,
                "tag": tag,
            }
            for peer, (lines, log) in written.items():
                if takes(peer, case["highest"], [count for _, count in case["values"]]):
                    lines.write(json.dumps(line) + "\n")
                    log.write(histogram, begin, end, tag)


class Checks:
    """Counts what was compared."""

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
    """Pairs of numbers, that may be text."""
    return [[int(value), int(count)] for value, count in pairs]


def check(directory: Path, peer: str, checks: Checks) -> None:
    mine = lines_of(directory / f"{peer}-cases.jsonl")
    results = {result["id"]: result for result in lines_of(directory / f"{peer}.jsonl")}
    checks.equal(sorted(results), [case["id"] for case in mine], f"{peer}: the cases")
    for case in mine:
        result = results.get(case["id"])
        if result is None:
            continue
        what = f"{peer}: case {case['id']} ({case['kind']}, {case['digits']} digits)"
        wanted = expected(case)
        for form, found in result["read"].items():
            checks.equal(numbers(found), wanted, f"{what}, ours ({form}) read by it")
        for form, encoded in result["wrote"].items():
            checks.equal(counts_of(picollo.Snapshot.decode(encoded)), wanted, f"{what}, its own ({form}) read by us")

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
        # A peer with nothing to compare has not passed.
        passed, failed = passed + checks.passed, failed + checks.failed + (checks.passed == 0)
    print("interop: FAILED" if failed else f"interop: {passed:,} checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
