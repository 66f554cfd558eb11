"""Judges the runs here as cases.txt specifies, and prints the answers: ``python3 cases.py >answers`` with the package on the path.

The package's tests and those of the Rust library compare both with the answers in cases.txt. A line has, between tabs: baseline,
benchmark (as a tag), this run's median in picoseconds, what differs from ``HERE`` on this machine, and the answer.
"""

from __future__ import annotations

from pathlib import Path

from picollo import Baseline, Histogram, LogError
from picollo.baseline import _name

ROOT = Path(__file__).parent
HERE = {
    "cpu": "A CPU @ 2.00GHz",
    "cpus": "2",
    "host": "one",
    "kernel": "6.1.0",
    "governor": "performance",
    "compiler": "CPython 3.11.2",
}


def answer(baseline: str, benchmark: str, picos: str, changes: str) -> str:
    """The answer, in one line."""
    histogram = Histogram()
    histogram.record(int(picos))
    now = {**HERE, **dict(change.split("=", 1) for change in changes.split(";") if change)}
    try:
        found = Baseline(baseline, ROOT).judge(_name(benchmark), histogram, environment=now)
    except LogError:
        return "refused"
    return " | ".join([str(found.comparison or "nothing"), *found.notes])


def main() -> None:
    for line in (ROOT / "cases.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            asked = line.split("\t")[:4]
            print("\t".join([*asked, answer(*asked)]))


if __name__ == "__main__":
    main()
