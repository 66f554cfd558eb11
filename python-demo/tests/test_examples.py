"""The worked examples, byte for byte."""

from __future__ import annotations

import examples
import pytest

import picollo


@pytest.fixture(scope="module")
def first() -> picollo.Histogram:
    return examples.first()


@pytest.fixture(scope="module")
def second() -> picollo.Histogram:
    return examples.second()


def test_summary(first: picollo.Histogram) -> None:
    assert first.summary().markdown("Example") == examples.SUMMARY
    assert first.snapshot().summary().markdown("Example") == examples.SUMMARY


def test_diff(first: picollo.Histogram, second: picollo.Histogram) -> None:
    text = first.diff(second, "Example diff").markdown()
    assert first.summary().diff(second.summary(), "Example diff").markdown() == text
    # The rows left out are one for each percentile.
    parts = examples.DIFF.split("…\n")
    assert text.startswith(parts[0])
    assert text.endswith(parts[-1])
    assert "\n" + parts[1] in text
    assert text.count("\n") == 3 + 16 + 6
    assert text.splitlines()[3 + 12].startswith("| 99.9  ")


def test_for_people(first: picollo.Histogram, second: picollo.Histogram) -> None:
    assert first.text("Latency", unit="ns") == (
        "Latency: 99,940 values, 60 below the range\n"
        "    P50      P90      P99    P99.9      max     mean\n"
        "3.60 µs  7.46 µs  9.15 µs  9.66 µs  9.79 µs  4.33 µs"
    )
    assert first.text("Latency (ns)") == first.summary().text("Latency", "ns")
    assert "\n3,600  7,456  9,152  9,664  9,792  4,333" in str(first.summary())
    assert first.text("Latency (parcels)").startswith("Latency (parcels): 99,940 values")
    assert "\nP99.99   9.79 µs  64 ns  99,931\n" in first.text(unit="ns", full=True)
    text = first.diff(second, "Two days").text(unit="ns")
    assert text.startswith("Two days\nThe median changed by +2.7 % from Before to After: 3.60 µs → 3.70 µs.\n")
    assert all(len(line) <= 80 for line in text.splitlines())
    with pytest.raises(TypeError):
        first.text(unit=5)  # type: ignore[arg-type]


def test_line(first: picollo.Histogram) -> None:
    assert first.summary().line("Example") == examples.LINE


def test_one_percentile(first: picollo.Histogram) -> None:
    assert str(first.percentile(99)) == examples.PERCENTILE
    assert str(first.summary().percentiles[11]) == examples.PERCENTILE


def test_listed_bucket(first: picollo.Histogram) -> None:
    listed = first.snapshot().bucket_percentiles()[0]
    assert str(listed) == examples.LISTED_BUCKET
    lower = first.snapshot().bucket_percentiles(values="lower")[0]
    assert str(lower) == "P0.073=2,000 [0 / 381]: [2,000, 2,016) 146"


def test_the_name_is_the_default_title() -> None:
    histogram = picollo.Histogram(relative_error=0.01, min=2000, max=12000, name="Example")
    histogram.record_many(examples.values(1, 100_000, 1990, 1500, 40))
    assert str(histogram).startswith("Example: 99,940 values, 60 below the range\n")
    assert str(histogram.summary()) == str(histogram.snapshot()) == histogram.text() == str(histogram)
    assert histogram._repr_markdown_() == examples.SUMMARY
    assert histogram.summary()._repr_markdown_() == examples.SUMMARY
    assert histogram.summary().line() == examples.LINE
    assert "##### Example" not in histogram.summary().markdown("")


@pytest.mark.parametrize(
    ("error", "low", "high", "first_index", "last_index", "count"),
    [
        (0.01, 10_000, 30_000, 526, 629, 104),
        (0.001, 0, None, 0, 28_671, 28_672),
        (0.0001, 100, 200, 100, 200, 101),
        (0.01, 50, 100, 50, 100, 51),
    ],
)
def test_layouts(error: float, low: int, high: int, first_index: int, last_index: int, count: int) -> None:
    buckets = picollo.Histogram(error, low, high).snapshot().buckets(non_empty=False)
    assert len(buckets) == count
    assert [buckets[0].logical_index, buckets[-1].logical_index] == [first_index, last_index]
    assert [bucket.storage_index for bucket in buckets] == list(range(count))


def test_a_bucket() -> None:
    histogram = picollo.Histogram(relative_error=0.01)
    snapshot = histogram.snapshot()
    bucket = snapshot.bucket_of(1_000_000)
    assert bucket == (999_424, 1_007_615, 8192, 0, 954, 954)
    assert (bucket.midpoint, bucket.value(), bucket.value("lower"), bucket.value("upper")) == (
        1_003_520,
        1_003_520,
        999_424,
        1_007_615,
    )
    assert [snapshot.bucket_of(value).logical_index for value in (127, 128, 129)] == [127, 128, 128]
    assert snapshot.bucket_of(2**64 - 1).logical_index == 3775


def test_the_top_bucket_prints_its_open_end() -> None:
    histogram = picollo.Histogram(relative_error=0.01)
    histogram.record(2**64 - 1)
    assert str(histogram.percentile(100)).endswith(", 18,446,744,073,709,551,616) 1")
