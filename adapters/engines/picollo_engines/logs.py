"""Logs of histograms (.hlog): each line an interval that is counted already; they are added up by tag and hour."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Sequence, Union

import picollo

from .merging import limit
from .part import Part, Result, Tally

#: What intervals can be told apart by: ``"tag"``, and the hour or day that they begin in, in seconds since 1970 (UTC).
SECONDS = {"hour": 3600, "day": 86400}

#: Of tags and hours; each takes some kilobytes.
MAX_GROUPS = 100_000


@dataclass(frozen=True)
class Files:
    """The logs of a directory and those below it, in the order of their names, compressed ones (``.gz``) as well."""

    directory: "Union[str, os.PathLike[str]]"
    pattern: str = "**/*.hlog*"

    def tasks(self, files_per_task: int) -> list[list[str]]:
        """Some paths for each task."""
        if files_per_task < 1:
            raise ValueError(f"files_per_task must be at least 1, not {files_per_task}")
        paths = sorted(str(path) for path in Path(self.directory).glob(self.pattern))
        if not paths:
            raise FileNotFoundError(f"there are no logs {self.pattern} in {os.fspath(self.directory)}")
        return [paths[first : first + files_per_task] for first in range(0, len(paths), files_per_task)]


def count_logs(paths: Sequence[str], by: Sequence[str], max_groups: int) -> Part:
    """Adds up some logs. An interval belongs to the hour that it begins in. Runs on a worker.

    Intervals of different buckets are kept apart: adding up such of the same is exact, whatever the order.
    """
    from picollo.interchange import Accumulator

    sums: dict[Any, Accumulator] = {}
    rows = 0
    for path in paths:
        with picollo.read_log(path) as log:
            for interval in log:
                if interval.snapshot.value_ratio != 1:
                    raise ValueError(f"{path}:{interval.line}: this is a histogram of doubles, whose ratio no encoding here has")
                layout = interval.snapshot.layout
                key = (*(_key(each, interval) for each in by), layout.relative_error, layout.unit)
                found = sums.get(key)
                if found is None:
                    limit(len(sums) + 1, max_groups, f"the logs up to {path}")
                    found = sums[key] = Accumulator()
                found.add(interval.snapshot)
                rows += 1
    encoded = {key: total.encode() for key, each in sums.items() if (total := each.total()) is not None}
    tally = Tally(partitions=1, rows=rows, counted_bytes=sum(map(len, encoded.values())))
    return Part(encoded, tally)


def _key(name: str, interval: picollo.LogInterval) -> Any:
    if name == "tag":
        return interval.tag
    if name not in SECONDS:
        raise ValueError(f"logs are added up by tag, hour and day, not by {name!r}")
    seconds = SECONDS[name]
    return int(interval.start // seconds) * seconds


def result_of_logs(part: Part) -> Result:
    """What is under the same tag and hour, whatever its buckets were. The rows are intervals."""
    together: dict[Any, list[bytes]] = {}
    for key, data in part.encoded.items():
        together.setdefault(key[:-2], []).append(data)
    encoded = {
        key: all_[0] if len(all_) == 1 else picollo.Snapshot.merged(map(picollo.Snapshot.decode, all_)).encode()
        for key, all_ in together.items()
    }
    return Result(replace(part, encoded=encoded), picollo.Histogram(significant_digits=2).snapshot())
