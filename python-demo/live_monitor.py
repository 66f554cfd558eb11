"""Live monitor: one thread works and records, another prints a line per second about the last second.

The monitor reads deltas: the records since its previous reading. Nothing is reset and the worker never waits. At the
end the deltas are compared with the total: nothing is missing and nothing counted twice.
"""

from __future__ import annotations

import argparse
import json
import random
import threading
import time

import picollo


def work_until(stop: threading.Event, latency: picollo.Histogram) -> None:
    """Turns documents of varying size into JSON, and records each duration."""
    choice = random.Random(1)
    scope = latency.nano_scope()
    while not stop.is_set():
        document = {"values": list(range(int(choice.paretovariate(1.2) * 10) % 5000))}
        with scope:
            json.dumps(document)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5, help="how long (default: %(default)s)")
    parser.add_argument("--interval", type=float, default=1, help="seconds between lines (default: %(default)s)")
    arguments = parser.parse_args()

    latency = picollo.Histogram(relative_error=0.01, name="json.dumps (ns)")
    stop = threading.Event()
    worker = threading.Thread(target=work_until, args=(stop, latency))
    worker.start()

    monitor = latency.snapshot()
    # Creating a snapshot is its first update: the first line starts after it.
    total = monitor.total_count
    deadline = time.monotonic() + arguments.seconds
    try:
        while time.monotonic() < deadline:
            time.sleep(arguments.interval)
            summary = monitor.update(deltas=True).summary()
            total += summary.total_count
            print(summary.line(time.strftime("%H:%M:%S")), flush=True)
    except KeyboardInterrupt:
        pass
    stop.set()
    worker.join()

    rest = monitor.update(deltas=True).total_count
    total += rest
    print()
    print(latency.summary())
    recorded = latency.total_count
    print(f"The deltas add up to {total:,}; {recorded:,} were recorded.")
    if total != recorded:
        raise SystemExit("They should be equal.")


if __name__ == "__main__":
    main()
