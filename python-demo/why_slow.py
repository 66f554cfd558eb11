"""Why was this one slow? A service with three hidden problems, and a collector that names them, with the ids of the
affected requests.

    python3 python-demo/why_slow.py [--seconds 4]
"""

from __future__ import annotations

import argparse
import mmap
import os
import subprocess
import sys
import time

import picollo

#: A neighbor: somebody runs reports on the same CPU, twice a second.
REPORTS = """
import time
while True:
    time.sleep(0.5)
    end = time.monotonic() + 0.03
    while time.monotonic() < end:
        pass
"""
NEIGHBOURS = 3
EXPORT = 24 << 20


def look_up(request: int) -> None:
    """The first problem: sometimes the row is not in the cache, and the database is slow."""
    if request % 61 == 0:
        time.sleep(0.014)


def export(request: int) -> None:
    """The second problem: a new buffer each time, whose pages must all be found, cleared and mapped first."""
    if request % 97 == 0:
        with mmap.mmap(-1, EXPORT, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as buffer:
            buffer[:: mmap.PAGESIZE] = b"\1" * (EXPORT // mmap.PAGESIZE)


def render() -> int:
    """Every request does this."""
    return sum(range(10_000))


def main() -> None:
    """Serves requests, and prints the causes."""
    parser = argparse.ArgumentParser(description="Why was this one slow?")
    parser.add_argument("--seconds", type=float, default=4)
    seconds = parser.parse_args().seconds

    latency = picollo.Histogram(0.01, max=10**10)
    slow = picollo.Exemplars(latency, threshold=5_000_000)  # The promised limit: 5 ms.
    # The third problem: others on the single CPU that everything shares.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    neighbours = [subprocess.Popen([sys.executable, "-c", REPORTS]) for _ in range(NEIGHBOURS)]
    try:
        end, request = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            request += 1
            with slow.scope() as scope:
                look_up(request)
                export(request)
                render()
            # Only observations that are slow, or kept for another reason, look up their context.
            if scope.kept:
                scope.annotate(picollo.TraceContext(words=(request, 0)))
            time.sleep(0.0001)
    finally:
        for neighbour in neighbours:
            neighbour.kill()
            neighbour.wait()
    print(slow.collect())


if __name__ == "__main__":
    main()
