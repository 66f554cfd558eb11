"""Histograms: record 64-bit values, read their distribution."""

from __future__ import annotations

import sys
import warnings
from ctypes import ArgumentError, byref, c_void_p
from typing import TYPE_CHECKING, Any, Iterable, Literal, Optional, Union

from . import _structs as structs
from ._arguments import MAX, MODES, STORAGES, checked_counter_bits, checked_error, choice, described, one_of, parameters, u64
from ._buffers import batch_of
from ._calls import fetch
from ._extension import methods_in_c
from ._handle import RecordingHandle
from ._library import held, own, released
from .clock import Clock, Unit, clock_code, unit_code
from .errors import InvalidArgumentError, check
from .interchange import PLACEMENTS, Encoding, Placement, precision_of, unpickle_histogram
from .percentile import Percentile, ValueSelection, selection_code
from .scope import Scope
from .snapshot import HELD_BYTES, Counts, Merged, Snapshot
from .summary import Summary, SummaryDiff, ranks_and_room, with_percentiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: How threads write to a histogram.
Mode = Literal["single_writer", "interlocked", "thread_local", "per_cpu"]
#: How a histogram stores its counters.
Storage = Literal["dense", "sparse"]

# Looked up once: every attribute lookup slows down recording.
_RECORD = held.histogram_record
_RECORD_N = held.histogram_record_n

#: For batches of this size and more, other threads may run meanwhile if the mode allows it. Shorter batches take less
#: time than getting the GIL back.
_LONG_BATCH = 10_000


@methods_in_c("record", "record_n", "nano_scope", "micro_scope", "milli_scope", "tick_scope")
class Histogram(RecordingHandle):
    """Counts 64-bit values in buckets of bounded relative width.

    ::

        with Histogram(relative_error=0.01, name="request") as latency:
            for request in requests:
                with latency.micro_scope():
                    serve(request)
            print(latency.summary())

    :param relative_error: the largest relative error of a reported midpoint, 1e-6 to 0.1 (default: 0.001). The buckets
        are as narrow as the next power of two makes them; :attr:`relative_error` has the result. Ten times the
        precision takes ten times the memory: 448 KiB by default; 100 MB and more cause a warning.
    :param min: smallest value to track. Smaller values are counted separately, as underflow.
    :param max: largest value to track (default: every value of 64 bits). Larger values are counted as overflow.
    :param mode: ``"interlocked"``: any number of threads record, on every build of Python, and long batches let other
        threads run meanwhile. ``"single_writer"``: long batches take a fraction of the time, single values the same.
        Recording calls must not overlap; the GIL ensures that (on a free-threaded build concurrent ones lose counts,
        nothing worse). ``"thread_local"``: separate counters, and memory, for each thread that records.
    ``"per_cpu"``: counters for each CPU that records, for any number of threads; exact, and as fast as thread-local
        on Linux on x86-64, as interlocked elsewhere; dense, 64 bits.
    :param storage: ``"dense"`` or ``"sparse"``.
    :param counter_bits: 32 or 64 bits a bucket. 32 halve the memory; ``lost_count`` reports buckets that wrapped.
    :param significant_digits: 0 to 5: HdrHistogram's buckets for this many digits, instead of a relative error.
    :param live_reset: keep room for :meth:`reset`: three times the memory.
    :param max_bytes: limit of sparse storage, 0 for none. ``lost_count`` reports counts that do not fit.
    :param whole_array: count up to the largest value that fits the array of an HdrHistogram with this ``max``, as
        HdrHistogram does: 8,191 for 5,000 and 3 digits.
    :param unit: HdrHistogram's lowest discernible value: values are counted in units of the largest power of two in it,
        so that those below a block of units take fewer counters.
    :param name: default title of summaries and heading in diffs.
    """

    __slots__ = ("_many_writers", "_options", "_relative_error")

    _FOOTPRINT = held.histogram_footprint

    def __init__(
        self,
        relative_error: Optional[float] = None,
        min: int = 0,
        max: Optional[int] = None,
        mode: Mode = "interlocked",
        storage: Storage = "dense",
        counter_bits: int = 64,
        significant_digits: Optional[int] = None,
        live_reset: bool = True,
        *,
        max_bytes: int = 0,
        whole_array: bool = False,
        unit: int = 1,
        name: str = "",
    ) -> None:
        if relative_error is not None and significant_digits is not None:
            raise ValueError(f"give relative_error or significant_digits, and not both: {relative_error!r} and {significant_digits!r}")
        if isinstance(unit, str):
            raise TypeError(f'unit must be an int, the lowest value to distinguish; for text with a unit, name the histogram "latency ({unit})"')
        lowest, highest = u64(min, "min"), MAX if max is None else u64(max, "max")
        if lowest >= highest:
            raise ValueError(f"min must be below max: {lowest} and {highest}")
        if not 1 <= u64(unit, "unit") <= highest:
            raise ValueError(f"unit must be within 1 .. max, not {unit}")
        # The library's default is 0.
        digits = 0 if significant_digits is None else one_of(significant_digits, range(6), "significant_digits") or structs.ZERO_DIGITS
        options = structs.options(
            structs.HistogramOptions,
            mode=choice(mode, MODES, "mode"),
            storage=choice(storage, STORAGES, "storage"),
            counter_bits=checked_counter_bits(counter_bits),
            relative_error=checked_error(0.001 if relative_error is None else relative_error),
            significant_digits=digits,
            flags=structs.flags("HISTOGRAM", NO_LIVE_RESET=not live_reset, WHOLE_ARRAY=whole_array),
            min_trackable=lowest,
            max_trackable=highest,
            max_bytes=u64(max_bytes, "max_bytes"),
            unit=unit,
        )
        super().__init__(name)
        _warn_of_memory(options)
        # Zeroing hundreds of megabytes takes a while: let others run.
        pointer = fetch(c_void_p, f"histogram ({described(options)})", released.histogram_create, byref(options))
        self._take(pointer, name, mode != "single_writer", options)

    def _take(
        self, pointer: c_void_p, name: str, many_writers: bool, options: Optional[structs.HistogramOptions]
    ) -> None:
        self._pointer = own(pointer, held.histogram_free)
        self._name = name
        self._options = options
        self._many_writers = many_writers
        self._relative_error: Optional[float] = None

    @classmethod
    def _adopt(cls, pointer: c_void_p, name: str) -> Histogram:
        """Wraps a single-writer histogram that the library made, and takes over its reference."""
        histogram = cls.__new__(cls)
        histogram._take(pointer, name, many_writers=False, options=None)
        return histogram

    # ── recording ──────────────────────────────────────────────────────────────────────────────────────

    def record(self, value: int) -> None:
        """Counts one value.

        :raises ValueError: for an integer that does not fit 64 bits, negative ones included; nothing is counted then. A value
            outside ``min`` .. ``max`` is no error: it is counted as underflow or overflow.
        """
        # ctypes truncates integers silently, hence the comparison. A closed histogram and anything that is not an int
        # take the slow path, which explains the error. (Do not look up the histogram again there before the call.)
        try:
            if 0 <= value <= 0xFFFF_FFFF_FFFF_FFFF:
                _RECORD(self._pointer, value)
                return
        except (ArgumentError, TypeError):
            pass
        _RECORD(self._handle(), u64(value, "value"))

    def record_n(self, value: int, count: int) -> None:
        """Counts one value this many times."""
        try:
            if 0 <= value <= 0xFFFF_FFFF_FFFF_FFFF and 0 <= count <= 0xFFFF_FFFF_FFFF_FFFF:
                _RECORD_N(self._pointer, value, count)
                return
        except (ArgumentError, TypeError):
            pass
        _RECORD_N(self._handle(), u64(value, "value"), u64(count, "count"))

    def record_many(self, values: Union[Iterable[int], Any]) -> None:
        """Counts many values, at about a nanosecond each instead of tens or hundreds.

        Buffers of 64-bit integers are read in place, without a copy: ``array.array("Q")``, numpy ``uint64``, memory
        views of format ``"Q"``, of any shape as long as they are contiguous. Signed ones (numpy ``int64``) are checked
        for negative values first. Lists, tuples, ranges, generators and series are converted. Masked values of a masked
        array are left out. If this raises, nothing is counted.

        :raises TypeError: for buffers of other types; the message says how to convert.
        :raises ValueError: for negative values, and for strided views.
        """
        batch = batch_of(values)
        pointer = self._handle()
        if batch.length:
            # In single-writer mode only the GIL keeps other threads from recording meanwhile.
            functions = released if self._many_writers and batch.length >= _LONG_BATCH else held
            functions.histogram_record_batch(pointer, batch.address, batch.length)

    def record_corrected(self, value: int, expected_interval: int) -> None:
        """Counts one value and, if it exceeds the interval at which values were expected, the values that it delayed:
        ``value - interval``, ``value - 2 * interval``, ... while at least ``interval`` (coordinated omission).

        That is at most one addition for each counter, however many values are added. If the counters take more than 1
        MiB, other threads run meanwhile, but not in single-writer mode, where they could record at the same time.
        """
        pointer = self._handle()
        functions = released if self._many_writers and self.footprint > HELD_BYTES else held
        functions.histogram_record_corrected(
            pointer, u64(value, "value"), u64(expected_interval, "expected_interval")
        )

    def record_in_range(self, value: int, min: int, max: int, *, strict: bool = False) -> bool:
        """Counts one value if it is within ``min`` .. ``max``, else as underflow or overflow. Returns whether it was.

        :param strict: raise :class:`InvalidArgumentError` for a value outside (which is still counted).
        """
        value, min, max = u64(value, "value"), u64(min, "min"), u64(max, "max")
        if min > max:
            raise InvalidArgumentError(message=f"min must not be above max: {min} > {max}")
        status = held.histogram_record_in_range(self._handle(), value, min, max)
        if status == InvalidArgumentError.STATUS:
            if strict:
                raise InvalidArgumentError(message=f"value {value} is outside {min} .. {max}")
            return False
        check(status, "record_in_range")
        return True

    def add(self, other: Union[Snapshot, Histogram], *, placement: Placement = "midpoint") -> Merged:
        """Adds all counts of a snapshot, of any layout, and reports where they went. Accepts a histogram too.

        :param placement: as for :meth:`Snapshot.merge`.
        """
        code = choice(placement, PLACEMENTS, "placement")
        snapshot = snapshot_of(other, "a histogram adds snapshots and histograms")
        with snapshot._lock:
            raw = fetch(structs.Merged, "add", held.histogram_add, self._handle(), snapshot._handle(), code)
        return Merged(raw.refined, raw.underflow, raw.overflow, raw.lost)

    def reset(self) -> None:
        """Counts from zero again, at any time and from any thread. Snapshots that read deltas are not affected.

        :raises UnsupportedError: with ``live_reset=False``.
        """
        check(held.histogram_reset(self._handle()), "reset")

    # ── timing ─────────────────────────────────────────────────────────────────────────────────────────

    def scope(self, unit: Unit = "nanos", clock: Clock = "tsc") -> Scope:
        """Like :meth:`nano_scope`, in the unit given."""
        return Scope(self._handle(), clock_code(clock), unit_code(unit))

    def nano_scope(self, clock: Clock = "tsc") -> Scope:
        """``with histogram.nano_scope(): ...`` records how many nanoseconds the block took. So does ``async with``."""
        return Scope(self._handle(), clock_code(clock), unit_code("nanos"))

    def micro_scope(self, clock: Clock = "tsc") -> Scope:
        """Like :meth:`nano_scope`, in microseconds."""
        return Scope(self._handle(), clock_code(clock), unit_code("micros"))

    def milli_scope(self, clock: Clock = "tsc") -> Scope:
        """Like :meth:`nano_scope`, in milliseconds."""
        return Scope(self._handle(), clock_code(clock), unit_code("millis"))

    def tick_scope(self, clock: Clock = "tsc") -> Scope:
        """Like :meth:`nano_scope`, in ticks of the clock."""
        return Scope(self._handle(), clock_code(clock), unit_code("ticks"))

    # ── reading ────────────────────────────────────────────────────────────────────────────────────────

    def snapshot(self) -> Snapshot:
        """The counts as they are now, since the last reset."""
        return Snapshot(self._handle(), self.footprint, self._name)

    def summary(self, values: ValueSelection = "midpoint") -> Summary:
        """Totals, mean, deviation and the usual percentiles as of now."""
        functions = held if self.footprint <= HELD_BYTES else released
        asked = ranks_and_room(structs.Percentile)
        raw = fetch(structs.Summary, "summary", functions.histogram_summary, self._handle(), selection_code(values), *asked)
        return Summary(with_percentiles(raw, asked[2]), self._name)

    def percentile(self, rank: float, values: ValueSelection = "midpoint") -> Percentile:
        """The percentile at a rank from 0 to 100, as of now. See :meth:`Snapshot.percentile`."""
        return self.snapshot().percentile(rank, values)

    def percentiles(self, ranks: Iterable[float], values: ValueSelection = "midpoint") -> list[Percentile]:
        """The percentiles at many ranks, as of now. See :meth:`Snapshot.percentiles`."""
        return self.snapshot().percentiles(ranks, values)

    @property
    def counts(self) -> Counts:
        """The totals as of now."""
        return self.snapshot().counts

    @property
    def total_count(self) -> int:
        """Observations in range, as of now."""
        return self.counts.total

    def diff(
        self,
        other: Union[Histogram, Summary],
        title: str = "",
        name: Optional[str] = None,
        other_name: Optional[str] = None,
    ) -> SummaryDiff:
        """What changed from this histogram to the other: ``print(before.diff(after))``. See :meth:`Summary.diff`."""
        if isinstance(other, Histogram):
            other = other.summary()
        return self.summary().diff(other, title, name, other_name)

    @property
    def relative_error(self) -> float:
        """The largest relative error of a reported midpoint: at most the requested one."""
        if self._relative_error is None:
            self._relative_error = self.summary().relative_error
        return self._relative_error

    # ── elsewhere ──────────────────────────────────────────────────────────────────────────────────────

    def encode(self, encoding: Encoding = "native") -> bytes:
        """The counts as of now as bytes. See :meth:`Snapshot.encode`."""
        return self.snapshot().encode(encoding)

    @classmethod
    def decode(
        cls,
        data: Any,
        *,
        mode: Mode = "interlocked",
        storage: Storage = "dense",
        max_counters: int = 0,
        name: str = "",
    ) -> Histogram:
        """A new histogram with the encoded counts, to record into, with the same range, unit and precision.

        :param data: see :meth:`Snapshot.decode`, also for the errors.
        """
        snapshot = Snapshot.decode(data, max_counters=max_counters, name=name)
        layout = snapshot.layout
        precision = precision_of(layout)
        histogram = cls(min=layout.low, max=layout.high, mode=mode, storage=storage, unit=layout.unit, name=name, **precision)
        histogram.add(snapshot)
        return histogram

    def plot(self, ax: Optional[Axes] = None, *, unit: str = "", label: Optional[str] = None) -> Axes:
        """Draws values by percentile with matplotlib: see :meth:`Snapshot.plot`."""
        return self.snapshot().plot(ax, unit=unit, label=label)

    def _repr_markdown_(self) -> str:
        return self.summary()._repr_markdown_()

    def __reduce__(self) -> Any:
        # Copies use this as well: histograms with the same options, and the counts as of now.
        snapshot = self.snapshot()
        return unpickle_histogram, (self._arguments(snapshot), snapshot.encode("native"), self._name)

    def _arguments(self, snapshot: Snapshot) -> dict[str, Any]:
        """The arguments that make another histogram of this kind."""
        layout = snapshot.layout
        # A histogram without options belongs to a session or a benchmark, which write alone, or to a segment.
        mode = "interlocked" if self._many_writers else "single_writer"
        options: dict[str, Any] = {"mode": mode} if self._options is None else parameters(self._options)
        if layout.unit > 1:
            options["unit"] = layout.unit
        return {**precision_of(layout), "min": layout.low, "max": layout.high, **options}


#: A larger histogram is rarely intended.
_MUCH = 100_000_000


def _warn_of_memory(options: structs.HistogramOptions) -> None:
    found = structs.Footprint()
    # The user requested a copied or unpickled histogram earlier.
    if sys._getframe(2).f_globals.get("__name__", "").startswith(f"{__package__}."):
        return
    # Creating the histogram reports wrong options.
    if held.histogram_estimate(byref(options), byref(found)) == 0 and found.initial_bytes > _MUCH:
        message = f"this histogram takes {found.initial_bytes / 1e6:,.0f} MB ({described(options)}): give a range by min and max, "
        warnings.warn(message + 'storage="sparse", or less precision', stacklevel=3)


def snapshot_of(source: Any, what: str) -> Snapshot:
    """Returns a snapshot unchanged, or the counts of a histogram as of now.

    :param what: the function that takes only those, for the message.
    """
    if isinstance(source, Histogram):
        source = source.snapshot()
    if not isinstance(source, Snapshot):
        raise TypeError(f"{what}, not {type(source).__name__}")
    return source
