"""Counters of one word: exact ones exactly, approximate ones within their error; and figures derived from counts."""

from __future__ import annotations

import array
import math
import pickle
from functools import partial
from typing import Any

import pytest
from conftest import assert_refused

import picollo
from picollo import Counter, figure


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize(("kind", "error"), [("interlocked", 0), ("sensing", 0), ("scalable", 0.07), ("capped", 0.07)])
def test_one_thread(kind: Any, error: float, bits: int) -> None:
    counter = Counter(kind, bits)
    for _ in range(5000):
        counter.add()
    assert counter.value == int(counter) == 5000, "below the threshold all are exact"
    for _ in range(20_000):
        counter.add(10)
    assert abs(counter.value / 205_000 - 1) <= error and kind in repr(counter)


def test_memory_of_the_caller() -> None:
    memory = array.array("Q", [7, 8])
    Counter("interlocked", memory=memory).add(10)
    Counter("interlocked", memory=memoryview(memory)[1:]).add(10)
    assert memory.tolist() == [17, 18]
    for wrong, bits in ((bytes(8), 64), (bytearray(4), 64), (memoryview(memory).cast("B")[1:], 32)):
        with pytest.raises((TypeError, ValueError)):
            Counter(bits=bits, memory=wrong)


def test_wrapping_and_refusals() -> None:
    counter, wide = Counter("interlocked", 32), Counter("interlocked")
    counter.add(2**32 + 5)
    wide.add(2**64 - 1)
    assert (counter.value, wide.value) == (5, 2**64 - 1)
    wrong: list[tuple[str, Any]] = [("kind", "other"), ("bits", 16), ("threshold_bits", 0), ("threshold_bits", 32), ("cap_bits", 32)]
    assert_refused(
        *((partial(wide.add, count), ValueError, "count must be") for count in (-1, 2**64)),
        *((partial(Counter, **{name: value}), ValueError, f"{name} must be") for name, value in wrong),
        (lambda: pickle.dumps(Counter()), TypeError, "cannot be pickled"),
    )


def test_figures() -> None:
    planted = {"topdown-retiring": [40], "topdown-bad-spec": [10], "topdown-fe-bound": [20], "topdown-be-bound": [30]}
    parts = ["tma-retiring", "tma-bad-speculation", "tma-frontend-bound", "tma-backend-bound"]
    assert [figure(part, planted).value for part in parts] == [0.4, 0.1, 0.2, 0.3]
    found = figure("ipc", {"instructions": [1, 2, 100], "cycles": [1, 2, None]})
    assert (found.value, found.scopes, found.is_partial) == (1.0, 2, True)
    one = {"instructions": [1], "cycles": [2]}
    assert figure("ipc", one) == (0.5, None, None, 0.95, 1, False)
    # A missing count is never zero.
    assert_refused(
        (lambda: figure("ipc", {"instructions": [1, 2], "cycles": [None, None]}), picollo.NotCountedError, "cycles was not counted"),
        (lambda: figure("ipc", {"instructions": [1], "cycles": [0]}), picollo.EmptyError, "divided by zero"),
        (lambda: figure("a / b", {"a": [1], "b": [1]}), picollo.InvalidArgumentError, "a / b is no figure"),
        (lambda: figure("ipc", {"instructions": [1]}), picollo.InvalidArgumentError, "needs the event cycles"),
        (lambda: figure("ipc", {"instructions": [1], "cycles": []}), ValueError, ""),
        (lambda: figure("ipc", {"instructions cycles": [1]}), ValueError, ""),
        *((partial(figure, "ipc", one, confidence=confidence), ValueError, "") for confidence in (0, 1, math.nan)),
    )
