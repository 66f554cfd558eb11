"""A service of four workers that others watch: ``picollo top``, ``picollo show web``, ``picollo serve``.

The segment is made before the workers are forked, and all of them record into it. They convert documents of varying
size to JSON and back.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time

import picollo

WORKERS = 4


def work(deadline: float, latency: picollo.Histogram, done: picollo.MetricCounter) -> None:
    choice = random.Random(os.getpid())
    while time.monotonic() < deadline:
        document = {"values": list(range(int(choice.paretovariate(1.2) * 20) % 5000))}
        start = time.perf_counter_ns()
        json.loads(json.dumps(document))
        latency.record(time.perf_counter_ns() - start)
        done.add(1)
        time.sleep(0.004)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3, help="how long (default: %(default)s)")
    deadline = time.monotonic() + parser.parse_args().seconds

    with picollo.Segment("web") as segment:
        latency = segment.histogram("request", unit="ns", labels={"route": "/json"})
        done = segment.counter("requests")
    workers = []
    for _ in range(WORKERS):
        worker = os.fork()
        if worker == 0:
            work(deadline, latency, done)
            os._exit(0)
        workers.append(worker)
    for worker in workers:
        os.waitpid(worker, 0)
    print(f"{latency.total_count:,} requests of {WORKERS} workers, {latency.summary().line()}")


if __name__ == "__main__":
    main()
