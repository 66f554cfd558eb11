"""Judges a collector's answers on requests with planted causes: reads the output of `run`, prints the confusion matrix.

    judge.py ENVIRONMENT FILE [ENVIRONMENT FILE]...

Limits: 95 % right, 1 % wrong with confidence, 5 % of the excess unexplained, each part within 5 % of the oracle.
"""

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean
from typing import NamedTuple

# The library's answers, by their ABI numbers from ffi/picollo.abi.json.
WAITING, QUEUE, QUEUE_OR_QUOTA, THROTTLED, OFF, FAULTS, MORE, SLOWER, ON, UNEXPLAINED, SEVERAL, NOT_KNOWN = range(1, 13)
NAMES = {
    WAITING: "own waiting", QUEUE: "run queue", QUEUE_OR_QUOTA: "run queue or quota", THROTTLED: "throttled", OFF: "off CPU, not split",
    FAULTS: "page faults", MORE: "more instructions", SLOWER: "slower instructions", ON: "on CPU, not known why", UNEXPLAINED: "unexplained",
    SEVERAL: "several", NOT_KNOWN: "not known", None: "not kept",
}
# Bits of `known`.
ACCOUNTS, RUN_DELAY, RING, FAULT_TIMES, COUNTERS = 1, 2, 8, 16, 32
#: Evidence that does not exist in an environment.
WITHHELD = {"no-ring": RING | FAULT_TIMES, "perf-forbidden": RING | FAULT_TIMES | COUNTERS, "no-schedstat": RUN_DELAY}
#: Answers that claim nothing.
MODEST = {UNEXPLAINED, SEVERAL, NOT_KNOWN}
RIGHT, WRONG, UNEXPLAINED_SHARE, PART = 0.95, 0.01, 0.05, 0.05
#: If less than this share of the excess is the planted cause, by the oracle, the plant had no effect: it is counted,
#: but not judged.
PURE = 0.65
#: At least this share of a kind's plants must have had their effect.
GROWN = 0.5

WAITS = ["usleep", "many short waits"]
QUEUES = ["usleep beside neighbours", "neighbours", "database and neighbours", "the same, kinds mixed"]
QUOTA, TOUCH, HUGE, READ, WORK, MIXED = (
    "CPU quota", "first touch", "first touch, huge pages", "first touch in read()", "ten times the work", "ten times the work, and faults"
)


class Parts(NamedTuple):
    """Where the time went, in nanoseconds."""

    waiting: float
    queue: float
    quota: float
    cpu: float


def parts_of(accounts: dict) -> Parts:
    """The parts in the oracle's accounts."""
    quota = min(accounts["throttled"], accounts["run_delay"])
    waiting = max(0, accounts["wall"] - accounts["cpu"] - accounts["run_delay"])
    return Parts(waiting, accounts["run_delay"] - quota, quota, accounts["cpu"])


def planted_part(plant: str) -> str:
    """The planted part."""
    return "waiting" if plant in WAITS else "queue" if plant in QUEUES else "quota" if plant == QUOTA else "cpu"


def right_of(request: dict, exemplar: dict | None, hidden: bool) -> set:
    """The right causes: what happened, as far as this environment can show it."""
    plant, known = request["plant"], exemplar["known"] if exemplar else 0
    if request["how"] != "scope":
        return {NOT_KNOWN}
    if hidden and plant in (*WAITS, *QUEUES, QUOTA):
        return {OFF}
    if plant in WAITS:
        return {WAITING}
    if plant in QUEUES:
        # A quota that was exhausted since the previous reading may have been exhausted during the request.
        return {QUEUE, QUEUE_OR_QUOTA} if request["quota_before"] + request["inner"]["throttles"] else {QUEUE}
    if plant == QUOTA:
        return {THROTTLED, QUEUE_OR_QUOTA}
    if plant in (WORK, MIXED):
        return {MORE} if known & COUNTERS else {ON}
    if plant in (TOUCH, HUGE):
        return {FAULTS} if known & FAULT_TIMES else {ON}
    return {ON}


def is_wrong(request: dict, said: int | None, right: set) -> bool:
    """Wrong with confidence: another cause, or one that could not be known. True but coarser answers are not wrong."""
    if said in right or said in MODEST or said is None:
        return False
    coarser = {"waiting": OFF, "queue": OFF, "quota": OFF, "cpu": ON}[planted_part(request["plant"])]
    return request["how"] != "scope" or said != coarser


def measured(part: str, exemplar: dict) -> float | None:
    """The same part from the library; None: it does not report it."""
    if not exemplar["known"] & ACCOUNTS:
        return None
    if part == "cpu":
        return exemplar["cpu"]
    off = exemplar["window"] - exemplar["cpu"]
    if not exemplar["known"] & RUN_DELAY:
        return None
    return exemplar["run_delay"] if part in ("queue", "quota") else off - exemplar["run_delay"]


class Environment:
    """The results in one environment."""

    def __init__(self, name: str, file: str) -> None:
        self.name, self.hidden = name, name == "no-schedstat"
        lines = [json.loads(line) for line in Path(file).read_text().splitlines()]
        self.requests = [line for line in lines if "request" in line]
        self.said = {line["exemplar"]: line for line in lines if line.get("exemplar")}
        self.shares = {line["share"]: line for line in lines if "share" in line}
        self.threshold = next(line["threshold"] for line in lines if "threshold" in line)
        self.usual = {}
        for kind in {request["kind"] for request in self.requests}:
            parts = [parts_of(request["inner"]) for request in self.requests if request["kind"] == kind and request["plant"] == "ordinary"]
            self.usual[kind] = Parts(*(mean(column) for column in zip(*parts)))
        self.matrix = defaultdict(Counter)
        self.right, self.wrong, self.grown, self.faults_timed, self.judged = Counter(), [], Counter(), 0, Counter()
        self.planted, self.off_by, self.faults_counted, self.faults_share = Counter(), [], [], []
        for request in self.requests:
            if request["plant"] != "ordinary":
                self.judge(request)

    def is_grown(self, request: dict) -> bool:
        """Whether the plant had its effect and was slow. For mixed kinds only the latter, as the mean of both is usual
        for neither."""
        usual, part = self.usual[request["kind"]], planted_part(request["plant"])
        if request["kind"] == 3:
            usual = self.usual[2]
        excess = {name: max(0.0, now - then) for name, now, then in zip(Parts._fields, parts_of(request["inner"]), usual)}
        return excess[part] > PURE * sum(excess.values()) and request["planted"] > 0 and request["inner"]["wall"] > self.threshold

    def judge(self, request: dict) -> None:
        """Judges one plant."""
        plant = request["plant"] if request["how"] == "scope" else f"any, {request['how']}"
        self.planted[plant] += 1
        if not self.is_grown(request):
            return
        self.grown[plant] += 1
        exemplar = self.said.get(request["request"])
        said, right = exemplar["cause"] if exemplar else None, right_of(request, exemplar, self.hidden)
        self.matrix[plant][said] += 1
        self.judged[plant] += 1
        self.right[plant] += said in right or (plant == "the same, kinds mixed" and said in MODEST)
        if is_wrong(request, said, right):
            self.wrong.append(f"{plant}: {NAMES[said]}, request {request['request']}")
        if exemplar and request["how"] == "scope":
            self.compare(request, exemplar)

    def compare(self, request: dict, exemplar: dict) -> None:
        """Compares the library's part with the oracle's, taken inside and around the scope: the truth is between
        them."""
        part = planted_part(request["plant"])
        value = measured(part, exemplar)
        if value is None:
            return
        inner, outer = (parts_of(request[which]) for which in ("inner", "outer"))
        both = [max(0.0, parts.queue + parts.quota if part in ("queue", "quota") else getattr(parts, part)) for parts in (inner, outer)]
        low, high = min(both), max(both)
        self.off_by.append((max(low - value, value - high, 0) / max(low, 1), request["plant"], request["request"], value, low, high))
        if request["plant"] in (TOUCH, HUGE, READ):
            self.faults_counted.append(exemplar["minor_faults"] / max(1, request["inner"]["minor_faults"]))
        if request["plant"] in (TOUCH, HUGE) and exemplar["known"] & FAULT_TIMES:
            self.faults_timed += 1
            self.faults_share.append(exemplar["fault"] / request["planted"])

    def unexplained(self) -> float:
        """The share of the excess, from the collector."""
        total = sum(share["excess"] for share in self.shares.values())
        return self.shares[UNEXPLAINED]["excess"] / total if total else 1.0

    def sums(self) -> list[tuple[str, float, float]]:
        """The excess of all slow scopes: the name of a part, the oracle's value, and the collector's."""
        slow = [request for request in self.requests if request["how"] == "scope" and request["inner"]["wall"] > self.threshold]
        oracle = Counter()
        for request in slow:
            for name, now, then in zip(Parts._fields, parts_of(request["inner"]), self.usual[request["kind"]]):
                oracle[name] += max(0.0, now - then)
        excess = {cause: share["excess"] for cause, share in self.shares.items()}
        off = (oracle["waiting"], excess[WAITING]), (oracle["queue"] + oracle["quota"], excess[QUEUE] + excess[QUEUE_OR_QUOTA] + excess[THROTTLED])
        if self.hidden:
            off = ((sum(ours for ours, _ in off), excess[OFF] + sum(theirs for _, theirs in off)),)
        on = (oracle["cpu"], excess[FAULTS] + excess[MORE] + excess[SLOWER] + excess[ON])
        return [(name, *both) for name, both in zip(("off the CPU", "on the CPU") if self.hidden else ("waiting", "run queue", "on the CPU"), (*off, on))]

    def faults(self) -> list[str]:
        """The results that exceed their limits."""
        judged, right = sum(self.judged.values()), sum(self.right.values())
        wrong = []
        if not judged or right / judged < RIGHT:
            wrong.append(f"{right} of {judged} right, and {RIGHT:.0%} were to be")
        if len(self.wrong) > WRONG * judged:
            wrong.append(f"{len(self.wrong)} of {judged} wrong with confidence: {'; '.join(self.wrong[:5])}")
        if self.unexplained() > UNEXPLAINED_SHARE:
            wrong.append(f"{self.unexplained():.1%} of the excess unexplained")
        wrong += [
            f"{plant}, request {number}: {value / 1e6:.2f} ms, and by the oracle between {low / 1e6:.2f} and {high / 1e6:.2f}"
            for off, plant, number, value, low, high in self.off_by if off > PART
        ]
        total = sum(ours for _, ours, _ in self.sums())
        wrong += [
            f"the sum of the excess {name} is {theirs / 1e6:.1f} ms, and by the oracle {ours / 1e6:.1f}"
            for name, ours, theirs in self.sums() if abs(theirs - ours) > PART * total
        ]
        # The handler's own time, without entry and return.
        if any(not 0.85 <= share <= 1.05 for share in self.faults_share):
            wrong.append("page faults took another time than the oracle has")
        wrong += [f"{plant}: {self.grown[plant]} of {number} did what they say" for plant, number in self.planted.items() if self.grown[plant] < GROWN * number]
        if any(not 0.95 <= share <= 1.05 for share in self.faults_counted):
            wrong.append("page faults are not counted as rusage has them")
        if any(exemplar["known"] & WITHHELD.get(self.name, 0) for exemplar in self.said.values()):
            wrong.append("something is known that cannot be")
        if self.name == "ring" and not any(exemplar["known"] & RING for exemplar in self.said.values()):
            wrong.append("nobody had a ring")
        # A ring of one page holds only the latest of thousands; of huge pages it holds all.
        huge = [request for request in self.requests if request["plant"] == HUGE and request["inner"]["minor_faults"] < 200]
        if self.name == "ring" and huge and not self.faults_timed:
            wrong.append("no page faults were timed")
        return [f"{self.name}: {line}" for line in wrong]

    def table(self) -> str:
        """A Markdown table: planted and reported causes."""
        columns = [cause for cause in NAMES if any(row[cause] for row in self.matrix.values())]
        lines = [f"| planted | {' | '.join(NAMES[cause] for cause in columns)} | right | did not do what it says |", "| :-- |" + " --: |" * (len(columns) + 2)]
        order = [*WAITS, *QUEUES, QUOTA, TOUCH, HUGE, READ, WORK, MIXED]
        for plant in sorted(self.planted, key=lambda plant: order.index(plant) if plant in order else len(order)):
            counts = " | ".join(str(self.matrix[plant][cause] or "") for cause in columns)
            lines.append(f"| {plant} | {counts} | {self.right[plant]} of {self.judged[plant]} | {self.planted[plant] - self.grown[plant] or ''} |")
        return "\n".join(lines)

    def summary(self) -> str:
        """The results in words."""
        judged = sum(self.judged.values())
        worst = max((off for off, *_ in self.off_by), default=float("nan"))
        lines = [
            f"{sum(self.right.values())} of {judged} right, {len(self.wrong)} wrong with confidence; {self.unexplained():.1%} of the excess unexplained;"
            f" {len(self.off_by)} parts compared with the oracle, the worst {worst:.1%} off"
        ]
        touched = self.grown[TOUCH] + self.grown[HUGE]
        scoped = [exemplar for exemplar in self.said.values() if exemplar["known"] & ACCOUNTS]
        lines.append(f"a complete ring for {sum(bool(exemplar['known'] & RING) for exemplar in scoped)} of {len(scoped)} exemplars with accounts")
        lines.append(f"page faults: counted in all {len(self.faults_counted)}, timed in {self.faults_timed} of {touched} from the program's own code")
        if self.faults_share:
            lines[-1] += f", at {min(self.faults_share):.0%} to {max(self.faults_share):.0%} of the CPU time that they took"
        sums = ", ".join(f"{name} {theirs / 1e6:.0f} ms (oracle: {ours / 1e6:.0f})" for name, ours, theirs in self.sums())
        lines.append(f"the excess of all that was slow: {sums}")
        return "\n".join(lines)


def main() -> int:
    """Runs the command."""
    pairs = list(zip(sys.argv[1::2], sys.argv[2::2]))
    if not pairs or len(sys.argv) % 2 == 0:
        sys.exit(__doc__)
    environments = [Environment(name, file) for name, file in pairs]
    faults = []
    for environment in environments:
        print(f"\n{environment.name}\n\n{environment.table()}\n\n{environment.summary()}")
        faults += environment.faults()
    print("\n" + "\n".join(f"FAILED {line}" for line in faults))
    failed = len({line.split(":")[0] for line in faults})
    print(f"{len(environments) - failed} passed, {failed} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
