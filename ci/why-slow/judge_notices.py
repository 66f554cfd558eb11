"""Does the judge notice wrong answers? It gets passing output with changes, each of which must fail.

    judge_notices.py ENVIRONMENT FILE
"""

import copy
import json
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable

import judge

Lines = list[dict[str, Any]]


def exemplars(lines: Lines, plant: str, how: str = "scope") -> Lines:
    """The exemplars of the requests with this plant."""
    numbers = {line["request"] for line in lines if line.get("plant") == plant and line["how"] == how}
    return [line for line in lines if line.get("exemplar") in numbers]


def put(lines: Lines, field: str, change: Callable[[Any], Any]) -> None:
    for line in lines:
        line[field] = change(line[field])


def thirtieth(lines: Lines) -> Lines:
    """One of thirty exemplars, and at least two."""
    return exemplars(lines, "usleep")[: max(2, sum("exemplar" in line for line in lines) // 30)]


def share(lines: Lines, cause: int) -> Lines:
    return [line for line in lines if line.get("share") == cause]


def unexplained(lines: Lines) -> None:
    all_excess = sum(line["excess"] for line in lines if "share" in line)
    put(share(lines, judge.UNEXPLAINED), "excess", lambda excess: excess + all_excess // 9)


def duds(lines: Lines) -> None:
    put([line for line in lines if line.get("plant") == "usleep"], "inner", lambda inner: {**inner, "wall": inner["cpu"]})


UNKNOWABLE = "knows of switches where that is not to be had"
CHANGES: dict[str, Callable[[Lines], None]] = {
    "one answer in thirty takes waiting for the run queue": lambda lines: put(thirtieth(lines), "cause", lambda _: judge.QUEUE),
    "knows the cause of what was offered": lambda lines: put(exemplars(lines, "usleep", "offered"), "cause", lambda _: judge.WAITING),
    "says several: never wrong, never of use": lambda lines: put(exemplars(lines, "neighbours"), "cause", lambda _: judge.SEVERAL),
    "a tenth of the excess is unexplained": unexplained,
    "a part is longer by 8 %": lambda lines: put(exemplars(lines, "ten times the work"), "cpu", lambda cpu: cpu * 1.08),
    "keeps none of a kind": lambda lines: put(exemplars(lines, "first touch"), "exemplar", lambda _: None),
    "plants that did nothing": duds,
    "a tenth too few page faults": lambda lines: put(exemplars(lines, "first touch"), "minor_faults", lambda faults: faults * 0.9),
    UNKNOWABLE: lambda lines: put(exemplars(lines, "usleep")[:1], "known", lambda known: known | sum(judge.WITHHELD.values())),
    "the shares of a cause are half as much again": lambda lines: put(share(lines, judge.QUEUE), "excess", lambda excess: excess * 3 // 2),
}


def main() -> int:
    """Runs the command."""
    name, file = sys.argv[1:]
    lines = [json.loads(line) for line in Path(file).read_text().splitlines()]
    already = set(judge.Environment(name, file).faults())
    missed = []
    for what, change in CHANGES.items():
        changed = copy.deepcopy(lines)
        change(changed)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as altered:
            altered.write("\n".join(map(json.dumps, changed)))
            altered.flush()
            if not set(judge.Environment("no-ring" if what == UNKNOWABLE else name, altered.name).faults()) - already:
                missed.append(what)
    print(f"the judge: notices {len(CHANGES) - len(missed)} of {len(CHANGES)} changed answers{': missed ' if missed else ''}{', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
