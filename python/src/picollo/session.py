"""Sessions: performance counters of a thread or a processor, each with a histogram."""

from __future__ import annotations

import contextlib
import threading
from ctypes import byref, c_size_t, c_uint32, c_void_p
from typing import Any, Iterable, Literal, NamedTuple, Optional, Union, get_args

from . import _structs as structs
from ._arguments import checked_counter_bits, checked_error, choice, integer
from ._calls import c_name, create, fetch
from ._handle import HAS_GIL, Handle
from ._library import held, own, released
from .errors import PicolloError, check, check_detail, from_status, status_text
from .event import Event, EventInfo, Reading
from .histogram import Histogram

#: How counters are read: in the fastest correct way, or through the kernel.
How = Literal["auto", "syscall"]

_HOW = {name: c_uint32(code) for name, code in structs.codes("READ", get_args(How)).items()}


class Session(Handle):
    """Counts events, reads them together, and records the counts.

    ::

        with Session(["cycles", "branch-misses"], skip_unavailable=True) as session:
            for _ in range(1000):
                with session.measure():
                    work()
        print(session)

    It counts the calling thread by default. That thread must read it; any thread may close it. A session does not
    survive ``fork``: in the child everything except :meth:`close` raises :class:`ForkedError`.

    :param events: names, or :class:`Event`. They keep their order; duplicates are allowed.
    :param kernel: count what the kernel does on the thread's behalf as well.
    :param pinned: keep the events in the first group (``info.group`` 0) on counters all the time, as far as the machine
        can. If it cannot, at once or later, they share counters like any others. That is no error;
        :attr:`EventInfo.unpinned` and the message report it. An interval that was lost because of it is not counted.
    :param enabled: start counting at once; otherwise :meth:`enable` starts it.
    :param inherit: count threads that this one starts from now on as well (they are read through the kernel).
    :param skip_unavailable: keep an event that cannot be opened as an entry that is never counted, with the reason in
        :attr:`info`, instead of raising.
    :param ordered: wait for earlier instructions around each read, for the exact measurement of short pieces of code.
    :param subtract: subtract the overhead that :meth:`calibrate` found.
    :param syscall_only: never read in user space: for programs that a fault must not end if somebody forbids such reads
        while they run.
    :param thread: another thread's id (see :func:`threading.get_native_id`) to count instead; 0 is this one.
    :param cpu: count on this processor only; with ``thread=-1`` everything that runs there.
    :param relative_error: of the histograms.
    :param counter_bits: of the histograms.
    :raises NoSuchEventError: if the machine cannot count an event; the message explains why and what to do.
    :raises PermissionDeniedError: if the event may not be counted.
    """

    __slots__ = (
        "_error", "_error_reference", "_events", "_explanations", "_histograms", "_kept", "_lock", "_options", "_specs",
    )

    _KIND = "session"
    _NOT_PICKLED = "a session cannot be pickled: it counts one thread of one process"

    def __init__(
        self,
        events: Iterable[Union[str, Event]],
        *,
        kernel: bool = False,
        pinned: bool = False,
        enabled: bool = True,
        inherit: bool = False,
        skip_unavailable: bool = False,
        ordered: bool = False,
        subtract: bool = False,
        syscall_only: bool = False,
        thread: int = 0,
        cpu: Optional[int] = None,
        relative_error: float = 0.001,
        counter_bits: int = 64,
    ) -> None:
        self._pointer = None
        if isinstance(events, (str, Event)):
            raise TypeError("events must be a list of events, even of one")
        parsed = [event if isinstance(event, Event) else Event(event) for event in events]
        if not parsed:
            raise ValueError("a session needs at least one event")
        self._specs = tuple(event.spec for event in parsed)
        self._histograms: dict[int, Histogram] = {}
        #: The data that remains after close.
        self._kept: Optional[_Kept] = None
        self._explanations: dict[int, str] = {}
        # With the GIL, calls are serialized and need no lock.
        self._lock = None if HAS_GIL else threading.RLock()
        self._error = structs.Error()
        self._error_reference = byref(self._error)
        control = {"DISABLED": not enabled, "SKIP_UNAVAILABLE": skip_unavailable, "ON_CPU": cpu is not None}
        how = {"ORDERED": ordered, "SUBTRACT": subtract, "SYSCALL_ONLY": syscall_only}
        self._options = structs.options(
            structs.SessionOptions,
            flags=structs.flags("SESSION", KERNEL=kernel, PINNED=pinned, INHERIT=inherit, **control, **how),
            relative_error=checked_error(relative_error),
            thread=_i32(thread, "thread"),
            cpu=0 if cpu is None else _i32(cpu, "cpu"),
            counter_bits=checked_counter_bits(counter_bits),
        )
        raw = (structs.Event * len(parsed))(*(event._raw for event in parsed))
        # Without the GIL: the first session of a process may test user reads and clocks for some milliseconds.
        pointer = create(released.session_create, byref(self._options), raw, len(parsed), events=self._specs)
        self._pointer = own(pointer, held.session_free)
        self._events = tuple(self._event(index, spec) for index, spec in enumerate(self._specs))

    def _event(self, index: int, spec: str) -> Event:
        return Event._adopt(fetch(structs.Event, "session event", self._call, held.session_event, index), spec)

    # ── what is counted ────────────────────────────────────────────────────────────────────────────────

    @property
    def events(self) -> tuple[Event, ...]:
        """The events, in the order given."""
        return self._events

    @property
    def info(self) -> tuple[EventInfo, ...]:
        """How each event is counted, or why it is not."""
        return tuple(self._info(index) for index in range(len(self._specs)))

    def _info(self, index: int) -> EventInfo:
        kept = self._kept
        raw = self._raw_info(index) if kept is None else kept.infos[index]
        message = c_name(raw.message)
        if raw.status != 0:
            is_cut_off = message.endswith("\u2026")
            message = (is_cut_off and self._explanation(index)) or message or status_text(raw.status)
        counts = raw.not_counted_count, raw.overhead_fast, raw.overhead_syscall, raw.flags
        return EventInfo(
            self._specs[index], self._events[index].name, raw.status, raw.os_errno or None, message, raw.group, *counts
        )

    def _raw_info(self, index: int) -> structs.EventInfo:
        return fetch(structs.EventInfo, "session event info", self._call, held.session_event_info, index)

    def _explanation(self, index: int) -> str:
        """The full reason why an event cannot be counted: errors have more room. Opens the event again, alone."""
        known = self._explanations.get(index)
        if known is None:
            options = structs.SessionOptions.from_buffer_copy(self._options)
            options.flags &= ~structs.SESSION_SKIP_UNAVAILABLE
            pointer, error = c_void_p(), structs.Error()
            event = byref(self._events[index]._raw)
            if released.session_create(byref(options), event, 1, byref(pointer), byref(error)) == 0:
                held.session_free(pointer)  # it can be counted by now
            known = self._explanations[index] = c_name(error.message)
        return known

    @property
    def missing(self) -> tuple[EventInfo, ...]:
        """The events that are not counted, with the reasons. Only with ``skip_unavailable``."""
        return tuple(info for info in self.info if not info.available)

    def __len__(self) -> int:
        return len(self._specs)

    def index(self, event: Union[int, str, Event]) -> int:
        """The position of an event, from its position, its text given to the session, or its full name."""
        if isinstance(event, int):
            position = event if event >= 0 else event + len(self)
            if not 0 <= position < len(self):
                raise IndexError(f"the session has {len(self)} events, so {event} is out of range")
            return position
        spec = event.spec if isinstance(event, Event) else event
        if spec in self._specs:
            return self._specs.index(spec)
        names = [known.name for known in self._events]
        if spec in names:
            return names.index(spec)
        raise KeyError(f"the session has no event {spec!r}; it has {', '.join(self._specs)}")

    # ── control ────────────────────────────────────────────────────────────────────────────────────────

    def enable(self) -> None:
        """Starts counting, from a new base."""
        self._controlled(held.session_enable)

    def disable(self) -> None:
        """Stops counting."""
        self._controlled(held.session_disable)

    def reset(self) -> None:
        """Counts from a new base, with empty histograms."""
        self._controlled(held.session_reset)

    def calibrate(self) -> None:
        """Measures the overhead of a pair of reads, which :attr:`info` reports and ``subtract`` subtracts."""
        self._controlled(held.session_calibrate)

    def _controlled(self, function: Any) -> None:
        check_detail(self._call(function, self._error_reference), self._error, self._specs)

    def _call(self, function: Any, *arguments: Any) -> int:
        pointer = self._handle()
        if self._lock is None:
            status: int = function(pointer, *arguments)
        else:
            with self._lock:
                status = function(pointer, *arguments)
        return status

    # ── measuring ──────────────────────────────────────────────────────────────────────────────────────

    def read(self, how: How = "auto") -> None:
        """Takes a reading of all events. See :meth:`readings` and :meth:`record`.

        :raises WrongThreadError: on a thread other than the one that opened the session, unless through the kernel.
        """
        try:
            code = _HOW[how]
        except (KeyError, TypeError):
            code = choice(how, _HOW, "how")
        # With the GIL held: otherwise, the measurement would include getting it back.
        status = self._call(held.session_read, code, self._error_reference)
        if status != 0:
            check_detail(status, self._error, self._specs)

    def record(self, deltas: bool = True) -> None:
        """Records into the histograms the counts between the last two readings, or since the base.

        An event that was not counted records nothing, and its :attr:`info` reports how often.

        :raises EmptyError: if nothing was read since the last call.
        """
        check(self._call(held.session_record, bool(deltas)), "session record")

    def readings(self, deltas: bool = True) -> tuple[Reading, ...]:
        """The count of each event between the last two readings, or since the base."""
        kept = self._kept
        status, found = self._raw_readings(bool(deltas)) if kept is None else kept.readings[bool(deltas)]
        check(status, "session readings")
        return tuple(
            Reading(raw.value if raw.status == 0 else None, raw.raw, raw.time_enabled, raw.time_running, raw.flags, raw.status)
            for raw in found
        )

    def _raw_readings(self, deltas: bool) -> tuple[int, Any]:
        found = (structs.Reading * len(self))()
        return self._call(held.session_readings, deltas, found, len(self), byref(c_size_t())), found

    def measure(self, how: How = "auto") -> Measurement:
        """``with session.measure(): ...`` reads before and after the block, and records the counts in between.

        The counts include about a microsecond of Python's own work; :attr:`Measurement.readings` are the deltas.
        """
        choice(how, _HOW, "how")
        return Measurement(self, how)

    # ── results ────────────────────────────────────────────────────────────────────────────────────────

    def histogram(self, event: Union[int, str, Event]) -> Histogram:
        """The histogram of an event. It outlives the session.

        :raises PicolloError: if the event is not counted, with the reason.
        """
        position = self.index(event)
        known = self._histograms.get(position)
        kept = self._kept
        if known is not None and (kept is not None or not known.closed):
            return known
        pointer = c_void_p()
        if kept is None:
            status = self._call(held.session_histogram_ref, position, byref(pointer))
        else:
            status = kept.infos[position].status
        if status != 0:
            info = self._info(position)
            raise from_status(status, info.message, info.errno, info.spec)
        histogram = Histogram._adopt(pointer, self._specs[position])
        self._histograms[position] = histogram
        return histogram

    @property
    def histograms(self) -> dict[str, Histogram]:
        """The histograms of all counted events, by the names given for the events."""
        return {
            info.spec: self.histogram(position) for position, info in enumerate(self.info) if info.available
        }

    def explain_missing(self) -> str:
        """The events that are not counted and why, a paragraph for each reason; ``""`` if all are counted."""
        reasons: dict[str, list[str]] = {}
        for info in self.missing:
            # Explanations begin with the event's name; without it, those with the same cause are equal.
            prefix = f"{info.name}: "
            reason = info.message[len(prefix) :] if info.message.startswith(prefix) else info.message
            reasons.setdefault(reason, []).append(info.spec)
        return "\n\n".join(
            f"{', '.join(specs)} {'is' if len(specs) == 1 else 'are'} not counted: {reason}"
            for reason, specs in reasons.items()
        )

    def markdown(self) -> str:
        """A table for each event that is counted, and the reasons for those that are not."""
        parts = [histogram.summary().markdown() for histogram in self.histograms.values()]
        missing = self.explain_missing()
        return "\n".join([*parts, missing + "\n"] if missing else parts)

    def __str__(self) -> str:
        return self.markdown()

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def __repr__(self) -> str:
        state = " closed" if self.closed else ""
        return f"<picollo.Session [{', '.join(self._specs)}]{state}>"

    # ── life ───────────────────────────────────────────────────────────────────────────────────────────

    def close(self) -> None:
        """Stops counting and closes the counters. May be called again.

        Histograms, the last readings, and the reasons for missing events remain. Only new counting raises
        :class:`ClosedError`.
        """
        if self._pointer is None:
            return
        # After a fork there is nothing to keep, and another thread may be closing it too.
        with contextlib.suppress(PicolloError):
            infos = tuple(self._raw_info(index) for index in range(len(self)))
            for position, info in enumerate(infos):
                if info.status == 0:
                    self.histogram(position)
            self._kept = _Kept(infos, {deltas: self._raw_readings(deltas) for deltas in (False, True)})
        self._pointer = None

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._pointer is None

    def __enter__(self) -> Session:
        self._handle()
        return self


class _Kept(NamedTuple):
    """The data that remains of a closed session."""

    infos: tuple[structs.EventInfo, ...]
    #: Since the base, and the deltas, each with the status of its request.
    readings: dict[bool, tuple[int, Any]]


class Measurement:
    """One or more successive uses of :meth:`Session.measure`. Records also when the block raises."""

    __slots__ = ("_how", "_session")

    def __init__(self, session: Session, how: How) -> None:
        """Not for callers: see :meth:`Session.measure`."""
        self._session = session
        self._how = how

    @property
    def readings(self) -> tuple[Reading, ...]:
        """The count of each event in the block, until the session is read again."""
        return self._session.readings(deltas=True)

    def __enter__(self) -> Measurement:
        self._session.read(self._how)
        return self

    def __exit__(self, *exception: Any) -> None:
        self._session.read(self._how)
        self._session.record(deltas=True)


def _i32(value: int, name: str) -> int:
    number = integer(value, name)
    if not -(2**31) <= number < 2**31:
        raise ValueError(f"{name} must be a 32-bit integer, not {number}")
    return number
