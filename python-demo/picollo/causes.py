"""Why observations were slow: what a collector of exemplars tells. See ``docs/why-slow.md``."""

from __future__ import annotations

import enum
import json
from ctypes import c_uint64
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
    """How much of what slow observations took in excess of what is usual went to one cause."""

    #: Its part of the excess of all whose evidence is known, 0 to 1; ``None`` where there is no excess, and of causes that are none:
    #: ``SEVERAL`` and ``NOT_KNOWN``.
    share: Optional[float]
    #: The same in nanoseconds.
    excess_nanos: Optional[int]
    #: How many observations were slow because of it.
    observations: int
    #: The median of its excess in these.
    typical_nanos: Optional[int]

    @classmethod
    def _of(cls, told: Dict[str, Any], excess: int) -> CauseShare:
        nanos = told["excess_nanos"]
        return cls(nanos / excess if nanos is not None and excess else None, nanos, told["observations"], told["typical_nanos"])


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
    #: The processor that it ended on.
    cpu: Optional[int]
    #: What of its length is in excess of what is usual, for its cause.
    excess_nanos: Optional[int]
    #: Why nothing is known of where its time went, for people; ``""`` where something is.
    missing: str
    #: How long the window is that what follows is of: it ends with the observation, and begins up to 300 µs before it, or
    #: further where that holds many others.
    window_nanos: Optional[int]
    #: How long the thread ran in it.
    on_cpu_nanos: Optional[int]
    #: How long it was ready and did not run.
    run_delay_nanos: Optional[int]
    #: How long it was off the processor, and what of that although it did not wait for anything.
    off_cpu_nanos: Optional[int]
    preempted_nanos: Optional[int]
    #: How long handling page faults took.
    fault_nanos: Optional[int]
    #: Instructions that it executed, in how many cycles, and how many instructions of a cycle are usual; not those of the kernel.
    instructions: Optional[int]
    cycles: Optional[int]
    usual_ipc: Optional[float]
    #: How often it gave the processor up, to wait, and how often it was taken off.
    voluntary_switches: Optional[int]
    involuntary_switches: Optional[int]
    #: Page faults without reading from a disk, and with.
    minor_faults: Optional[int]
    major_faults: Optional[int]
    #: How often its group of processes was held back by a quota since that was looked at last.
    throttled: Optional[int]

    @classmethod
    def _of(cls, told: Dict[str, Any]) -> KeptExemplar:
        cause = Cause(told["cause"])
        own: Dict[str, Any] = {
            "cause": cause,
            "time": told["unix_nanos"] / 1e9,
            "words": tuple(told["words"]),
            "excess_nanos": None if cause in (Cause.SEVERAL, Cause.NOT_KNOWN) else told["excess"].get(cause.value, 0),
            "missing": _MISSING.get(told["missing"], "not known"),
            **{name: told[name] if told[name].strip("0") else "" for name in ("trace_id", "span_id")},
            **{name: told[other] for name, other in _OTHERWISE.items()},
        }
        return cls(**{name: own[name] if name in own else told[name] for name in cls._fields})


#: What is called otherwise in JSON.
_OTHERWISE = {
    "on_cpu_nanos": "cpu_nanos",
    "off_cpu_nanos": "off_nanos",
    "voluntary_switches": "voluntary",
    "involuntary_switches": "involuntary",
}

_MISSING = {
    None: "",
    "timed_elsewhere": "timed elsewhere, or by an event loop",
    "other_thread": "ended on another thread than it began on",
    "forked": "began before a fork",
    "too_many": "too many were slow at once",
    "overwritten": "held so many other scopes that its beginning was forgotten",
    "contradictory": "its accounts contradict themselves",
    "unsupported": "the system has no such accounts",
}


class ExemplarInterval:
    """What was slow in an interval, and why: see :meth:`Exemplars.collect`. ``print(interval)`` is for people."""

    __slots__ = (
        "_html", "_json", "_markdown", "_text", "begin", "controls", "end", "exemplars", "known", "observations", "shares", "slow", "threshold",
    )

    def __init__(self, text: str, as_json: str, markdown: str, html: str) -> None:
        """Not for callers."""
        told: Dict[str, Any] = json.loads(as_json)
        #: When it began and ended, in seconds since 1970.
        self.begin: float = told["begin_unix_nanos"] / 1e9
        self.end: float = told["end_unix_nanos"] / 1e9
        #: Above which an observation was slow, as recorded; ``None`` where that was not known, in the first interval: then the slowest are.
        self.threshold: Optional[int] = told["threshold"]
        #: How many observations there were, how many of them slow, and of how many of these the causes are known.
        self.observations: int = told["observations"]
        self.slow: int = told["slow"]
        self.known: int = told["known"]
        #: How many ordinary ones were looked into so far, to know what is usual.
        self.controls: int = told["controls"]
        #: The slowest, slowest first, and after them the latest of each octave of values.
        self.exemplars: Tuple[KeptExemplar, ...] = tuple(map(KeptExemplar._of, told["exemplars"]))
        #: How much of the excess went to each cause.
        self.shares = {Cause(one["cause"]): CauseShare._of(one, told["excess_nanos"]) for one in told["causes"]}
        self._text, self._json, self._markdown, self._html = text, as_json, markdown, html

    def text(self) -> str:
        """A table for people, and the slowest with their traces."""
        return self._text

    def markdown(self) -> str:
        """The same in tables, for reports."""
        return self._markdown

    def _repr_markdown_(self) -> str:
        return self._markdown

    def html(self) -> str:
        """The same as a section of a page, with bars. It needs no script and nothing from elsewhere."""
        return self._html

    def _repr_html_(self) -> str:
        return self._html

    def json(self) -> str:
        """All of it as a JSON object, with exact values."""
        return self._json

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<picollo.ExemplarInterval {self.slow} of {self.observations} slow>"
