"""Values from seeds: made where they are counted, and made again by the process that says what is right."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any, Iterable, Iterator, Optional

import numpy
import pyarrow

ROUTES = ("/", "/cart", "/checkout", "/login", "/search", "/static", "/user")


def values(seed: int, number: int) -> Any:
    """Request times in nanoseconds."""
    return numpy.exp(numpy.random.default_rng(seed).standard_normal(number, "f4") * 0.7 + 12 + 0.1 * (seed % 5)).astype("i8")


def routes(seed: int, number: int) -> Any:
    """A route for each of them, as a number."""
    return numpy.random.default_rng(seed + 1_000_000).integers(0, len(ROUTES), number, "i1")


class Death:
    """Kills the process that comes to a certain partition first, or another of its: once, as a file says that it was done.

    :param at: number of the partition.
    :param executor: kill the JVM that a Python worker of Spark belongs to instead.
    """

    def __init__(self, marker: Path, at: int, executor: bool = False) -> None:
        self.marker, self.at, self.executor = str(marker), at, executor

    def __call__(self, seed: int) -> None:
        if seed != self.at:
            return
        try:
            os.close(os.open(self.marker, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            return
        victim = executor_of(os.getpid()) if self.executor else os.getpid()
        os.kill(victim, signal.SIGKILL)
        if self.executor:
            # Nothing that is said from here on counts any more.
            signal.pause()

    def happened(self) -> bool:
        return os.path.exists(self.marker)


def executor_of(pid: int) -> int:
    """The process of Spark's executor above a Python worker."""
    while pid > 1:
        if b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes():
            return pid
        pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    raise RuntimeError("there is no executor above this process")


def chunk(seed: int, number: int, death: Optional[Death] = None, witness: Optional[str] = None) -> Any:
    """A partition. A witness is a folder that gets a file for each time that it was made: a side effect, as no count must be."""
    made = values(seed, number)
    if witness is not None:
        Path(witness, f"{seed}-{os.urandom(6).hex()}").write_text(str(number))
    if death is not None:
        death(seed)
    return made


def seen(witness: Path) -> int:
    """What adding up the side effects gives."""
    return sum(int(path.read_text()) for path in witness.iterdir())


def batches(
    rows: Iterable[Any], number: int, death: Optional[Death] = None, witness: Optional[str] = None, by: bool = True
) -> Iterator[Any]:
    """Partitions as Arrow's batches, for Spark's ``mapInArrow``: of each row, which is a seed."""
    for seeds in rows:
        for seed in seeds.column(0).to_pylist():
            made = chunk(seed, number, death, witness)
            names = pyarrow.array(ROUTES).take(pyarrow.array(routes(seed, number)))
            for begin in range(0, number, 1 << 17):
                columns = {"latency": pyarrow.array(made[begin : begin + (1 << 17)])}
                if by:
                    columns["route"] = names.slice(begin, 1 << 17)
                yield pyarrow.RecordBatch.from_pydict(columns)
