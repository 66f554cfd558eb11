"""Dask: bags, arrays and dataframes, on whatever scheduler is current: that of a cluster, where a Client is connected to one."""

from __future__ import annotations

from typing import Any, Optional, Sequence

from .counting import count
from .layout import Layout, Rules
from .logs import MAX_GROUPS, Files, count_logs, result_of_logs
from .merging import merge
from .part import Part, Result

#: Parts that one task adds up.
FAN_IN = 8


def histogram(
    collection: Any, column: Any = None, layout: Layout = Layout(), *, by: Any = None, rules: Rules = Rules(), fan_in: int = FAN_IN
) -> Result:
    """Counts all values of a column of a dataframe, of an array, or of a bag (of numbers, or with a column of mappings).

    ::

        with dask.distributed.Client("scheduler:8786"):
            result = picollo_engines.dask.histogram(frame, "latency", Layout(0.001), by="route")
        print(result["/checkout"].summary())

    :param by: what to group by: another column.
    :param fan_in: how many parts a task adds up, in a tree.
    """
    if column is None and by is not None:
        raise ValueError("by is for columns: there is none")
    if hasattr(collection, "columns"):
        collection = collection[[column] if by in (None, column) else [column, by]]
    partitions = collection.to_delayed()
    # An array's are as many-dimensional as it is.
    partitions = partitions.ravel().tolist() if hasattr(partitions, "ravel") else list(partitions)
    arguments = [(partition, number, column, by, layout, rules) for number, partition in enumerate(partitions)]
    part = run(count_partition, arguments, rules.max_groups, fan_in)
    return Result(part, layout.histogram().snapshot())


def logs(
    files: Files,
    *,
    by: Sequence[str] = ("tag", "hour"),
    files_per_task: int = 64,
    max_groups: int = MAX_GROUPS,
    fan_in: int = FAN_IN,
) -> Result:
    """Adds up a directory of logs (.hlog), which all workers must see under the same name. See :mod:`picollo_engines.logs`."""
    arguments = [(paths, tuple(by), max_groups) for paths in files.tasks(files_per_task)]
    return result_of_logs(run(count_logs, arguments, max_groups, fan_in))


def run(function: Any, arguments: Sequence[tuple[Any, ...]], max_groups: int, fan_in: int) -> Part:
    """Calls a function for each tuple of arguments, and merges the parts in a tree, on the workers. Tasks change nothing, so one that
    is done again after a worker has died adds nothing twice."""
    import dask

    if fan_in < 2:
        raise ValueError(f"fan_in must be at least 2, not {fan_in}")
    task, add = dask.delayed(function), dask.delayed(merge)
    level = [task(*each) for each in arguments]
    while len(level) > 1:
        level = [add(level[first : first + fan_in], max_groups) for first in range(0, len(level), fan_in)]
    part: Part = level[0].compute() if level else Part()
    if part.tally.partitions != len(arguments):
        raise RuntimeError(f"{part.tally.partitions} partitions came back, and there are {len(arguments)}")
    return part


def count_partition(partition: Any, number: int, column: Any, by: Any, layout: Layout, rules: Rules) -> Part:
    """Runs on a worker."""
    what = f"partition {number}" if column is None else f"partition {number}: {column}"
    keys: Optional[Any] = None
    if column is None:
        values = partition if hasattr(partition, "dtype") else list(partition)
    elif hasattr(partition, "columns"):
        values, keys = partition[column], None if by is None else partition[by]
    else:
        rows = list(partition)
        values, keys = [row[column] for row in rows], None if by is None else [row[by] for row in rows]
    return count([(values, keys)], layout, rules, what, by is not None)
