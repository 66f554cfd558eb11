"""Counters of one word: exact ones exactly, approximate ones within their error."""

from __future__ import annotations

import array
import pickle
from typing import Any

import pytest
from conftest import in_threads

from picollo import Counter, StripedCounter

EXACT: list[Any] = ["interlocked", "sensing"]
APPROXIMATE: list[Any] = ["scalable", "capped"]


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("kind", EXACT + APPROXIMATE)
def test_one_thread(kind: Any, bits: int) -> None:
    counter = Counter(kind, bits)
    for _ in range(5000):
        counter.add()
    assert counter.value == int(counter) == 5000, "below the threshold all are exact"
    for _ in range(20_000):
        counter.add(10)
    if kind in EXACT:
        assert counter.value == 205_000
    else:
        assert abs(counter.value / 205_000 - 1) < 0.07
    assert kind in repr(counter)


def test_wrapping() -> None:
    counter = Counter("interlocked", 32)
    counter.add(2**32 + 5)
    assert counter.value == 5
    wide = Counter("interlocked")
    wide.add(2**64 - 1)
    assert wide.value == 2**64 - 1
    for wrong in (-1, 2**64):
        with pytest.raises(ValueError):
            wide.add(wrong)


@pytest.mark.parametrize("kind", ["interlocked", "sensing", "scalable"])
def test_threads(kind: Any) -> None:
    counter, striped = Counter(kind), StripedCounter()

    def count() -> None:
        for _ in range(10_000):
            counter.add(3)
            striped.add(3)

    in_threads(*[count] * 4)
    assert striped.value == int(striped) == 120_000
    assert abs(counter.value / 120_000 - 1) < (0.07 if kind == "scalable" else 1e-9 if kind == "interlocked" else 0.07)


def test_memory_of_the_caller() -> None:
    memory = array.array("Q", [7, 8])
    first = Counter("interlocked", memory=memory)
    second = Counter("interlocked", memory=memoryview(memory)[1:])
    first.add(10)
    second.add(10)
    assert memory.tolist() == [17, 18]
    with pytest.raises((TypeError, ValueError)):
        Counter(memory=bytes(8))
    with pytest.raises(ValueError):
        Counter(memory=bytearray(4))
    with pytest.raises(ValueError, match="aligned"):
        Counter(bits=32, memory=memoryview(memory).cast("B")[1:])


def test_what_is_refused() -> None:
    wrong: list[dict[str, Any]] = [
        {"kind": "other"},
        {"bits": 16},
        {"threshold_bits": 0},
        {"threshold_bits": 32},
        {"cap_bits": 32},
    ]
    for arguments in wrong:
        with pytest.raises(ValueError):
            Counter(**arguments)
    for counter in (Counter(), StripedCounter()):
        with pytest.raises(TypeError):
            pickle.dumps(counter)
