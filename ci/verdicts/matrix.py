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
#: Runs of a cell.
RUNS = int(os.environ.get("VERDICT_RUNS", 5))
#: Shares of wrong verdicts that must not be exceeded: equal things that are called different, and missed differences.
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


def cells() -> Iterator[tuple[Cell, int]]:
    """All of them, each with its runs. The short form omits the default budget, which would take a minute alone."""
    for language in ("rust", "c", "python"):
        for length in LENGTHS:
            yield Cell("equal", language, length, 0.2), RUNS
    for language in ("c", "python"):
        for length in (20, 100, 1000):
            yield Cell("planted", language, length, 1.0), max(2, RUNS // 2)
        for length in LENGTHS if RUNS >= 20 else ():
            yield Cell("equal", language, length, 5.0), RUNS // 10
    yield Cell("programs", "python", 0, 2.0), RUNS


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


def limit(n: int, share: float) -> int:
    """So many wrong verdicts that more are nearly impossible."""

    def tail(k: int) -> float:
        return sum(math.comb(n, i) * share**i * (1 - share) ** (n - i) for i in range(k, n + 1))

    return next(k for k in range(n + 1) if tail(k + 1) < CHANCE)


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
        rows.append(f"| {name} | {cell.budget:g} s | {runs} | {wrong} | {limit(runs, share)} | {psi:.0f} % |")
        print(rows[-1], flush=True)
        if not (is_planted and psi >= QUIET):
            judged.append((name, wrong, runs, share))
            sums[share] = [sums[share][0] + wrong, sums[share][1] + runs]
    judged += [("all with this limit", wrong, runs, share) for share, (wrong, runs) in sums.items() if runs]
    print("\n| what | budget | runs | wrong | at most | PSI |\n| :-- | --: | --: | --: | --: | --: |\n" + "\n".join(rows) + "\n")
    failed = [f"FAILED {name}: {wrong} of {runs} are wrong" for name, wrong, runs, share in judged if wrong > limit(runs, share)]
    print("\n".join([*failed, f"{len(judged) - len(failed)} passed, {len(failed)} failed"]))
    return bool(failed)


sys.exit(main())
