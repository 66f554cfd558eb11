"""On a cluster of two worker processes: to the count what one process counts, whoever dies."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, Iterator

import clusters
import data
import oracle
import picollo
import pytest
from settings import NUMBER, PARTITIONS

import picollo_engines.dask
from picollo_engines import Layout, Rules, TooManyGroups

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with clusters.dask_cluster(2) as client:
        yield client


def test_an_array_is_counted_to_the_count(client: Any) -> None:
    result = picollo_engines.dask.histogram(clusters.dask_array(PARTITIONS, NUMBER))
    assert oracle.same(result.snapshot, oracle.whole(PARTITIONS, NUMBER))
    assert result.tally.partitions == PARTITIONS and result.tally.rows == PARTITIONS * NUMBER and result.tally.left_out == 0


def test_a_killed_worker_changes_no_count(client: Any, tmp_path: Path) -> None:
    death, witness = data.Death(tmp_path / "died", PARTITIONS // 2), tmp_path / "witness"
    witness.mkdir()
    result = picollo_engines.dask.histogram(clusters.dask_array(PARTITIONS, NUMBER, death, witness))
    assert death.happened()
    assert oracle.same(result.snapshot, oracle.whole(PARTITIONS, NUMBER))
    assert result.tally.partitions == PARTITIONS
    # What the test is for: counts that are added to something on the side are too many.
    assert data.seen(witness) > PARTITIONS * NUMBER


def test_by_group(client: Any) -> None:
    result = picollo_engines.dask.histogram(clusters.dask_frame(9, 10_000), "latency", by="route")
    expected = oracle.by_route(9, 10_000)
    assert set(result.groups) == set(expected)
    assert all(oracle.same(result[route], snapshot) for route, snapshot in expected.items())
    assert oracle.same(result.snapshot, oracle.whole(9, 10_000))


def test_groups_are_bounded(client: Any) -> None:
    frame = clusters.dask_frame(3, 100)
    with pytest.raises(TooManyGroups, match=r"7 groups or more in partition \d: latency, and max_groups is 6"):
        picollo_engines.dask.histogram(frame, "latency", by="route", rules=Rules(max_groups=6))
    # Few in each partition, and many in all.
    import dask.bag

    bag = dask.bag.from_sequence([{"value": n, "key": n} for n in range(40)], npartitions=20)
    with pytest.raises(TooManyGroups, match="groups or more in 8 parts of the data"):
        picollo_engines.dask.histogram(bag, "value", by="key", rules=Rules(max_groups=10))


def test_bags_and_frames_and_nested_arrays(client: Any) -> None:
    import dask.array
    import dask.bag

    expected = oracle.whole(1, 1000)
    numbers = data.values(0, 1000)
    bag = dask.bag.from_sequence(numbers.tolist(), npartitions=7)
    assert oracle.same(picollo_engines.dask.histogram(bag).snapshot, expected)
    mappings = bag.map(lambda number: {"n": number})
    assert oracle.same(picollo_engines.dask.histogram(mappings, "n").snapshot, expected)
    squares = dask.array.from_array(numbers.reshape(10, 100), chunks=(3, 7))
    assert oracle.same(picollo_engines.dask.histogram(squares).snapshot, expected)
    assert oracle.same(picollo_engines.dask.histogram(clusters.dask_frame(1, 1000), "latency").snapshot, expected)


@pytest.mark.parametrize("fan_in, partitions", [*itertools.product((2, 3, 8), (1, 2, 9)), (100, 9)])
def test_any_tree_is_the_same(client: Any, fan_in: int, partitions: int) -> None:
    result = picollo_engines.dask.histogram(clusters.dask_array(partitions, 500), fan_in=fan_in)
    assert oracle.same(result.snapshot, oracle.whole(partitions, 500)) and result.tally.partitions == partitions


def test_errors_name_the_place(client: Any) -> None:
    import dask.array

    numbers = data.values(0, 1000)
    numbers[642] = -5
    with pytest.raises(ValueError, match=r"^partition 6, row 42: -5 is negative"):
        picollo_engines.dask.histogram(dask.array.from_array(numbers, chunks=100))
    result = picollo_engines.dask.histogram(dask.array.from_array(numbers, chunks=100), rules=Rules(invalid="skip"))
    assert result.tally.negative == 1 and result.snapshot.total_count == 999
    with pytest.raises(ValueError, match="there is none"):
        picollo_engines.dask.histogram(dask.array.from_array(numbers), by="route")


def test_other_layouts(client: Any) -> None:
    for layout in (Layout(0.01, 1000, 100_000), Layout(significant_digits=3), Layout(unit=1024)):
        result = picollo_engines.dask.histogram(clusters.dask_array(5, 5_000), layout=layout)
        assert oracle.same(result.snapshot, oracle.whole(5, 5_000, layout))
    assert isinstance(result.snapshot, picollo.Snapshot)
