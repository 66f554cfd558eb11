"""Events that can be counted, their counts, and this machine's capabilities."""

from __future__ import annotations

from ctypes import byref
from typing import Any, NamedTuple, Optional

from . import _structs as structs
from ._calls import c_name, c_text, explained
from ._fields import flag, integer
from ._library import held, released

_NOT_READABLE = -(2**31)


class Event:
    """One event, in the kernel's terms, from its name or description::

        cycles  instructions  branch-misses  page-faults  task-clock
        L1-dcache-load-misses  L1D-read-miss  r01c2
        cpu/event=0x3c,umask=0x1/  msr/tsc/  sched:sched_switch  mem:0xADDR/8:w
        MEM_LOAD_RETIRED.L1_MISS  (the processor's own, where libpfm4 is installed)

    :raises NoSuchEventError: if this machine does not know it.
    :raises InvalidArgumentError: if the text cannot be parsed.
    """

    __slots__ = ("_raw", "_spec")

    def __init__(self, spec: str) -> None:
        raw = structs.Event()
        explained(held.event_parse, c_text(spec, "event"), byref(raw), events=(spec,))
        self._raw = raw
        self._spec = spec

    @classmethod
    def _adopt(cls, raw: structs.Event, spec: str) -> Event:
        """Wraps an event that the library parsed."""
        event = cls.__new__(cls)
        event._raw = raw
        event._spec = spec
        return event

    @property
    def spec(self) -> str:
        """The text that the event was parsed from."""
        return self._spec

    @property
    def name(self) -> str:
        """Its full name, such as ``Hardware:CpuCycles``."""
        return c_name(self._raw.name)

    @property
    def unit(self) -> str:
        """The unit of its value, ``""`` for a count."""
        return c_name(self._raw.unit)

    @property
    def scale(self) -> float:
        """The factor that converts a value to :attr:`unit`."""
        return float(self._raw.scale) or 1.0

    type = integer("The kernel's number for the kind of event.")
    config = integer("The kernel's number for the event within its kind.")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Event) and bytes(self._raw) == bytes(other._raw)

    def __hash__(self) -> int:
        return hash(bytes(self._raw))

    def __str__(self) -> str:
        return self._spec

    def __repr__(self) -> str:
        return f"<picollo.Event {self._spec!r} ({self.name})>"

    def __reduce__(self) -> Any:
        return Event, (self._spec,)


class _EventInfo(NamedTuple):
    #: The event as given.
    spec: str
    #: Its full name.
    name: str
    #: 0, or the status that explains why it is not counted.
    status: int
    #: The operating system's error number, if there is one.
    errno: Optional[int]
    #: Why it is not counted and what to do about it, or what was changed to count it; ``""`` if all is as requested.
    message: str
    #: Events of one group are counted at the same times.
    group: int
    #: How often a reading had no value for it.
    not_counted_count: int
    #: Overhead of a pair of reads in user space, after :meth:`Session.calibrate`.
    overhead_fast: int
    #: Overhead of a pair of reads through the kernel, after :meth:`Session.calibrate`.
    overhead_syscall: int
    flags: int


class EventInfo(_EventInfo):
    """How a session counts one of its events."""

    __slots__ = ()

    @property
    def available(self) -> bool:
        """Whether it is counted."""
        return self.status == 0

    user_only = flag(structs.EVENT_INFO_USER_ONLY, "You requested the kernel, but it is not counted.")
    unpinned = flag(
        structs.EVENT_INFO_UNPINNED, "You requested pinning, but the event did not keep its counter all the time. The message explains it."
    )
    substituted = flag(structs.EVENT_INFO_SUBSTITUTED, "An equivalent event is counted instead.")
    fast = flag(structs.EVENT_INFO_FAST, "It can be read in user space.")
    silent = flag(structs.EVENT_INFO_SILENT, "The event was opened, but the machine does not seem to count it.")


class _Reading(NamedTuple):
    #: The count, extrapolated if the event was counted only part of the time, and without overhead if the session
    #: subtracts it. ``None`` if it was not counted at all, which is not zero.
    value: Optional[int]
    #: As counted.
    raw: int
    #: Nanoseconds for which the event was enabled.
    time_enabled: int
    #: Nanoseconds for which it was counted.
    time_running: int
    flags: int
    #: 0, or the status that explains why there is no value.
    status: int


class Reading(_Reading):
    """What one event counted, in total or between two readings."""

    __slots__ = ()

    fast = flag(structs.READING_FAST, "Read in user space, at both ends of a delta.")
    clean = flag(structs.READING_CLEAN, "The thread provably ran without interruption since the previous reading.")
    scaled = flag(structs.READING_SCALED, "The value is extrapolated, because the event shared its counter with others.")
    resync = flag(structs.READING_RESYNC, "Someone else reset the counter, so the delta starts anew.")
    times_stale = flag(structs.READING_TIMES_STALE, "The times are those of the kernel's last update.")

    @property
    def coverage(self) -> Optional[float]:
        """The share of the time in which the event was counted, 0 to 1; ``None`` if no time passed."""
        return self.time_running / self.time_enabled if self.time_enabled else None


class PerfInfo(NamedTuple):
    """This machine's capabilities."""

    #: Whether there are hardware counters.
    pmu_available: bool
    #: Whether they can be read in user space.
    user_read_available: bool
    #: Number of counters that count one event only.
    fixed_counters: int
    #: Number of counters that count any event.
    programmable_counters: int
    #: ``/proc/sys/kernel/perf_event_paranoid``; ``None`` if it cannot be read.
    paranoid: Optional[int]
    #: Whether this is a virtual machine.
    hypervisor: bool
    #: The missing capabilities and how to get them; ``""`` if nothing is missing.
    explanation: str


def perf_probe() -> PerfInfo:
    """Finds out this machine's capabilities. Takes about a millisecond; other threads of Python run meanwhile."""
    raw = structs.PerfInfo()
    explained(released.perf_probe, byref(raw))
    return PerfInfo(
        bool(raw.pmu_available),
        bool(raw.user_read_available),
        raw.fixed_counters,
        raw.programmable_counters,
        None if raw.paranoid == _NOT_READABLE else raw.paranoid,
        bool(raw.hypervisor),
        c_name(raw.explanation),
    )
