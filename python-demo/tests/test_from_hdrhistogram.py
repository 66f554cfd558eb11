"""What those write here who come from PyPI's ``hdrhistogram``: a row for each thing that it does, and each row runs.

``docs/from-hdrhistogram.md`` has them in short. Where ``hdrh`` can be imported, as in ``ci/interop.sh``, theirs runs too, and finds the same.
"""

from __future__ import annotations

import io
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import picollo

VALUES = [0, 1, 3, 3, 7, *[1000] * 100, 2047, 2048, 5000, 123_456_789]
HIGHEST = 3_600_000_000
SETUP = """
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader, HistogramLogWriter
histogram, other = HdrHistogram(1, HIGHEST, 3), HdrHistogram(1, HIGHEST, 3)
for value in VALUES:
    histogram.record_value(value)
"""
OUR_SETUP = """
import picollo
histogram, other = (picollo.Histogram(significant_digits=3, max=HIGHEST, whole_array=True) for _ in range(2))
for value in VALUES:
    histogram.record(value)
snapshot = histogram.snapshot()
"""


class Row(NamedTuple):
    """Code of theirs and ours; each leaves what it finds in ``found``."""

    what: str
    theirs: str
    ours: str


ROWS = [
    Row(
        "values in range, to the end of the array",
        "other = HdrHistogram(1, 5000, 3)\nother.record_value(8191)\nfound = other.get_total_count()",
        "other = picollo.Histogram(significant_digits=3, max=5000, whole_array=True)\nother.record(8191)\n"
        "found = other.total_count",
    ),
    Row(
        "lowest discernible value",
        "other = HdrHistogram(20_000, HIGHEST, 3)\nother.record_value(100_000)\nfound = other.get_max_value()",
        "other = picollo.Histogram(significant_digits=3, max=HIGHEST, unit=20_000)\nother.record(100_000)\n"
        'found = other.percentile(100, "upper").value',
    ),
    Row(
        "a value out of range is an answer there, and a count here",
        "found = [other.record_value(10**13), other.get_total_count()]",
        "other.record(10**13)\nfound = [other.counts.overflow == 0, other.total_count]",
    ),
    Row(
        "many of a value",
        "other.record_value(1000, 5)\nfound = other.get_total_count()",
        "other.record_n(1000, 5)\nfound = other.total_count",
    ),
    Row(
        "many values",
        "for value in VALUES:\n    other.record_value(value)\nfound = other.get_total_count()",
        "other.record_many(VALUES)\nfound = other.total_count",
    ),
    Row(
        "coordinated omission",
        "other.record_corrected_value(1000, 100)\nfound = other.get_total_count()",
        "other.record_corrected(1000, 100)\nfound = other.total_count",
    ),
    Row("total", "found = histogram.get_total_count()", "found = snapshot.total_count"),
    Row(
        "value at a percentile",
        "found = histogram.get_value_at_percentile(99)",
        'found = snapshot.percentile(99, "upper").value',
    ),
    Row(
        "values at percentiles",
        "found = histogram.get_percentile_to_value_dict([50, 90, 100])",
        'found = dict(zip([50, 90, 100], snapshot.percentile_values([50, 90, 100], "upper")))',
    ),
    Row("largest", "found = histogram.get_max_value()", 'found = snapshot.percentile(100, "upper").value'),
    Row("smallest", "found = histogram.get_min_value()", 'found = snapshot.percentile(0, "lower").value'),
    Row(
        "mean and deviation",
        "found = [histogram.get_mean_value(), histogram.get_stddev()]",
        "found = [snapshot.mean, snapshot.stddev]",
    ),
    Row(
        "count at a value",
        "found = histogram.get_count_at_value(123_456_789)",
        "found = snapshot.bucket_of(123_456_789).count",
    ),
    Row(
        "equivalent values",
        "found = [histogram.get_lowest_equivalent_value(5001), histogram.get_highest_equivalent_value(5001)]",
        "found = [snapshot.bucket_of(5001).lower, snapshot.bucket_of(5001).upper]",
    ),
    Row(
        "whether values are equivalent",
        "found = [histogram.values_are_equivalent(5000, 5003), histogram.values_are_equivalent(5003, 5004)]",
        "found = [\n    snapshot.bucket_of(5000).lower == snapshot.bucket_of(5003).lower,\n"
        "    snapshot.bucket_of(5003).lower == snapshot.bucket_of(5004).lower,\n]",
    ),
    Row(
        "recorded values",
        "found = [(item.value_iterated_to, item.count_at_value_iterated_to) for item in histogram.get_recorded_iterator()]",
        "found = [(bucket.upper, bucket.count) for bucket in snapshot.buckets()]",
    ),
    Row(
        "linear steps",
        "found = [\n    (item.value_iterated_to, item.count_added_in_this_iter_step)\n"
        "    for item in histogram.get_linear_iterator(10_000_000)\n]",
        "found = [(step.to + 1, step.added_count) for step in snapshot.linear_steps(10_000_000)]",
    ),
    Row(
        "logarithmic steps",
        "found = [\n    (item.value_iterated_to, item.count_added_in_this_iter_step)\n"
        "    for item in histogram.get_log_iterator(10, 2)\n]",
        "found = [(step.to + 1, step.added_count) for step in snapshot.logarithmic_steps(10, 2)]",
    ),
    Row(
        "steps of percentiles",
        "found = [\n    (item.value_iterated_to, item.total_count_to_this_value)\n"
        "    for item in histogram.get_percentile_iterator(1)\n]",
        "found = [(step.to, step.cumulative_count) for step in snapshot.percentile_steps(1)]",
    ),
    Row(
        "reset",
        "histogram.reset()\nfound = histogram.get_total_count()",
        "histogram.reset()\nfound = histogram.total_count",
    ),
    Row(
        "add",
        "other = HdrHistogram(1, 10**9, 2)\nother.record_value(123_456_789)\nhistogram.add(other)\n"
        "found = [item.count_at_value_iterated_to for item in histogram.get_recorded_iterator()]",
        "other = picollo.Histogram(significant_digits=2, max=10**9)\nother.record(123_456_789)\n"
        'histogram.add(other, placement="low")\nfound = [bucket.count for bucket in histogram.snapshot().buckets()]',
    ),
    Row(
        "encode and decode",
        "text = histogram.encode()\nfound = HdrHistogram.decode(text).get_total_count()",
        "text = snapshot.encode_text()\nfound = picollo.Snapshot.decode(text).total_count",
    ),
    Row(
        "decode and add",
        "other.decode_and_add(histogram.encode())\nfound = other.get_total_count()",
        'other.add(picollo.Snapshot.decode(snapshot.encode_text()), placement="low")\nfound = other.total_count',
    ),
    Row(
        "whether two are equal",
        "found = HdrHistogram.decode(histogram.encode()).equals(histogram)",
        "found = picollo.Snapshot.decode(snapshot.encode_text()).buckets() == snapshot.buckets()",
    ),
    Row(
        "the distribution for plotters",
        "histogram.output_percentile_distribution(out, 1000.0)\nfound = out.getvalue()[:1] != b''",
        "out.write(snapshot.hgrm(scale=1000).encode())\nfound = out.getvalue()[:1] != b''",
    ),
    Row(
        "look at what is encoded",
        "HdrHistogram.dump(histogram.encode())\nfound = None",
        "print(picollo.Snapshot.decode(snapshot.encode_text()))\nfound = None",
    ),
    Row(
        "the ratio of doubles",
        "found = histogram.get_int_to_double_conversion_ratio()",
        "found = snapshot.value_ratio",
    ),
    Row(
        "write a log, and read it by tag and time",
        "with open(path, 'w') as file:\n    log = HistogramLogWriter(file)\n    log.output_comment('[a test]')\n"
        "    log.output_log_format_version()\n    log.output_legend()\n"
        "    for second in range(3):\n        histogram.set_start_time_stamp((1_500_000_000 + second) * 1000)\n"
        "        histogram.set_end_time_stamp((1_500_000_001 + second) * 1000)\n"
        "        log.output_interval_histogram(histogram)\n"
        "reader = HistogramLogReader(path, HdrHistogram(1, HIGHEST, 3))\nfound = []\n"
        "while True:\n    interval = reader.get_next_interval_histogram()\n    if interval is None:\n        break\n"
        "    found.append((interval.get_start_time_stamp() / 1000, interval.get_total_count()))\nreader.close()",
        "with picollo.write_log(path, start=1_500_000_000, comment='a test') as log:\n    for second in range(3):\n"
        "        log.write(snapshot, 1_500_000_000 + second, 1_500_000_001 + second)\n"
        "found = [(interval.start, interval.snapshot.total_count) for interval in picollo.read_log(path)]",
    ),
    Row(
        "add up a log",
        "with open(path, 'w') as file:\n    log = HistogramLogWriter(file)\n    log.output_log_format_version()\n"
        "    for second in range(3):\n        log.output_interval_histogram(histogram, second, second + 1)\n"
        "reader = HistogramLogReader(path, HdrHistogram(1, HIGHEST, 3))\n"
        "while reader.add_next_interval_histogram(other, 0, 10):\n    pass\nreader.close()\nfound = other.get_total_count()",
        "with picollo.write_log(path, start=0) as log:\n    for second in range(3):\n"
        "        log.write(snapshot, second, second + 1)\n"
        "found = picollo.read_log(path).sum().total_count",
    ),
]

#: What both find.
EXPECTED: dict[str, Any] = {
    "values in range, to the end of the array": 1,
    "lowest discernible value": 114687,
    "a value out of range is an answer there, and a count here": [False, 0],
    "many of a value": 5,
    "many values": 109,
    "coordinated omission": 10,
    "total": 109,
    "value at a percentile": 5003,
    "values at percentiles": {50: 1000, 90: 1000, 100: 123469823},
    "largest": 123469823,
    "smallest": 0,
    "mean and deviation": [1133451.0825688073, 11768669.879355812],
    "count at a value": 1,
    "equivalent values": [5000, 5003],
    "whether values are equivalent": [True, False],
    "recorded values": [(0, 1), (1, 1), (3, 2), (7, 1), (1000, 100), (2047, 1), (2049, 1), (5003, 1), (123469823, 1)],
    "linear steps": [
        (10000000, 108), (20000000, 0), (30000000, 0), (40000000, 0), (50000000, 0), (60000000, 0),
        (70000000, 0), (80000000, 0), (90000000, 0), (100000000, 0), (110000000, 0), (120000000, 0),
        (130000000, 1),
    ],  # fmt: skip
    "logarithmic steps": [
        (10, 5), (20, 0), (40, 0), (80, 0), (160, 0), (320, 0), (640, 0), (1280, 100), (2560, 2), (5120, 1),
        (10240, 0), (20480, 0), (40960, 0), (81920, 0), (163840, 0), (327680, 0), (655360, 0), (1310720, 0),
        (2621440, 0), (5242880, 0), (10485760, 0), (20971520, 0), (41943040, 0), (83886080, 0), (167772160,
        1),
    ],  # fmt: skip
    "steps of percentiles": [
        (0, 1), (1000, 105), (1000, 105), (1000, 105), (1000, 105), (2047, 106), (5003, 108), (123469823,
        109), (123469823, 109),
    ],  # fmt: skip
    "reset": 0,
    "add": [1, 1, 2, 1, 100, 1, 1, 1, 1, 1],
    "encode and decode": 109,
    "decode and add": 109,
    "whether two are equal": True,
    "the distribution for plotters": True,
    "look at what is encoded": None,
    "the ratio of doubles": 1.0,
    "write a log, and read it by tag and time": [(1500000000.0, 109), (1500000001.0, 109), (1500000002.0, 109)],
    "add up a log": 327,
}


def run(setup: str, code: str, path: Path) -> Any:
    names: dict[str, Any] = {"VALUES": VALUES, "HIGHEST": HIGHEST, "path": str(path), "out": io.BytesIO()}
    exec(compile(setup + code, "<row>", "exec"), names)
    return names["found"]


@pytest.mark.parametrize("row", ROWS, ids=[row.what for row in ROWS])
def test_row(row: Row, tmp_path: Path) -> None:
    found = run(OUR_SETUP, row.ours, tmp_path / "ours.hlog")
    expected = EXPECTED[row.what]
    assert found == (pytest.approx(expected) if "deviation" in row.what else expected)
    if find_spec("hdrh") is not None:
        assert run(SETUP, row.theirs, tmp_path / "theirs.hlog") == expected


def test_traps() -> None:
    """What is other than there."""
    histogram = picollo.Histogram(significant_digits=3, max=HIGHEST)
    histogram.record(1_000_000)
    snapshot = histogram.snapshot()
    # Percentiles are midpoints, unless asked otherwise.
    assert (snapshot.percentile(99).value, snapshot.percentile(99, "upper").value) == (1_000_192, 1_000_447)
    # The range ends where it is said to, and what is beyond is counted apart.
    small = picollo.Histogram(significant_digits=3, max=5000)
    small.record(5004)
    assert small.counts[:3] == (0, 0, 1)
    # min is a limit, and unit the unit: with a min of 1 zeros are underflow.
    limited = picollo.Histogram(significant_digits=3, min=1, max=5000)
    limited.record(0)
    assert limited.counts[:2] == (0, 1)
    # Nothing recorded has no percentiles, and no rank is beyond 100.
    with pytest.raises(picollo.EmptyError):
        picollo.Histogram().snapshot().percentile(50)
    with pytest.raises(picollo.InvalidArgumentError):
        snapshot.percentile(100.1)
    # Intervals: a snapshot's deltas, of one histogram that goes on. One that is not read is lost to nobody but its reader.
    deltas = histogram.snapshot()
    deltas.update(deltas=True)
    histogram.record(5)
    assert deltas.update(deltas=True).total_count == 1
