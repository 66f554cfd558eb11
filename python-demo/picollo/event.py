"""Events that can be counted, and what this machine offers."""

from __future__ import annotations

from ctypes import byref
from typing import Any, NamedTuple, Optional

from . import _structs as structs
from ._library import held, released
from ._text import c_name, c_text
from .errors import check_detail

_NOT_READABLE = -(2**31)


class Event:
    """One event, as the kernel wants it described, by its name or description::

        cycles  instructions  branch-misses  page-faults  task-clock
        L1-dcache-load-misses  L1D-read-miss  r01c2
        cpu/event=0x3c,umask=0x1/  msr/tsc/  sched:sched_switch  mem:0xADDR/8:w
        MEM_LOAD_RETIRED.L1_MISS  (the processor's own, where libpfm4 is installed)

    :raises NoSuchEventError: when this machine does not know it.
    :raises InvalidArgumentError: when it cannot be understood.
    """

    __slots__ = ("_raw", "_spec")

    def __init__(self, spec: str) -> None:
        raw = structs.Event()
        error = structs.Error()
        status = held.event_parse(c_text(spec, "event"), byref(raw), byref(error))
        check_detail(status, error, (spec,))
        self._raw = raw
        self._spec = spec

    @classmethod
    def _adopt(cls, raw: structs.Event, spec: str) -> Event:
        """What the library described."""
        event = cls.__new__(cls)
        event._raw = raw
        event._spec = spec
        return event

    @property
    def spec(self) -> str:
        """The text it was parsed from."""
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
        """What a value is multiplied with to be in :attr:`unit`."""
        return float(self._raw.scale) or 1.0

    @property
    def type(self) -> int:
        """The kernel's number of the kind of event."""
        return int(self._raw.type)

    @property
    def config(self) -> int:
        """The kernel's number of the event among its kind."""
        return int(self._raw.config)

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


class EventInfo(NamedTuple):
    """How a session counts one of its events."""

    #: The event as it was given.
    spec: str
    #: Its full name.
    name: str
    #: 0, or why it is not counted.
    status: int
    #: The operating system's error number, where there is one.
    errno: Optional[int]
    #: Why it is not counted and what to do about it, or what was changed to count it; ``""`` when all is as asked.
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

    @property
    def available(self) -> bool:
        """Whether it is being counted."""
        return self.status == 0

    @property
    def user_only(self) -> bool:
        """The kernel was asked for, but is not counted."""
        return bool(self.flags & structs.EVENT_INFO_USER_ONLY)

    @property
    def unpinned(self) -> bool:
        """Pinning was asked for, but the event was not kept on a counter all the time: the message tells how."""
        return bool(self.flags & structs.EVENT_INFO_UNPINNED)

    @property
    def substituted(self) -> bool:
        """Something equivalent is counted in its place."""
        return bool(self.flags & structs.EVENT_INFO_SUBSTITUTED)

    @property
    def fast(self) -> bool:
        """It can be read in user space."""
        return bool(self.flags & structs.EVENT_INFO_FAST)

    @property
    def silent(self) -> bool:
        """It was opened, but the machine does not seem to count it."""
        return bool(self.flags & structs.EVENT_INFO_SILENT)


class PerfInfo(NamedTuple):
    """What this machine offers."""

    #: Whether there are hardware counters.
    pmu_available: bool
    #: Whether they can be read in user space.
    user_read_available: bool
    #: Number of counters that count one event only.
    fixed_counters: int
    #: Number of counters that count any event.
    programmable_counters: int
    #: ``/proc/sys/kernel/perf_event_paranoid``; ``None`` when it cannot be read.
    paranoid: Optional[int]
    #: Whether this is a virtual machine.
    hypervisor: bool
    #: What is missing and how to get it; ``""`` when all is well.
    explanation: str


def perf_probe() -> PerfInfo:
    """Finds out what this machine offers. Takes about a millisecond; other threads of Python run meanwhile."""
    raw = structs.PerfInfo()
    error = structs.Error()
    check_detail(released.perf_probe(byref(raw), byref(error)), error)
    return PerfInfo(
        bool(raw.pmu_available),
        bool(raw.user_read_available),
        raw.fixed_counters,
        raw.programmable_counters,
        None if raw.paranoid == _NOT_READABLE else raw.paranoid,
        bool(raw.hypervisor),
        c_name(raw.explanation),
    )
