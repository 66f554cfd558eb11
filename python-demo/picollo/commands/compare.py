"""Which of two commands is faster, and by how much.

Runs the commands A and B in turns, in blocks (A B B A, then B A A B), until the difference of their wall times is known well
enough or the budget is spent, and compares time, memory, page faults and context switches, and with --event what the processor
counted, by the differences within blocks. Each difference is told with its interval. Differences below the resolution (20 us, 256
KiB, one of what is counted) are below what this measurement can tell.

Peak memory is at least that of this program itself, which a new process starts as on Linux.

  picollo compare 'gzip -1 -k -f data' 'gzip -6 -k -f data'
  picollo compare --budget 30 --threshold 0.02 './old' './new'
  picollo compare --shell 'sort < data | uniq' 'sort -u < data'
  picollo compare --event instructions --event branch-misses ./old ./new --json
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shlex
import signal
import sys
import time
from statistics import fmean
from typing import Any, Callable, NamedTuple, Optional, Sequence

from ..benchmark import Benchmark, Step
from ..compare import BlockComparison, Verdict, compare_blocks
from ..errors import PicolloError
from ..session import Session
from . import CommandError

#: Exit status with --fail-if-slower.
SLOWER = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command line."""
    add = parser.add_argument
    add("a", metavar="CMD_A", help="a command with its arguments, as one argument")
    add("b", metavar="CMD_B", help="the one to compare it with")
    add("--shell", action="store_true", help="run the commands by sh -c, whose start is then part of the time")
    add("--budget", type=_positive, default=10.0, metavar="S", help="seconds at most (default: %(default)g)")
    add("--precision", type=float, default=0.005, metavar="P",
        help="end when the difference is known to plus or minus this share of A's time (default: %(default)g; 0: only with the budget)")
    add("--min-blocks", type=_count, default=10, metavar="N", help="blocks, of two runs each, at least (default: %(default)s)")
    add("--max-blocks", type=_count, default=100_000, metavar="N", help="blocks at most")
    add("--warm-up", type=_count, default=1, metavar="N", help="runs of each before it counts (default: %(default)s)")
    add("--threshold", type=float, default=0.01, metavar="T", help="differences up to this share do not matter (default: %(default)g)")
    add("--confidence", type=_share, default=0.99, metavar="C",
        help="of the intervals (default: %(default)g: there are many of them)")
    add("--event", action="append", default=[], metavar="EVENT", help="count this event too; may be given again")
    add("--name", action="append", default=[], metavar="NAME", help="what to call A, and given again B")
    add("--show-output", action="store_true", help="let the commands write; else what they write is dropped")
    add("--ignore-failure", action="store_true", help="go on when a command fails")
    add("--fail-if-slower", action="store_true", help=f"exit with status {SLOWER} when B is slower")
    add("--json", action="store_true", help="write JSON, with the times of all blocks")


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1e6:
        raise argparse.ArgumentTypeError(f"must be above 0: {text}")
    return value


def _share(text: str) -> float:
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"must be between 0 and 1: {text}")
    return value


def _count(text: str) -> int:
    value = int(text)
    if not 0 < value < 2**31:
        raise argparse.ArgumentTypeError(f"must be above 0: {text}")
    return value


class Metric(NamedTuple):
    """Something that is measured of each run."""

    name: str
    key: str
    format: Callable[[float], str]
    #: What cannot be told apart: of equal programs it differs by as much.
    resolution: float = 0.0


def seconds(value: float) -> str:
    """A time, for people."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if abs(value) * factor >= 1 or unit == "us":
            return f"{value * factor:,.{3 if unit == 's' else 2}f} {unit}"
    raise AssertionError


def kibibytes(value: float) -> str:
    """Memory, for people."""
    return f"{value / 1024:,.1f} MiB" if value >= 1024 else f"{value:,.0f} KiB"


def count(value: float) -> str:
    """A count, for people."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.1f}"


#: Seconds: where a process lies in memory, and how long its name is.
_TIME = 2e-5
#: KiB: the kernel adds up memory in steps of 64 pages.
_MEMORY = 256.0
#: A tick or a wake-up more or less.
_COUNT = 1.0

METRICS = (
    Metric("Wall time", "wall", seconds, _TIME),
    Metric("CPU time", "cpu", seconds, _TIME),
    Metric("  user", "user", seconds, _TIME),
    Metric("  system", "system", seconds, _TIME),
    Metric("Peak memory", "memory", kibibytes, _MEMORY),
    Metric("Page faults", "page_faults", count, _COUNT),
    Metric("  from disk", "major_faults", count, _COUNT),
    Metric("Waits", "waits", count, _COUNT),
    Metric("Preemptions", "preemptions", count, _COUNT),
)


class Runner:
    """Starts the commands and measures what they take."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self.commands = [self._split(arguments.a), self._split(arguments.b)]
        self.session: Optional[Session] = None
        if arguments.event:
            # Counts what is started from now on, too.
            self.session = Session(arguments.event, inherit=True, skip_unavailable=True)

    def _split(self, command: str) -> list[str]:
        if self._arguments.shell:
            return ["sh", "-c", command]
        try:
            parts = shlex.split(command)
        except ValueError as error:
            raise CommandError(f"{command!r}: {error}") from None
        if not parts:
            raise CommandError("a command is empty")
        return parts

    def run(self, which: int) -> dict[str, float]:
        """Runs a command to its end."""
        parts = self.commands[which]
        actions: list[Any] = []
        if not self._arguments.show_output:
            actions = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
        actions.append((os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0))
        if self.session is not None:
            self.session.read("syscall")
        began = time.perf_counter_ns()
        try:
            process = os.posix_spawnp(parts[0], parts, os.environ, file_actions=actions)
        except OSError as error:
            raise CommandError(f"{parts[0]}: {error.strerror}") from None
        try:
            _, status, usage = os.wait4(process, 0)
        except BaseException:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            raise
        wall = (time.perf_counter_ns() - began) / 1e9
        code = os.waitstatus_to_exitcode(status)
        if code != 0 and not self._arguments.ignore_failure:
            how = f"was ended by signal {-code}" if code < 0 else f"failed with status {code}"
            raise CommandError(f"{shlex.join(parts)}: {how}; --show-output shows what it said, --ignore-failure goes on")
        measured = {
            "wall": wall,
            "cpu": usage.ru_utime + usage.ru_stime,
            "user": usage.ru_utime,
            "system": usage.ru_stime,
            "memory": float(usage.ru_maxrss),
            "page_faults": float(usage.ru_minflt + usage.ru_majflt),
            "major_faults": float(usage.ru_majflt),
            "waits": float(usage.ru_nvcsw),
            "preemptions": float(usage.ru_nivcsw),
        }
        if self.session is not None:
            self.session.read("syscall")
            for event, reading in zip(self._arguments.event, self.session.readings()):
                if reading.value is not None:
                    measured[event] = float(reading.value)
        return measured


class Bar:
    """How far it is, on a terminal."""

    WIDTH = 30
    #: Seconds between two pictures.
    BETWEEN = 0.1

    def __init__(self) -> None:
        self._is_on = sys.stderr.isatty()
        self._shown = 0
        self._next = time.monotonic() + self.BETWEEN

    def show(self, share: float, runs: int, wall: Sequence[float]) -> None:
        """Draws it anew."""
        now = time.monotonic()
        if self._is_on and now >= self._next:
            self._next = now + self.BETWEEN
            bar = "#" * round(share * self.WIDTH)
            times = "  ".join(f"{name} {seconds(value)}" for name, value in zip("AB", wall) if value == value)
            line = f"{share:4.0%} [{bar:<{self.WIDTH}}] {runs} runs  {times}"[:79]
            sys.stderr.write("\r" + line.ljust(self._shown))
            sys.stderr.flush()
            self._shown = len(line)

    def clear(self) -> None:
        """Takes it away."""
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()
            self._shown = 0


def measure(runner: Runner, arguments: argparse.Namespace) -> list[list[dict[str, float]]]:
    """The blocks, each a list of what A and what B took."""
    samples: list[tuple[int, dict[str, float]]] = []
    last = [math.nan, math.nan]
    # The stepper has a round of its own before it counts.
    for _ in range(arguments.warm_up - 1):
        for which in (Step.A, Step.B):
            last[which] = runner.run(which)["wall"]
    bar = Bar()
    bench = Benchmark(
        budget=arguments.budget,
        precision=arguments.precision,
        warm_up=0,
        repetitions=1,
        overhead=False,
        confidence=arguments.confidence,
        min_blocks=arguments.min_blocks,
        max_blocks=arguments.max_blocks,
    )
    try:
        with bench:
            while (step := bench.next()) is not None:
                bar.show(bench.progress, len(samples), last)
                measured = runner.run(step.which)
                bench.done_after(measured["wall"])
                last[step.which] = measured["wall"]
                samples.append((step.which, measured))
    finally:
        bar.clear()
    # Without the stepper's own round, of which there is only A where that takes longer than the budget, and without what was begun of
    # a block when the budget was spent.
    del samples[: 1 if len(samples) == 5 else 2]
    del samples[len(samples) // 4 * 4 :]
    blocks = []
    for at in range(0, len(samples), 4):
        block = samples[at : at + 4]
        keys = set.intersection(*(set(measured) for _, measured in block))
        blocks.append(
            [
                {key: fmean(measured[key] for which, measured in block if which == side) for key in keys}
                for side in (Step.A, Step.B)
            ]
        )
    return blocks


def judge(
    blocks: list[list[dict[str, float]]], metric: Metric, arguments: argparse.Namespace
) -> Optional[BlockComparison]:
    """The comparison of one metric; ``None`` where it was not measured in every block."""
    if not blocks or not all(metric.key in side for block in blocks for side in block):
        return None
    a, b = ([block[side][metric.key] for block in blocks] for side in (Step.A, Step.B))
    return compare_blocks(
        a,
        b,
        confidence=arguments.confidence,
        relative_threshold=max(arguments.threshold, 0),
        resolution=metric.resolution,
    )


def levels(compared: BlockComparison) -> tuple[float, float]:
    """What A and B take: their medians, moved by as much so that they differ by the median of the differences, which is told beside."""
    middle, half = (compared.median_a + compared.median_b) / 2, compared.difference / 2
    return max(middle - half, 0.0), max(middle + half, 0.0)


def _change(metric: Metric, compared: BlockComparison, value: float) -> str:
    """A difference: in per cent of A, or as it is where A is nothing, or hardly more."""
    if not math.isfinite(value):
        return "n/a"
    base = levels(compared)[0]
    if base > metric.resolution:
        text = f"{value / base:+.1%}"
        return "0.0%" if text in ("+0.0%", "-0.0%") else text
    return ("+" if value > 0 else "-" if value < 0 else "") + metric.format(abs(value))


def _verdict(key: str, compared: BlockComparison) -> str:
    if key == "wall" or compared.verdict is Verdict.NO_EVIDENCE:
        return str(compared.verdict)
    return "more" if compared.verdict is Verdict.SLOWER else "less"


def _row(metric: Metric, compared: Optional[BlockComparison]) -> list[str]:
    if compared is None:
        return [metric.name, "n/a", "n/a", "n/a", ""]
    lower, upper = (_change(metric, compared, end) for end in compared.interval)
    a, b = levels(compared)
    return [
        metric.name,
        metric.format(a),
        metric.format(b),
        f"{_change(metric, compared, compared.difference)} [{lower}, {upper}]",
        compared.verdict_text if compared.is_below_resolution else _verdict(metric.key, compared),
    ]


def _table(rows: list[list[str]]) -> str:
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    widths = [max(3, *(len(row[column]) for row in rows)) for column in range(len(rows[0]))]
    left = (0, len(widths) - 1)
    lines = []
    for at, row in enumerate(rows):
        cells = [
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ]
        lines.append(f"| {' | '.join(cells)} |")
        if at == 0:
            marks = [
                ":" + "-" * (width - 1) if column in left else "-" * (width - 1) + ":"
                for column, width in enumerate(widths)
            ]
            lines.append(f"| {' | '.join(marks)} |")
    return "\n".join(lines)


def _sentence(names: Sequence[str], metric: Metric, compared: BlockComparison, arguments: argparse.Namespace) -> str:
    lower, upper = (_change(metric, compared, end) for end in compared.interval)
    interval = f"{compared.coverage:.1%} interval {lower} to {upper}"
    if compared.has_too_few:
        return f"Too few runs to tell {names[0]} and {names[1]} apart: give it a larger --budget."
    if compared.verdict is not Verdict.NO_EVIDENCE:
        change = _change(metric, compared, compared.difference).lstrip("+-")
        return f"{names[1]} is {compared.verdict} than {names[0]} by {change} ({interval})."
    if compared.is_below_resolution:
        return f"The difference is {compared.verdict_text}, {seconds(compared.resolution)} ({interval})."
    if compared.is_within_margin:
        return f"{names[0]} and {names[1]} take the same time, but for {arguments.threshold:.1%} ({interval})."
    seen = _change(metric, compared, compared.smallest_detectable).lstrip("+-")
    return f"No evidence of a difference ({interval}). One of {seen} would most likely have been seen."


def run(arguments: argparse.Namespace) -> int:
    """Does it."""
    if not math.isfinite(arguments.precision) or not math.isfinite(arguments.threshold):
        raise CommandError("precision and threshold must be numbers")
    names = (arguments.name + ["A", "B"][len(arguments.name) :])[:2]
    runner = Runner(arguments)
    began = time.monotonic()
    blocks = measure(runner, arguments)
    took = time.monotonic() - began
    metrics = [*METRICS, *(Metric(event, event, count) for event in arguments.event)]
    compared = {metric.key: judge(blocks, metric, arguments) for metric in metrics}
    wall = compared["wall"]
    if wall is None:
        raise CommandError("nothing was measured")
    if arguments.json:
        print(json.dumps(_as_json(names, runner, blocks, compared), indent=1))
    else:
        print(_report(names, runner, blocks, metrics, compared, took))
        print(_sentence(names, METRICS[0], wall, arguments))
        if wall.is_autocorrelated:
            print("Runs depend on those before them: the interval is wider for it. Is the machine busy with something else?")
    if arguments.fail_if_slower and wall.verdict is Verdict.SLOWER:
        return SLOWER
    return 0


def _report(
    names: Sequence[str],
    runner: Runner,
    blocks: list[list[dict[str, float]]],
    metrics: Sequence[Metric],
    compared: dict[str, Optional[BlockComparison]],
    took: float,
) -> str:
    lines = [f"{name}: {shlex.join(command)}" for name, command in zip(names, runner.commands)]
    lines.append(f"{2 * len(blocks)} runs of each in {len(blocks)} blocks, {took:.1f} s\n")
    rows = [["Per run", *names, "Difference", "Verdict"]]
    for metric in metrics:
        found = compared[metric.key]
        # What neither has a trace of is not worth a line.
        if found is not None and metric.key == "major_faults" and found.median_a == found.median_b == 0:
            continue
        rows.append(_row(metric, found))
    lines.append(_table(rows) + "\n")
    if runner.session is not None:
        try:
            explained = runner.session.explain_missing()
        except PicolloError as error:
            explained = str(error)
        if explained:
            lines.append(explained.rstrip("\n") + "\n")
    return "\n".join(lines)


def _as_json(
    names: Sequence[str],
    runner: Runner,
    blocks: list[list[dict[str, float]]],
    compared: dict[str, Optional[BlockComparison]],
) -> dict[str, Any]:
    def number(value: float) -> Optional[float]:
        return value if math.isfinite(value) else None

    found: dict[str, Any] = {}
    for key, comparison in compared.items():
        if comparison is None:
            found[key] = None
            continue
        lower, upper = comparison.interval
        found[key] = {
            "a": levels(comparison)[0],
            "b": levels(comparison)[1],
            "difference": comparison.difference,
            "lower": number(lower),
            "upper": number(upper),
            "coverage": comparison.coverage,
            "margin": comparison.margin,
            "margin_by": "resolution" if comparison.is_margin_resolution else "threshold",
            "resolution": comparison.resolution,
            "below_resolution": comparison.is_below_resolution,
            "smallest_detectable": number(comparison.smallest_detectable),
            "lag1": comparison.lag1,
            "autocorrelated": comparison.is_autocorrelated,
            "verdict": _verdict(key, comparison),
            "blocks": [[block[Step.A][key], block[Step.B][key]] for block in blocks],
        }
    return {
        "names": list(names),
        "commands": runner.commands,
        "block_count": len(blocks),
        "metrics": found,
    }
