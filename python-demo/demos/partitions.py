"""Partitions: the percentiles of a data set that does not fit one process, from a histogram for each partition.

Files of request times, from several hosts, are counted by worker processes, none of which ever holds more than a piece of a file.
What comes back from each is a snapshot of some kilobytes; snapshots of any partitions add up to the snapshot of all of them, in any
order and grouping. So the same two functions, one that counts a partition and one that adds two snapshots, are the map and the
combine of any engine: here concurrent.futures, or with --dask those of Dask.

    python3 -m demos.partitions
    python3 -m demos.partitions --dask
    python3 -m demos.partitions --partitions 64 --values 4000000       # 2 GB
"""

from __future__ import annotations

import argparse
import array
import functools
import os
import random
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Callable, Iterable, NamedTuple, Sequence

import picollo

RANKS = (0, 50, 90, 99, 99.9, 99.99, 100)
#: Values in memory at once.
PIECE = 1 << 16
HOSTS = 4


def generate(path: Path, values: int, seed: int) -> None:
    """Writes a partition: request times in nanoseconds, 64 bits each. Hosts differ, and some requests wait for a lock."""
    choice = random.Random(seed)
    slowness = 1 + 0.3 * (seed % HOSTS)
    quick = [int(choice.lognormvariate(12, 0.5) * slowness) for _ in range(4000)]
    slow = [int(choice.paretovariate(1.2) * 2_000_000 * slowness) for _ in range(96)]
    table = quick + slow
    with open(path, "wb") as file:
        for first in range(0, values, PIECE):
            array.array("Q", choice.choices(table, k=min(PIECE, values - first))).tofile(file)


def pieces(path: Path) -> Iterable[array.array[int]]:
    """A partition, a piece at a time."""
    with open(path, "rb") as file:
        while data := file.read(PIECE * 8):
            yield array.array("Q", data)


# ── the two functions ──────────────────────────────────────────────────────────────────────────────────


class Counted(NamedTuple):
    """What a worker tells of some partitions."""

    snapshot: picollo.Snapshot
    #: The most memory that a worker took, in bytes.
    memory: int


def count(path: Path) -> Counted:
    """Counts a partition: the map."""
    histogram = picollo.Histogram(relative_error=0.001, mode="single_writer", name="Request (ns)")
    for piece in pieces(path):
        histogram.record_many(piece)
    return Counted(histogram.snapshot(), peak_memory())


def combine(a: Counted, b: Counted) -> Counted:
    """Adds up two: the combine. It is associative and commutative, so engines may do it wherever and whenever they like."""
    return Counted(a.snapshot + b.snapshot, max(a.memory, b.memory))


def peak_memory() -> int:
    """The most memory that this process has had."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024
    except (OSError, IndexError):
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


# ── two engines ────────────────────────────────────────────────────────────────────────────────────────


def with_futures(paths: Sequence[Path], workers: int) -> Counted:
    """With the standard library."""
    with ProcessPoolExecutor(workers) as pool:
        return functools.reduce(combine, pool.map(count, paths))


def with_dask(paths: Sequence[Path], workers: int) -> Counted:
    """With Dask, on this machine: its scheduler combines in the workers, in a tree."""
    import dask
    import dask.bag

    bag = dask.bag.from_sequence(paths, npartitions=min(len(paths), 2 * workers))
    with dask.config.set(scheduler="processes", num_workers=workers):
        counted: Counted = bag.map(count).fold(combine).compute()
    return counted


# ── the truth, for comparison ──────────────────────────────────────────────────────────────────────────


def below_and_within(path: Path, buckets: Sequence[picollo.Bucket]) -> list[tuple[int, list[int]]]:
    """For each bucket how many values are below it, and which ones are in it."""
    found: list[tuple[int, list[int]]] = [(0, []) for _ in buckets]
    for piece in pieces(path):
        ordered = sorted(piece)
        for place, bucket in enumerate(buckets):
            low, high = _bisect(ordered, bucket.lower), _bisect(ordered, bucket.upper + 1)
            found[place] = (found[place][0] + low, found[place][1] + ordered[low:high])
    return found


def _bisect(ordered: Sequence[int], value: int) -> int:
    from bisect import bisect_left

    return bisect_left(ordered, value)


def exact_percentiles(
    paths: Sequence[Path], percentiles: Sequence[picollo.Percentile], total: int, workers: int
) -> list[int]:
    """The percentiles as sorting everything would give them, from a second pass over the data.

    The value of that rank is in the bucket, or else the number of values below it would tell.
    """
    search = functools.partial(below_and_within, buckets=[percentile.bucket for percentile in percentiles])
    below, within = [0] * len(percentiles), [array.array("Q") for _ in percentiles]
    with ProcessPoolExecutor(workers) as pool:
        for found in pool.map(search, paths):
            for place, (low, values) in enumerate(found):
                below[place] += low
                within[place].extend(values)
    exact = []
    for place, percentile in enumerate(percentiles):
        # In whole numbers: ranks have up to nine decimals.
        wanted = max(1, -(-round(percentile.rank * 10**9) * total // (100 * 10**9)))
        offset = wanted - 1 - below[place]
        if not 0 <= offset < len(within[place]):
            raise SystemExit(f"P{percentile.rank:g} is not in its bucket: {percentile}")
        exact.append(sorted(within[place])[offset])
    return exact


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--partitions", type=int, default=16, help="number of files (default: %(default)s)")
    parser.add_argument("--values", type=int, default=500_000, help="values in each (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=min(4, os.cpu_count() or 1), help="processes (default: %(default)s)")
    parser.add_argument("--dask", action="store_true", help="let Dask do it")
    parser.add_argument("--data", type=Path, help="where the files are, or are to be (default: a directory that is removed again)")
    arguments = parser.parse_args()
    if min(arguments.partitions, arguments.values, arguments.workers) < 1:
        parser.error("--partitions, --values and --workers must be at least 1")
    if arguments.dask:
        try:
            import dask.bag  # noqa: F401
        except ImportError as error:
            raise SystemExit(f"--dask needs Dask: {error}. Install it with: pip install dask") from None

    with tempfile.TemporaryDirectory(prefix="picollo-partitions-") as temporary:
        run(arguments, arguments.data or Path(temporary))


def run(arguments: argparse.Namespace, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    paths = [directory / f"part-{number:04}.u64" for number in range(arguments.partitions)]
    missing = [path for path in paths if not path.exists()]
    with ProcessPoolExecutor(arguments.workers) as pool:
        seeds = [paths.index(path) for path in missing]
        list(pool.map(generate, missing, [arguments.values] * len(missing), seeds))
    size = sum(path.stat().st_size for path in paths)
    print(f"{len(paths)} partitions, {size // 8:,} values, {size / 1e6:,.0f} MB.\n")

    engine: Callable[[Sequence[Path], int], Counted] = with_dask if arguments.dask else with_futures
    name = "Dask" if arguments.dask else "concurrent.futures"
    began = time.perf_counter()
    counted = engine(paths, arguments.workers)
    seconds = time.perf_counter() - began
    snapshot = counted.snapshot
    print(snapshot.summary().markdown("Request (ns), all partitions"))
    print(
        f"{name}, {arguments.workers} workers: {seconds:.2f} s, {size / 8 / seconds / 1e6:.1f} million values a second. "
        f"The largest worker had {counted.memory / 1e6:,.0f} MB;\neach told its result in about "
        f"{len(snapshot.encode()) / 1e3:,.1f} kB.\n"
    )

    percentiles = snapshot.percentiles(RANKS)
    exact = exact_percentiles(paths, percentiles, snapshot.total_count, arguments.workers)
    print("| Percentile |   Histogram |       Exact |   Error |")
    print("| ---------: | ----------: | ----------: | ------: |")
    worst = 0.0
    for percentile, value in zip(percentiles, exact):
        error = abs(percentile.value - value) / max(value, 1)
        worst = max(worst, error)
        print(f"| {percentile.rank:10g} | {percentile.value:11,} | {value:11,} | {error:7.3%} |")
    promised = snapshot.summary().relative_error
    print(f"\nThe largest error is {worst:.3%}; {promised:.3%} is promised. Counted: {snapshot.total_count:,} of {size // 8:,}.")
    if snapshot.total_count != size // 8 or worst > promised:
        raise SystemExit("This is not what sorting everything gives.")


if __name__ == "__main__":
    main()
