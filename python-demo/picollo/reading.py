"""What one event counted."""

from __future__ import annotations

from typing import NamedTuple, Optional

from . import _structs as structs


class Reading(NamedTuple):
    """What one event counted, in total or between two readings."""

    #: Extrapolated where the event was counted part of the time only; without overhead where the session subtracts it.
    #: ``None`` when it was not counted at all, which is not zero.
    value: Optional[int]
    #: As counted.
    raw: int
    #: Nanoseconds for which the event was to be counted.
    time_enabled: int
    #: Nanoseconds for which it was counted.
    time_running: int
    flags: int
    #: 0, or why there is no value.
    status: int

    @property
    def fast(self) -> bool:
        """Read in user space, at both ends of a delta."""
        return bool(self.flags & structs.READING_FAST)

    @property
    def clean(self) -> bool:
        """The thread provably ran without interruption since the previous reading."""
        return bool(self.flags & structs.READING_CLEAN)

    @property
    def scaled(self) -> bool:
        """The value is extrapolated, as the event shared its counter with others."""
        return bool(self.flags & structs.READING_SCALED)

    @property
    def resync(self) -> bool:
        """Someone else reset the counter, so the delta starts anew."""
        return bool(self.flags & structs.READING_RESYNC)

    @property
    def times_stale(self) -> bool:
        """The times are those of the last time that the kernel updated them."""
        return bool(self.flags & structs.READING_TIMES_STALE)

    @property
    def coverage(self) -> Optional[float]:
        """Which share of the time the event was counted, 0 to 1; ``None`` when no time passed."""
        return self.time_running / self.time_enabled if self.time_enabled else None
