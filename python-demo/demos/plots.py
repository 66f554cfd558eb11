"""Plots: the pictures of docs/python.md, from measurements on this machine: python3 -m demos.plots --out docs/images

How long does it take to look for a number in a list and in a set, and to handle requests while something else gets in the way
now and then? Needs matplotlib.
"""

from __future__ import annotations

import argparse
import json
import random
import threading
import time
from pathlib import Path
from typing import Any

import picollo


def searches(name: str, haystack: Any, rounds: int) -> picollo.Histogram:
    """Looks for random numbers, and records how long each search takes."""
    histogram = picollo.Histogram(relative_error=0.01, name=name)
    wanted = random.Random(1).choices(range(1000), k=rounds)
    scope = histogram.nano_scope()
    for needle in wanted:
        with scope:
            needle in haystack
    return histogram


def requests(seconds: float, intervals: int) -> picollo.Timeline:
    """Handles requests. In the second third they are larger; four times something else holds the interpreter up."""
    histogram = picollo.Histogram(relative_error=0.01, name="Requests")
    timeline = picollo.Timeline(histogram)
    size = [200]
    stop = threading.Event()

    @picollo.timed(histogram)
    def handle() -> None:
        json.loads(json.dumps(list(range(size[0]))))

    def work() -> None:
        while not stop.is_set():
            handle()
            # Or else the monitor would wait for its turn.
            time.sleep(0)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for interval in range(intervals):
            size[0] = 600 if intervals // 3 <= interval < 2 * intervals // 3 else 200
            if interval % (intervals // 4 or 1) == intervals // 8:
                sorted(range(150_000), key=lambda number: -number)
            time.sleep(seconds / intervals)
            timeline.sample()
    finally:
        stop.set()
        worker.join()
    return timeline


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="directory for the pictures, made if need be")
    parser.add_argument("--searches", type=int, default=200_000, help="how often to search (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=12, help="how long to handle requests (default: %(default)s)")
    arguments = parser.parse_args()

    try:
        import matplotlib
    except ImportError as error:
        raise SystemExit(f"This demo draws with matplotlib: {error}. Install it with: pip install matplotlib") from None
    matplotlib.use("Agg")  # draws into files alone
    import picollo.plot

    picollo.clock.calibrate()
    numbers = list(range(1000))
    in_list = searches("list of 1,000", numbers, arguments.searches)
    in_set = searches("set of 1,000", frozenset(numbers), arguments.searches)
    timeline = requests(arguments.seconds, intervals=60)

    arguments.out.mkdir(parents=True, exist_ok=True)
    pictures: dict[str, Any] = {
        "python-percentiles": picollo.plot.percentiles(in_list, in_set, unit="ns", title="Find a number").figure,
        "python-density": picollo.plot.density(in_list, unit="ns", title="Find a number in a list").figure,
        "python-compare": picollo.plot.compare(in_list, in_set, unit="ns", title="Find a number in a list, and in a set"),
        "python-heatmap": picollo.plot.heatmap(timeline, unit="ns").figure,
    }
    for name, figure in pictures.items():
        path = arguments.out / f"{name}.png"
        # A white ground is readable beside dark text and light text alike; no date, so that equal pictures are equal files.
        figure.savefig(path, dpi=110, facecolor="white", metadata={"Software": None})
        print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
