"""Measures the cost of single calls, with the extension module and through ctypes: bench_calls.py [--processes N]

Compares each call with ``time.perf_counter_ns()``, which only reads a clock. The two ways alternate, in separate
processes. In a process the calls alternate. The result is the first decile of their rounds without the loop around them
(other activity only adds time), divided by the same of ``perf_counter_ns``; then the median of the processes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from typing import Any, Callable

import picollo

CALLS = 2_000
ROUNDS = 150


def in_this_process() -> dict[str, float]:
    """Nanoseconds per call."""
    histogram = picollo.Histogram()
    record, record_n, ticks, read = histogram.record, histogram.record_n, picollo.clock.ticks, time.perf_counter_ns
    kept = histogram.nano_scope()
    numbers = range(CALLS)

    @picollo.timed(histogram)
    def timed() -> None:
        pass

    def empty_loop() -> None:
        for _ in numbers:
            pass

    def perf_counter_ns() -> None:
        for _ in numbers:
            read()

    def one_value() -> None:
        for _ in numbers:
            record(1234)

    def so_many() -> None:
        for _ in numbers:
            record_n(1234, 1)

    def new_scope() -> None:
        for _ in numbers:
            with histogram.nano_scope():
                pass

    def kept_scope() -> None:
        for _ in numbers:
            with kept:
                pass

    def timed_calls() -> None:
        for _ in numbers:
            timed()

    def clock_reads() -> None:
        for _ in numbers:
            ticks()

    loops: dict[str, Callable[[], None]] = {
        "loop": empty_loop,
        "perf_counter_ns()": perf_counter_ns,
        "record(value)": one_value,
        "record_n(value, count)": so_many,
        "with histogram.nano_scope():": new_scope,
        "with scope:": kept_scope,
        "call of an empty @timed function": timed_calls,
        "clock.ticks()": clock_reads,
    }
    times: dict[str, list[float]] = {name: [] for name in loops}
    for _ in range(ROUNDS):
        for name, loop in loops.items():
            begin = read()
            loop()
            times[name].append((read() - begin) / CALLS)
    deciles = {name: statistics.quantiles(values, n=10)[0] for name, values in times.items()}
    empty = deciles.pop("loop")
    return {name: decile - empty for name, decile in deciles.items()}


def around_a_body() -> None:
    """The cost of scopes around work that evicts them from the caches: CPU time of blocks of eight, in random order."""
    histogram = picollo.Histogram(0.01)
    slow = picollo.Exemplars(picollo.Histogram(0.01))
    ways: dict[str, Any] = {"bare": None, "nano_scope()": histogram.nano_scope(), "Exemplars.scope()": slow.scope()}
    times: dict[str, list[float]] = {name: [] for name in ways}

    def body() -> int:
        return len([number * number for number in range(4_000)])

    for _ in range(ROUNDS * 10):
        for name in random.sample(list(ways), len(ways)):
            scope = ways[name]
            body()
            begin = time.thread_time_ns()
            if scope is None:
                for _ in range(8):
                    body()
            else:
                for _ in range(8):
                    with scope:
                        body()
            times[name].append((time.thread_time_ns() - begin) / 8000)
    bare = statistics.quantiles(times["bare"], n=10)[0]
    for name, taken in times.items():
        decile = statistics.quantiles(taken, n=10)[0]
        print(f"{name:20} {decile:8.1f} µs  {decile - bare:+6.1f} µs  {decile / bare - 1:+7.1%}")


def in_another(**environment: str) -> dict[str, float]:
    output = subprocess.run(
        [sys.executable, __file__, "--one"], env={**os.environ, **environment}, check=True, capture_output=True, text=True
    ).stdout
    told: dict[str, float] = json.loads(output)
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=5, help="for each way")
    parser.add_argument("--body", action="store_true", help="scopes around work that takes some 200 µs, instead of calls in a loop")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.body:
        around_a_body()
        return
    if arguments.one:
        print(json.dumps(in_this_process()))
        return
    ways: dict[str, list[Any]] = {"C": [], "ctypes": []}
    for _ in range(arguments.processes):
        if picollo.extension_path:
            ways["C"].append(in_another(PICOLLO_EXTENSION=picollo.extension_path))
        ways["ctypes"].append(in_another(PICOLLO_EXTENSION="off"))
    if not picollo.extension_path:
        print("The extension module is not in use; python/build-extension.sh builds it.")
    print("| One call                         |    C, ns | ratio | ctypes, ns | ratio |")
    print("| :------------------------------- | -------: | ----: | ---------: | ----: |")
    for name in ways["ctypes"][0]:
        cells = []
        for runs in ways.values():
            nanos = statistics.median(run[name] for run in runs) if runs else float("nan")
            ratio = statistics.median(run[name] / run["perf_counter_ns()"] for run in runs) if runs else float("nan")
            cells += [nanos, ratio]
        print(f"| {name:32} | {cells[0]:8.1f} | {cells[1]:5.2f} | {cells[2]:10.1f} | {cells[3]:5.2f} |")


if __name__ == "__main__":
    main()
