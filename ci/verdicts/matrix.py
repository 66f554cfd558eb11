"""Runs the cells of ci/verdicts.sh, and judges their results."""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Iterator, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "target" / "verdicts"
LENGTHS = (0, 1, 2, 5, 20, 100, 1000)
LANGUAGES = ("rust", "c", "c++", "python")
#: Runs of the short form, and the number of runs from which the limits of the long form apply.
SHORT, LONG = 5, 200
#: Limits of the long form: at most this many wrong verdicts of this many.
EQUAL, EQUAL_DEFAULT, PROGRAMS, ALL = 8 / 200, 2 / 20, 10 / 100, 1 / 100
FOUND = 90 / 100
#: Above this PSI, a difference need not be found.
QUIET = 5.0
#: The probability that one judgment of the short form fails when the shares are at their limits; there are fewer than
#: 40.
CHANCE = 1e-4 / 40


class Cell(NamedTuple):
    """A repeated measurement."""

    kind: str
    language: str
    length: int
    budget: float
    busy: bool

    @property
    def name(self) -> str:
        """The name for --cells."""
        busy = " busy" if self.busy else ""
        if self.kind == "programs":
            return f"programs equal {self.budget:g}s{busy}"
        return f"{self.language} {self.kind} {self.length}ns {self.budget:g}s{busy}"

    @property
    def bar(self) -> float:
        """The allowed share of wrong verdicts; for planted differences, of missed ones."""
        if self.kind == "planted":
            return 1 - FOUND
        if self.kind == "programs":
            return PROGRAMS
        return EQUAL if self.budget < 5 else EQUAL_DEFAULT


def cells(busy: bool) -> Iterator[tuple[Cell, float]]:
    """All of them, each with its share of the runs."""
    for language in LANGUAGES:
        for length in LENGTHS:
            yield Cell("equal", language, length, 0.2, busy), 1.0
    for language in ("c", "python"):
        for length in (20, 100, 1000):
            yield Cell("planted", language, length, 1.0, busy), 0.5
    yield Cell("programs", "python", 0, 2.0, busy), 0.5
    for language in ("c", "python"):
        for length in LENGTHS:
            yield Cell("equal", language, length, 5.0, busy), 0.1


def stalled() -> float:
    """Microseconds in which something waited for a processor; NaN if the kernel does not report it."""
    try:
        first = Path("/proc/pressure/cpu").read_text().splitlines()[0]
    except OSError:
        return math.nan
    return float(first.rsplit("total=", 1)[1])


def environment() -> dict[str, str]:
    """The environment of a Python with this package and this library."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "python" / "src"), "PICOLLO_LIBRARY": str(next(OUT.glob("libpicollo.so.*")))}


def output_of(*command: str) -> str:
    return subprocess.run(command, env=environment(), check=True, text=True, stdout=subprocess.PIPE).stdout


def verdicts(cell: Cell, runs: int) -> list[int]:
    """0: not distinguished; 1: B is faster; 2: B is slower."""
    if cell.kind == "programs":
        status = []
        for _ in range(runs):
            compare = (sys.executable, "-m", "picollo", "compare", "--keep-disturbed", "--json")
            told = json.loads(output_of(*compare, "--budget", str(cell.budget), "/bin/true", "/bin/true"))
            status.append({"faster": 1, "slower": 2}.get(told["metrics"]["wall"]["verdict"], 0))
        return status
    program = [str(OUT / f"equal-{cell.language}")]
    if cell.language == "python":
        program = [sys.executable, str(ROOT / "ci/verdicts/equal.py")]
    other = cell.length * 21 // 20 if cell.kind == "planted" else cell.length
    told = output_of(*program, str(cell.budget), str(runs), str(cell.length), str(other))
    return [int(line.split()[0]) for line in told.splitlines()]


class Found(NamedTuple):
    """The results of a cell."""

    runs: int = 0
    faster: int = 0
    slower: int = 0
    #: The percentage of the time.
    psi: float = 0.0

    def missed(self, cell: Cell) -> int:
        """The number of wrong verdicts."""
        return self.runs - self.slower if cell.kind == "planted" else self.faster + self.slower


def measure(cell: Cell, runs: int) -> Found:
    """Runs a cell this many times."""
    began, before = time.monotonic(), stalled()
    told = verdicts(cell, runs)
    psi = (stalled() - before) / 1e4 / (time.monotonic() - began)
    return Found(len(told), told.count(1), told.count(2), psi)


def tail(n: int, p: float, k: int) -> float:
    """The probability of k successes or more."""
    return sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))


def allowed(n: int, p: float) -> int:
    """The maximum number of wrong verdicts: the share itself for many runs, else so many that more is nearly
    impossible."""
    if n >= LONG * min(1.0, 1 if p == EQUAL else 0.5 if p != EQUAL_DEFAULT or n >= 100 else 0.1):
        return math.floor(n * p + 1e-9)
    return next(k for k in range(n + 1) if tail(n, p, k + 1) < CHANCE)


def judge(known: dict[Cell, Found]) -> list[str]:
    """The results that exceed their limits."""
    wrong = []
    totals: dict[str, list[int]] = {"equal": [0, 0], "planted": [0, 0]}
    for cell, found in known.items():
        missed, is_planted = found.missed(cell), cell.kind == "planted"
        if is_planted and (found.psi >= QUIET or cell.busy):
            continue
        total = totals["planted" if is_planted else "equal"]
        if cell.kind != "programs":
            total[0] += missed
            total[1] += found.runs
        if missed > allowed(found.runs, cell.bar):
            wrong.append(f"{cell.name}: {missed} of {found.runs} {'not found' if is_planted else 'told apart'}")
    for kind, share in (("equal", ALL), ("planted", 1 - FOUND)):
        missed, runs = totals[kind]
        limit = math.ceil(runs * share) - 1 if runs >= 10 * LONG else next((k for k in range(runs + 1) if tail(runs, share, k + 1) < CHANCE), 0)
        if runs and missed > limit:
            wrong.append(f"all {kind} ones: {missed} of {runs}, and at most {limit} may be")
    return wrong


def table(known: dict[Cell, Found]) -> str:
    """The results as Markdown."""
    lines = ["| what | budget | runs | told apart (faster, slower) | found | at most, at least | PSI |", "| :-- | --: | --: | --: | --: | --: | --: |"]
    for cell, found in sorted(known.items(), key=lambda item: (item[0].busy, item[0].kind, item[0].budget, item[0].language, item[0].length)):
        what = "`/bin/true` twice" if cell.kind == "programs" else f"{cell.language}, {cell.length:,} ns" + (" and 5 % more" if cell.kind == "planted" else "")
        bar = allowed(found.runs, cell.bar)
        is_planted = cell.kind == "planted"
        apart = "" if is_planted else f"{found.faster + found.slower} ({found.faster}, {found.slower})"
        shown = (f"{found.slower}", f"{found.runs - bar}") if is_planted else ("", f"{bar}")
        busy = ", one core busy" if cell.busy else ""
        lines.append(f"| {what}{busy} | {cell.budget:g} s | {found.runs} | {apart} | {shown[0]} | {shown[1]} | {found.psi:.0f} % |")
    equal = [(cell, found) for cell, found in known.items() if cell.kind == "equal"]
    runs, missed = sum(found.runs for _, found in equal), sum(found.missed(cell) for cell, found in equal)
    lines.append(f"| all equal functions | | {runs} | {missed} | | {runs * ALL:.0f} | |")
    return "\n".join(lines)


def wanted(runs: int, cell: Cell, share: float) -> int:
    """The number of runs of a cell. The short form omits the default budget, which would take a minute alone."""
    if runs >= 20:
        return round(runs * share)
    return runs if cell.kind == "programs" or share == 1.0 else max(2, runs // 2) if share == 0.5 else 0


def main() -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(prog="ci/verdicts.sh")
    for flag in ("busy", "list"):
        parser.add_argument(f"--{flag}", action="store_true")
    parser.add_argument("--cells", default="", metavar="WORDS")
    arguments = parser.parse_args()
    runs, words = int(os.environ.get("VERDICT_RUNS", SHORT)), arguments.cells.split()
    chosen = [(cell, wanted(runs, cell, share)) for cell, share in cells(arguments.busy) if set(words) <= set(cell.name.split())]
    if arguments.list:
        print("\n".join(cell.name for cell, _ in chosen))
        return 0
    load = None
    if arguments.busy:
        load = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        os.sched_setaffinity(load.pid, {max(os.sched_getaffinity(0))})
    found: dict[Cell, Found] = {}
    try:
        for number, (cell, count) in enumerate(chosen, 1):
            if count:
                done = found[cell] = measure(cell, count)
                print(f"{number}/{len(chosen)} {cell.name}: {done.missed(cell)} wrong of {done.runs}, PSI {done.psi:.0f} %", flush=True)
    finally:
        if load is not None:
            load.kill()
            load.wait()
    print("\n" + table(found))
    wrong = judge(found)
    print("\n".join(f"FAILED {line}" for line in wrong))
    print(f"{len(found) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
