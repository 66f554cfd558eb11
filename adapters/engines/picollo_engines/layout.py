"""What is counted, and how: a value that travels to the workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

import picollo

#: What happens to values that no histogram has room for: negative ones, NaN and infinities, and those from 2**64 on.
Invalid = Literal["error", "skip"]


@dataclass(frozen=True)
class Layout:
    """The buckets, alike in all partitions, so that merging is exact. The parameters are those of :class:`picollo.Histogram`."""

    relative_error: float = 0.001
    min: int = 0
    max: Optional[int] = None
    significant_digits: Optional[int] = None
    unit: int = 1

    def histogram(self, sparse: bool = False) -> picollo.Histogram:
        """An empty histogram of these buckets.

        :param sparse: take memory for the buckets in use alone, as where there are many.
        """
        return picollo.Histogram(
            self.relative_error,
            self.min,
            self.max,
            mode="single_writer",
            storage="sparse" if sparse else "dense",
            significant_digits=self.significant_digits,
            live_reset=False,
            unit=self.unit,
        )


@dataclass(frozen=True)
class Rules:
    """What to do with values that are not simply counted, and how many groups there may be."""

    #: What floating-point values are multiplied by before they are rounded to the nearest integer: 1e9 counts seconds in
    #: nanoseconds. Columns of integers take none.
    scale: Optional[float] = None
    #: ``"error"`` names the partition, the row and the value; ``"skip"`` leaves it out and counts it apart.
    invalid: Invalid = "error"
    #: More groups than that are an error.
    max_groups: int = 1000

    def __post_init__(self) -> None:
        if self.scale is not None and not 0 < self.scale < float("inf"):
            raise ValueError(f"scale must be a finite number above 0, not {self.scale!r}")
        if self.invalid not in ("error", "skip"):
            raise ValueError(f"invalid must be error or skip, not {self.invalid!r}")
        if self.max_groups < 1:
            raise ValueError(f"max_groups must be at least 1, not {self.max_groups}")
