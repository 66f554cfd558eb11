"""Processes our files with PyPI's hdrhistogram: peer.py DIRECTORY. See interop.py."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader, HistogramLogWriter


def counts_of(histogram: HdrHistogram) -> "list[list[int]]":
    counts = list(histogram.counts) if histogram.counts else []
    return [[histogram.get_value_from_index(index), count] for index, count in enumerate(counts) if count]


def figures_of(histogram: HdrHistogram, case: "dict[str, Any]") -> "dict[str, Any]":
    # It rounds ranks to the nearest, so its percentiles may be adjacent ones.
    return {
        "min": histogram.get_min_value(),
        "max": histogram.get_max_value(),
        "equivalent": [
            [histogram.get_lowest_equivalent_value(int(value)), histogram.get_highest_equivalent_value(int(value))]
            for value, _ in case["values"]
        ],
    }


def main(directory: Path) -> None:
    with open(directory / "python-cases.jsonl", encoding="utf-8") as file:
        cases = [json.loads(line) for line in file]
    with open(directory / "python.jsonl", "w", encoding="utf-8") as results, open(
        directory / "python.hlog", "w", encoding="utf-8"
    ) as log:
        writer = HistogramLogWriter(log)
        writer.output_comment("[of PyPI's hdrhistogram]")
        writer.output_log_format_version()
        writer.output_legend()
        for case in cases:
            histogram = HdrHistogram(int(case["lowest"]), int(case["highest"]), case["digits"])
            for value, count in case["values"]:
                assert histogram.record_value(int(value), int(count)), case["id"]
            result: dict[str, Any] = {
                "id": case["id"],
                "read": {"compressed": counts_of(HdrHistogram.decode(case["compressed"]))},
                "wrote": {"compressed": histogram.encode().decode()},
                "figures": figures_of(histogram, case),
            }
            json.dump(result, results)
            results.write("\n")
            # It reads tags, but cannot write them.
            log.write(f"Tag={case['tag']}," if case["tag"] else "")
            writer.output_interval_histogram(histogram, case["start"], case["end"])
    reader = HistogramLogReader(str(directory / "python-ours.hlog"), HdrHistogram(1, 1000, 3))
    with open(directory / "python-read.jsonl", "w", encoding="utf-8") as read:
        while True:
            interval = reader.get_next_interval_histogram()
            if interval is None:
                break
            told = {
                "tag": interval.get_tag(),
                "start": interval.get_start_time_stamp() / 1000,
                "end": interval.get_end_time_stamp() / 1000,
                "counts": counts_of(interval),
            }
            json.dump(told, read)
            read.write("\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
