"""What counting on clusters costs: python measure.py ENGINE VALUES PARTITIONS WORKERS [--kill] [--by] [--peer]

ENGINE is dask or spark. Values are made on the workers and kept there before the clock runs, but with --kill, where a worker dies in the
middle and takes its values along. Every run is compared with one process, bucket by bucket. Prints one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "tests"))

import clusters  # noqa: E402
import data  # noqa: E402
import numpy  # noqa: E402
import oracle  # noqa: E402

import picollo_engines.dask  # noqa: E402
import picollo_engines.spark  # noqa: E402

RANKS = (50.0, 99.0, 99.9)


def timed(call: Any) -> Any:
    """A result and the seconds that it took."""
    began = time.perf_counter()
    result = call()
    return result, round(time.perf_counter() - began, 2)


def dask(options: Any, death: Any, row: dict[str, Any]) -> Any:
    number = options.values // options.partitions
    with clusters.dask_cluster(options.workers) as client:
        client.run(lambda: __import__("picollo_engines.dask"))
        collection: Any = clusters.dask_frame(options.partitions, number) if options.by else clusters.dask_array(
            options.partitions, number, death
        )
        if death is None:
            from distributed import wait

            collection = collection.persist()
            wait(collection)
        arguments = ("latency",) if options.by else ()
        result, row["seconds"] = timed(
            lambda: picollo_engines.dask.histogram(collection, *arguments, by="route" if options.by else None)
        )
        row["bytes between workers"] = sum(
            client.run(lambda dask_worker: sum(each["total"] for each in dask_worker.transfer_incoming_log)).values()
        )
        if options.peer:
            import dask.array

            found, row["peer seconds"] = timed(lambda: dask.array.percentile(collection, list(RANKS)).compute())
            row["peer"] = [float(value) for value in found]
    return result


def spark(options: Any, death: Any, row: dict[str, Any]) -> Any:
    number = options.values // options.partitions
    with clusters.spark_cluster(options.workers, interface=True) as session:
        frame = clusters.spark_frame(session, options.partitions, number, death, by=options.by)
        if death is None:
            frame = frame.persist()
            frame.count()
        # Starts the Python workers, and imports what they need.
        picollo_engines.spark.histogram(clusters.spark_frame(session, options.workers, 10), "latency")
        before = {stage["stageId"] for stage in stages(session)}
        result, row["seconds"] = timed(
            lambda: picollo_engines.spark.histogram(frame, "latency", by="route" if options.by else None)
        )
        new = [stage for stage in stages(session) if stage["stageId"] not in before]
        row["bytes between workers"] = sum(stage["shuffleWriteBytes"] for stage in new)
        row["bytes to the driver"] = sum(stage.get("resultSize", 0) for stage in new)
        if options.peer:
            probabilities = [rank / 100 for rank in RANKS]
            row["peer"], row["peer seconds"] = timed(lambda: frame.approxQuantile("latency", probabilities, 0.001))
    return result


def stages(session: Any) -> list[dict[str, Any]]:
    """What Spark knows of the stages that it has run."""
    context = session.sparkContext
    with urllib.request.urlopen(f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages") as answer:
        listed: list[dict[str, Any]] = json.load(answer)
    return listed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engine", choices=("dask", "spark"))
    parser.add_argument("values", type=lambda text: int(float(text)))
    parser.add_argument("partitions", type=int)
    parser.add_argument("workers", type=int)
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--by", action="store_true")
    parser.add_argument("--peer", action="store_true", help="the engine's own approximate quantiles, and what both are off")
    options = parser.parse_args()
    row: dict[str, Any] = {name: value for name, value in vars(options).items() if value is not False}
    number = options.values // options.partitions
    with tempfile.TemporaryDirectory() as folder:
        death = data.Death(Path(folder, "died"), options.partitions // 2, options.engine == "spark") if options.kill else None
        result = {"dask": dask, "spark": spark}[options.engine](options, death, row)
        assert death is None or death.happened()
    row["bytes a partition"] = result.tally.counted_bytes // result.tally.partitions
    row["bytes of merges"] = result.tally.merged_bytes
    expected, row["seconds of one process with making"] = timed(lambda: oracle.whole(options.partitions, number))
    row["equal"] = oracle.same(result.snapshot, expected) and result.tally.partitions == options.partitions
    if options.by:
        row["equal"] &= all(oracle.same(result[key], one) for key, one in oracle.by_route(options.partitions, number).items())
    if options.peer:
        everything = numpy.concatenate([data.values(seed, number) for seed in range(options.partitions)])
        places = [max(1, -(-round(rank * 10) * len(everything) // 1000)) - 1 for rank in RANKS]
        everything.partition(places)
        exact = [int(everything[place]) for place in places]
        ours = result.snapshot.percentile_values(RANKS)
        row["errors in percent"] = [round(100 * abs(value - truth) / truth, 4) for value, truth in zip(ours, exact)]
        peers = row.pop("peer")
        row["peer's errors in percent"] = [round(100 * abs(value - truth) / truth, 4) for value, truth in zip(peers, exact)]
    print(json.dumps(row))
    if not row["equal"]:
        raise SystemExit("this is not what one process counts")


if __name__ == "__main__":
    main()
