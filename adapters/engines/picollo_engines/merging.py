"""Adding up: associative and commutative, so engines may do it in any order and grouping, and again."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any, Iterable

import picollo

from .part import Part, Tally, TooManyGroups


def merge(parts: Iterable[Part], max_groups: int) -> Part:
    """The counts of all parts, none of which changes.

    :raises TooManyGroups: when they have more groups than ``max_groups`` between them.
    """
    # Engines begin with nothing, or with one.
    parts = [part for part in parts if part.tally.partitions]
    if len(parts) < 2:
        return parts[0] if parts else Part()
    together: dict[Any, list[bytes]] = {}
    for part in parts:
        for key, data in part.encoded.items():
            together.setdefault(key, []).append(data)
    limit(len(together), max_groups, f"{len(parts)} parts of the data")
    encoded = {key: _sum(all_) for key, all_ in together.items()}
    tally = reduce(add, (part.tally for part in parts), Tally())
    moved = tally.merged_bytes + sum(map(len, encoded.values()))
    return Part(encoded, replace(tally, merged_bytes=moved))


def _sum(encoded: list[bytes]) -> bytes:
    if len(encoded) == 1:
        return encoded[0]
    return picollo.Snapshot.merged(map(picollo.Snapshot.decode, encoded)).encode()


def limit(groups: int, max_groups: int, where: str) -> None:
    """Refuses too many groups: each takes memory on each worker, and bytes on each way."""
    if groups > max_groups:
        raise TooManyGroups(
            f"there are {groups:,} groups or more in {where}, and max_groups is {max_groups:,}: "
            "group by something with fewer values, or allow more"
        )
