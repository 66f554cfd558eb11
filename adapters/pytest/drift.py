"""How often unchanged code raises an alarm, and which planted change is found: the long form of the tests. docs/adapters.md has its figures.

    adapters/pytest/drift.sh [--runs 50] [--budget 0.2] [--planted 5]

Runs the ten benchmarks of the example so many times, each time in a process of its own, and saves every run. Then each run from the
sixth on is judged by those before it, as ``--picollo-against`` does it at the first look, and by exactly the five before it. An alarm is
what fails a test: slower, and slower again at a second look, for which the run after it stands in. After that the first benchmark is made
slower, by several shares, and these runs are judged by all the others; and both are run in turns, for comparison.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Callable

from picollo import Baseline, SavedRun, Verdict, benchmark, compare_runs

HERE = Path(__file__).parent
SHARES = (1.01, 1.02, 1.03, 1.05, 1.1, 1.2, 1.5)
#: As the fixture has it: half a nanosecond cannot be told apart.
RESOLUTION = 500.0


def run(directory: str, name: str, budget: float, slower: float, only: str = "") -> None:
    """One run of pytest that is saved."""
    program = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_picollo.plugin", str(HERE / "examples")]
    options = ["--picollo-save", name, "--picollo-baselines", directory, "--picollo-budget", str(budget)]
    select = ["-k", only] if only else []
    environment = {**os.environ, "SLOWER": str(slower)}
    subprocess.run([*program, *options, *select], env=environment, check=True, stdout=subprocess.DEVNULL)


def judged(earlier: list[SavedRun], now: SavedRun, name: str) -> Verdict:
    """The verdict on a benchmark."""
    medians = [one.medians[name] for one in (*earlier, now)]
    resolution = max(RESOLUTION, *(one.width for one in medians))
    return compare_runs([one.value for one in medians[:-1]], medians[-1].value, resolution=resolution).verdict


def drift(runs: list[SavedRun]) -> None:
    """Alarms on unchanged code."""
    names = list(runs[0].medians)
    for title, shortest in (("all before it", 0), ("the five before it", 5)):
        seen = {verdict: 0 for verdict in Verdict}
        alarms = 0
        for at in range(5, len(runs) - 1):
            for name in names:
                earlier = runs[at - shortest if shortest else 0 : at]
                verdict = judged(earlier, runs[at], name)
                seen[verdict] += 1
                alarms += verdict is Verdict.SLOWER and judged(earlier, runs[at + 1], name) is Verdict.SLOWER
        total = sum(seen.values())
        print(
            f"by {title}: at the first look {seen[Verdict.SLOWER]} slower and {seen[Verdict.FASTER]} faster of {total} "
            f"({1 - seen[Verdict.NO_EVIDENCE] / total:.2%}); alarms {alarms} ({alarms / total:.2%})"
        )
    for name in names:
        values = [one.medians[name].value for one in runs]
        found = compare_runs(values, median(values), resolution=RESOLUTION)
        low, high = found.spread
        alarms = sum(judged(runs[:at], runs[at], name) is not Verdict.NO_EVIDENCE for at in range(5, len(runs)))
        print(
            f"  {name.split('[')[-1].rstrip(']'):8} {found.mean / 1e3:10,.1f} ns, spread {(high - low) / found.mean:6.1%}, deviation "
            f"{found.deviation / found.mean:5.2%}, detectable {found.smallest_detectable / found.mean:6.1%}, lag 1 {found._raw.lag1:+.2f}, "
            f"first looks {alarms}"
        )


def interleaved(budget: float, count: int) -> None:
    """The same changes, found by running both in turns."""

    def loop(rounds: int) -> Callable[[], int]:
        def add_up() -> int:
            total = 0
            for at in range(rounds):
                total += at * at
            return total

        return add_up

    for share in (1.0, *SHARES) if count else ():
        results = [benchmark(loop(100), loop(round(100 * share)), budget=budget, clone=True) for _ in range(count)]
        found = sum(result.verdict is Verdict.SLOWER for result in results)
        change = median(result.blocks.difference / result.blocks.median_a for result in results)
        print(f"in turns, {share - 1:.0%} (measured {change:+.1%}): found in {found} of {count}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--budget", type=float, default=0.2)
    parser.add_argument("--planted", type=int, default=5)
    parser.add_argument("--directory", help="where runs are kept; those that are there are not run again")
    parsed = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        directory = parsed.directory or scratch
        main_runs = Baseline("main", directory)
        for _ in range(len(main_runs.runs()), parsed.runs):
            run(directory, "main", parsed.budget, 1)
        runs = main_runs.runs()
        drift(runs)
        interleaved(parsed.budget, parsed.planted)
        name = next(iter(runs[0].medians))
        for share in SHARES if parsed.planted else ():
            planted = Baseline(f"slower-{share}", directory)
            for _ in range(len(planted.runs()), parsed.planted):
                run(directory, planted.name, parsed.budget, share, "loop")
            later = planted.runs()
            found = [judged(runs, one, name) is Verdict.SLOWER for one in later]
            first = [judged(runs[:5], one, name) is Verdict.SLOWER for one in later]
            change = median(one.medians[name].value for one in later) / median(one.medians[name].value for one in runs) - 1
            print(
                f"planted {share - 1:.0%} (measured {change:+.1%}): found in {sum(found)} of {len(found)} runs by {len(runs)} earlier ones, in "
                f"{sum(first)} by five"
            )


if __name__ == "__main__":
    main()
