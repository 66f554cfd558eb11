"""Measures how often unchanged code raises an alarm, and which planted changes are found: the long form of the tests.
docs/numbers.md has figures.

    adapters/pytest/drift.sh [--runs 50] [--budget 0.2] [--planted 5]

Runs the ten benchmarks of the example this many times, each in a separate process, with ``--picollo-save`` and, after
five runs, ``--picollo-against``. A failing test is an alarm, after an immediate second look, as in CI. Then it judges
the saved runs again, each by exactly the five runs before it, with the next run for a second look. Then it slows the
first benchmark down by several shares, and judges these runs by all the others. For comparison, it also runs both
alternately.

With ``--directory`` runs are kept, and those of another day are judged by earlier days: run it again tomorrow.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Callable, NamedTuple

from picollo import Baseline, SavedRun, Verdict, benchmark, compare_runs

HERE = Path(__file__).parent
SHARES = (1.01, 1.02, 1.03, 1.05, 1.1, 1.2, 1.5)
#: As in the fixture: differences up to half a nanosecond cannot be distinguished.
RESOLUTION = 500.0


class Live(NamedTuple):
    """The results of a run of pytest."""

    judged: int
    #: Slower at the first and at the second look: the test failed.
    alarms: list[str]
    #: Slower only at the first look.
    first: int


def run(directory: str, name: str, budget: float, slower: float = 1, only: str = "", against: str = "") -> Live:
    """Runs pytest once and saves the run."""
    program = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_picollo.plugin", str(HERE / "examples")]
    options = ["--picollo-save", name, "--picollo-baselines", directory, "--picollo-budget", str(budget)]
    select = ["-k", only] if only else []
    environment = {**os.environ, "SLOWER": str(slower)}
    judges = ["--picollo-against", against] if against else []
    done = subprocess.run([*program, *options, *select, *judges], env=environment, stdout=subprocess.PIPE, encoding="utf-8")
    lines = done.stdout.splitlines()
    alarms = [line for line in lines if line.startswith("FAILED ")]
    if done.returncode != bool(alarms):
        raise SystemExit(done.stdout)
    first = sum("(slower at a first look" in line for line in lines)
    return Live(sum(" before  " in line for line in lines), alarms, first)


def judged(earlier: list[SavedRun], now: SavedRun, name: str) -> Verdict:
    """The verdict on a benchmark. An alarm is not saved, and so missing in its run."""
    medians = [one.medians[name] for one in (*earlier, now) if name in one.medians]
    if name not in now.medians or len(medians) < 2:
        return Verdict.NO_EVIDENCE
    resolution = max(RESOLUTION, *(one.width for one in medians))
    return compare_runs([one.value for one in medians[:-1]], medians[-1].value, resolution=resolution).verdict


def say_live(path: Path) -> None:
    """Prints the runs' own results."""
    results = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    total, first = sum(one["judged"] for one in results), sum(one["first"] for one in results)
    alarms = [name for one in results for name in one["alarms"]]
    if total:
        print(
            f"in {len(results)} runs by pytest itself, {total} verdicts: {first + len(alarms)} slower at a first look "
            f"({(first + len(alarms)) / total:.2%}), alarms {len(alarms)} ({len(alarms) / total:.2%})"
        )
    for name in alarms:
        print(f"  {name}")


def drift(runs: list[SavedRun]) -> None:
    """Prints first looks at unchanged code, and alarms with the next run as the second look."""
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
        values = [one.medians[name].value for one in runs if name in one.medians]
        found = compare_runs(values, median(values), resolution=RESOLUTION)
        low, high = found.spread
        alarms = sum(judged(runs[:at], runs[at], name) is not Verdict.NO_EVIDENCE for at in range(5, len(runs)))
        print(
            f"  {name.split('[')[-1].rstrip(']'):8} {found.mean / 1e3:10,.1f} ns, spread {(high - low) / found.mean:6.1%}, deviation "
            f"{found.deviation / found.mean:5.2%}, detectable {found.smallest_detectable / found.mean:6.1%}, lag 1 {found._raw.lag1:+.2f}, "
            f"first looks {alarms}"
        )


def day(run: SavedRun) -> str:
    """When a run was saved: its file's name begins with the time."""
    return time.strftime("%Y-%m-%d", time.gmtime(int(run.path.name.split("-")[0]) / 1e9))


def other_days(runs: list[SavedRun]) -> None:
    """Judges the runs of each day by those of the days before."""
    days = sorted({day(run) for run in runs})
    if len(days) == 1:
        print(f"all runs are of {days[0]}: for other days run this again with the same --directory")
    for today in days[1:]:
        earlier = [run for run in runs if day(run) < today]
        verdicts = [judged(earlier, run, name) for run in runs if day(run) == today for name in run.medians]
        slower, faster = (verdicts.count(verdict) for verdict in (Verdict.SLOWER, Verdict.FASTER))
        print(f"{today}, by {len(earlier)} runs of days before: {slower} slower and {faster} faster of {len(verdicts)} at a first look")


def interleaved(budget: float, count: int) -> None:
    """Detects the same changes by running both alternately."""

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
    parser.add_argument("--directory", help="where runs are kept; those that are there count among --runs")
    parsed = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        directory = parsed.directory or scratch
        main_runs = Baseline("main", directory)
        log = Path(directory, "live.jsonl")
        for at in range(len(main_runs.runs()), parsed.runs):
            live = run(directory, "main", parsed.budget, against="main" if at >= 5 else "")
            if at >= 5:
                with open(log, "a", encoding="utf-8") as file:
                    file.write(json.dumps(live._asdict()) + "\n")
        runs = main_runs.runs()
        say_live(log)
        drift(runs)
        other_days(runs)
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
