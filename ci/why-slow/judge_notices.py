"""Does the judge notice answers that are wrong? It gets what it has passed, changed: each change has to fail.

    judge_notices.py ENVIRONMENT FILE
"""

import copy
import json
import sys
import tempfile
from pathlib import Path
from typing import Callable

import judge

Lines = list[dict]


def exemplars(lines: Lines, of: Callable[[dict], bool]) -> Lines:
    """Those of the requests that are so."""
    numbers = {line["request"] for line in lines if "request" in line and of(line)}
    return [line for line in lines if line.get("exemplar") in numbers]


def planted(name: str, how: str = "scope") -> Callable[[dict], bool]:
    return lambda request: request["plant"] == name and request["how"] == how


def waiting_for_queue(lines: Lines) -> None:
    """One answer in thirty, and at least two."""
    for line in exemplars(lines, planted("usleep"))[: max(2, sum("exemplar" in other for other in lines) // 30)]:
        line["cause"] = judge.QUEUE


def knows_what_it_cannot(lines: Lines) -> None:
    """The right cause of an observation that was offered, of which nothing is known."""
    for line in exemplars(lines, planted("usleep", "offered")):
        line["cause"] = judge.WAITING


def says_several(lines: Lines) -> None:
    """Never wrong, never of use."""
    for line in exemplars(lines, planted("neighbours")):
        line["cause"] = judge.SEVERAL


def unexplained(lines: Lines) -> None:
    """A tenth of the excess."""
    total = sum(line["excess"] for line in lines if "share" in line)
    for line in lines:
        if line.get("share") == judge.UNEXPLAINED:
            line["excess"] += total // 9


def longer(lines: Lines) -> None:
    """One of the parts, by 8 %."""
    exemplars(lines, planted("ten times the work"))[0]["cpu"] *= 1.08


def loses_the_slow(lines: Lines) -> None:
    """Keeps none of a kind."""
    for line in exemplars(lines, planted("first touch")):
        lines.remove(line)


def duds(lines: Lines) -> None:
    """Plants that did nothing are no evidence of anything."""
    for line in lines:
        if line.get("plant") == "usleep":
            line["inner"]["wall"] = line["inner"]["cpu"]


def miscounts_faults(lines: Lines) -> None:
    """A tenth too few."""
    exemplars(lines, planted("first touch"))[0]["minor_faults"] *= 0.9


def knows_of_switches(lines: Lines) -> None:
    """Where it is not to be had."""
    exemplars(lines, planted("usleep"))[0]["known"] |= sum(judge.WITHHELD.values())


def adds_up_to_more(lines: Lines) -> None:
    """The shares of a cause are half as much again."""
    for line in lines:
        if line.get("share") == judge.QUEUE:
            line["excess"] = line["excess"] * 3 // 2


CHANGES = (waiting_for_queue, knows_what_it_cannot, says_several, unexplained, longer, loses_the_slow, duds, miscounts_faults, knows_of_switches, adds_up_to_more)


def main() -> int:
    """Does it."""
    name, file = sys.argv[1:]
    lines = [json.loads(line) for line in Path(file).read_text().splitlines()]
    already = set(judge.Environment(name, file).faults())
    missed = []
    for change in CHANGES:
        changed = copy.deepcopy(lines)
        change(changed)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as altered:
            altered.write("\n".join(map(json.dumps, changed)))
            altered.flush()
            if not set(judge.Environment("no-ring" if change is knows_of_switches else name, altered.name).faults()) - already:
                missed.append(change.__name__)
    print(f"the judge: notices {len(CHANGES) - len(missed)} of {len(CHANGES)} changed answers{': missed ' if missed else ''}{', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
