"""Functions against themselves, or against functions that are a twentieth longer: equal.py BUDGET RUNS A B"""

from __future__ import annotations

import sys
from typing import Callable

import picollo


def of_length(length: int) -> Callable[[], None]:
    """A function of about this many nanoseconds without the call: assignments of about 1 ns each, and a loop for the
    longest."""
    if length >= 1000:
        body = f"for _ in range({length // 10}): pass"
    else:
        body = "\n    ".join(["x = y"] * length) or "pass"
    names: dict[str, Callable[[], None]] = {}
    exec(f"def function(y=1):\n    {body}\n", names)
    return names["function"]


def main() -> None:
    budget, runs, *lengths = sys.argv[1:]
    a, b = (of_length(int(length)) for length in lengths)
    if lengths[0] == lengths[1]:
        b = a
    for _ in range(int(runs)):
        blocks = picollo.benchmark(a, b, budget=float(budget), keep_disturbed=True).blocks
        raw = blocks._raw
        print(raw.verdict, raw.flags, f"{blocks.median_a:.1f} {blocks.difference:.1f} {blocks.margin:.1f}", flush=True)


main()
