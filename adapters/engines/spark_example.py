"""The exact percentiles of a column by group on Spark: each partition becomes encoded histograms, which treeAggregate adds up.

    python3 spark_example.py

A task changes nothing outside of its result. If an executor dies and its tasks run again, no value is counted twice.
"""

import picollo
import pyarrow
import pyarrow.compute
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

PARTITIONS, ROWS = 20, 1_000_000


def count(batches):
    """The map: a row for each group of a partition, with an encoded histogram of some kilobytes."""
    histograms = {}
    for batch in batches:
        for group in batch.column("route").unique():
            values = batch.filter(pyarrow.compute.equal(batch.column("route"), group)).column("latency")
            histogram = histograms.setdefault(group.as_py(), picollo.Histogram(relative_error=0.001))
            histogram.record_many(values.to_numpy())
    names, encoded = list(histograms), [histogram.encode() for histogram in histograms.values()]
    yield pyarrow.RecordBatch.from_arrays([pyarrow.array(names, "string"), pyarrow.array(encoded, "binary")], ["route", "data"])


def add_row(total, row):
    return add(total, {row["route"]: bytes(row["data"])})


def add(a, b):
    """The reduction: it may run in any order and grouping."""
    result = dict(a)
    for route, data in b.items():
        if route in result:
            data = (picollo.Snapshot.decode(result[route]) + picollo.Snapshot.decode(data)).encode()
        result[route] = data
    return result


def main():
    # A standalone cluster on this machine: two executors of one core and 1 GiB each.
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF"}
    session = SparkSession.builder.master("local-cluster[2,1,1024]").config(map=settings).getOrCreate()
    # In a real program this is session.read.parquet.
    latency = (F.exp(F.randn(seed=1) + 12)).cast("long").alias("latency")
    route = F.element_at(F.array(*map(F.lit, ["/", "/cart", "/checkout"])), (F.rand(seed=2) * 3 + 1).cast("int")).alias("route")
    frame = session.range(0, ROWS, 1, PARTITIONS).select(latency, route).cache()
    result = frame.mapInArrow(count, "route string, data binary").rdd.treeAggregate({}, add_row, add)
    alone = frame.coalesce(1).mapInArrow(count, "route string, data binary").collect()
    session.stop()
    for row in sorted(alone):
        snapshot, expected = picollo.Snapshot.decode(result[row["route"]]), picollo.Snapshot.decode(bytes(row["data"]))
        assert list(snapshot.counts) == list(expected.counts), "the count differs from that in one partition"
        print(f"{row['route']}: {snapshot.summary()}")


if __name__ == "__main__":
    main()
