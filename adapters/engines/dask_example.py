"""The exact percentiles of a column by group on a Dask cluster: each partition becomes encoded histograms, which a tree adds up.

    python3 dask_example.py

A task changes nothing outside of its result. If a worker dies and its tasks run again, no value is counted twice.
"""

import dask.dataframe
import numpy
import pandas
import picollo
from dask.distributed import Client, LocalCluster

PARTITIONS, ROWS, FAN_IN = 20, 50_000, 8
ROUTES = numpy.array(["/", "/cart", "/checkout"])


def load(seed):
    """One partition. In a real program this is dask.dataframe.read_parquet."""
    random = numpy.random.default_rng(seed)
    latency = random.lognormal(12, 1, ROWS).astype("i8")
    return pandas.DataFrame({"latency": latency, "route": ROUTES[random.integers(0, len(ROUTES), ROWS)]})


def count(frame):
    """The map: an encoded histogram (some kilobytes) for each group of a partition."""
    encoded = {}
    for route, group in frame.groupby("route"):
        histogram = picollo.Histogram(relative_error=0.001)
        histogram.record_many(group["latency"].to_numpy())
        encoded[route] = histogram.encode()
    return encoded


def add(parts):
    """The reduction: it may run in any order and grouping."""
    together = {}
    for part in parts:
        for route, data in part.items():
            snapshot = picollo.Snapshot.decode(data)
            together[route] = together[route] + snapshot if route in together else snapshot
    return {route: snapshot.encode() for route, snapshot in together.items()}


def main():
    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster, Client(cluster):
        frame = dask.dataframe.from_map(load, range(PARTITIONS))
        level = [dask.delayed(count)(partition) for partition in frame.to_delayed()]
        while len(level) > 1:
            level = [dask.delayed(add)(level[first : first + FAN_IN]) for first in range(0, len(level), FAN_IN)]
        result = level[0].compute()
    alone = add([count(load(seed)) for seed in range(PARTITIONS)])
    for route in sorted(alone):
        snapshot, expected = picollo.Snapshot.decode(result[route]), picollo.Snapshot.decode(alone[route])
        assert list(snapshot.counts) == list(expected.counts), "the count differs from that in one process"
        print(f"{route}: {snapshot.summary()}")


if __name__ == "__main__":
    main()
