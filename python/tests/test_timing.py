"""Decorators and scopes, with tasks and threads."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
import time
from collections.abc import AsyncGenerator, Generator
from typing import Any

import pytest
from conftest import assert_refused, in_threads

import picollo
from picollo import Histogram, timed

LONG = 0.03  # seconds that must not be in a result


def spin(milliseconds: float = 2) -> None:
    end = time.perf_counter() + milliseconds / 1000
    while time.perf_counter() < end:
        pass


def millis(histogram: Histogram) -> float:
    assert histogram.total_count == 1
    return histogram.summary().max / 1e6


def test_functions() -> None:
    histogram = Histogram()

    @timed(histogram)
    def add(a: int, b: int = 2) -> int:
        """Adds."""
        spin()
        return a + b

    assert add(1, b=5) == 6
    assert (add.__name__, add.__doc__) == ("add", "Adds.")
    assert list(inspect.signature(add).parameters) == ["a", "b"]
    assert millis(histogram) >= 1.9


def test_units_and_clocks() -> None:
    for unit, low, high in [("nanos", 1.9e6, 1e9), ("micros", 1900, 1e6), ("millis", 1, 1000), ("picos", 1.9e9, 1e12)]:
        for clock in ("tsc", "monotonic"):
            histogram = Histogram()
            timed(histogram, unit, clock)(spin)()  # type: ignore[arg-type]
            assert low <= histogram.summary().max <= high
            histogram = Histogram()

            def items() -> Generator[int, None, None]:
                spin()
                yield 5

            assert list(timed(histogram, unit, clock)(items)()) == [5]  # type: ignore[arg-type]
            assert low <= histogram.summary().max <= high


def test_wrong_arguments() -> None:
    closed = Histogram()
    closed.close()
    assert_refused(
        (lambda: timed(spin), TypeError, "timed takes the histogram to record into"),  # type: ignore[arg-type]
        (lambda: timed(Histogram(), "days"), ValueError, "unit must be one of"),  # type: ignore[arg-type]
        (lambda: timed(Histogram(), clock="sundial"), ValueError, "clock must be one of"),  # type: ignore[arg-type]
        (lambda: timed(closed), picollo.ClosedError, "closed"),
    )


def test_exceptions_recursion_methods_and_partials() -> None:
    histogram = Histogram()

    @timed(histogram)
    def fail() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        fail()

    @timed(histogram)
    def factorial(n: int) -> int:
        return n * factorial(n - 1) if n else 1

    # The second call nests scopes that were used before.
    assert [factorial(5), factorial(5)] == [120, 120]
    assert histogram.total_count == 13

    class Thing:
        @timed(histogram)
        def method(self) -> object:
            return self

        @staticmethod
        @timed(histogram)
        def static() -> int:
            return 5

    thing = Thing()
    assert thing.method() is thing and Thing.static() == 5
    assert timed(histogram)(functools.partial(factorial, 0))() == 1
    assert histogram.total_count == 13 + 2 + 2


def test_threads() -> None:
    histogram, inside = Histogram(), threading.Barrier(4)
    meet = timed(histogram)(inside.wait)

    def many() -> None:
        for _ in range(50):
            meet()

    in_threads(*[many] * 4)
    assert histogram.total_count == 200


def test_coroutines_with_and_without_waiting() -> None:
    latency, busy = Histogram(), Histogram()

    async def work(result: int) -> int:
        spin()
        await asyncio.sleep(LONG)
        spin()
        return result

    measured = timed(latency)(timed(busy, suspended=False)(work))
    assert inspect.iscoroutinefunction(measured)
    assert asyncio.run(measured(5)) == 5
    assert millis(latency) >= LONG * 1000 + 3.9
    assert 3.9 <= millis(busy)
    assert busy.summary().max < latency.summary().max - LONG * 0.9e9


@pytest.mark.parametrize("suspended", [None, True, False])
def test_cancelled_and_failing_coroutines(suspended: Any) -> None:
    histogram = Histogram()
    seen: list[str] = []

    @timed(histogram, suspended=suspended)
    async def wait() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    @timed(histogram, suspended=suspended)
    async def fail() -> None:
        await asyncio.sleep(0)
        raise KeyError

    async def run() -> None:
        task = asyncio.ensure_future(wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(KeyError):
            await fail()

    asyncio.run(run())
    assert seen == ["cancelled"] and histogram.total_count == 2


def test_tasks_that_overlap_and_async_with() -> None:
    histogram = Histogram()
    wait = timed(histogram)(asyncio.sleep)

    async def run() -> None:
        await asyncio.gather(*(wait(LONG) for _ in range(50)))
        async with histogram.nano_scope() as scope:
            await asyncio.sleep(LONG)
        assert scope.elapsed >= LONG * 0.99e9
        with pytest.raises(KeyError):
            async with scope:
                raise KeyError

    asyncio.run(run())
    assert histogram.total_count == 52 and histogram.summary()[5] >= LONG * 0.99e9


def echo(log: list[Any]) -> Generator[Any, Any, str]:
    received = "start"
    try:
        while received != "stop":
            try:
                received = yield received
            except ValueError as error:
                received = f"caught {error}"
    finally:
        log.append("closed")
    return "done"


def drive(generator: Generator[Any, Any, str]) -> list[Any]:
    out = [next(generator), generator.send("a"), generator.throw(ValueError("b")), generator.send(None)]
    with pytest.raises(StopIteration) as stop:
        generator.send("stop")
    return [*out, stop.value.value]


@pytest.mark.parametrize("suspended", [None, True, False])
def test_generators_behave_as_before(suspended: Any) -> None:
    histogram = Histogram()
    log: list[Any] = []
    measured = timed(histogram, suspended=suspended)(echo)
    assert inspect.isgeneratorfunction(measured)
    assert drive(measured(log)) == drive(echo([])) == ["start", "a", "caught b", None, "done"]
    assert log == ["closed"] and histogram.total_count == 1

    generator = measured(log)
    next(generator)
    assert histogram.total_count == 1
    generator.close()
    assert log == ["closed"] * 2 and histogram.total_count == 2
    with pytest.raises(KeyError):
        generator = measured(log)
        next(generator)
        generator.throw(KeyError())
    assert log == ["closed"] * 3 and histogram.total_count == 3


def test_generators_without_their_consumers() -> None:
    own, whole = Histogram(), Histogram()

    def items() -> Generator[int, None, None]:
        spin()
        yield 1
        spin()

    # The fastest of several, of more on a busy machine: another process may take the CPU at any time.
    for _ in range(100):
        for histogram, suspended in ((own, None), (whole, True)):
            for _ in timed(histogram, suspended=suspended)(items)():
                time.sleep(LONG)
        quickest = {name: h.summary().percentiles[0].value / 1e6 for name, h in (("own", own), ("whole", whole))}
        if quickest["own"] < LONG * 1000:
            break
    assert quickest["whole"] >= LONG * 1000 + 3.9
    assert 3.9 <= quickest["own"] < LONG * 1000


@pytest.mark.parametrize("suspended", [None, True, False])
def test_async_generators(suspended: Any) -> None:
    histogram = Histogram()
    log: list[str] = []

    @timed(histogram, suspended=suspended)
    async def items() -> AsyncGenerator[Any, Any]:
        received: Any = "start"
        try:
            while received != "stop":
                await asyncio.sleep(LONG / 3)
                try:
                    received = yield received
                except ValueError as error:
                    received = f"caught {error}"
        finally:
            await asyncio.sleep(0)
            log.append("closed")

    assert inspect.isasyncgenfunction(items)

    async def run() -> None:
        generator = items()
        assert await generator.asend(None) == "start"
        assert await generator.asend("a") == "a"
        assert await generator.athrow(ValueError("b")) == "caught b"
        with pytest.raises(StopAsyncIteration):
            await generator.asend("stop")
        assert log == ["closed"] and histogram.total_count == 1
        limit = histogram.summary().max
        assert limit >= LONG * 0.99e9 if suspended else limit < LONG * 1e9
        generator = items()
        async for item in generator:
            break
        await generator.aclose()
        assert log == ["closed"] * 2 and histogram.total_count == 2
        with pytest.raises(KeyError):
            generator = items()
            await generator.asend(None)
            await generator.athrow(KeyError())
        assert histogram.total_count == 3

    asyncio.run(run())
