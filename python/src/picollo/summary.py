"""Summaries, differences between two of them, and their texts."""

from __future__ import annotations

import ctypes
import datetime
from ctypes import byref
from typing import Any, ClassVar, Generic, Optional, TypeVar, Union

from . import _structs as structs
from ._calls import Texts, c_text, read_text
from ._fields import Field, integer, number
from ._library import held
from .errors import EmptyError
from .percentile import Percentile, ValueSelection, percentile_from, selection_name

#: The percentile ranks of a summary.
RANKS = structs.DEFAULT_RANKS
_C_RANKS = (ctypes.c_double * len(RANKS))(*RANKS)


def with_percentiles(raw: Any, percentiles: Any) -> Any:
    """A struct of a summary that refers to an array of percentiles, and keeps it alive."""
    raw.percentiles, raw.percentiles_length = percentiles, len(percentiles)
    return raw


def ranks_and_room(kind: Any) -> tuple[Any, ...]:
    """The arguments of the library's functions for a summary: :data:`RANKS`, their number, and an array of percentiles."""
    return _C_RANKS, len(RANKS), (kind * len(RANKS))()


def percentiles_of(raw: Any) -> Any:
    """The percentiles that the struct of a summary refers to."""
    return raw.percentiles[: raw.percentiles_length]


#: The type of the recorded values: int or float.
Value = TypeVar("Value", int, float)


class NamedSummary(Texts, Generic[Value]):
    """Shared base of summaries of integers and of doubles."""

    __slots__ = ("_name", "_raw")

    #: The library's function that formats it.
    _FORMAT: ClassVar[Any]
    #: The structs of the summary and of its percentiles.
    _STRUCTS: ClassVar[tuple[Any, Any]]

    def __init__(self, raw: Any, name: str = "") -> None:
        """Not for callers: summaries come from histograms and snapshots."""
        self._raw = raw
        self._name = name

    @property
    def name(self) -> str:
        """Name of the histogram, or ``""``. The default title and the default name in a diff."""
        return self._name

    @property
    def percentiles(self) -> tuple[Any, ...]:
        """The percentiles at :data:`RANKS`; empty if nothing was recorded."""
        raise NotImplementedError

    def __getitem__(self, rank: float) -> Value:
        """The value at one of :data:`RANKS`: ``summary[99.9]``.

        :raises KeyError: for another rank; ask the snapshot for it.
        :raises EmptyError: if nothing was recorded.
        """
        try:
            index = RANKS.index(rank)
        except ValueError:
            raise KeyError(f"a summary has no rank {rank!r}; it has {', '.join(f'{r:g}' for r in RANKS)}") from None
        return self._value(index)

    def _value(self, index: int) -> Value:
        percentiles = self.percentiles
        if not percentiles:
            raise EmptyError(message="nothing was recorded, so there is no percentile")
        value: Value = percentiles[index].value
        return value

    def _totals(self) -> dict[str, Union[int, float, None]]:
        raise NotImplementedError

    def as_dict(self) -> dict[str, Union[int, float, None]]:
        """All numbers under flat names (``p99.9``, ``mean``, ...), ready for a row of a table. Missing: ``None``."""
        row, percentiles = self._totals(), self.percentiles
        for index, rank in enumerate(RANKS):
            row[f"p{rank:g}"] = percentiles[index].value if percentiles else None
        return row

    def _format(self, form: int, title: Optional[str]) -> str:
        raw, encoded = byref(self._raw), c_text(self._name if title is None else title, "title")
        return read_text(lambda *buffer: self._FORMAT(raw, encoded, form, *buffer), "summary")

    def _own_title(self) -> str:
        return self._name

    def __reduce__(self) -> Any:
        return _unpickled, (type(self), bytes(self._raw), b"".join(map(bytes, percentiles_of(self._raw))), self._name)


def _unpickled(kind: type[Any], raw: bytes, percentiles: bytes, name: str) -> Any:
    summary, percentile = kind._STRUCTS
    if (len(raw), len(percentiles)) != (ctypes.sizeof(summary), ctypes.sizeof(percentile) * len(RANKS)):
        raise ValueError("this summary was pickled by another version of picollo")
    room = (percentile * len(RANKS)).from_buffer_copy(percentiles)
    return kind(with_percentiles(summary.from_buffer_copy(raw), room), name)


def _at(rank: float, doc: str) -> Field[int]:
    return Field(lambda one, name: int(one[rank]), doc)


class Summary(NamedSummary[int]):
    """Totals, mean, deviation and the usual percentiles of one snapshot.

    The library writes every text form, so it is the same in every language. ``str(summary)`` is short and for people;
    :meth:`text` has units and all percentiles, and notebooks render :meth:`markdown`.
    """

    __slots__ = ("_percentiles",)

    _FORMAT = held.summary_format
    _STRUCTS = structs.Summary, structs.Percentile

    def __init__(self, raw: structs.Summary, name: str = "") -> None:
        """Not for callers: summaries come from histograms and snapshots."""
        super().__init__(raw, name)
        self._percentiles: Optional[tuple[Percentile, ...]] = None

    total_count = integer("Observations in range.")
    underflow_count = integer("Observations below the range; they are part of no other number here.")
    overflow_count = integer("Observations above the range; they are part of no other number here.")
    lost_count = integer("Observations that were recorded but are missing from the buckets.")
    mean = number("Mean of the buckets' midpoints; NaN if nothing was recorded.")
    stddev = number("Population standard deviation of the buckets' midpoints; NaN if nothing was recorded.")
    relative_error = number("The largest relative error of a reported midpoint: half a step over the value.")
    min_trackable = integer("Smallest value of the guaranteed range.")
    max_trackable = integer("Largest value of the guaranteed range.")
    timestamp_unix_nanos = integer("When the counts were taken, in nanoseconds since 1970.")
    min = _at(0, "The lowest percentile, rank 0.")
    p50 = _at(50, "The median.")
    p90 = _at(90, "Rank 90.")
    p95 = _at(95, "Rank 95.")
    p99 = _at(99, "Rank 99.")
    p999 = _at(99.9, "Rank 99.9.")
    max = _at(100, "The highest percentile, rank 100.")

    @property
    def timestamp(self) -> datetime.datetime:
        """When the counts were taken, in UTC, to the microsecond."""
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        return epoch + datetime.timedelta(microseconds=self.timestamp_unix_nanos // 1000)

    @property
    def values(self) -> ValueSelection:
        """Which value of its bucket each percentile reports."""
        return selection_name(self._raw.value_selection)

    @property
    def percentiles(self) -> tuple[Percentile, ...]:
        """The percentiles at :data:`RANKS`; empty if nothing was recorded."""
        if self._percentiles is None:
            empty = self.total_count == 0
            self._percentiles = () if empty else tuple(map(percentile_from, percentiles_of(self._raw)))
        return self._percentiles

    def _totals(self) -> dict[str, Union[int, float, None]]:
        names = ("total_count", "underflow_count", "overflow_count", "lost_count", "mean", "stddev")
        totals = {name: getattr(self, name) for name in names}
        return totals if self.total_count else {**totals, "mean": None, "stddev": None}

    def diff(
        self,
        other: Summary,
        title: str = "",
        name: Optional[str] = None,
        other_name: Optional[str] = None,
    ) -> SummaryDiff:
        """The changes from this summary to the other: ``print(before.diff(after))``.

        :param name: heading of this summary's column (default: the histogram's name, then ``Before``).
        :param other_name: heading of the other's (default: its histogram's name, then ``After``).
        """
        if not isinstance(other, Summary):
            raise TypeError(f"a summary is compared with a summary, not {type(other).__name__}")
        names = self._name if name is None else name, other._name if other_name is None else other_name
        return SummaryDiff(self, other, title, *names)


#: The units that texts for people support.
_UNITS = ("ps", "ns", "us", "ms", "s", "bytes", "cycles", "instructions")


class SideBySide(Texts):
    """Two summaries, the names of their columns, and a title."""

    __slots__ = ("_title", "after", "after_name", "before", "before_name")

    def __init__(self, before: Summary, after: Summary, title: str, before_name: str, after_name: str) -> None:
        """Not for callers: see :meth:`Summary.diff` and :func:`picollo.compare`."""
        self.before = before
        self.after = after
        self.before_name = before_name
        self.after_name = after_name
        self._title = title

    def _arguments(self, title: Optional[str]) -> tuple[Any, ...]:
        """The arguments of the library's functions: the summaries, the title, and the names."""
        return (
            byref(self.before._raw),
            byref(self.after._raw),
            c_text(self._title if title is None else title, "title"),
            c_text(self.before_name, "name"),
            c_text(self.after_name, "other_name"),
        )

    def _own_title(self) -> str:
        return self._title

    def text(self, title: Optional[str] = None, unit: str = "") -> str:
        """Like that of a summary. The default unit is the one that both names end with: ``latency (ns)``."""
        ends = {name.rpartition(" (")[2] for name in (self.before_name, self.after_name)}
        if not (title or self._title or unit) and len(ends) == 1:
            unit = next((known for known in _UNITS if ends == {f"{known})"}), "")
        return super().text(title, unit)


class SummaryDiff(SideBySide):
    """Two summaries side by side, the change of every row, and the effect size. ``str()`` is short and for people."""

    __slots__ = ()

    def _format(self, form: int, title: Optional[str]) -> str:
        arguments = self._arguments(title)
        return read_text(lambda *buffer: held.summary_format_diff(*arguments, form, *buffer), "diff")
