"""On a master and two workers with an executor each: to the count what one process counts, whoever dies."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Iterator

import clusters
import data
import oracle
import pytest
from settings import FILES, NUMBER, PARTITIONS
from test_logs import check, write

import picollo_engines.spark
from picollo_engines import Files, Rules

pytest.importorskip("pyspark")


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    with clusters.spark_cluster(2) as session:
        yield session


def test_a_column_is_counted_to_the_count(session: Any) -> None:
    result = picollo_engines.spark.histogram(clusters.spark_frame(session, PARTITIONS, NUMBER), "latency")
    assert oracle.same(result.snapshot, oracle.whole(PARTITIONS, NUMBER))
    assert result.tally.partitions == PARTITIONS and result.tally.rows == PARTITIONS * NUMBER and result.tally.left_out == 0


@pytest.mark.parametrize("executor", [True, False], ids=["executor", "python"])
def test_a_killed_process_changes_no_count(session: Any, tmp_path: Path, executor: bool) -> None:
    death, witness = data.Death(tmp_path / "died", PARTITIONS // 2, executor), tmp_path / "witness"
    witness.mkdir()
    frame = clusters.spark_frame(session, PARTITIONS, NUMBER, death, witness)
    result = picollo_engines.spark.histogram(frame, "latency", by="route")
    assert death.happened()
    expected = oracle.by_route(PARTITIONS, NUMBER)
    assert set(result.groups) == set(expected)
    assert all(oracle.same(result[route], snapshot) for route, snapshot in expected.items())
    assert result.tally.partitions == PARTITIONS
    # What the test is for: counts that are added to something on the side are too many.
    assert data.seen(witness) > PARTITIONS * NUMBER


def test_nulls_groups_and_errors(session: Any) -> None:
    frame = session.createDataFrame([(5, "a"), (None, "a"), (7, None), (9, "b"), (-3, "b")], "n long, k string").repartition(3)
    result = picollo_engines.spark.histogram(frame, "n", by="k", rules=Rules(invalid="skip"))
    assert {key: snapshot.total_count for key, snapshot in result.groups.items()} == {"a": 1, None: 1, "b": 1}
    assert (result.tally.rows, result.tally.nulls, result.tally.negative) == (5, 1, 1)
    with pytest.raises(Exception, match=r"partition \d+: n, row \d+: -3 is negative"):
        picollo_engines.spark.histogram(frame, "n")
    with pytest.raises(Exception, match="groups or more in .*, and max_groups is 2"):
        picollo_engines.spark.histogram(frame, "n", by="k", rules=Rules(max_groups=2, invalid="skip"))
    with pytest.raises(Exception, match="partition .* is of string, which is no type of numbers"):
        picollo_engines.spark.histogram(frame, "k")


def test_logs(session: Any, tmp_path: Path) -> None:
    write(tmp_path, FILES)
    check(picollo_engines.spark.logs(session, Files(tmp_path), files_per_task=max(1, FILES // 8)), tmp_path, FILES)
