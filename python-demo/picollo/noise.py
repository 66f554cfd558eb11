"""What else the machine did during a benchmark. See ``docs/comparing.md``."""

from __future__ import annotations

import math
from typing import NamedTuple, Optional

from . import _structs as structs

__all__ = ["BenchmarkNoise"]


class BenchmarkNoise(NamedTuple):
    """What else the machine did during a benchmark; ``None`` is what is not known."""

    #: Blocks that were measured, after the pilot.
    blocks: int
    #: Of these, what was disturbed from outside.
    disturbed: int
    #: Of these, what was left out of the verdict: none where there is no verdict for it, or where they were to be kept.
    left_out: int
    #: Seconds that were looked at.
    seconds: Optional[float]
    #: Seconds that the host took from the CPUs that the program may run on.
    steal: Optional[float]
    #: Seconds of CPU time that other programs took on these.
    others: Optional[float]
    #: Seconds in which something, this program or another, had to wait for a CPU.
    pressure: Optional[float]
    #: Hertz, the lowest and the highest that was seen, of one CPU.
    frequency: Optional[tuple[float, float]]
    #: CPUs that the program may run on.
    cpus: Optional[int]

    @classmethod
    def _of(cls, raw: structs.BenchmarkDisturbance) -> BenchmarkNoise:
        def known(value: float) -> Optional[float]:
            return None if math.isnan(value) else value

        low, high = known(raw.frequency_low), known(raw.frequency_high)
        return cls(
            raw.block_count,
            raw.disturbed_count,
            raw.left_out_count,
            known(raw.seconds),
            known(raw.steal_seconds),
            known(raw.others_seconds),
            known(raw.pressure_seconds),
            None if low is None or high is None else (low, high),
            raw.cpu_count or None,
        )
