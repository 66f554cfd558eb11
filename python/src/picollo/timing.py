"""``@picollo.timed(histogram)`` records how long calls of all kinds of Python functions take, and which were slow."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Generator
from typing import Any, Callable, Optional, TypeVar, Union, cast

from .clock import Clock, Unit, clock_code, convert, ticks, unit_code
from .exemplars import Exemplars, ExemplarScope
from .histogram import Histogram
from .scope import Scope

_Function = TypeVar("_Function", bound=Callable[..., Any])


def timed(
    histogram: Union[Histogram, Exemplars], unit: Unit = "nanos", clock: Clock = "tsc", *, suspended: Optional[bool] = None
) -> Callable[[_Function], _Function]:
    """Records how long each call of a function takes, also when it raises.

    ::

        @picollo.timed(latency)
        def handle(request): ...

        @picollo.timed(latency, unit="micros")
        async def fetch(url): ...

    With a collector of exemplars, which defines the unit, it also keeps which calls were slow, and why. For coroutines
    and generators, causes are unknown: their thread works for others meanwhile.

    Recursive calls, calls on many threads and overlapping tasks are recorded separately.

    :param unit: the recorded unit: ``"nanos"``, ``"micros"``, ``"millis"``, ``"picos"``, or ``"ticks"`` of the clock.
    :param suspended: count the time in which a coroutine is suspended (default: yes, as its caller sees that latency),
        or in which a generator waits for the next request (default: no, as that is its consumer's time). A coroutine's
        own time, without the waiting, is how long it blocks the event loop.

    A generator is recorded once, when it ends or is closed.
    """
    scopes = _ExemplarScopes(histogram, unit, clock) if isinstance(histogram, Exemplars) else _Scopes(histogram, unit, clock)

    def decorate(function: _Function) -> _Function:
        wrapper: Callable[..., Any]
        if inspect.isasyncgenfunction(function):

            @functools.wraps(function)
            async def wrapper(*args: Any, **kwargs: Any) -> Any:
                generator, meter = function(*args, **kwargs), _Meter(scopes, bool(suspended))
                step = generator.asend(None)
                try:
                    while True:
                        try:
                            item = await _Steps(step, meter)
                        except StopAsyncIteration:
                            return
                        try:
                            sent = yield item
                        except GeneratorExit:
                            await _Steps(generator.aclose(), meter)
                            raise
                        except BaseException as error:
                            step = generator.athrow(error)
                        else:
                            step = generator.asend(sent)
                finally:
                    meter.record()

        elif inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                meter = _Meter(scopes, bool(suspended))
                try:
                    return (yield from _steps(function(*args, **kwargs), meter))
                finally:
                    meter.record()

        elif inspect.iscoroutinefunction(function) and suspended is False:

            @functools.wraps(function)
            async def wrapper(*args: Any, **kwargs: Any) -> Any:
                meter = _Meter(scopes, False)
                try:
                    return await _Steps(function(*args, **kwargs), meter)
                finally:
                    meter.record()

        elif inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def wrapper(*args: Any, **kwargs: Any) -> Any:
                scope = scopes.take()
                try:
                    with scope:
                        return await function(*args, **kwargs)
                finally:
                    scopes.give(scope)

        else:

            @functools.wraps(function)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                scope = scopes.take()
                try:
                    with scope:
                        return function(*args, **kwargs)
                finally:
                    scopes.give(scope)

        return cast(_Function, wrapper)

    return decorate


class _Scopes:
    """Scopes of one histogram, kept for the next call, because making one takes as long as using it."""

    __slots__ = ("_free", "clock", "make", "record", "unit")

    #: Makes a scope for one call at a time.
    make: Callable[[], Any]
    #: Records a sum of times, in the unit.
    record: Callable[[int], Any]

    def __init__(self, histogram: Histogram, unit: Unit, clock: Clock) -> None:
        if not isinstance(histogram, Histogram):
            raise TypeError(
                f"timed takes the histogram to record into, as in @picollo.timed(latency), not {type(histogram).__name__}"
            )
        self.unit, self.clock, self.record = unit, clock, histogram.record
        # A closed histogram lives on in the objects made from it, and so in all scopes of these calls.
        self.make = functools.partial(Scope, histogram._handle(), clock_code(clock), unit_code(unit))
        # This reports wrong arguments here, not at the first call. Append and pop are atomic, with a GIL or without.
        self._free: list[Any] = [self.make()]

    def take(self) -> Any:
        try:
            return self._free.pop()
        except IndexError:
            return self.make()

    def give(self, scope: Any) -> None:
        self._free.append(scope)


class _ExemplarScopes(_Scopes):
    """Scopes of a collector of exemplars."""

    __slots__ = ()

    def __init__(self, exemplars: Exemplars, unit: Unit, clock: Clock) -> None:
        if (unit, clock) != ("nanos", "tsc"):
            raise TypeError("timed takes no unit and no clock with a collector of exemplars, which was made with its unit")
        self.unit, self.clock, self.record = exemplars.unit, clock, exemplars.offer
        # As above, a closed collector lives on in its scopes.
        self.make = functools.partial(ExemplarScope, exemplars._handle(), exemplars._lookup, 0)
        self._free = [self.make()]


class _Meter:
    """Adds up the durations of the steps of one call."""

    __slots__ = ("_begin", "_clock", "_scopes", "_suspended", "_total")

    def __init__(self, scopes: _Scopes, suspended: bool) -> None:
        self._scopes = scopes
        self._clock: Clock = scopes.clock
        self._suspended = suspended
        self._total = 0
        self._begin = ticks(self._clock)

    def resume(self) -> None:
        if not self._suspended:
            self._begin = ticks(self._clock)

    def suspend(self) -> None:
        if not self._suspended:
            # Clocks of different processors may be apart by a few ticks.
            self._total += max(0, ticks(self._clock) - self._begin)

    def record(self) -> None:
        if self._suspended:
            self._total = max(0, ticks(self._clock) - self._begin)
        self._scopes.record(convert(self._total, self._scopes.unit, self._clock))


def _steps(stepped: Any, meter: _Meter) -> Generator[Any, Any, Any]:
    """``yield from stepped``, with each step timed (PEP 380 describes the semantics)."""
    step: Callable[[], Any] = functools.partial(stepped.send, None)
    while True:
        meter.resume()
        try:
            item = step()
        except StopIteration as stop:
            return stop.value
        finally:
            meter.suspend()
        try:
            sent = yield item
        except GeneratorExit:
            meter.resume()
            try:
                stepped.close()
            finally:
                meter.suspend()
            raise
        except BaseException as error:
            step = functools.partial(stepped.throw, error)
        else:
            step = functools.partial(stepped.send, sent)


class _Steps(Awaitable[Any]):
    """Awaits a coroutine, with each step timed."""

    __slots__ = ("_coroutine", "_meter")

    def __init__(self, coroutine: Any, meter: _Meter) -> None:
        self._coroutine = coroutine
        self._meter = meter

    def __await__(self) -> Generator[Any, Any, Any]:
        return _steps(self._coroutine, self._meter)
