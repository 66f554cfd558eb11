"""Percentiles of histogram logs (.hlog), by tag and time.

Reads logs as HdrHistogram's tools write them, one or several, compressed with gzip or not, "-" for standard input, and adds up
what is in them. Memory does not depend on their length. Times that are plain numbers are seconds after the first interval of the
first log; @1441812279.5 and 2015-09-09T15:24:39Z are times of the clock.

  picollo hlog service.hlog                               one row for all
  picollo hlog *.hlog.gz --by-tag --scale us              a row for each tag, nanoseconds as microseconds
  picollo hlog service.hlog --tag GET --window 60         a row for each minute
  picollo hlog service.hlog --start 10 --end 70 --format hgrm -o get.hgrm
  picollo hlog service.hlog --window 10 --plot heat.png
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import re
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any, Iterator, NamedTuple, Optional

from .. import arrays
from ..interchange import ANY_COUNTERS, Accumulator
from ..log import LogError, LogInterval, LogReader, read_log
from ..snapshot import Snapshot
from . import CommandError, _values
from ._progress import Progress
from ._table import printable, table

#: Sums of groups are kept ready up to so many counters (of 8 bytes); the others wait as bytes, which are much fewer.
_READY = 1 << 22
#: So many unreadable lines are told one by one.
_TOLD = 10


class Group(NamedTuple):
    """What is added up apart. Fields that do not matter are empty."""

    tag: str = ""
    window: int = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command line."""
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="logs; '-' is standard input")
    add("--tag", action="append", metavar="TAG", help="only intervals with this tag, or one of several; '' is that of none")
    add("--start", type=_values.time, metavar="TIME", help="only intervals that begin at this time or later")
    add("--end", type=_values.time, metavar="TIME", help="only intervals that begin before this time")
    add("--by-tag", action="store_true", help="a row for each tag")
    add("--window", type=_values.seconds, metavar="SECONDS", help="a row for each so many seconds")
    add(
        "--percentiles",
        type=_values.ranks,
        default="50,90,99,99.9,99.99,100",
        metavar="RANK,...",
        help="which percentiles (default: %(default)s)",
    )
    add(
        "--scale",
        type=_values.scale,
        default="1",
        metavar="NUMBER|UNIT",
        help="divide values by this; ns, us, ms and s take them for nanoseconds and show them in that unit",
    )
    add("--decimals", type=_values.decimals, metavar="N", help="of scaled values and means (default: 3)")
    add(
        "--values",
        choices=("upper", "midpoint", "lower"),
        default="upper",
        help="which value of its bucket a percentile is; upper is what HdrHistogram's own tools tell (default)",
    )
    add(
        "--format",
        choices=("text", "csv", "markdown", "hgrm", "hgrm-csv"),
        default="text",
        help="a table (default: text), or the percentile distribution for HdrHistogram's plotter",
    )
    add("--ticks", type=_values.ticks, default=5, metavar="N", help="rows of hgrm for each halving of the distance to 100%% (default: 5)")
    add("-o", "--output", type=Path, metavar="FILE", help="write there; several hgrm go to several files, named like it")
    add("--plot", type=Path, metavar="FILE", help="draw percentiles, or with --window a heat map (needs matplotlib)")
    add("--skip-errors", action="store_true", help="tell lines that cannot be read, and go on")
    add("--no-progress", action="store_true", help="no progress bar")


def run(arguments: argparse.Namespace) -> int:
    """Reads, adds up, and writes."""
    groups = _Groups()
    reading = _Reading(arguments)
    for interval in reading.intervals():
        ratio = interval.snapshot.value_ratio
        if ratio != groups.ratio and len(groups):
            raise CommandError(f"these are histograms of doubles whose values are multiplied by {groups.ratio!r} and by {ratio!r}")
        groups.ratio = ratio
        groups.add(reading.group_of(interval), interval.snapshot)
    if not len(groups):
        raise CommandError(reading.why_nothing())
    if groups.ratio != 1.0:
        _tell(f"these are histograms of doubles: values are to be multiplied by {groups.ratio!r}")
    if arguments.format.startswith("hgrm"):
        _write_hgrm(arguments, reading, groups)
    else:
        text = _table_of(arguments, reading, groups)
        if arguments.output is None:
            sys.stdout.write(text)
        else:
            arguments.output.write_text(text, encoding="utf-8")
    if arguments.plot is not None:
        _plot(arguments, reading, groups)
    return 0


class _Reading:
    """Goes through all files, and picks what was asked for."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._tags = None if arguments.tag is None else frozenset(arguments.tag)
        #: When the first log begins.
        self.origin: Optional[float] = None
        self._seen_tags: set[str] = set()
        self._seen = 0
        self._skipped = 0
        self._file = ""

    def intervals(self) -> Iterator[LogInterval]:
        """What was picked."""
        files = self._arguments.files
        sizes = [_size_of(file) for file in files]
        total = None if None in sizes else sum(size for size in sizes if size is not None)
        before = 0
        with Progress(total, False if self._arguments.no_progress else None) as progress:
            for file, size in zip(files, sizes):
                source: Any = sys.stdin.buffer if file == "-" else Path(file)
                self._file = "<stdin>" if file == "-" else file

                def select(tag: str, start: float, end: float, before: int = before) -> bool:
                    progress.update(before + reader.position, printable(self._file))
                    return self._picks(tag, start)

                with read_log(source, select=select) as reader:
                    yield from self._readable(reader, progress)
                before += size or 0
        if self._skipped > _TOLD:
            _tell(f"{self._skipped - _TOLD:,} more lines could not be read")

    def _readable(self, reader: LogReader, progress: Progress) -> Iterator[LogInterval]:
        while True:
            try:
                interval = next(reader)
                self._check_time(reader, interval)
                yield interval
            except StopIteration:
                return
            except LogError as error:
                if not self._arguments.skip_errors:
                    raise CommandError(f"{error}\n(--skip-errors goes on after such lines)") from None
                self._skipped += 1
                if self._skipped <= _TOLD:
                    progress.clear()
                    _tell(str(error))

    def _check_time(self, reader: LogReader, interval: LogInterval) -> None:
        """Anything may be written in a log, also times that no window can have."""
        if self._arguments.window is not None and not abs(interval.start - (self.origin or 0.0)) < 1e12:
            raise LogError(message=f"this is no time: {interval.start!r}", source=reader.name, line=interval.line)

    def _picks(self, tag: str, start: float) -> bool:
        self._seen += 1
        if len(self._seen_tags) < 100:
            self._seen_tags.add(tag)
        if self.origin is None:
            self.origin = start
        if self._tags is not None and tag not in self._tags:
            return False
        first, last = self._arguments.start, self._arguments.end
        return (first is None or start >= self._absolute(first)) and (last is None or start < self._absolute(last))

    def _absolute(self, time: _values.Time) -> float:
        assert self.origin is not None
        # Times are written with three decimals. Half a millisecond more or less is the rounding of their sums.
        return time.seconds - 0.0005 if time.is_absolute else self.origin + time.seconds - 0.0005

    def group_of(self, interval: LogInterval) -> Group:
        """Where an interval belongs."""
        window = 0
        if self._arguments.window is not None:
            assert self.origin is not None
            window = math.floor((interval.start - self.origin + 0.0005) / self._arguments.window)
        return Group(interval.tag if self._arguments.by_tag else "", window)

    def span_of(self, group: Group) -> tuple[float, float]:
        """Begin and end of a window, after the origin."""
        width = self._arguments.window
        return group.window * width, (group.window + 1) * width

    def why_nothing(self) -> str:
        """There is nothing to show."""
        if not self._seen:
            return "there are no intervals in " + ("these logs" if len(self._arguments.files) > 1 else "this log")
        tags = ", ".join(printable(repr(tag)) for tag in sorted(self._seen_tags)[:10])
        return f"none of the {self._seen:,} intervals was picked; the tags are {tags}" + (
            ", ..." if len(self._seen_tags) > 10 else ""
        )


class _Groups:
    """Sums by group, in bounded memory."""

    def __init__(self) -> None:
        self._ready: OrderedDict[Group, Accumulator] = OrderedDict()
        self._counters = 0
        self._waiting: dict[Group, bytes] = {}
        #: What values are to be multiplied by.
        self.ratio = 1.0

    def __len__(self) -> int:
        return len(self._ready) + len(self._waiting)

    def add(self, group: Group, snapshot: Snapshot) -> None:
        """Adds to the sum of a group."""
        accumulator = self._ready.get(group)
        if accumulator is None:
            accumulator = self._ready[group] = Accumulator(as_logs=True)
            encoded = self._waiting.pop(group, None)
            if encoded is not None:
                accumulator.add(self._decoded(encoded))
                self._counters += accumulator.counters
        else:
            self._ready.move_to_end(group)
        before = accumulator.counters
        accumulator.add(snapshot)
        self._counters += accumulator.counters - before
        while self._counters > _READY and len(self._ready) > 1:
            oldest, sum_ = self._ready.popitem(last=False)
            self._counters -= sum_.counters
            total = sum_.total()
            assert total is not None
            self._waiting[oldest] = total.encode("native")

    def _decoded(self, encoded: bytes) -> Snapshot:
        snapshot = Snapshot.decode(encoded, max_counters=ANY_COUNTERS)
        # Which is in no encoding.
        snapshot._ratio = self.ratio
        return snapshot

    def sums(self) -> Iterator[tuple[Group, Snapshot]]:
        """The sums by tag and time."""
        for group in sorted([*self._ready, *self._waiting]):
            if group in self._ready:
                total = self._ready[group].total()
                assert total is not None
                yield group, total
            else:
                yield group, self._decoded(self._waiting[group])


def _table_of(arguments: argparse.Namespace, reading: _Reading, groups: _Groups) -> str:
    is_csv = arguments.format == "csv"
    headings = ["Tag"] * arguments.by_tag + ["From (s)", "To (s)"] * (arguments.window is not None) + ["Count", "Mean"]
    headings += ["Max" if rank == 100 and not is_csv else f"P{_short(rank)}" for rank in arguments.percentiles]
    divisor, unit = arguments.scale
    if is_csv:
        headings = [heading.replace(" (s)", "").lower() for heading in headings]
    number = _Numbers(divisor, arguments.decimals, "" if is_csv else ",")
    rows = []
    for group, snapshot in groups.sums():
        row = [group.tag] * arguments.by_tag
        if arguments.window is not None:
            shift = (reading.origin or 0.0) if is_csv else 0.0
            row += [_plain(seconds + shift) for seconds in reading.span_of(group)]
        summary = snapshot.summary()
        count = summary.total_count
        row += [number.count(count)]
        if count:
            row += [number.mean(summary.mean)]
            row += [number.value(value) for value in snapshot.percentile_values(arguments.percentiles, arguments.values)]
        else:
            row += ["" if is_csv else "-"] * (1 + len(arguments.percentiles))
        rows.append(row)
    text = table(headings, rows, int(arguments.by_tag), arguments.format)
    if unit and arguments.format == "markdown":
        return text + f"\nValues in {unit}.\n"
    return text + f"(values in {unit})\n" if unit and not is_csv else text


class _Numbers:
    """Writes numbers."""

    def __init__(self, divisor: float, decimals: Optional[int], comma: str) -> None:
        self._divisor = divisor
        self._decimals = 3 if decimals is None else decimals
        self._comma = comma

    def count(self, count: int) -> str:
        return f"{count:{self._comma}}"

    def value(self, value: int) -> str:
        return self.count(value) if self._divisor == 1 else self.mean(value)

    def mean(self, value: float) -> str:
        return f"{value / self._divisor:{self._comma}.{self._decimals}f}"


def _write_hgrm(arguments: argparse.Namespace, reading: _Reading, groups: _Groups) -> None:
    divisor, _ = arguments.scale
    is_csv = arguments.format == "hgrm-csv"
    used: set[str] = set()
    for place, (group, snapshot) in enumerate(groups.sums()):
        text = snapshot.hgrm(arguments.ticks, divisor, is_csv)
        name = _name_of(arguments, reading, group)
        if arguments.output is None:
            if len(groups) > 1:
                # A comment, to those who read this.
                sys.stdout.write(("\n" if place else "") + f"#[{printable(name)}]\n")
            sys.stdout.write(text)
            continue
        path = arguments.output
        if len(groups) > 1:
            # Tags are anybody's text, and no paths.
            safe = re.sub(r"[^A-Za-z0-9._-]", "_", name).strip(".") or "_"
            unique, number = safe, 2
            while unique.lower() in used:
                unique, number = f"{safe}-{number}", number + 1
            used.add(unique.lower())
            path = path.with_name(f"{path.stem}.{unique}{path.suffix}")
        path.write_text(text, encoding="utf-8")


def _name_of(arguments: argparse.Namespace, reading: _Reading, group: Group) -> str:
    parts = [group.tag or "no tag"] * arguments.by_tag
    if arguments.window is not None:
        begin, end = reading.span_of(group)
        parts.append(f"{_plain(begin)}-{_plain(end)} s")
    return ", ".join(parts)


def _plot(arguments: argparse.Namespace, reading: _Reading, groups: _Groups) -> None:
    try:
        matplotlib = arrays.need("matplotlib", "--plot")
        arrays.need("numpy", "--plot")
    except ImportError as error:
        raise CommandError(str(error)) from None
    matplotlib.use("Agg")
    from .. import plot
    from ..timeline import Timeline

    _, unit = arguments.scale
    # The axes find the right unit by themselves.
    unit = "ns" if unit else ""
    title = ", ".join(sorted(set(map(_base_name, arguments.files))))
    title = printable(title if len(title) < 60 else f"{len(arguments.files)} logs")
    if arguments.window is None:
        sums = list(groups.sums())
        labels = [printable(_name_of(arguments, reading, group)) for group, _ in sums]
        axes = plot.percentiles(*(snapshot for _, snapshot in sums), labels=labels, unit=unit, title=title)
    else:
        windows = _Groups()
        for group, snapshot in groups.sums():
            windows.add(Group(window=group.window), snapshot)
        spans = ((reading.span_of(group), snapshot) for group, snapshot in windows.sums())
        timeline = Timeline.of(LogInterval(begin, end, snapshot) for (begin, end), snapshot in spans)
        axes = plot.heatmap(timeline, unit=unit, title=title)
    try:
        figure: Any = axes.figure
        figure.savefig(arguments.plot, dpi=110, facecolor="white")
    except ValueError as error:  # an unknown kind of picture
        raise CommandError(f"{arguments.plot}: {error}") from None


def _base_name(file: str) -> str:
    return "standard input" if file == "-" else os.path.basename(file)


def _size_of(file: str) -> Optional[int]:
    with contextlib.suppress(OSError):
        return None if file == "-" else os.stat(file).st_size
    return None


def _tell(text: str) -> None:
    print(f"picollo hlog: {text}", file=sys.stderr)


def _plain(seconds: float) -> str:
    return f"{seconds:.3f}".rstrip("0").rstrip(".")


def _short(rank: float) -> str:
    return f"{rank:.9f}".rstrip("0").rstrip(".")
