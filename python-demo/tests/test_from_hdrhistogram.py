"""What those write here who come from PyPI's ``hdrhistogram``, and what both find.

``docs/from-hdrhistogram.md`` has more rows, and its tests run them. Where ``hdrh`` can be imported, as in ``ci/interop.sh``, theirs runs
here too, and finds the same.
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
def steps(iterator, count):
    return [(item.value_iterated_to, getattr(item, count)) for item in iterator]
def write(*comments):
    with open(path, "w") as file:
        log = HistogramLogWriter(file)
        for comment in comments:
            log.output_comment(comment)
        log.output_log_format_version()
        log.output_legend()
        for second in range(3):
            histogram.set_start_time_stamp((1_500_000_000 + second) * 1000)
            histogram.set_end_time_stamp((1_500_000_001 + second) * 1000)
            log.output_interval_histogram(histogram)
    return HistogramLogReader(path, HdrHistogram(1, HIGHEST, 3))
"""
OUR_SETUP = """
import picollo
histogram, other = (picollo.Histogram(significant_digits=3, max=HIGHEST, whole_array=True) for _ in range(2))
histogram.record_many(VALUES)
snapshot = histogram.snapshot()
def write():
    with picollo.write_log(path, start=1_500_000_000, comment="a test") as log:
        for second in range(3):
            log.write(snapshot, 1_500_000_000 + second, 1_500_000_001 + second)
    return picollo.read_log(path)
"""


class Row(NamedTuple):
    """Expressions of theirs and ours, with statements before them, and what both find."""

    theirs: str
    ours: str
    found: Any


STEPS = "count_added_in_this_iter_step"
ROWS = {
    "values in range, to the end of the array": Row(
        "other = HdrHistogram(1, 5000, 3); other.record_value(8191); other.get_total_count()",
        "other = picollo.Histogram(significant_digits=3, max=5000, whole_array=True); other.record(8191); other.total_count",
        1,
    ),
    "lowest discernible value": Row(
        "other = HdrHistogram(20_000, HIGHEST, 3); other.record_value(100_000); other.get_max_value()",
        "other = picollo.Histogram(significant_digits=3, max=HIGHEST, unit=20_000); other.record(100_000); "
        'other.percentile(100, "upper").value',
        114687,
    ),
    "a value out of range is an answer there, and a count here": Row(
        "[other.record_value(10**13), other.get_total_count()]",
        "other.record(10**13); [other.counts.overflow == 0, other.total_count]",
        [False, 0],
    ),
    "many of a value": Row("other.record_value(1000, 5); other.get_total_count()", "other.record_n(1000, 5); other.total_count", 5),
    "many values": Row("histogram.get_total_count()", "other.record_many(VALUES); other.total_count", 109),
    "coordinated omission": Row(
        "other.record_corrected_value(1000, 100); other.get_total_count()", "other.record_corrected(1000, 100); other.total_count", 10
    ),
    "values at percentiles": Row(
        "histogram.get_percentile_to_value_dict([50, 99, 100])",
        'dict(zip([50, 99, 100], snapshot.percentile_values([50, 99, 100], "upper")))',
        {50: 1000, 99: 5003, 100: 123469823},
    ),
    "extremes": Row(
        "[histogram.get_min_value(), histogram.get_max_value()]",
        '[snapshot.percentile(0, "lower").value, snapshot.percentile(100, "upper").value]',
        [0, 123469823],
    ),
    "mean and deviation": Row(
        "[histogram.get_mean_value(), histogram.get_stddev()]",
        "[snapshot.mean, snapshot.stddev]",
        pytest.approx([1133451.0825688073, 11768669.879355812]),
    ),
    "count at a value": Row("histogram.get_count_at_value(123_456_789)", "snapshot.bucket_of(123_456_789).count", 1),
    "equivalent values": Row(
        "[histogram.get_lowest_equivalent_value(5001), histogram.get_highest_equivalent_value(5001)]",
        "[snapshot.bucket_of(5001).lower, snapshot.bucket_of(5001).upper]",
        [5000, 5003],
    ),
    "recorded values": Row(
        "steps(histogram.get_recorded_iterator(), 'count_at_value_iterated_to')",
        "[(bucket.upper, bucket.count) for bucket in snapshot.buckets()]",
        [(0, 1), (1, 1), (3, 2), (7, 1), (1000, 100), (2047, 1), (2049, 1), (5003, 1), (123469823, 1)],
    ),
    "linear steps": Row(
        "steps(histogram.get_linear_iterator(10_000_000), STEPS)",
        "[(step.to + 1, step.added_count) for step in snapshot.linear_steps(10_000_000)]",
        [(10_000_000, 108), *((at * 10_000_000, 0) for at in range(2, 13)), (130_000_000, 1)],
    ),
    "logarithmic steps": Row(
        "steps(histogram.get_log_iterator(10, 2), STEPS)",
        "[(step.to + 1, step.added_count) for step in snapshot.logarithmic_steps(10, 2)]",
        [(10 << at, {0: 5, 7: 100, 8: 2, 9: 1, 24: 1}.get(at, 0)) for at in range(25)],
    ),
    "steps of percentiles": Row(
        "steps(histogram.get_percentile_iterator(1), 'total_count_to_this_value')",
        "[(step.to, step.cumulative_count) for step in snapshot.percentile_steps(1)]",
        [(0, 1), *[(1000, 105)] * 4, (2047, 106), (5003, 108), (123469823, 109), (123469823, 109)],
    ),
    "reset": Row("histogram.reset(); histogram.get_total_count()", "histogram.reset(); histogram.total_count", 0),
    "add": Row(
        "other = HdrHistogram(1, 10**9, 2); other.record_value(123_456_789); histogram.add(other); "
        "[item.count_at_value_iterated_to for item in histogram.get_recorded_iterator()]",
        "other = picollo.Histogram(significant_digits=2, max=10**9); other.record(123_456_789); "
        'histogram.add(other, placement="low"); [bucket.count for bucket in histogram.snapshot().buckets()]',
        [1, 1, 2, 1, 100, 1, 1, 1, 1, 1],
    ),
    "decode and add": Row(
        "other.decode_and_add(histogram.encode()); other.get_total_count()",
        'other.add(picollo.Snapshot.decode(snapshot.encode_text()), placement="low"); other.total_count',
        109,
    ),
    "whether two are equal": Row(
        "HdrHistogram.decode(histogram.encode()).equals(histogram)",
        "picollo.Snapshot.decode(snapshot.encode_text()).buckets() == snapshot.buckets()",
        True,
    ),
    "the distribution for plotters": Row(
        "histogram.output_percentile_distribution(out, 1000.0); out.getvalue()[:1] != b''", "len(snapshot.hgrm(scale=1000)) > 500", True
    ),
    "the ratio of doubles": Row("histogram.get_int_to_double_conversion_ratio()", "snapshot.value_ratio", 1.0),
    "a log": Row(
        "reader = write('[a test]'); read = [reader.get_next_interval_histogram() for _ in range(3)]; "
        "reader.close(); [(interval.get_start_time_stamp() / 1000, interval.get_total_count()) for interval in read]",
        "[(interval.start, interval.snapshot.total_count) for interval in write()]",
        [(1500000000.0, 109), (1500000001.0, 109), (1500000002.0, 109)],
    ),
    "add up a log": Row(
        "reader = write(); [reader.add_next_interval_histogram(other, 0, 2e9) for _ in range(4)]; "
        "reader.close(); other.get_total_count()",
        "write().sum().total_count",
        327,
    ),
}


def run(setup: str, code: str, path: Path) -> Any:
    names: dict[str, Any] = {"VALUES": VALUES, "HIGHEST": HIGHEST, "STEPS": STEPS, "path": str(path), "out": io.BytesIO()}
    *statements, expression = code.split("; ")
    exec("\n".join([setup, *statements]), names)
    return eval(expression, names)


@pytest.mark.parametrize("what", ROWS)
def test_row(what: str, tmp_path: Path) -> None:
    row = ROWS[what]
    assert run(OUR_SETUP, row.ours, tmp_path / "ours.hlog") == row.found
    if find_spec("hdrh") is not None:
        assert run(SETUP, row.theirs, tmp_path / "theirs.hlog") == row.found


def test_traps() -> None:
    """What is other than there."""
    histogram = picollo.Histogram(significant_digits=3, max=HIGHEST)
    histogram.record(1_000_000)
    snapshot = histogram.snapshot()
    # Percentiles are midpoints, unless asked otherwise.
    assert (snapshot.percentile(99).value, snapshot.percentile(99, "upper").value) == (1_000_192, 1_000_447)
    # The range ends where it is said to, and what is beyond is counted apart; with a min of 1 zeros are underflow.
    small = picollo.Histogram(significant_digits=3, min=1, max=5000)
    small.record_many([0, 5004])
    assert small.counts[:3] == (0, 1, 1)
    # Nothing recorded has no percentiles, and no rank is beyond 100.
    with pytest.raises(picollo.EmptyError):
        picollo.Histogram().snapshot().percentile(50)
    with pytest.raises(picollo.InvalidArgumentError):
        snapshot.percentile(100.1)
