"""Ten benchmarks of the standard library: ``pytest --picollo-save main`` five times, then ``pytest --picollo-against main``."""

from __future__ import annotations

import bisect
import hashlib
import heapq
import json
import os
import re
import zlib
from typing import TYPE_CHECKING, Callable

import pytest

if TYPE_CHECKING:
    from pytest_picollo.benchmarks import Picollo

VALUES = [(7919 * at) % 1009 for at in range(300)]
ORDERED = sorted(VALUES)
RECORD = {"name": "picollo", "values": VALUES[:50], "nested": {"deep": [1.5, None, True]}}
TEXT = json.dumps(RECORD)
WORDS = re.compile(r"[a-z]+")


#: `SLOWER=1.1 pytest ...` multiplies the work of the first benchmark.
ROUNDS = round(100 * float(os.environ.get("SLOWER", "1")))


def add_up() -> int:
    total = 0
    for at in range(ROUNDS):
        total += at * at
    return total


BENCHMARKS: dict[str, Callable[[], object]] = {
    "loop": add_up,
    "sort": lambda: sorted(VALUES),
    "bisect": lambda: [bisect.bisect(ORDERED, value) for value in VALUES[:50]],
    "heap": lambda: heapq.nsmallest(10, VALUES),
    "dumps": lambda: json.dumps(RECORD),
    "loads": lambda: json.loads(TEXT),
    "split": lambda: TEXT.split(","),
    "words": lambda: WORDS.findall(TEXT),
    "sha256": lambda: hashlib.sha256(TEXT.encode()).hexdigest(),
    "crc32": lambda: zlib.crc32(TEXT.encode()),
}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_benchmark(picollo: Picollo, name: str) -> None:
    picollo(BENCHMARKS[name])
