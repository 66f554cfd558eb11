"""Which observations of a histogram were slow, and why. See ``docs/why-slow.md``."""

from __future__ import annotations

import sys
from ctypes import addressof, byref, c_void_p
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_ITERABLE_COROUTINE
from typing import Any, Callable, Literal, Optional, get_args

from . import _structs as structs
from ._arguments import choice, u32, u64
from ._calls import create, explained, read_text
from ._handle import Handle, Lock
from ._library import held, own, released
from .errors import check
from .histogram import Histogram
from .registry import Registry
from .causes import ExemplarInterval, TraceContext

__all__ = ["ExemplarScope", "Exemplars"]

_BEGIN = held.exemplars_begin
_END = held.exemplars_end
_KEPT = structs.EXEMPLAR_KEPT
_FRAME, _MODULES = sys._getframe, sys.modules

#: The unit that scopes record in.
Unit = Literal["nanos", "micros", "millis", "picos"]

_UNITS = structs.codes("UNIT", get_args(Unit))

#: Code whose frames are suspended by event loops.
_SUSPENDED = CO_COROUTINE | CO_ITERABLE_COROUTINE | CO_ASYNC_GENERATOR

#: Finds the context of the observation that just ended.
Lookup = Callable[[], Optional[TraceContext]]


def current_span() -> Optional[TraceContext]:
    """OpenTelemetry's current span if the program uses that package; otherwise ``None``."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return None
    span = trace.get_current_span().get_span_context()
    return TraceContext(f"{span.trace_id:032x}", f"{span.span_id:016x}") if span.is_valid else None


class ExemplarScope:
    """Times a ``with`` block and records the result, and keeps a slow one with its causes; also when the block raises.

    It begins and ends on one thread. It takes no evidence from the thread in a coroutine, or while an asyncio event
    loop runs in the thread: the thread may have worked for other tasks. This holds for ``with`` and ``async with``. A
    scope can be kept and entered again, one use at a time; recursion, other threads and other tasks need one each.
    """

    __slots__ = ("_active", "_address", "_context", "_kept", "_label", "_owner", "_raw")

    def __init__(self, owner: c_void_p, context: Lookup, label: int) -> None:
        """Not for callers: see :meth:`Exemplars.scope`."""
        self._raw = structs.ExemplarScope()
        # An address passes faster than a reference, and is valid as long as the struct beside it.
        self._address = addressof(self._raw)
        # Keeps the collector alive.
        self._owner = owner
        self._context, self._label = context, label
        self._active = self._kept = False

    @property
    def kept(self) -> bool:
        """Whether the last use is kept so far; a slower one may take its place."""
        return self._kept

    def annotate(self, context: TraceContext) -> None:
        """Replaces the context that was looked up. Call it on the thread that the observation ended on. If the
        observation was not kept, or no longer is, nothing happens.
        """
        if self._kept:
            raw = context._native()
            check(held.exemplars_annotate(self._owner, self._address, byref(raw)), "exemplar")

    def __enter__(self) -> ExemplarScope:
        # All one function: after a request its code is in no cache, and each further call would take a microsecond.
        if self._active:
            raise RuntimeError("the scope is already active: nested and concurrent uses need a scope each")
        self._active, self._kept = True, False
        # The thread may run other tasks before the scope ends, in coroutines of any loop. The same holds for everything
        # called while an asyncio loop runs in this thread, as the scope may belong to a suspended task.
        is_shared = _FRAME(1).f_code.co_flags & _SUSPENDED
        if not is_shared and (events := _MODULES.get("asyncio.events")) is not None:
            is_shared = events._get_running_loop() is not None
        _BEGIN(self._owner, self._address)
        if self._label:
            self._raw.label = self._label
        if is_shared:
            self._raw.thread = None
        return self

    def __exit__(self, *exception: Any) -> None:
        if not self._active:
            raise RuntimeError("the scope is not active")
        self._kept = _END(self._owner, self._address) == _KEPT
        self._active = False
        if self._kept:
            context = self._context()
            if context is not None:
                self.annotate(context)

    async def __aenter__(self) -> ExemplarScope:
        return self.__enter__()  # a coroutine called this function

    async def __aexit__(self, *exception: Any) -> None:
        self.__exit__()


class Exemplars(Handle):
    """Keeps the slowest observations of a histogram with links to their requests, and explains why they were slow.

    ::

        slow = picollo.Exemplars(latency)

        with slow.scope():                      # records into the histogram as latency.nano_scope() does
            handle(request)
        ...
        print(slow.collect())                   # why those above P99 were slow, and the slowest with their traces

    Any thread may use one. In the child of a fork it starts empty. Linux only.

    :param histogram: scopes and :meth:`offer` record into it. It may be closed earlier.
    :param threshold: an observation above it, or rather above the end of its bucket, is slow, as recorded; 0: P99 of
        the previous interval, and in the first interval the slowest.
    :param unit: the unit that scopes record in: ``"nanos"``, ``"micros"``, ``"millis"`` or ``"picos"``.
    :param slowest: how many of the slowest an interval keeps, up to 65,536, besides the latest of each octave of
        values.
    :param threads: for how many threads of the process the kernel's account of the run queue stays open; for other
        threads, waiting is not split.
    :param rate: how many slow observations a thread examines in a second; more are counted. The slowest is never lost.
    :param controls: how many ordinary observations are examined in a second, to learn what is usual.
    :param ring: whether to ask the kernel for its records of context switches and page faults, which make some times more precise.
    :param counters: whether each examined thread counts its instructions and cycles, if there are counters: this
        separates more work from slower work.
    :param context: called on the observation's thread when one is kept, for its context. Default: that of
        OpenTelemetry's current span, if that package is in use. The scope raises what it raises.
    :raises UnsupportedError: on systems other than Linux.
    """

    __slots__ = ("_lock", "_lookup", "unit")

    _KIND = "collector of exemplars"
    _NOT_PICKLED = "a collector of exemplars cannot be pickled; what it collects can"

    def __init__(
        self,
        histogram: Histogram,
        threshold: int = 0,
        unit: Unit = "nanos",
        *,
        slowest: int = 16,
        threads: int = 64,
        rate: int = 1000,
        controls: int = 20,
        ring: bool = True,
        counters: bool = False,
        context: Lookup = current_span,
    ) -> None:
        self._pointer = None
        if not isinstance(histogram, Histogram):
            raise TypeError(f"exemplars are of a histogram, not of {type(histogram).__name__}")
        if not callable(context):
            raise TypeError(f"context must be a function, not {type(context).__name__}")
        options = structs.options(
            structs.ExemplarsOptions,
            flags=structs.flags("EXEMPLARS", NO_RING=not ring, NO_SLOWEST=not slowest, COUNTERS=counters),
            threshold=u64(threshold, "threshold"),
            unit=choice(unit, _UNITS, "unit"),
            slowest=u32(slowest, 0, "slowest"),
            threads=u32(threads, 1, "threads"),
            rate=u32(rate, 1, "rate"),
            controls=u32(controls, 1, "controls"),
        )
        # Without the GIL: the first collector of a process may calibrate the clock for some milliseconds.
        self._pointer = own(create(released.exemplars_create, histogram._handle(), byref(options)), held.exemplars_free)
        self._lookup = context
        #: The unit that scopes record in.
        self.unit: Unit = unit
        # For reading: one interval takes several calls.
        self._lock = Lock()

    def scope(self, label: int = 0) -> ExemplarScope:
        """Times a ``with`` block: ``with slow.scope(): ...``.

        :param label: distinguishes up to 16 kinds of observations, as what is usual for one may not be for another.
        """
        return ExemplarScope(self._handle(), self._lookup, u32(label, 0, "label"))

    def offer(self, value: int, context: Optional[TraceContext] = None) -> bool:
        """Records a value that was timed elsewhere; returns whether it is kept. Its causes are unknown."""
        raw = None if context is None else byref(context._native())
        return bool(held.exemplars_offer(self._handle(), u64(value, "value"), raw))

    def prepare_thread(self) -> None:
        """Opens the kernel's account of the calling thread now instead of at its first slow observation.

        :raises UnsupportedError: if there is none, or ``threads`` threads have theirs. The collector still works.
        """
        explained(released.exemplars_prepare_thread, self._handle())

    def collect(self) -> ExemplarInterval:
        """Ends the interval, begins the next one, and returns the slow observations and causes of the ended one."""
        handle = self._handle()
        with self._lock:
            explained(released.exemplars_collect, handle)
            return _interval(handle)

    def publish(self, registry: Registry, number: int) -> None:
        """From now on, writes the exemplars of the last collected interval with a histogram of a registry. Their traces
        and causes become labels.

        :param number: the result of :meth:`Registry.add`.
        :raises EmptyError: if nothing was collected yet.
        :raises InvalidArgumentError: if there is no metric with this number.
        """
        with self._lock:
            explained(released.exemplars_publish, self._handle(), registry._handle(), u64(number, "number"))

    def __repr__(self) -> str:
        return f"<picollo.Exemplars{' closed' if self._pointer is None else ''}>"


def _interval(handle: c_void_p) -> ExemplarInterval:
    """Reads the last collected interval from the library."""

    def text(form: int) -> str:
        return read_text(lambda *buffer: released.exemplars_format(handle, form, *buffer), "interval of exemplars")

    return ExemplarInterval(*map(text, (structs.TEXT_HUMAN, structs.TEXT_JSON, structs.TEXT_MARKDOWN, structs.TEXT_HTML)))
