"""Reads logs that `picollo record` wrote of a running program, with PyPI's hdrhistogram.

recorded.py make COMMAND DIRECTORY publishes histograms with one of HdrHistogram's layouts and with the default layout
of segments, which the command coarsens. It records each kind into a separate log, and writes the expected counts by tag
and bucket. recorded.py read DIRECTORY compares them, in the interpreter that has the peer. (recorded.js does the same
with npm's.)
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

#: Logs: written significant digits, how many bits of a value they keep, and the options of the histograms.
LOGS: "dict[str, tuple[int, int, dict[str, Any]]]" = {
    "recorded-3": (3, 11, {"relative_error": 0.0005}),
    # 1 % is between HdrHistogram's one and two digits.
    "recorded-default": (1, 5, {}),
    "recorded-default-one-set": (1, 5, {"mode": "single_writer"}),
}


def lowest(value: int, bits: int) -> int:
    """The lowest value of the bucket: its first bits, from HdrHistogram's layout alone."""
    rest = max(value.bit_length() - bits, 0)
    return value >> rest << rest


def record(command: str, directory: Path, name: str) -> "dict[str, Any]":
    import picollo

    digits, bits, options = LOGS[name]
    log = directory / f"{name}.hlog"
    with picollo.Segment(name) as segment:
        histograms = [segment.histogram("request", unit="ns", **options)]
        histograms.append(segment.histogram("request", unit="ns", labels={"route": "/json"}, **options))
    arguments = [command, "record", name, "--interval", "0.2", "--output", str(log)]
    recorder = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)
    # Waits until it has begun, so that there are several intervals.
    deadline = time.monotonic() + 30
    while not log.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    truth = []
    for number, histogram in enumerate(histograms):
        values = [10 + (number + 1) * 7919 * value * value for value in range(1000)]
        counts: "dict[int, int]" = {}
        for at, value in enumerate(values):
            histogram.record(value)
            counts[lowest(value, bits)] = counts.get(lowest(value, bits), 0) + 1
            if at % 100 == 0:
                time.sleep(0.03)
        truth.append({"count": len(values), "counts": {str(value): counts[value] for value in sorted(counts)}})
    time.sleep(0.3)
    recorder.send_signal(signal.SIGINT)
    _, errors = recorder.communicate(timeout=30)
    assert recorder.returncode == 0, errors
    # It reports a coarser layout, and nothing else.
    told = errors.splitlines()
    assert len(told) == (0 if name == "recorded-3" else 2), errors
    assert all(f"written with {digits} significant digit" in line for line in told), errors
    written = sorted({line.split(",")[0].removeprefix("Tag=") for line in log.read_text().splitlines() if line.startswith("Tag=")})
    assert len(written) == 2, written
    # The one without a label has the shorter tag.
    return {"digits": digits, "tags": dict(zip(sorted(written, key=len), truth))}


def make(command: str, directory: Path) -> None:
    # In memory, like segments.
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="picollo-interop-") as place:
        os.environ["PICOLLO_DIR"] = place
        expected = {name: record(command, directory, name) for name in LOGS}
    (directory / "recorded.json").write_text(json.dumps(expected))


def read(directory: Path) -> None:
    from hdrh.histogram import HdrHistogram
    from hdrh.log import HistogramLogReader

    expected = json.loads((directory / "recorded.json").read_text())
    intervals = 0
    for name, log in expected.items():
        before = intervals
        found: "dict[str, dict[str, Any]]" = {tag: {"count": 0, "counts": {}} for tag in log["tags"]}
        reader = HistogramLogReader(str(directory / f"{name}.hlog"), HdrHistogram(1, 1 << 40, log["digits"]))
        while (interval := reader.get_next_interval_histogram()) is not None:
            intervals += 1
            told = found[interval.get_tag()]
            told["count"] += interval.get_total_count()
            for item in interval.get_recorded_iterator():
                value = str(interval.get_lowest_equivalent_value(item.value_iterated_to))
                told["counts"][value] = told["counts"].get(value, 0) + item.count_at_value_iterated_to
        assert intervals > before + 2, (name, intervals)
        assert found == log["tags"], (name, found, log["tags"])
    print(f"recorded: PyPI's hdrhistogram reads {intervals} intervals of {len(expected)} logs, with the counts of each bucket")


if __name__ == "__main__":
    make(sys.argv[2], Path(sys.argv[3])) if sys.argv[1] == "make" else read(Path(sys.argv[2]))
