"""Why observations were slow: the results of a collector of exemplars. See ``docs/why-slow.md``."""

from __future__ import annotations

import enum
import json
from ctypes import c_uint64
from typing import Any, Dict, NamedTuple, Optional, Tuple, Union

from . import _structs as structs
from ._arguments import identifier, u64

__all__ = ["Cause", "CauseShare", "ExemplarInterval", "KeptExemplar", "TraceContext"]


class Cause(enum.Enum):
    """Where the extra time of a slow observation went."""

    #: Off the CPU by its own call: for a lock, a disk, another thread, Python's GIL.
    OWN_WAITING = "own waiting"
    #: Runnable but not running: preempted, or woken late.
    RUN_QUEUE = "run queue"
    #: The same, and the group of processes was also held back by its quota of CPU time.
    RUN_QUEUE_OR_QUOTA = "run queue or quota"
    #: Held back by the quota.
    THROTTLED = "throttled"
    #: Off the CPU; nothing more is known.
    OFF_CPU = "off CPU, not split"
    #: The kernel's handling of page faults.
    PAGE_FAULTS = "page faults"
    #: More work than usual.
    MORE_INSTRUCTIONS = "more instructions"
    #: The same work, slower.
    SLOWER_INSTRUCTIONS = "slower instructions"
    #: On the CPU; nothing more is known.
    ON_CPU = "on CPU, cause not known"
    #: The rest of the time.
    UNEXPLAINED = "unexplained"
    #: No cause has more than half.
    SEVERAL = "several"
    #: There is no evidence, or no usual observation to compare it with.
    NOT_KNOWN = "not known"

    def __str__(self) -> str:
        return self.value


class TraceContext(NamedTuple):
    """Links an observation to its request."""

    #: The trace: 32 hexadecimal digits, as in W3C's ``traceparent``, or 16 bytes.
    trace_id: Union[str, bytes] = ""
    #: The span in it: 16 hexadecimal digits, or 8 bytes.
    span_id: Union[str, bytes] = ""
    #: Two integers of the program, such as a request's number.
    words: Tuple[int, int] = (0, 0)

    def _native(self) -> structs.ExemplarContext:
        first, second = self.words
        return structs.ExemplarContext(
            trace_id=identifier(self.trace_id, 16, "trace_id"),
            span_id=identifier(self.span_id, 8, "span_id"),
            words=(c_uint64 * 2)(u64(first, "words"), u64(second, "words")),
        )


class CauseShare(NamedTuple):
    """How much of the excess time of slow observations went to one cause."""

    #: Its share, 0 to 1, of the excess of all observations with evidence. ``None`` if there is no excess, and for
    #: ``SEVERAL`` and ``NOT_KNOWN``, which are not causes.
    share: Optional[float]
    #: The same in nanoseconds.
    excess_nanos: Optional[int]
    #: How many observations were slow because of it.
    observations: int
    #: The median of its excess in these.
    typical_nanos: Optional[int]

    @classmethod
    def _from_json(cls, parsed: Dict[str, Any], excess: int) -> CauseShare:
        nanos = parsed["excess_nanos"]
        return cls(nanos / excess if nanos is not None and excess else None, nanos, parsed["observations"], parsed["typical_nanos"])


class KeptExemplar(NamedTuple):
    """A kept observation, with what is known of where its time went. Unknown values are ``None``."""

    #: As recorded.
    value: int
    #: Why it was slow.
    cause: Cause
    #: When it began, in seconds since 1970, like :func:`time.time`.
    time: float
    #: Its trace, 32 hexadecimal digits, or ``""``.
    trace_id: str
    #: The span in it, 16 hexadecimal digits, or ``""``.
    span_id: str
    #: The two integers from the program.
    words: Tuple[int, int]
    #: The kind of observation.
    label: int
    #: The kernel's id of the thread that it ended on, like :func:`threading.get_native_id`.
    thread: int
    #: The processor that it ended on.
    cpu: Optional[int]
    #: How much of its time is in excess of the usual, because of its cause.
    excess_nanos: Optional[int]
    #: Why nothing is known of where its time went, for people; otherwise ``""``.
    missing: str
    #: The length of the window that the following fields describe: it ends with the observation, and begins up to 300
    #: µs before it, or earlier if it contains many other observations.
    window_nanos: Optional[int]
    #: How long the thread ran in the window.
    on_cpu_nanos: Optional[int]
    #: How long it was runnable but did not run.
    run_delay_nanos: Optional[int]
    #: How long it was off the processor, and how much of that time it was not waiting for anything.
    off_cpu_nanos: Optional[int]
    preempted_nanos: Optional[int]
    #: How long handling page faults took.
    fault_nanos: Optional[int]
    #: Instructions that it executed, their cycles, and the usual instructions per cycle; without those of the kernel.
    instructions: Optional[int]
    cycles: Optional[int]
    usual_ipc: Optional[float]
    #: How often it gave up the processor to wait, and how often it was preempted.
    voluntary_switches: Optional[int]
    involuntary_switches: Optional[int]
    #: Page faults without and with reading from a disk.
    minor_faults: Optional[int]
    major_faults: Optional[int]
    #: How often a quota held back its group of processes since the previous check.
    throttled: Optional[int]

    @classmethod
    def _from_json(cls, parsed: Dict[str, Any]) -> KeptExemplar:
        cause = Cause(parsed["cause"])
        own: Dict[str, Any] = {
            "cause": cause,
            "time": parsed["unix_nanos"] / 1e9,
            "words": tuple(parsed["words"]),
            "excess_nanos": None if cause in (Cause.SEVERAL, Cause.NOT_KNOWN) else parsed["excess"].get(cause.value, 0),
            "missing": _MISSING.get(parsed["missing"], "not known"),
            **{name: parsed[name] if parsed[name].strip("0") else "" for name in ("trace_id", "span_id")},
            **{name: parsed[other] for name, other in _OTHERWISE.items()},
        }
        return cls(**{name: own[name] if name in own else parsed[name] for name in cls._fields})


#: Fields with other names in JSON.
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
    """The slow observations of an interval, with causes: see :meth:`Exemplars.collect`. ``print()`` is for people."""

    __slots__ = (
        "_html", "_json", "_markdown", "_text", "begin", "controls", "end", "exemplars", "known", "observations", "shares", "slow", "threshold",
    )

    def __init__(self, text: str, as_json: str, markdown: str, html: str) -> None:
        """Not for callers."""
        parsed: Dict[str, Any] = json.loads(as_json)
        #: When it began and ended, in seconds since 1970.
        self.begin: float = parsed["begin_unix_nanos"] / 1e9
        self.end: float = parsed["end_unix_nanos"] / 1e9
        #: Observations above this value, as recorded, were slow. ``None`` if unknown, at first: then the slowest are.
        self.threshold: Optional[int] = parsed["threshold"]
        #: How many observations there were, how many were slow, and for how many of these the causes are known.
        self.observations: int = parsed["observations"]
        self.slow: int = parsed["slow"]
        self.known: int = parsed["known"]
        #: How many ordinary observations were examined so far, to learn what is usual.
        self.controls: int = parsed["controls"]
        #: The slowest observations, slowest first, then the latest of each octave of values.
        self.exemplars: Tuple[KeptExemplar, ...] = tuple(map(KeptExemplar._from_json, parsed["exemplars"]))
        #: How much of the excess went to each cause.
        self.shares = {Cause(one["cause"]): CauseShare._from_json(one, parsed["excess_nanos"]) for one in parsed["causes"]}
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
        """The same as a section of a page, with bars. It needs no script and no external resources."""
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
