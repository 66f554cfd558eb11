"""Measures the cost of batches from Python: python3 bench.py (bench_calls.py has single calls)

Prints the best of several runs on the same values, in nanoseconds per value.
"""

from __future__ import annotations

import argparse
import array
import time
from typing import Any, Callable

import picollo


def nanoseconds(run: Callable[[], Any], values: int, repeats: int) -> float:
    times = []
    for _ in range(repeats):
        begin = time.perf_counter_ns()
        run()
        times.append((time.perf_counter_ns() - begin) / values)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--values", type=int, default=200_000, help="in a large batch")
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--mode", choices=["interlocked", "single_writer", "thread_local"], default="interlocked")
    arguments = parser.parse_args()
    count, repeats = arguments.values, arguments.repeats

    x = 1
    values = []
    for _ in range(count):
        x = (x * 6364136223846793005 + 1442695040888963407) % 2**64
        values.append(1990 + (x >> 40) % 1500 + ((x >> 20) % 64) ** 3 // 40)
    histogram = picollo.Histogram(mode=arguments.mode)
    rows: list[tuple[str, float]] = []
    buffers: list[tuple[str, Any]] = [("array('Q')", array.array("Q", values)), ("list", values)]
    try:
        import numpy

        buffers += [("numpy uint64", numpy.array(values, "u8")), ("numpy int64", numpy.array(values, "i8"))]
    except ImportError:
        pass
    for name, buffer in buffers:
        cost = nanoseconds(lambda buffer=buffer: histogram.record_many(buffer), count, repeats)  # type: ignore[misc]
        rows.append((f"record_many({name} of {count:,})", cost))
    for size in (10, 100, 1000):
        small = array.array("Q", values[:size])
        rounds = max(1, 20_000 // size)

        def many(small: Any = small, rounds: int = rounds) -> None:
            for _ in range(rounds):
                histogram.record_many(small)

        rows.append((f"record_many(array('Q') of {size:,})", nanoseconds(many, size * rounds, repeats)))

    print("| Recording                               | ns a value |")
    print("| :-------------------------------------- | ---------: |")
    for name, cost in rows:
        print(f"| {name:39} | {cost:10.2f} |")


if __name__ == "__main__":
    main()
