"""Runs the cells of ci/verdicts.sh, and judges their results."""

from __future__ import annotations

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
#: Runs of a cell, and the number from which the bars apply: docs/numbers.md prints them.
RUNS, LONG = int(os.environ.get("VERDICT_RUNS", 5)), 200
#: With fewer runs, shares of wrong verdicts: equal things that are called different, and missed differences.
EQUAL, MISSED = 0.01, 0.05
#: Above this PSI, a difference need not be found.
QUIET = 5.0
#: The probability that one judgment fails when the shares are at their limits; there are fewer than 60.
CHANCE = 1e-4 / 60


class Cell(NamedTuple):
    """A repeated measurement: equal or planted functions of a length, or programs."""

    kind: str
    language: str
    length: int
    budget: float

    @property
    def bar(self) -> float:
        """The share of wrong verdicts in many runs."""
        return 0.04 if self.kind == "equal" and self.budget < 5 else 0.1


def cells() -> Iterator[tuple[Cell, int]]:
    """All of them, each with its runs. The short form omits the default budget, which would take a minute alone."""
    for language in ("rust", "c", "python"):
        for length in LENGTHS:
            yield Cell("equal", language, length, 0.2), RUNS
    for language in ("c", "python"):
        # In C, calls of 20 ns may overlap: 5 % of what is left is then below the resolution of half a nanosecond.
        for length in (100, 1000) if language == "c" else (20, 100, 1000):
            # Missing five of five has a chance of 3e-7 and fails. Two of two have 0.0025, and could never fail.
            yield Cell("planted", language, length, 1.0), max(5, RUNS // 2)
        for length in LENGTHS if RUNS >= 20 else ():
            yield Cell("equal", language, length, 5.0), RUNS // 10
    yield Cell("programs", "python", 0, 2.0), max(5, RUNS // 2)


def stalled() -> float:
    """Microseconds in which something waited for a processor; NaN if the kernel does not report it."""
    try:
        return float(Path("/proc/pressure/cpu").read_text().splitlines()[0].rsplit("total=", 1)[1])
    except OSError:
        return math.nan


def output_of(*command: str) -> str:
    library = str(next(OUT.glob("libpicollo.so.*")))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python" / "src"), "PICOLLO_LIBRARY": library}
    return subprocess.run(command, env=environment, check=True, text=True, stdout=subprocess.PIPE).stdout


def verdicts(cell: Cell, runs: int) -> list[int]:
    """0: not distinguished; 1: B is faster; 2: B is slower."""
    if cell.kind == "programs":
        compare = (os.environ["PICOLLO_COMMAND"], "compare", "--keep-disturbed", "--json", "--budget", str(cell.budget), "/bin/true", "/bin/true")
        found = [json.loads(output_of(*compare))["metrics"]["wall"]["verdict"] for _ in range(runs)]
        return [{"faster": 1, "slower": 2}.get(verdict, 0) for verdict in found]
    program = [sys.executable, str(ROOT / "ci/verdicts/equal.py")] if cell.language == "python" else [str(OUT / f"equal-{cell.language}")]
    other = cell.length * 21 // 20 if cell.kind == "planted" else cell.length
    lines = output_of(*program, str(cell.budget), str(runs), str(cell.length), str(other)).splitlines()
    return [int(line.split()[0]) for line in lines]


def limit(n: int, share: float, bar: float) -> int:
    """The highest number of wrong verdicts of n that passes."""
    if RUNS >= LONG:
        return math.floor(n * bar + 1e-9)
    # So many that more are nearly impossible. The terms are those of a binomial distribution. The first one is above 0
    # up to 14,000 runs.
    left, term = 1.0, (1 - share) ** n
    for k in range(n):
        left -= term
        if left < CHANCE:
            return k
        term *= (n - k) / (k + 1) * share / (1 - share)
    return n


def main() -> int:
    rows, judged = [], []
    sums = {EQUAL: [0, 0], MISSED: [0, 0]}
    for cell, runs in cells():
        began, before = time.monotonic(), stalled()
        found = verdicts(cell, runs)
        psi = (stalled() - before) / 1e4 / (time.monotonic() - began)
        is_planted = cell.kind == "planted"
        share, wrong = (MISSED, runs - found.count(2)) if is_planted else (EQUAL, runs - found.count(0))
        name = f"{cell.language}, {cell.kind}, {cell.length:,} ns" if cell.kind != "programs" else "`/bin/true` twice"
        rows.append(f"| {name} | {cell.budget:g} s | {runs} | {wrong} | {limit(runs, share, cell.bar)} | {psi:.0f} % |")
        print(rows[-1], flush=True)
        if not (is_planted and psi >= QUIET):
            judged.append((name, wrong, runs, limit(runs, share, cell.bar)))
            sums[share] = [sums[share][0] + wrong, sums[share][1] + runs]
    for (share, (wrong, runs)), name, bar in zip(sums.items(), ("all equal ones", "all planted ones"), (0.01, 0.1)):
        judged.append((name, wrong, runs, limit(runs, share, bar)))
    print("\n| what | budget | runs | wrong | at most | PSI |\n| :-- | --: | --: | --: | --: | --: |\n" + "\n".join(rows) + "\n")
    failed = [f"FAILED {name}: {wrong} of {runs} are wrong, {most} at most" for name, wrong, runs, most in judged if wrong > most]
    print("\n".join([*failed, f"{len(judged) - len(failed)} passed, {len(failed)} failed"]))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
