"""Why observations were slow: what a collector of exemplars tells. See ``docs/why-slow.md``."""

from __future__ import annotations

import enum
from ctypes import c_uint64
from math import isnan
from typing import Any, Dict, NamedTuple, Optional, Tuple, Union

from . import _structs as structs
from ._arguments import identifier, u64

__all__ = ["Cause", "CauseShare", "ExemplarInterval", "KeptExemplar", "TraceContext"]


class Cause(enum.Enum):
    """Where the time went that a slow observation took more than is usual."""

    #: Off the CPU, by a call of its own: for a lock, a disk, another thread, Python's GIL.
    OWN_WAITING = "own waiting"
    #: Ready, and not running: preempted, or woken late.
    RUN_QUEUE = "run queue"
    #: The same, and the group of processes was also held back by its quota of CPU time.
    RUN_QUEUE_OR_QUOTA = "run queue or quota"
    #: Held back by the quota.
    THROTTLED = "throttled"
    #: Off the CPU, and no more is known than that.
    OFF_CPU = "off CPU, not split"
    #: The kernel's handling of pages that were not there.
    PAGE_FAULTS = "page faults"
    #: More work than usual.
    MORE_INSTRUCTIONS = "more instructions"
    #: The same work, slower.
    SLOWER_INSTRUCTIONS = "slower instructions"
    #: On the CPU, and no more is known than that.
    ON_CPU = "on CPU, cause not known"
    #: What is left of the time.
    UNEXPLAINED = "unexplained"
    #: None has more than half.
    SEVERAL = "several"
    #: There is no evidence, or nothing usual to compare it with.
    NOT_KNOWN = "not known"

    def __str__(self) -> str:
        return self.value


CAUSES: Dict[int, Cause] = {getattr(structs, f"CAUSE_{cause.name}"): cause for cause in Cause}


class TraceContext(NamedTuple):
    """What leads from an observation to its request."""

    #: The trace: 32 hexadecimal digits, as in W3C's ``traceparent``, or 16 bytes.
    trace_id: Union[str, bytes] = ""
    #: The span in it: 16 hexadecimal digits, or 8 bytes.
    span_id: Union[str, bytes] = ""
    #: Two integers of the program's, such as a request's number.
    words: Tuple[int, int] = (0, 0)

    def _native(self) -> structs.ExemplarContext:
        first, second = self.words
        return structs.ExemplarContext(
            trace_id=identifier(self.trace_id, 16, "trace_id"),
            span_id=identifier(self.span_id, 8, "span_id"),
            words=(c_uint64 * 2)(u64(first, "words"), u64(second, "words")),
        )


class CauseShare(NamedTuple):
    """How much of what slow observations took more than is usual went to one cause."""

    #: Its part of the excess of all whose causes are known, 0 to 1; ``None`` where there is no excess.
    share: Optional[float]
    #: The same in nanoseconds.
    excess_nanos: int
    #: How many observations it is the cause of.
    observations: int
    #: Its excess in a typical one of them; ``None`` where there is none.
    typical_nanos: Optional[int]

    @classmethod
    def _of(cls, raw: structs.ExemplarsShare) -> CauseShare:
        return cls(
            None if isnan(raw.share) else raw.share,
            raw.excess_nanos,
            raw.observations,
            raw.typical_nanos if raw.observations else None,
        )


class KeptExemplar(NamedTuple):
    """An observation that was kept, with what is known of where its time went. What is not known is ``None``."""

    #: As recorded.
    value: int
    #: Why it was slow.
    cause: Cause
    #: When it began, in seconds since 1970, as :func:`time.time` tells.
    time: float
    #: The trace that it belongs to, 32 hexadecimal digits, or ``""``.
    trace_id: str
    #: The span in it, 16 hexadecimal digits, or ``""``.
    span_id: str
    #: What the program gave it.
    words: Tuple[int, int]
    #: Which kind of observation it is.
    label: int
    #: The kernel's id of the thread that it ended on, as of :func:`threading.get_native_id`.
    thread: int
    #: The processors that it began and ended on.
    cpu_begin: Optional[int]
    cpu_end: Optional[int]
    #: How long the window is that what follows is of: it ends with the observation, and begins with it or up to 100 µs before.
    window_nanos: Optional[int]
    #: How long the thread ran in it.
    on_cpu_nanos: Optional[int]
    #: How long it was ready and did not run.
    run_delay_nanos: Optional[int]
    #: How often it gave the processor up, to wait, and how often it was taken off.
    voluntary_switches: Optional[int]
    involuntary_switches: Optional[int]
    #: Page faults without reading from a disk, and with.
    minor_faults: Optional[int]
    major_faults: Optional[int]

    @classmethod
    def _of(cls, raw: structs.Exemplar) -> KeptExemplar:
        def known(bits: int, value: int) -> Optional[int]:
            return value if raw.known & bits else None

        def cpu(number: int) -> Optional[int]:
            return None if number == _NO_CPU else number

        accounts = structs.KNOWN_ACCOUNTS
        return cls(
            value=raw.value,
            cause=CAUSES[raw.cause],
            time=raw.unix_nanos / 1e9,
            trace_id=_digits(raw.trace_id),
            span_id=_digits(raw.span_id),
            words=(raw.words[0], raw.words[1]),
            label=raw.label,
            thread=raw.thread,
            cpu_begin=cpu(raw.cpu_begin),
            cpu_end=cpu(raw.cpu_end),
            window_nanos=known(accounts, raw.window_nanos),
            on_cpu_nanos=known(accounts, raw.cpu_nanos),
            run_delay_nanos=known(structs.KNOWN_RUN_DELAY, raw.run_delay_nanos),
            voluntary_switches=known(accounts, raw.voluntary),
            involuntary_switches=known(accounts, raw.involuntary),
            minor_faults=known(accounts, raw.minor_faults),
            major_faults=known(accounts, raw.major_faults),
        )


#: A processor that is not known.
_NO_CPU = 0xFFFF_FFFF


def _digits(raw: Any) -> str:
    identifier = bytes(raw)
    return identifier.hex() if any(identifier) else ""


class ExemplarInterval:
    """What was slow in an interval, and why: see :meth:`Exemplars.collect`. ``print(interval)`` is for people."""

    __slots__ = (
        "_json", "_text", "begin", "controls", "end", "exemplars", "known", "observations", "shares", "slow", "threshold",
    )

    def __init__(
        self,
        totals: structs.ExemplarsInterval,
        exemplars: Tuple[KeptExemplar, ...],
        shares: Dict[Cause, CauseShare],
        text: str,
        json: str,
    ) -> None:
        """Not for callers."""
        #: When it began and ended, in seconds since 1970.
        self.begin: float = totals.begin_unix_nanos / 1e9
        self.end: float = totals.end_unix_nanos / 1e9
        #: From where on observations were slow, in units as recorded.
        self.threshold: int = totals.threshold
        #: How many observations there were, how many of them slow, and of how many of these the causes are known.
        self.observations: int = totals.observations
        self.slow: int = totals.slow
        self.known: int = totals.known
        #: How many ordinary ones were looked into, to know what is usual.
        self.controls: int = totals.controls
        #: The slowest, slowest first, and after them the latest of each octave of values.
        self.exemplars = exemplars
        #: How much of the excess went to each cause.
        self.shares = shares
        self._text, self._json = text, json

    def text(self) -> str:
        """A table for people, and the slowest with their traces."""
        return self._text

    def json(self) -> str:
        """All of it as a JSON object, with exact values."""
        return self._json

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<picollo.ExemplarInterval {self.slow} of {self.observations} slow>"
