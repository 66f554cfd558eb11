"""Buckets as numpy arrays, and summaries for pandas. The rest of the package needs neither.

Python never iterates over the buckets here: the library writes the arrays, or numpy computes them.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Iterable, NamedTuple, Optional

if TYPE_CHECKING:
    import numpy
    import pandas

    from .summary import Summary

    UInt64Array = numpy.ndarray[Any, numpy.dtype[numpy.uint64]]
    Array = numpy.ndarray[Any, Any]
else:
    UInt64Array = Array = Any

_MAX = 0xFFFF_FFFF_FFFF_FFFF


def need(module: str, why: str) -> Any:
    """Imports an optional module, or raises an error that says how to get it."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"{why} needs {package}, which cannot be imported ({error}): pip install {package}") from error


class CountsAndEdges(NamedTuple):
    """What :func:`numpy.histogram` returns: ``counts[i]`` values are at least ``edges[i]`` and below ``edges[i + 1]``."""

    counts: UInt64Array
    #: One more than the counts. The open end of the very last bucket, 2**64, does not fit: there it is 2**64 - 1.
    edges: UInt64Array


def bucket_array(buckets: ctypes.Array[Any]) -> Array:
    """A structured array over the memory that the library wrote."""
    numpy = need("numpy", "an array")
    dtype = numpy.dtype([(name, numpy.dtype(kind)) for name, kind in buckets._type_._fields_])
    if not len(buckets):
        return numpy.empty(0, dtype)  # type: ignore[no-any-return]
    return numpy.frombuffer(buckets, dtype)  # type: ignore[no-any-return]


def counts_and_edges(buckets: Array) -> CountsAndEdges:
    """All buckets from the first that has counts to the last."""
    numpy = need("numpy", "an array")
    (found,) = numpy.nonzero(buckets["count"])
    if not len(found):
        return CountsAndEdges(numpy.empty(0, "u8"), numpy.empty(0, "u8"))
    used = buckets[found[0] : found[-1] + 1]
    last = numpy.uint64(min(int(used["upper"][-1]) + 1, _MAX))
    return CountsAndEdges(used["count"].copy(), numpy.append(used["lower"], last))


def to_frame(summaries: Iterable[Summary], index: Optional[Iterable[Any]] = None) -> pandas.DataFrame:
    """A row for each summary, a column for each number of :meth:`Summary.as_dict`.

    ::

        picollo.to_frame([a.summary(), b.summary()])
        picollo.to_frame(deltas, index=[delta.timestamp for delta in deltas])

    Integers stay exact (``UInt64``, which can hold missing values); mean and deviation are doubles.

    :param index: the labels of the rows (default: the summaries' names, or numbers if no summary has one).
    :raises ImportError: without pandas.
    """
    pandas = need("pandas", "a frame")
    listed = list(summaries)
    rows = [summary.as_dict() for summary in listed]
    if index is None:
        names = [summary.name for summary in listed]
        index = names if any(names) else range(len(listed))
    columns = rows[0] if rows else ()
    frame = pandas.DataFrame(index=list(index))
    for name in columns:
        is_double = name in ("mean", "stddev")
        frame[name] = pandas.array(
            [float("nan") if row[name] is None and is_double else row[name] for row in rows],
            dtype="float64" if is_double else "UInt64",
        )
    return frame
