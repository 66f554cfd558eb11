"""One partition, counted: the map of every engine."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Iterable, Optional

import numpy
import picollo
import pyarrow

from .columns import Piece, arrow, pieces
from .layout import Layout, Rules
from .merging import limit
from .part import Part, Tally

#: Types that have few values, and each of them one representation.
_KEYS = ("integer", "string", "large_string", "string_view", "binary", "boolean", "date", "timestamp", "decimal")


class InvalidValue(ValueError):
    """A value that no histogram has room for."""


@dataclass
class Counter:
    """Counts the rows of one partition, as they come.

    :param what: of messages, such as ``"partition 3: latency"``.
    """

    layout: Layout
    rules: Rules
    what: str
    grouped: bool = False
    _histograms: dict[Any, picollo.Histogram] = field(default_factory=dict)
    _tally: Tally = field(default_factory=lambda: Tally(partitions=1))

    def add(self, column: Any, keys: Any = None) -> None:
        """Counts some more rows: a column of Arrow's, numpy's or pandas', or a list of numbers."""
        values = arrow(column, self.what)
        codes, names = self._codes(keys) if self.grouped else (None, [None])
        _refuse_scale(values.type, self.rules.scale, self.what)
        for piece in pieces(values, self.what):
            self._add(piece, codes, names)
        self._tally = replace(self._tally, rows=self._tally.rows + len(values))

    def part(self) -> Part:
        """What was counted."""
        encoded = {key: histogram.encode() for key, histogram in self._histograms.items()}
        return Part(encoded, replace(self._tally, counted_bytes=sum(map(len, encoded.values()))))

    def _add(self, piece: Piece, codes: Any, names: list[Any]) -> None:
        values, kept = piece.values, piece.valid
        if kept is not None:
            # What lies where there is none is not defined.
            self._count("nulls", len(kept) - int(numpy.count_nonzero(kept)))
        if values.dtype.kind == "f":
            with numpy.errstate(over="ignore", invalid="ignore"):
                values = numpy.rint(values.astype("f8") * self.rules.scale)
            kept = self._refuse("not_finite", ~numpy.isfinite(values), kept, piece)
            kept = self._refuse("too_large", values >= 2.0**64, kept, piece)
        if values.dtype.kind != "u":
            # The smallest says in one pass, without memory, that there is nothing to look for.
            if kept is not None or values.min() < 0:
                kept = self._refuse("negative", values < 0, kept, piece)
        if kept is not None:
            values = values[kept]
        # Signed integers that are not negative are read as they are.
        values = values.view("u8") if values.dtype == numpy.dtype("i8") else values.astype("u8", copy=False)
        if codes is None:
            self._histogram(None).record_many(values)
            return
        of_these = codes[piece.first : piece.first + len(piece.values)]
        self._add_groups(values, of_these if kept is None else of_these[kept], names)

    def _add_groups(self, values: Any, codes: Any, names: list[Any]) -> None:
        """Sorts by group, which for 16 bits is a radix sort, and records each run."""
        order = codes.argsort(kind="stable")
        values, counts = values[order], numpy.bincount(codes, minlength=1)
        begin = 0
        for code in counts.nonzero()[0]:
            end = begin + counts[code]
            self._histogram(names[code]).record_many(values[begin:end])
            begin = end

    def _codes(self, keys: Any) -> tuple[Any, list[Any]]:
        """A number for each row, and what the numbers stand for."""
        what = f"{self.what}, by"
        column = arrow(keys, what, nan_is_null=True)
        type_ = column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
        if pyarrow.types.is_null(type_):
            # Categories of nothing.
            type_ = pyarrow.string()
            column = pyarrow.chunked_array([pyarrow.nulls(len(column), type_)])
        if not any(getattr(pyarrow.types, f"is_{kind}")(type_) for kind in _KEYS):
            raise TypeError(f"{what} is of {type_}: groups are of integers, strings, bytes, booleans, dates or times")
        coded = column.combine_chunks()
        if pyarrow.types.is_dictionary(coded.type) and coded.null_count:
            coded = coded.cast(type_)
        if not pyarrow.types.is_dictionary(coded.type):
            coded = coded.dictionary_encode(null_encoding="encode")
        names = coded.dictionary.to_pylist()
        codes = coded.indices.to_numpy(zero_copy_only=False)
        used = numpy.bincount(codes, minlength=len(names)).nonzero()[0]
        limit(len(self._histograms.keys() | {names[code] for code in used}), self.rules.max_groups, self.what)
        return codes.astype("u2" if len(names) <= 1 << 16 else "u4"), names

    def _histogram(self, key: Any) -> picollo.Histogram:
        found = self._histograms.get(key)
        if found is None:
            found = self._histograms[key] = self.layout.histogram(sparse=self.grouped)
        return found

    def _refuse(self, kind: str, wrong: Any, kept: Any, piece: Piece) -> Any:
        """Says no to what is wrong, or leaves it out: which ones are kept then."""
        wrong = wrong if kept is None else wrong & kept
        number = int(numpy.count_nonzero(wrong))
        if not number:
            return kept
        if self.rules.invalid == "error":
            at = int(wrong.argmax())
            row, value = self._tally.rows + piece.first + at, piece.values[at]
            raise InvalidValue(
                f"{self.what}, row {row}: {value} is {kind.replace('_', ' ')}, and a histogram counts from 0 to 2**64 - 1"
                f' (invalid="skip" leaves such values out and counts them apart)'
            )
        self._count(kind, number)
        return ~wrong if kept is None else kept & ~wrong

    def _count(self, kind: str, number: int) -> None:
        self._tally = replace(self._tally, **{kind: getattr(self._tally, kind) + number})


def _refuse_scale(type_: pyarrow.DataType, scale: Optional[float], what: str) -> None:
    """A scale goes with floating point, which goes with a scale."""
    is_floating = pyarrow.types.is_floating(type_)
    if is_floating and scale is None:
        raise TypeError(f"{what} is of {type_}, which takes a scale: 1e9 counts seconds in nanoseconds, 1 rounds to integers")
    if not is_floating and scale is not None:
        raise TypeError(f"{what} is of {type_}, which is counted as it is: a scale is for floating point")


def count(columns: Iterable[tuple[Any, Any]], layout: Layout, rules: Rules, what: str, grouped: bool) -> Part:
    """A partition that comes as batches of values and keys."""
    counter = Counter(layout, rules, what, grouped)
    for column, keys in columns:
        counter.add(column, keys)
    return counter.part()
