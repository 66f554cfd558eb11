"""Summaries, what changed between two of them, and their texts."""

from __future__ import annotations

import ctypes
import datetime
from ctypes import byref
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Optional, TypeVar, Union

from . import _html, arrays
from . import _structs as structs
from ._library import held
from ._text import Texts, c_text, read_text
from .errors import EmptyError
from .percentile import Percentile, ValueSelection, percentile_from, selection_name

if TYPE_CHECKING:
    import pandas

#: The percentile ranks of a summary.
RANKS = (0.0, 1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 92.5, 95.0, 97.5, 99.0, 99.9, 99.99, 99.999, 100.0)


#: What was recorded: int or float.
Value = TypeVar("Value", int, float)


class NamedSummary(Texts, Generic[Value]):
    """What summaries of integers and of doubles have in common."""

    __slots__ = ("_name", "_raw")

    #: The library's function that writes it.
    _FORMAT: ClassVar[Any]

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
        """The percentiles at :data:`RANKS`; none when nothing was recorded."""
        raise NotImplementedError

    def __getitem__(self, rank: float) -> Value:
        """The value at one of :data:`RANKS`: ``summary[99.9]``.

        :raises KeyError: for another rank; ask the snapshot for it.
        :raises EmptyError: when nothing was recorded.
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
        """Every number under a flat name (``p99.9``, ``mean``, ...), ready for a row of a table. ``None`` where there is none."""
        row, percentiles = self._totals(), self.percentiles
        for index, rank in enumerate(RANKS):
            row[f"p{rank:g}"] = percentiles[index].value if percentiles else None
        return row

    def _format(self, form: int, title: Optional[str]) -> str:
        raw, encoded = byref(self._raw), c_text(self._name if title is None else title, "title")
        return read_text(lambda *buffer: self._FORMAT(raw, encoded, form, *buffer), "summary")

    def _own_title(self) -> str:
        return self._name

    def _repr_html_(self) -> str:
        return _html.table(self.markdown(""), self._name)


class Summary(NamedSummary[int]):
    """Totals, mean, deviation and sixteen percentiles of one snapshot.

    Every text form comes from the library, so it is the same in every language. ``str(summary)`` is short and for people;
    :meth:`text` has units and all percentiles, and notebooks render :meth:`markdown`.
    """

    __slots__ = ("_percentiles",)

    _FORMAT = held.summary_format

    def __init__(self, raw: structs.Summary, name: str = "") -> None:
        """Not for callers: summaries come from histograms and snapshots."""
        super().__init__(raw, name)
        self._percentiles: Optional[tuple[Percentile, ...]] = None

    @property
    def total_count(self) -> int:
        """Observations in range."""
        return int(self._raw.total_count)

    @property
    def underflow_count(self) -> int:
        """Observations below the range; they are part of no other number here."""
        return int(self._raw.underflow_count)

    @property
    def overflow_count(self) -> int:
        """Observations above the range; they are part of no other number here."""
        return int(self._raw.overflow_count)

    @property
    def lost_count(self) -> int:
        """Observations that were recorded but are missing from the buckets."""
        return int(self._raw.lost_count)

    @property
    def mean(self) -> float:
        """Mean of the buckets' midpoints; NaN when nothing was recorded."""
        return float(self._raw.mean)

    @property
    def stddev(self) -> float:
        """Population standard deviation of the buckets' midpoints; NaN when nothing was recorded."""
        return float(self._raw.stddev)

    @property
    def relative_error(self) -> float:
        """The largest relative error of a reported midpoint: half a step over the value."""
        return float(self._raw.relative_error)

    @property
    def min_trackable(self) -> int:
        """Smallest value of the guaranteed range."""
        return int(self._raw.min_trackable)

    @property
    def max_trackable(self) -> int:
        """Largest value of the guaranteed range."""
        return int(self._raw.max_trackable)

    @property
    def timestamp_unix_nanos(self) -> int:
        """When the counts were taken, in nanoseconds since 1970."""
        return int(self._raw.timestamp_unix_nanos)

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
    def approximate(self) -> bool:
        """Whether counts are estimates (scalable mode)."""
        return bool(self._raw.flags & structs.SUMMARY_APPROXIMATE)

    @property
    def percentiles(self) -> tuple[Percentile, ...]:
        """The percentiles at :data:`RANKS`; none when nothing was recorded."""
        if self._percentiles is None:
            empty = self.total_count == 0
            self._percentiles = () if empty else tuple(map(percentile_from, self._raw.percentiles))
        return self._percentiles

    @property
    def min(self) -> int:
        """The lowest percentile, rank 0."""
        return self._value(0)

    @property
    def p50(self) -> int:
        """The median."""
        return self._value(5)

    @property
    def p90(self) -> int:
        """Rank 90."""
        return self._value(7)

    @property
    def p95(self) -> int:
        """Rank 95."""
        return self._value(9)

    @property
    def p99(self) -> int:
        """Rank 99."""
        return self._value(11)

    @property
    def p999(self) -> int:
        """Rank 99.9."""
        return self._value(12)

    @property
    def max(self) -> int:
        """The highest percentile, rank 100."""
        return self._value(15)

    def _totals(self) -> dict[str, Union[int, float, None]]:
        return {
            "total_count": self.total_count,
            "underflow_count": self.underflow_count,
            "overflow_count": self.overflow_count,
            "lost_count": self.lost_count,
            "mean": None if self.total_count == 0 else self.mean,
            "stddev": None if self.total_count == 0 else self.stddev,
        }

    def to_series(self) -> pandas.Series:
        """The numbers of :meth:`as_dict` as a pandas series of doubles, named like the histogram.

        :raises ImportError: without pandas.
        """
        return arrays.summary_series(self)

    def to_frame(self) -> pandas.DataFrame:
        """The numbers of :meth:`as_dict` as a pandas data frame of one row. See :func:`picollo.to_frame` for many."""
        return arrays.to_frame([self])

    def diff(
        self,
        other: Summary,
        title: str = "",
        name: Optional[str] = None,
        other_name: Optional[str] = None,
    ) -> SummaryDiff:
        """What changed from this summary to the other: ``print(before.diff(after))``.

        :param name: heading of this summary's column (default: the histogram's name, then ``Before``).
        :param other_name: heading of the other's (default: its histogram's name, then ``After``).
        """
        if not isinstance(other, Summary):
            raise TypeError(f"a summary is compared with a summary, not {type(other).__name__}")
        return SummaryDiff(
            self,
            other,
            title,
            self._name if name is None else name,
            other._name if other_name is None else other_name,
        )

    def __reduce__(self) -> Any:
        return _summary_from_bytes, (bytes(self._raw), self._name)


class SideBySide(Texts):
    """Two summaries, what their columns are called, and a title."""

    __slots__ = ("_title", "after", "after_name", "before", "before_name")

    def __init__(self, before: Summary, after: Summary, title: str, before_name: str, after_name: str) -> None:
        """Not for callers: see :meth:`Summary.diff` and :func:`picollo.compare`."""
        self.before = before
        self.after = after
        self.before_name = before_name
        self.after_name = after_name
        self._title = title

    def _arguments(self, title: Optional[str]) -> tuple[Any, ...]:
        """What the library's functions take: the summaries, the title, and the names."""
        return (
            byref(self.before._raw),
            byref(self.after._raw),
            c_text(self._title if title is None else title, "title"),
            c_text(self.before_name, "name"),
            c_text(self.after_name, "other_name"),
        )

    def _own_title(self) -> str:
        return self._title

    def _headings(self) -> dict[int, str]:
        """Of the columns in HTML, where names are escaped for HTML and not for Markdown."""
        return {1: self.before_name or "Before", 2: self.after_name or "After"}


class SummaryDiff(SideBySide):
    """Two summaries side by side, the change of every row, and the effect size. ``str()`` is short and for people."""

    __slots__ = ()

    def to_frame(self) -> pandas.DataFrame:
        """A pandas data frame with a row for each number of :meth:`Summary.as_dict`: both sides, and ``change``, the second
        relative to the first (0.5 is half as much again; NaN where the first is zero and the second is not).

        :raises ImportError: without pandas.
        """
        return arrays.diff_frame(self)

    def _format(self, form: int, title: Optional[str]) -> str:
        arguments = self._arguments(title)
        return read_text(lambda *buffer: held.summary_format_diff(*arguments, form, *buffer), "diff")

    def _repr_html_(self) -> str:
        plain = SummaryDiff(self.before, self.after, "", "", "")
        return _html.table(plain.markdown(), self._title, self._headings())


def _summary_from_bytes(raw: bytes, name: str) -> Summary:
    """Unpickles."""
    if len(raw) != ctypes.sizeof(structs.Summary):
        raise ValueError("this summary was pickled by another version of picollo")
    return Summary(structs.Summary.from_buffer_copy(raw), name)
