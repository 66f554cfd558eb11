"""What some partitions come to: bytes that any two workers can add up."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, fields
from typing import Any, Mapping

import picollo


class TooManyGroups(ValueError):
    """There are more groups than ``max_groups``."""


@dataclass(frozen=True)
class Tally:
    """Rows that were seen, and what became of those that are in no histogram."""

    partitions: int = 0
    rows: int = 0
    #: Rows without a value. They are left out.
    nulls: int = 0
    #: Those below are left out with ``invalid="skip"``, and errors otherwise.
    negative: int = 0
    not_finite: int = 0
    #: From 2**64 on, after scaling.
    too_large: int = 0
    #: Bytes of encoded snapshots that left partitions.
    counted_bytes: int = 0
    #: Bytes of encoded snapshots that left the nodes of the tree above them.
    merged_bytes: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    @property
    def left_out(self) -> int:
        """Rows that are in no histogram."""
        return self.nulls + self.negative + self.not_finite + self.too_large


@dataclass(frozen=True)
class Part:
    """The counts of some partitions. It never changes, so that an engine may use it again when it repeats a task."""

    #: Encoded snapshots by group; of everything under ``None`` where nobody asked for groups.
    encoded: Mapping[Any, bytes] = field(default_factory=dict)
    tally: Tally = Tally()

    def __sizeof__(self) -> int:
        """What engines ask that weigh moving against doing again."""
        return object.__sizeof__(self) + sum(map(sys.getsizeof, self.encoded.values()))


class Result:
    """The counts of all partitions, to the count."""

    def __init__(self, part: Part, empty: picollo.Snapshot) -> None:
        self._groups = {key: picollo.Snapshot.decode(data) for key, data in part.encoded.items()}
        self._empty = empty
        #: What was seen and what it took.
        self.tally = part.tally

    @property
    def groups(self) -> dict[Any, picollo.Snapshot]:
        """A snapshot for each group."""
        return dict(self._groups)

    @property
    def snapshot(self) -> picollo.Snapshot:
        """Everything in one snapshot."""
        return picollo.Snapshot.merged(self._groups.values() if self._groups else [self._empty])

    def __getitem__(self, key: Any) -> picollo.Snapshot:
        return self._groups[key]

    def __repr__(self) -> str:
        return f"<picollo_engines.Result of {self.tally.rows:,} rows, {len(self._groups):,} groups>"
