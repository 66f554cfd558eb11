"""Histograms of doubles: ratios, temperatures, money, clock skew. See ``docs/measure-latency.md``."""

from __future__ import annotations

from ctypes import ArgumentError, byref, c_double, c_void_p
from typing import Any, Iterable, NamedTuple, Optional, Union

from . import arrays
from . import _structs as structs
from ._arguments import checked_error, u64
from ._buffers import double_batch_of
from ._calls import fetch, read_array
from ._handle import Handle, RecordingHandle, ask, locked, new_lock
from ._library import held, own, released
from .errors import InvalidArgumentError, check
from .summary import NamedSummary, percentiles_of, ranks_and_room, with_percentiles

__all__ = [
    "DoubleBucket",
    "DoubleHistogram",
    "DoublePercentile",
    "DoubleSnapshot",
    "DoubleStatistics",
    "DoubleSummary",
]

_RECORD = held.double_histogram_record
_RECORD_N = held.double_histogram_record_n

#: Batches of at least this many values let other threads run meanwhile.
_LONG_BATCH = 10_000


class DoubleBucket(NamedTuple):
    """A run of doubles that share one count."""

    #: Smallest value of the bucket.
    lower: float
    #: Largest value of the bucket.
    upper: float
    #: The value that the bucket reports: within the relative error of every value in it.
    midpoint: float
    #: How many observations fell into it.
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody needs here


class DoublePercentile(NamedTuple):
    """An observation by its rank."""

    #: The rank, 0 to 100.
    rank: float
    #: The reported value of the observation.
    value: float
    #: Its number among all in ascending order, from 1.
    target_count: int
    #: The bucket that it is in.
    bucket: DoubleBucket


class DoubleStatistics(NamedTuple):
    """Totals and moments. Undefined values are NaN."""

    #: Observations with a finite value.
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody needs here
    #: Observations that were NaN or infinite; part of nothing else here.
    not_finite: int
    #: Observations without memory for their bucket; part of nothing else here.
    lost: int
    #: Within the relative error, or exact with ``exact_sum=True``. 0 when nothing was recorded.
    sum: float
    #: Smallest value, within the relative error, or exact.
    min: float
    #: Largest value, within the relative error, or exact.
    max: float
    #: Sum over count.
    mean: float
    #: Population standard deviation of the buckets' midpoints.
    stddev: float
    #: The largest relative error of reported values.
    relative_error: float


def _bucket(raw: structs.DoubleBucket) -> DoubleBucket:
    return DoubleBucket(raw.lower, raw.upper, raw.midpoint, raw.count)


def _statistics(raw: structs.DoubleStatistics) -> DoubleStatistics:
    return DoubleStatistics(*(getattr(raw, name) for name in DoubleStatistics._fields))


class DoubleSummary(NamedSummary[float]):
    """Statistics and the usual percentiles of one interval. ``str(summary)`` is short and for people."""

    __slots__ = ()

    _FORMAT = held.double_summary_format
    _STRUCTS = structs.DoubleSummary, structs.DoublePercentile

    @property
    def statistics(self) -> DoubleStatistics:
        """Totals and moments."""
        return _statistics(self._raw.statistics)

    @property
    def percentiles(self) -> tuple[DoublePercentile, ...]:
        """The percentiles at the ranks of all summaries; empty if nothing was recorded."""
        if self._raw.statistics.count == 0:
            return ()
        return tuple(
            DoublePercentile(raw.rank, raw.value, raw.target_count, _bucket(raw.bucket)) for raw in percentiles_of(self._raw)
        )

    def _totals(self) -> dict[str, Union[int, float, None]]:
        return {name: None if value != value else value for name, value in self.statistics._asdict().items()}


class DoubleSnapshot(Handle):
    """The recorded values of one interval, to read more than once. It holds no reference to its histogram.

    Any thread may use a snapshot; calls on one snapshot are serialized.
    """

    _KIND = "snapshot"
    _NOT_PICKLED = "a snapshot cannot be pickled; its summary can"

    def __init__(self, name: str = "") -> None:
        """An empty snapshot, for :meth:`merge`. Others come from histograms."""
        self._lock = new_lock()
        self._name = name
        self._pointer: Optional[c_void_p] = None
        self._pointer = own(fetch(c_void_p, "snapshot", held.double_snapshot_create, None), held.double_snapshot_free)

    def _take(self, histogram: c_void_p, collect: bool) -> DoubleSnapshot:
        with self._lock:
            check(held.double_snapshot_update(self._handle(), histogram, collect), "collect" if collect else "snapshot")
        return self

    @property
    def name(self) -> str:
        """Name of the histogram, or ``""``."""
        return self._name

    @property
    def statistics(self) -> DoubleStatistics:
        """Totals and moments."""
        return _statistics(ask(self, held.double_snapshot_statistics, structs.DoubleStatistics, "statistics"))

    @property
    def total_count(self) -> int:
        """Observations with a finite value."""
        return self.statistics.count

    def quantile(self, quantile: float) -> float:
        """The value at a quantile from 0 to 1. See :meth:`quantiles`."""
        return self.quantiles((quantile,))[0]

    def quantiles(self, quantiles: Iterable[float]) -> list[float]:
        """The values at many quantiles, in the given order, for the price of about one. Numpy arrays of doubles are
        used directly.

        :raises InvalidArgumentError: for a quantile out of range, and NaN.
        :raises EmptyError: when nothing was recorded.
        """
        asked = double_batch_of(quantiles, "quantiles")
        found = (c_double * asked.length)()
        with self._lock:
            status = held.double_snapshot_quantiles(self._handle(), asked.address, asked.length, found)
        if status == InvalidArgumentError.STATUS:
            raise InvalidArgumentError(message="quantiles must be within 0 .. 1")
        check(status, "quantiles")
        return list(found)

    def summary(self) -> DoubleSummary:
        """Statistics and the usual percentiles, also of an empty snapshot."""
        asked = ranks_and_room(structs.DoublePercentile)
        raw = ask(self, held.double_snapshot_summary, structs.DoubleSummary, "summary", *asked)
        return DoubleSummary(with_percentiles(raw, asked[2]), self._name)

    def buckets(self) -> list[DoubleBucket]:
        """The buckets that have counts, in ascending order."""
        return [_bucket(raw) for raw in self._raw_buckets()]

    def bucket_array(self) -> arrays.Array:
        """The buckets that have counts as a structured numpy array, with the fields of :class:`DoubleBucket`.

        :raises ImportError: without numpy.
        """
        return arrays.bucket_array(self._raw_buckets())

    def _raw_buckets(self) -> Any:
        with self._lock:
            return read_array(structs.DoubleBucket, "buckets", held.double_snapshot_buckets, self._handle())

    def merge(self, other: DoubleSnapshot) -> None:
        """Adds the counts of another snapshot, of any relative error. If the relative errors differ, they add up. Sum
        and extremes stay exact if both are."""
        if not isinstance(other, DoubleSnapshot):
            raise TypeError(f"only snapshots of doubles can be merged, not {type(other).__name__}")
        if other is self:
            raise ValueError("a snapshot cannot be merged into itself")
        with locked(self, other):
            check(held.double_snapshot_merge(self._handle(), other._handle()), "merge")

    def __str__(self) -> str:
        return str(self.summary())

    def __repr__(self) -> str:
        name = f" {self._name!r}" if self._name else ""
        return f"<picollo.DoubleSnapshot{name} {'closed' if self._pointer is None else self.summary().line('')}>"


class DoubleHistogram(RecordingHandle):
    """Counts finite doubles of both signs and all magnitudes, each within a relative error; zero is exact. NaN and
    infinities are counted separately.

    ::

        skew = picollo.DoubleHistogram(0.01, name="Clock skew (s)")
        skew.record(-0.0031)
        skew.record_many(numpy_array)
        with skew.collect() as interval:                # takes it out, and starts a new interval
            print(interval.summary(), interval.quantile(0.99))

    Any number of threads record, on every build of Python, without a lock.

    :param relative_error: largest relative distance between a value and its reported value: 1e-4 to 0.1.
    :param exact_sum: keep sum, minimum and maximum exactly: records cost more then.
    :param dotnet_ranks: quantiles as in the aggregator of .NET's metrics: number ``min(floor(q * n), n - 1)`` of the
        ``n`` values, from 0, instead of number ``ceil(q * n)``, from 1.
    :param max_bytes: limit of the memory, 0 for none. Values that do not fit are reported as lost.
    :param name: default title of summaries.
    """

    __slots__ = ()

    _FOOTPRINT = held.double_histogram_footprint
    _NOT_PICKLED = "a histogram cannot be pickled: record in each process, and add up what they send"

    def __init__(
        self,
        relative_error: float = 0.001,
        *,
        exact_sum: bool = False,
        dotnet_ranks: bool = False,
        max_bytes: int = 0,
        name: str = "",
    ) -> None:
        super().__init__(name)
        options = structs.options(
            structs.DoubleOptions,
            flags=structs.flags("DOUBLE", EXACT_SUM=exact_sum, DOTNET_RANKS=dotnet_ranks),
            relative_error=checked_error(relative_error, 1e-4),
            max_bytes=u64(max_bytes, "max_bytes"),
        )
        what = f"histogram of doubles (relative_error={relative_error:g}, max_bytes={max_bytes})"
        self._pointer = own(fetch(c_void_p, what, held.double_histogram_create, byref(options)), held.double_histogram_free)

    def record(self, value: float) -> None:
        """Counts one value."""
        try:
            _RECORD(self._pointer, value)
        except (ArgumentError, TypeError):
            # Unlike float, it refuses strings.
            _RECORD(self._handle(), c_double(value))

    def record_n(self, value: float, count: int) -> None:
        """Counts one value this many times."""
        _RECORD_N(self._handle(), c_double(value), u64(count, "count"))

    def record_many(self, values: Union[Iterable[float], Any]) -> None:
        """Counts many values. Contiguous buffers of doubles (numpy ``float64``, ``array.array("d")``) are read in
        place; other arrays and iterables of numbers are converted. Masked values of a masked array are left out.

        :raises TypeError: for anything that is not a number that a double can hold: complex numbers, strings, dates and
            durations; the message says how to convert. Nothing is counted then.
        """
        batch = double_batch_of(values)
        pointer = self._handle()
        if batch.length:
            functions = released if batch.length >= _LONG_BATCH else held
            functions.double_histogram_record_batch(pointer, batch.address, batch.length)

    def add(self, other: DoubleSnapshot) -> None:
        """Adds all counts of a snapshot, of any relative error."""
        if not isinstance(other, DoubleSnapshot):
            raise TypeError(f"only snapshots of doubles can be added, not {type(other).__name__}")
        with other._lock:
            check(held.double_histogram_add(self._handle(), other._handle()), "add")

    def collect(self) -> DoubleSnapshot:
        """Takes out everything recorded since the last time and starts a new interval, while other threads record. Each
        record is in one interval."""
        return DoubleSnapshot(self._name)._take(self._handle(), True)

    def snapshot(self) -> DoubleSnapshot:
        """The recorded values of this interval so far; the interval continues."""
        return DoubleSnapshot(self._name)._take(self._handle(), False)

    def summary(self) -> DoubleSummary:
        """Statistics and the usual percentiles of this interval so far; the interval continues."""
        return self.snapshot().summary()
