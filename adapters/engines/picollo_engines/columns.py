"""Columns as numpy arrays on the memory that they are in: Arrow's, numpy's, pandas', or a list."""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple, Optional

import numpy
import pyarrow

#: Values that are looked at, and where they must be copied, copied at once: they stay in the processor's cache.
PIECE = 1 << 16


class Piece(NamedTuple):
    """Some rows of a column."""

    #: Number of the first of them in the column.
    first: int
    values: numpy.ndarray[Any, Any]
    #: Which have a value, where some have not.
    valid: Optional[numpy.ndarray[Any, Any]]


def arrow(column: Any, what: str, nan_is_null: bool = False) -> pyarrow.ChunkedArray:
    """A column as Arrow sees it; without copying, where it is contiguous."""
    if not isinstance(column, (pyarrow.Array, pyarrow.ChunkedArray)):
        # Of numpy's own, with which pandas has columns as well.
        is_numpys = isinstance(getattr(column, "dtype", None), numpy.dtype)
        try:
            column = pyarrow.array(numpy.asarray(column).ravel(), from_pandas=nan_is_null) if is_numpys else _listed(column)
        except (pyarrow.ArrowException, OverflowError, TypeError, ValueError) as error:
            raise TypeError(f"{what} cannot be made a column of one type: {error}") from None
    if pyarrow.types.is_null(column.type):
        column = column.cast(pyarrow.uint64())
    return column if isinstance(column, pyarrow.ChunkedArray) else pyarrow.chunked_array([column])


def _listed(column: Any) -> Any:
    try:
        return pyarrow.array(column)
    except OverflowError:
        # Of ints, it takes 64 bits with a sign where nobody says otherwise.
        return pyarrow.array(column, pyarrow.uint64())


def pieces(column: pyarrow.ChunkedArray, what: str) -> Iterator[Piece]:
    """A column, some rows at a time, on its own memory.

    :raises TypeError: for columns of what are no numbers.
    """
    dtype = _dtype(column.type, what)
    first = 0
    for chunk in column.chunks:
        buffer = chunk.buffers()[1]
        for begin in range(0, len(chunk), PIECE):
            rows = chunk.slice(begin, PIECE)
            values = numpy.frombuffer(buffer, dtype, len(rows), rows.offset * dtype.itemsize)
            valid = rows.is_valid().to_numpy(zero_copy_only=False) if rows.null_count else None
            yield Piece(first, values, valid)
            first += len(rows)


def _dtype(type_: pyarrow.DataType, what: str) -> numpy.dtype[Any]:
    """How the values of an Arrow type lie in memory: integers, durations in whatever unit they have, and floating point."""
    types = pyarrow.types
    if types.is_duration(type_):
        return numpy.dtype("i8")
    if types.is_integer(type_) or types.is_floating(type_):
        dtype: numpy.dtype[Any] = numpy.dtype(type_.to_pandas_dtype())
        return dtype
    hints = {
        types.is_boolean: "group by it instead",
        types.is_timestamp: "subtract a time, and count the duration",
        types.is_decimal: "cast it to an integer of its smallest unit",
        types.is_dictionary: "decode it first",
    }
    hint = next((hint for is_one, hint in hints.items() if is_one(type_)), "cast it to integers")
    raise TypeError(f"{what} is of {type_}, which is no type of numbers: {hint}")
