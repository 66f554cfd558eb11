"""What recording costs from Python: python3 bench.py

The best of several runs on the same values, in nanoseconds a value, with the loop around the calls subtracted where there is one.
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
    record = histogram.record
    add = histogram.record_n
    scope = histogram.nano_scope()
    snapshot = histogram.snapshot()
    # Few enough to be done before the machine turns to something else.
    some = values[:2000]

    def empty_loop() -> None:
        for _ in some:
            pass

    def one_by_one() -> None:
        for value in some:
            record(value)

    def with_a_count() -> None:
        for value in some:
            add(value, 1)

    def in_scopes() -> None:
        for _ in some:
            with scope:
                pass

    def in_new_scopes() -> None:
        for _ in some:
            with histogram.nano_scope():
                pass

    def to_a_list() -> None:
        out: list[int] = []
        append = out.append
        for value in some:
            append(value)

    def scalar(run: Callable[[], Any]) -> float:
        return nanoseconds(run, len(some), repeats) - loop

    loop = 0.0
    loop = scalar(empty_loop)
    rows: list[tuple[str, float]] = [
        ("record(value)", scalar(one_by_one)),
        ("record_n(value, 1)", scalar(with_a_count)),
        ("with scope: pass", scalar(in_scopes)),
        ("with histogram.nano_scope(): pass", scalar(in_new_scopes)),
        ("list.append, to compare", scalar(to_a_list)),
    ]
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
    print()
    reading: list[tuple[str, Callable[[], Any]]] = [
        ("snapshot.update()", snapshot.update),
        ("snapshot.summary()", snapshot.summary),
        ("snapshot.percentiles of 16 ranks", lambda: snapshot.percentiles(picollo.summary.RANKS)),
        ("histogram.summary()", histogram.summary),
        ("summary.markdown()", histogram.summary().markdown),
        ("summary.line()", histogram.summary().line),
        ("snapshot.update(deltas=True)", lambda: snapshot.update(deltas=True)),
    ]
    print("| Reading a full range at 0.001           |         µs |")
    print("| :-------------------------------------- | ---------: |")
    for name, run in reading:
        cost = nanoseconds(lambda run=run: [run() for _ in range(50)], 50, repeats) / 1000  # type: ignore[misc]
        print(f"| {name:39} | {cost:10.2f} |")


if __name__ == "__main__":
    main()
