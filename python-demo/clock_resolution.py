"""Clock resolution: the resolution of each clock, and the cost of reading it from Python.

Reads every clock many times in a row, and records the differences of adjacent reads: their median is the cost of a
read. From Python a read takes much longer than a tick, so the step is not visible directly. But all differences are
multiples of it, so it is their greatest common divisor.
"""

from __future__ import annotations

import argparse
import math
import time
from typing import Callable

import picollo


def differences(clock: Callable[[], int], reads: int) -> list[int]:
    times = [0] * reads
    for index in range(reads):
        times[index] = clock()
    return [after - before for before, after in zip(times, times[1:])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reads", type=int, default=200_000, help="reads of each clock (default: %(default)s)")
    reads = parser.parse_args().reads

    picollo.clock.calibrate()
    hertz = picollo.clock.frequency("tsc")
    tick = 1e9 / hertz
    clocks: list[tuple[str, Callable[[], int], float]] = [
        ("picollo.clock.ticks('tsc')", lambda: picollo.clock.ticks("tsc"), tick),
        ("picollo.clock.ticks('monotonic')", lambda: picollo.clock.ticks("monotonic"), 1.0),
        ("time.perf_counter_ns", time.perf_counter_ns, 1.0),
        ("time.monotonic_ns", time.monotonic_ns, 1.0),
        ("time.time_ns", time.time_ns, 1.0),
        ("time.thread_time_ns", time.thread_time_ns, 1.0),
    ]
    print(f"The TSC ticks {hertz:,} times a second: {tick:.4f} ns a tick.")
    if hertz == 10**9:
        print("(A round number: the library does not trust this machine's TSC and uses the monotonic clock.)")
    print()
    print("| Clock                            | Step (ns) | Equal reads | Least (ns) | Median (ns) |    P99.9 (ns) |")
    print("| :------------------------------- | --------: | ----------: | ---------: | ----------: | ------------: |")
    distributions = []
    for name, clock, unit in clocks:
        steps = differences(clock, reads)
        forward = [step for step in steps if step >= 0]  # somebody may set back time.time_ns
        histogram = picollo.Histogram(relative_error=0.001, name=name)
        histogram.record_many(forward)
        distributions.append(histogram)
        step = math.gcd(*forward)
        equal = forward.count(0) / len(forward)
        summary = histogram.summary()
        print(
            f"| {name:32} | {step * unit:9.4f} | {equal:11.2%} | {min(forward) * unit:10,.1f} "
            f"| {summary.p50 * unit:11,.1f} | {summary.p999 * unit:13,.1f} |"
        )
    print()
    print(distributions[0].summary().markdown("picollo.clock.ticks('tsc'), differences of neighbouring reads (ticks)"))


if __name__ == "__main__":
    main()
