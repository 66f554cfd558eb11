"""A log that `picollo record` wrote of a running program, as PyPI's hdrhistogram reads it.

recorded.py make COMMAND DIRECTORY publishes, has the command record, and writes what is in the log by tag, as it should be;
recorded.py read DIRECTORY, by the interpreter that has the peer, compares. (recorded.js does the same by npm's.)
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

DIGITS = 3


def make(command: str, directory: Path) -> None:
    import picollo

    log = directory / "recorded.hlog"
    # In memory, as segments are.
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="picollo-interop-") as place:
        os.environ["PICOLLO_DIR"] = place
        with picollo.Segment("recorded") as segment:
            tags = {
                "request": segment.histogram("request", unit="ns", relative_error=0.0005),
                "request_route=_json": segment.histogram("request", unit="ns", labels={"route": "/json"}, relative_error=0.0005),
            }
            recorder = subprocess.Popen([command, "record", "recorded", "--interval", "0.2", "--output", str(log)])
            # Until it has begun, so that there are several intervals.
            deadline = time.monotonic() + 30
            while not log.exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            truth = {}
            for place_of, histogram in enumerate(tags.values()):
                values = [10 + (place_of + 1) * 7919 * value * value for value in range(1000)]
                for at, value in enumerate(values):
                    histogram.record(value)
                    if at % 100 == 0:
                        time.sleep(0.03)
                truth[place_of] = {"count": len(values), "max": max(values), "sum": sum(values)}
            time.sleep(0.3)
            recorder.send_signal(signal.SIGINT)
            assert recorder.wait(30) == 0
    written = sorted({line.split(",")[0].removeprefix("Tag=") for line in log.read_text().splitlines() if line.startswith("Tag=")})
    assert len(written) == 2, written
    # The one without a label has the shorter tag.
    expected = dict(zip(sorted(written, key=len), truth.values()))
    (directory / "recorded.json").write_text(json.dumps(expected))


def read(directory: Path) -> None:
    from hdrh.histogram import HdrHistogram
    from hdrh.log import HistogramLogReader

    expected = json.loads((directory / "recorded.json").read_text())
    found = {tag: {"count": 0, "max": 0, "sum": 0} for tag in expected}
    intervals = 0
    reader = HistogramLogReader(str(directory / "recorded.hlog"), HdrHistogram(1, 1 << 40, DIGITS))
    while (interval := reader.get_next_interval_histogram()) is not None:
        intervals += 1
        told = found[interval.get_tag()]
        told["count"] += interval.get_total_count()
        told["max"] = max(told["max"], interval.get_max_value())
        told["sum"] += interval.get_mean_value() * interval.get_total_count()
    assert intervals > 2, intervals
    for tag, truth in expected.items():
        assert found[tag]["count"] == truth["count"], (tag, found, truth)
        assert all(abs(found[tag][figure] / truth[figure] - 1) < 0.001 for figure in ("max", "sum")), (tag, found, truth)
    print(f"recorded: PyPI's hdrhistogram reads {intervals} intervals of {len(found)} tags")


if __name__ == "__main__":
    make(sys.argv[2], Path(sys.argv[3])) if sys.argv[1] == "make" else read(Path(sys.argv[2]))
