"""Spark: a column of a DataFrame, counted where its Arrow batches are, through ``mapInArrow``, and merged by ``treeAggregate``."""

from __future__ import annotations

import pickle
from typing import Any, Iterable, Iterator, Sequence

from .counting import count
from .layout import Layout, Rules
from .logs import MAX_GROUPS, Files, count_logs, result_of_logs
from .merging import merge
from .part import Part, Result


def histogram(
    frame: Any, column: str, layout: Layout = Layout(), *, by: Any = None, rules: Rules = Rules(), depth: int = 2
) -> Result:
    """Counts all values of a column of a DataFrame.

    ::

        result = picollo_engines.spark.histogram(spark.read.parquet("requests"), "latency", Layout(0.001), by="route")

    :param by: what to group by: the name of another column.
    :param depth: of the tree in which parts are merged.
    """
    columns = [frame[column].alias("value")] + ([] if by is None else [frame[by].alias("key")])

    def count_partition(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow
        from pyspark import TaskContext

        context = TaskContext.get()
        what = f"partition {context.partitionId() if context else '?'}: {column}"
        grouped = by is not None
        rows = ((batch.column("value"), batch.column("key") if grouped else None) for batch in batches)
        part = pickle.dumps(count(rows, layout, rules, what, grouped))
        yield pyarrow.RecordBatch.from_arrays([pyarrow.array([part], pyarrow.binary())], ["part"])

    parts = frame.select(columns).mapInArrow(count_partition, "part binary").rdd.map(lambda row: pickle.loads(row["part"]))
    return Result(_merged(parts, rules.max_groups, depth), layout.histogram().snapshot())


def logs(
    session: Any,
    files: Files,
    *,
    by: Sequence[str] = ("tag", "hour"),
    files_per_task: int = 64,
    max_groups: int = MAX_GROUPS,
    depth: int = 2,
) -> Result:
    """Adds up a directory of logs (.hlog), which all workers must see under the same name. See :mod:`picollo_engines.logs`."""
    tasks = files.tasks(files_per_task)
    if not tasks:
        return result_of_logs(Part())
    parts = session.sparkContext.parallelize(tasks, len(tasks)).map(lambda paths: count_logs(paths, tuple(by), max_groups))
    part = _merged(parts, max_groups, depth)
    if part.tally.partitions != len(tasks):
        raise RuntimeError(f"{part.tally.partitions} tasks came back, and there are {len(tasks)}")
    return result_of_logs(part)


def _merged(parts: Any, max_groups: int, depth: int) -> Part:
    # An empty DataFrame may have no partitions, of which there is no reduction.
    def add(a: Part, b: Part) -> Part:
        return merge((a, b), max_groups)

    part: Part = parts.treeAggregate(Part(), add, add, depth)
    return part
