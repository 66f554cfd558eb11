"""Arrays of histograms."""

from __future__ import annotations

import gc
import pickle
from typing import Any

import pytest

import picollo
from picollo import HistogramArray

MODES: list[tuple[Any, Any]] = [
    ("single_writer", "dense"),
    ("interlocked", "dense"),
    ("thread_local", "dense"),
    ("scalable", "dense"),
    ("per_cpu", "dense"),
    ("single_writer", "sparse"),
    ("interlocked", "sparse"),
]


@pytest.mark.parametrize(("mode", "storage"), MODES)
def test_each_counts_by_itself(mode: Any, storage: Any) -> None:
    array = HistogramArray(5, 0.01, max=10**6, mode=mode, storage=storage, name="endpoint")
    assert len(array) == 5
    for index in range(5):
        for _ in range(index):
            array.record(index, 1000 + index)
        array[index].record_many([7] * 3)
    assert [summary.total_count for summary in array.summaries()] == [3, 4, 5, 6, 7]
    assert array[-1].summary().total_count == 7 and array[-1].name == "endpoint[4]"
    assert [histogram.total_count for histogram in array] == [3, 4, 5, 6, 7]
    assert array.merged().total_count == 25
    array[2].reset()
    assert array[2].total_count == 0 and array[3].total_count == 6


def test_a_histogram_keeps_its_memory() -> None:
    array = HistogramArray(3, 0.01, max=1000)
    last = array[2]
    snapshot = array[1].snapshot()
    array.record(1, 5)
    array.close()
    del array
    gc.collect()
    last.record(5)
    assert last.total_count == 1
    assert snapshot.update().total_count == 1


def test_indices() -> None:
    array = HistogramArray(3, 0.1, max=1000)
    for index in (3, -4, 2**70):
        with pytest.raises(IndexError):
            array[index]
        with pytest.raises(IndexError):
            array.record(index, 1)
    for wrong in (1.0, "1", slice(1)):
        with pytest.raises(TypeError):
            array[wrong]  # type: ignore[index]
    with pytest.raises(ValueError):
        array.record(0, -1)
    assert [histogram.total_count for histogram in array] == [0, 0, 0]


def test_what_is_refused() -> None:
    with pytest.raises(ValueError):
        HistogramArray(0)
    with pytest.raises(ValueError):
        HistogramArray(-1)
    with pytest.raises(ValueError):
        HistogramArray(1, min=5, max=5)
    with pytest.raises(picollo.UnsupportedError, match="array of 2 histograms"):
        HistogramArray(2, mode="scalable", storage="sparse")
    with pytest.raises(picollo.OutOfMemoryError):
        HistogramArray(2**60)
    with HistogramArray(1, 0.1, max=10) as array:
        with pytest.raises(TypeError):
            pickle.dumps(array)
    assert "closed" in repr(array)
    for call in (lambda: array[0], lambda: array.record(0, 1), lambda: array.footprint, lambda: array.__enter__()):
        with pytest.raises(picollo.ClosedError):
            call()


def test_footprint() -> None:
    one = picollo.Histogram(0.01, max=10**6).footprint
    assert HistogramArray(10, 0.01, max=10**6).footprint == 64 + 10 * one
