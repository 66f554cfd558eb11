"""Buckets, percentiles and their texts."""

from __future__ import annotations

from ctypes import byref
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal, NamedTuple, get_args

from . import _structs as structs
from ._arguments import choice
from ._calls import read_text
from ._library import held

#: Which value of its bucket a percentile reports.
ValueSelection = Literal["midpoint", "lower", "upper"]

_SELECTIONS = structs.codes("VALUE", get_args(ValueSelection))


def selection_code(values: str) -> int:
    """The library's number for a value selection."""
    return choice(values, _SELECTIONS, "values")


def selection_name(code: int) -> ValueSelection:
    """The name for the library's code; an unknown one counts as midpoint, as in the library."""
    found: list[ValueSelection] = [name for name in get_args(ValueSelection) if _SELECTIONS[name] == code]
    return found[0] if found else "midpoint"


class Bucket(NamedTuple):
    """A run of values that share one count."""

    #: Smallest value of the bucket.
    lower: int
    #: Largest value: the range is closed so that the last bucket can end at 2**64 - 1.
    upper: int
    #: How many values share the count: ``upper - lower + 1``.
    step: int
    #: How many observations fell into it.
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody needs here
    #: Index among the counters of its histogram.
    storage_index: int
    #: Index among the counters of a histogram of the full range.
    logical_index: int

    @property
    def midpoint(self) -> int:
        """The value at most ``step / 2`` away from every value of the bucket; exact if ``step`` is 1."""
        return self.lower + self.step // 2

    def value(self, values: ValueSelection = "midpoint") -> int:
        """The value that stands for all values of the bucket."""
        return (self.midpoint, self.lower, self.upper)[selection_code(values)]


class Percentile(NamedTuple):
    """The first bucket whose cumulative count reaches the target of a rank.

    ``str()`` gives ``P99=9,152 [138 / 519]: [9,088, 9,216) 386``: rank and value, storage and logical index of the bucket, its
    half-open range and its count.
    """

    #: The requested rank, 0 to 100.
    rank: float
    #: The value that the bucket reports: its midpoint by default.
    value: int
    #: Nearest rank: ``max(1, ceil(rank / 100 * total))``.
    target_count: int
    #: The bucket, with its count.
    bucket: Bucket

    def __str__(self) -> str:
        return _line(self.rank, self.value, self.bucket)


class BucketPercentile(NamedTuple):
    """A bucket in a list of buckets, with the percentile rank of the observation in its middle.

    ``str()`` gives ``P0.073=2,008 [0 / 381]: [2,000, 2,016) 146``.
    """

    #: ``target_count / total * 100``, 0 to 100.
    rank: float
    #: The value that the bucket reports: its midpoint by default.
    value: int
    #: The number of that observation among all: ``before + ceil(count / 2)``.
    target_count: int
    #: The bucket, with its count.
    bucket: Bucket

    def __str__(self) -> str:
        # The library writes ranks with up to 6 decimals. This is 4, rounded half away from zero like all its decimals.
        rank = Decimal(self.rank).quantize(Decimal("0.0001"), ROUND_HALF_UP)
        return _line(float(rank), self.value, self.bucket)


def _line(rank: float, value: int, bucket: Bucket) -> str:
    raw = byref(structs.Percentile(rank, value, 1, structs.Bucket(*bucket)))
    return read_text(lambda *buffer: held.percentile_format(raw, *buffer), "percentile")


def bucket_from(raw: structs.Bucket) -> Bucket:
    """Converts the library's struct to a bucket."""
    return Bucket(raw.lower, raw.upper, raw.step, raw.count, raw.storage_index, raw.logical_index)


def percentile_from(raw: structs.Percentile) -> Percentile:
    """Converts the library's struct to a percentile."""
    return Percentile(raw.rank, raw.value, raw.target_count, bucket_from(raw.bucket))
