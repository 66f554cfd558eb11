"""Known work, to check counters and clocks against."""

from __future__ import annotations

from ._arguments import u64
from ._library import released


def add_chain_256(repetitions: int) -> None:
    """256 additions per repetition, each waiting for the previous one: one cycle each on current machines.

    Other Python threads run meanwhile.
    """
    released.work_add_chain_256(u64(repetitions, "repetitions"))
