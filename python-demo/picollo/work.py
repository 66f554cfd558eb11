"""Known work, to check counters and clocks against."""

from __future__ import annotations

from ._arguments import u64
from ._library import released


def add_chain_256(repetitions: int) -> None:
    """256 additions a repetition, each waiting for the one before: one cycle apiece on the machines of today.

    Other Python threads run meanwhile.
    """
    released.work_add_chain_256(u64(repetitions, "repetitions"))
