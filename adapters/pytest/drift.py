"""Measures how often unchanged code raises an alarm, and which planted changes are found. docs/numbers.md has figures.

    adapters/pytest/drift.sh [--runs 50] [--budget 0.2] [--planted 5] [--directory DIRECTORY]

Runs the ten benchmarks of the example this many times, each in a separate process, with ``--picollo-save`` and, after
five runs, ``--picollo-against``, as CI does. A failing test is an alarm. Then it slows the first benchmark down by
several shares, and judges these runs by all the others. A directory keeps the runs for the next time.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from picollo import Baseline, Verdict, compare_runs

HERE = Path(__file__).parent


def run(baseline: Baseline, directory: str, budget: float, *arguments: str, slower: float = 1) -> list[str]:
    """Runs pytest once, saves the run, and returns its output."""
    program = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_picollo.plugin", str(HERE / "examples")]
    options = ["--picollo-save", baseline.name, "--picollo-baselines", directory, "--picollo-budget", str(budget)]
    environment = {**os.environ, "SLOWER": str(slower)}
    done = subprocess.run([*program, *options, *arguments], env=environment, stdout=subprocess.PIPE, encoding="utf-8")
    lines = done.stdout.splitlines()
    if done.returncode != any(line.startswith("FAILED ") for line in lines):
        raise SystemExit(done.stdout)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--budget", type=float, default=0.2)
    parser.add_argument("--planted", type=int, default=5)
    parser.add_argument("--directory", help="where runs are kept; those that are there count among --runs")
    parsed = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        directory = parsed.directory or scratch
        baseline = Baseline("main", directory)
        output: list[str] = []
        for at in range(len(baseline.runs()), parsed.runs):
            output += run(baseline, directory, parsed.budget, *(["--picollo-against", "main"] if at >= 5 else []))
        verdicts, first = (sum(part in line for line in output) for part in (" before  ", "(slower at a first look"))
        alarms = [line for line in output if line.startswith("FAILED ")]
        print(f"{verdicts} verdicts: {first + len(alarms)} slower at a first look, {len(alarms)} alarms", *alarms, sep="\n  ")
        name = next(iter(baseline.runs()[0].medians))
        usual = [one.medians[name].value for one in baseline.runs() if name in one.medians]
        for share in (1.01, 1.02, 1.03, 1.05, 1.1, 1.2, 1.5) if parsed.planted else ():
            planted = Baseline(f"slower-{share}", directory)
            for _ in range(len(planted.runs()), parsed.planted):
                run(planted, directory, parsed.budget, "-k", "loop", slower=share)
            values = [one.medians[name].value for one in planted.runs()]
            # As in the fixture: differences up to half a nanosecond cannot be distinguished.
            found = sum(compare_runs(usual, value, resolution=500.0).verdict is Verdict.SLOWER for value in values)
            change = median(values) / median(usual) - 1
            print(f"planted {share - 1:.0%} (measured {change:+.1%}): found in {found} of {len(values)} runs")


if __name__ == "__main__":
    main()
