"""Exemplars of threads, tasks and forked processes: times that others may share are not reported."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import threading
import time
import types
from typing import Any, AsyncIterator, Awaitable, Callable, Iterator

import pytest
from conftest import assert_refused, forked, in_threads
from test_exemplars import MILLI, OFTEN, ordinary, spin

from picollo import Exemplars, Cause, Histogram, KeptExemplar, errors, timed, write_log


def nothing_is_known(kept: KeptExemplar) -> bool:
    return kept.cause is Cause.NOT_KNOWN and kept.on_cpu_nanos is kept.run_delay_nanos is kept.voluntary_switches is None


def on_another_thread(slow: Exemplars) -> None:
    scope = slow.scope()
    scope.__enter__()

    def elsewhere() -> None:
        spin(0.06)
        scope.__exit__(None, None, None)

    in_threads(elsewhere)


def without_asyncio(slow: Exemplars) -> None:
    """With any loop that runs coroutines."""

    @types.coroutine
    def pause() -> Any:
        yield

    async def task() -> None:
        with slow.scope():
            await pause()

    coroutine = task()
    coroutine.send(None)
    spin(0.06)
    with pytest.raises(StopIteration):
        coroutine.send(None)


def in_a_loop(ask: Callable[[Exemplars], Awaitable[None]]) -> Callable[[Exemplars], None]:
    """It waits while its thread spins for another task: by the thread's accounts it would have spun."""

    async def other() -> None:
        for _ in range(20):
            spin(0.003)
            await asyncio.sleep(0)

    async def main(slow: Exemplars) -> None:
        await asyncio.gather(ask(slow), other())

    return lambda slow: asyncio.run(main(slow))


async def asks(slow: Exemplars) -> None:
    with slow.scope():
        await asyncio.sleep(0.06)


async def asks_async(slow: Exemplars) -> None:
    async with slow.scope():
        await asyncio.sleep(0.06)


async def asks_in_a_stack(slow: Exemplars) -> None:
    with contextlib.ExitStack() as stack:
        stack.enter_context(slow.scope())
        await asyncio.sleep(0.06)


async def asks_timed(slow: Exemplars) -> None:
    await timed(slow)(asyncio.sleep)(0.06)


@pytest.mark.parametrize("use", [on_another_thread, without_asyncio, *map(in_a_loop, (asks, asks_async, asks_in_a_stack, asks_timed))])
def test_nothing_is_known_of_a_shared_scope(use: Callable[[Exemplars], None]) -> None:
    slow = Exemplars(Histogram(), slowest=1, **OFTEN)
    ordinary(slow, 100)
    use(slow)
    kept = slow.collect().exemplars[0]
    assert kept.value >= 55 * MILLI and nothing_is_known(kept), kept


def test_timed_functions() -> None:
    histogram = Histogram()
    slow = Exemplars(histogram, slowest=100)

    @timed(slow)
    def work(n: int) -> int:
        """Recursive."""
        time.sleep(0.01)
        return n and work(n - 1)

    @timed(slow)
    def items() -> Iterator[int]:
        yield 1
        time.sleep(0.02)
        yield 2

    @timed(slow, suspended=False)
    async def busy() -> None:
        await asyncio.sleep(0.05)

    @timed(slow)
    async def stream() -> AsyncIterator[int]:
        yield 1

    assert work.__doc__ == "Recursive." and work(2) == 0
    kept = slow.collect().exemplars
    assert histogram.total_count == 3 and kept[0].value >= 30 * MILLI > 12 * MILLI
    assert all(one.on_cpu_nanos is not None for one in kept)
    assert list(items()) == [1, 2]
    (kept_items,) = slow.collect().exemplars
    assert kept_items.value >= 20 * MILLI and nothing_is_known(kept_items)

    async def main() -> list[int]:
        await busy()
        return [item async for item in stream()]

    assert asyncio.run(main()) == [1]
    assert histogram.total_count == 6
    assert all(nothing_is_known(one) and one.value < 50 * MILLI for one in slow.collect().exemplars)
    calls = (lambda: timed(slow, unit="micros"), lambda: timed(slow, clock="monotonic"))
    assert_refused(*((call, TypeError, "made with its unit") for call in calls))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_fork() -> None:
    histogram = Histogram()
    slow = Exemplars(histogram)
    ordinary(slow, 50)
    scope = slow.scope()
    scope.__enter__()

    def child() -> None:
        scope.__exit__(None, None, None)
        with slow.scope():
            time.sleep(0.01)
        with contextlib.suppress(errors.ForkedError):
            assert any(one.value >= 10 * MILLI for one in slow.collect().exemplars)

    assert forked(child) == 0
    scope.__exit__(None, None, None)
    interval = slow.collect()
    assert interval.observations == histogram.total_count == 51


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_beside_another_thread() -> None:
    """The child works whatever that thread is doing."""
    slow, log = Exemplars(Histogram()), write_log(io.BytesIO())
    is_held, is_over = threading.Event(), threading.Event()

    def hold() -> None:
        with slow._lock, log._lock:
            is_held.set()
            is_over.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    is_held.wait()
    status = forked(lambda: (slow.collect(), log.close()))  # type: ignore[func-returns-value]
    is_over.set()
    thread.join()
    assert status == 0
    slow.collect()
