"""Measures what recording costs: bench.py [calls | batches | body]

calls: single calls beside ``time.perf_counter_ns()``, which only reads a clock; ``PICOLLO_EXTENSION=off`` in the environment
makes them through ctypes. batches: each value of ``record_many``. body: scopes around work that evicts them from the caches.

The forms run in random order in each round. A figure is the first decile of its rounds, because other activity only adds time.
"""

from __future__ import annotations

import argparse
import array
import contextlib
import functools
import random
import statistics
import time
import timeit
from typing import Any, Callable

import picollo


def deciles(forms: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The first decile of what each form returns."""
    taken: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(rounds):
        for name in random.sample(list(forms), len(forms)):
            taken[name].append(forms[name]())
    return {name: statistics.quantiles(times, n=10)[0] for name, times in taken.items()}


def timed(code: str, number: int, **names: Any) -> Callable[[], float]:
    """Nanoseconds for each run of this code."""
    timer = timeit.Timer(code, globals=names)
    return lambda: timer.timeit(number) / number * 1e9


def calls() -> None:
    histogram = picollo.Histogram()
    names = {
        "clock": picollo.clock,
        "histogram": histogram,
        "read": time.perf_counter_ns,
        "record": histogram.record,
        "record_n": histogram.record_n,
        "scope": histogram.nano_scope(),
        "timed": picollo.timed(histogram)(lambda: None),
    }
    codes = {
        "loop": "pass",
        "perf_counter_ns()": "read()",
        "record(value)": "record(1234)",
        "record_n(value, count)": "record_n(1234, 1)",
        "with histogram.nano_scope():": "with histogram.nano_scope(): pass",
        "with scope:, made before": "with scope: pass",
        "call of an empty @timed function": "timed()",
        "clock.ticks()": "clock.ticks()",
    }
    found = deciles({name: timed(code, 2_000, **names) for name, code in codes.items()}, 150)
    loop = found.pop("loop")
    print("through the extension module" if picollo.extension_path else "through ctypes")
    for name, nanos in found.items():
        print(f"{name:34} {nanos - loop:8.1f} ns {(nanos - loop) / (found['perf_counter_ns()'] - loop):6.2f}")


def batches(mode: Any) -> None:
    histogram = picollo.Histogram(mode=mode)
    source = random.Random(1)
    values = [2_000 + source.randrange(1_500) + source.randrange(64) ** 3 // 40 for _ in range(200_000)]
    buffers: dict[str, Any] = {f"array('Q') of {size:,}": array.array("Q", values[:size]) for size in (10, 100, 1_000, 200_000)}
    buffers["list of 200,000"] = values
    try:
        import numpy

        buffers.update({f"numpy {kind} of 200,000": numpy.array(values, kind) for kind in ("uint64", "int64")})
    except ImportError:
        print("SKIPPED arrays of numpy, which is not installed")
    forms = {name: timed("many(values)", max(1, 20_000 // len(buffer)), many=histogram.record_many, values=buffer) for name, buffer in buffers.items()}
    for name, nanos in deciles(forms, 50).items():
        print(f"record_many({name + ')':24} {nanos / len(buffers[name]):8.2f} ns a value")


def body() -> None:
    scopes: dict[str, Any] = {
        "bare": contextlib.nullcontext(),
        "nano_scope()": picollo.Histogram(0.01).nano_scope(),
        "Exemplars.scope()": picollo.Exemplars(picollo.Histogram(0.01)).scope(),
    }

    def work() -> int:
        return len([number * number for number in range(4_000)])

    def within(scope: Any) -> float:
        """Microseconds of processor time."""
        work()
        begin = time.thread_time_ns()
        for _ in range(8):
            with scope:
                work()
        return (time.thread_time_ns() - begin) / 8_000

    found = deciles({name: functools.partial(within, scope) for name, scope in scopes.items()}, 1_500)
    for name, micros in found.items():
        print(f"{name:20} {micros:8.1f} µs  {micros - found['bare']:+6.1f} µs  {micros / found['bare'] - 1:+7.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=["calls", "batches", "body"], default="calls")
    parser.add_argument("--mode", choices=["interlocked", "single_writer", "thread_local"], default="interlocked", help="of batches")
    arguments = parser.parse_args()
    if arguments.what == "batches":
        batches(arguments.mode)
    else:
        (calls if arguments.what == "calls" else body)()


if __name__ == "__main__":
    main()
