"""Clusters of processes on this machine."""

from __future__ import annotations

import contextlib
import functools
import os
from pathlib import Path
from typing import Any, Iterator, Optional

import data


@contextlib.contextmanager
def dask_cluster(workers: int) -> Iterator[Any]:
    """A client of a cluster of worker processes, each with a nanny that starts it again."""
    from distributed import Client, LocalCluster

    with LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None, silence_logs=50
    ) as cluster, Client(cluster) as client:
        client.wait_for_workers(workers)
        yield client


@contextlib.contextmanager
def spark_cluster(workers: int, interface: bool = False) -> Iterator[Any]:
    """A session of a standalone cluster: a master, and workers that start an executor each, with a core and 1 GiB.

    :param interface: have what tells of stages, and JVMs as they are in earnest.
    """
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("SPARK_LOCAL_HOSTNAME", "localhost")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local-cluster[{workers},1,1024]").config("spark.executor.memory", "1g")
    settings = {
        "spark.ui.enabled": str(interface).lower(),
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 17),
    }
    if not interface:
        # Three JVMs on two cores: what they compile would not pay before they end.
        for process in ("driver", "executor"):
            settings[f"spark.{process}.extraJavaOptions"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    for name in ("PYTHONPATH", "PICOLLO_LIBRARY", "PYTHONDONTWRITEBYTECODE"):
        settings[f"spark.executorEnv.{name}"] = os.environ.get(name, "")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def dask_array(partitions: int, number: int, death: Optional[data.Death] = None, witness: Optional[Path] = None) -> Any:
    """Values of seeds, made on the workers."""
    import dask
    import dask.array

    made = [dask.delayed(data.chunk)(seed, number, death, None if witness is None else str(witness)) for seed in range(partitions)]
    return dask.array.concatenate([dask.array.from_delayed(each, (number,), "i8") for each in made])


def dask_frame(partitions: int, number: int) -> Any:
    """Values and routes."""
    import dask.dataframe
    import pandas

    columns = {"latency": "i8", "route": "object"}
    meta = pandas.DataFrame({name: pandas.Series(dtype=kind) for name, kind in columns.items()})
    return dask.dataframe.from_map(functools.partial(frame, number=number), range(partitions), meta=meta)


def frame(seed: int, number: int) -> Any:
    """A partition of that."""
    import pandas

    names = pandas.Series([data.ROUTES[code] for code in data.routes(seed, number)], dtype="object")
    return pandas.DataFrame({"latency": data.values(seed, number), "route": names})


def spark_frame(
    session: Any, partitions: int, number: int, death: Optional[data.Death] = None, witness: Optional[Path] = None, by: bool = True
) -> Any:
    """Values, and routes, made in the executors."""
    make = functools.partial(data.batches, number=number, death=death, witness=None if witness is None else str(witness), by=by)
    # The function itself, as Spark looks at its signature.
    return session.range(0, partitions, 1, partitions).mapInArrow(lambda rows: make(rows), "latency long" + ", route string" * by)
