"""Snapshots: frozen counts, and all queries on them."""

from __future__ import annotations

import math
from ctypes import byref, c_char_p, c_double, c_size_t, c_uint64, c_void_p, cast
from typing import TYPE_CHECKING, Any, Callable, Iterable, NamedTuple, Optional

from . import arrays, interchange, picture
from . import _structs as structs
from ._arguments import choice, u64
from ._calls import c_text, fetch, read_array, read_bytes, read_text
from ._handle import Handle, Lock, ask, locked
from ._library import Functions, held, own, released
from .errors import IncompatibleError, InvalidArgumentError, check
from .percentile import (
    Bucket,
    BucketPercentile,
    Percentile,
    ValueSelection,
    bucket_from,
    percentile_from,
    selection_code,
)
from .summary import Summary, ranks_and_room, with_percentiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Histograms up to this footprint are read under the GIL: that takes less time than getting the GIL back.
HELD_BYTES = 1 << 20


class Counts(NamedTuple):
    """The totals of a snapshot."""

    #: Observations in range.
    total: int
    #: Observations below the range.
    underflow: int
    #: Observations above the range.
    overflow: int
    #: Observations that were recorded but are missing from the buckets.
    lost: int


class CountStep(NamedTuple):
    """A step of an iteration. It has the counts of all buckets up to and including the one that it ends in, except
    those in earlier steps: a bucket is never divided."""

    #: Where the previous step ended; 0 for the first. (HdrHistogram's ``value_iterated_from``.)
    from_: int
    #: Where this step ends; percentile steps end with a bucket. (``value_iterated_to``.)
    to: int
    #: Observations in this step. (``count_added_in_this_iter_step``.)
    added_count: int
    #: Observations in this and all earlier steps. (``total_count_to_this_value``.)
    cumulative_count: int
    #: The same as a percentage of all observations. (``percentile``.)
    rank: float
    #: The percentage that a percentile step aimed at; ``rank`` for the others. (``percentile_level_iterated_to``.)
    rank_level: float
    #: Observations in the bucket that the step ends in. (``count_at_value_iterated_to``.)
    bucket_count: int
    #: Sum of this and all earlier steps, each observation as its bucket's midpoint. (``total_value_to_this_value``.)
    cumulative_value: int


class Merged(NamedTuple):
    """Where added or subtracted counts went. All zero: each is where recording its value would have put it."""

    #: Counts that went to a narrower bucket than they came from, within the error of theirs.
    refined: int
    #: Counts that were in range there and are underflow here.
    underflow: int
    #: Counts that were in range there and are overflow here.
    overflow: int
    #: Counts that did not fit into a bucket: no count exceeds 2**64 - 1. They are among the lost of the result.
    lost: int


class Snapshot(Handle):
    """Counts as they were at one moment. Writers continue meanwhile, undisturbed.

    :meth:`update` takes new counts, since the last reset or since the previous update. The deltas of one snapshot add
    up to everything that was recorded, even across resets. A snapshot keeps the necessary parts of its histogram alive.

    Snapshots can be sent: :meth:`encode` and :meth:`decode`, pickling, copying, and ``+`` combine the records of many
    processes. Snapshots made from bytes or from other snapshots hold only their counts.

    Any thread may use a snapshot; calls on one snapshot are serialized.
    """

    _KIND = "snapshot"

    #: The ratio of sums, which the library does not know.
    _ratio: Optional[float] = None

    #: When the interval of the counts began, in seconds since 1970 or since the time that its log's times count from.
    #: It is NaN unless it was read from a log, or set. Copies and pickles keep it, :meth:`LogWriter.write` writes it,
    #: and no count depends on it. The same holds for :attr:`end` and :attr:`tag`.
    start: float = math.nan
    #: When it ended; NaN unless it was read from a log, or set.
    end: float = math.nan
    #: Distinguishes counts of the same time; ``""`` unless it was read from a log, or set.
    tag: str = ""

    def __init__(self, histogram: c_void_p, footprint: int, name: str = "") -> None:
        """Not for callers: see ``Histogram.snapshot``."""
        self._prepare(footprint, name)
        self._pointer = own(fetch(c_void_p, "snapshot", self._functions.snapshot_create, histogram), held.snapshot_free)

    def _prepare(self, footprint: int, name: str) -> None:
        self._pointer = None
        is_small = footprint <= HELD_BYTES
        self._functions: Functions = held if is_small else released
        # Pictures and comparisons release the GIL, whatever the size.
        self._lock = Lock()
        self._name = name

    @classmethod
    def _adopt(cls, pointer: c_void_p, name: str) -> Snapshot:
        """Wraps a snapshot that the library made, and takes over its reference."""
        pointer = own(pointer, held.snapshot_free)
        layout = fetch(structs.Layout, "snapshot", held.snapshot_layout, pointer)
        snapshot = cls.__new__(cls)
        snapshot._prepare(layout.length * 8, name)
        snapshot._pointer = pointer
        return snapshot

    @property
    def name(self) -> str:
        """Name of the histogram, or ``""``."""
        return self._name

    def update(self, deltas: bool = False) -> Snapshot:
        """Takes new counts and returns the snapshot itself.

        :param deltas: count since the previous update instead of since the last reset.
        """
        with self._lock:
            check(self._functions.snapshot_update(self._handle(), bool(deltas)), "snapshot update")
        return self

    @property
    def counts(self) -> Counts:
        """The totals."""
        raw = ask(self, self._functions.snapshot_counts, structs.Counts, "counts")
        return Counts(raw.total, raw.underflow, raw.overflow, raw.lost)

    @property
    def total_count(self) -> int:
        """Observations in range."""
        return self.counts.total

    @property
    def min(self) -> int:
        """The percentile at rank 0: midpoint of the lowest non-empty bucket. It costs and raises what that does."""
        return self.percentile(0).value

    @property
    def max(self) -> int:
        """The percentile at rank 100: midpoint of the highest non-empty bucket. It costs and raises what that does."""
        return self.percentile(100).value

    @property
    def mean(self) -> float:
        """Mean of the buckets' midpoints; NaN if nothing was recorded. Costs as much as a :meth:`summary`."""
        return self.summary().mean

    @property
    def stddev(self) -> float:
        """Population standard deviation of the midpoints; NaN if nothing was recorded. Costs a :meth:`summary`."""
        return self.summary().stddev

    @property
    def layout(self) -> interchange.Layout:
        """The values that have buckets, and their precision."""
        raw = ask(self, held.snapshot_layout, structs.Layout, "layout")
        return interchange.Layout(
            raw.relative_error, raw.min_trackable, raw.max_trackable, raw.length, raw.unit, raw.significant_digits
        )

    @property
    def value_ratio(self) -> float:
        """Multiply values by this if the snapshot was decoded from the ``DoubleHistogram`` of HdrHistogram for Java;
        1.0 for everything else. Copies keep it. Sums keep it too, if all parts have the same. No encoding here stores
        it, and so no pickle. It comes from the data unchecked, so it may be any number."""
        if self._ratio is not None:
            return self._ratio
        return float(ask(self, held.snapshot_value_ratio, c_double, "value ratio").value)

    def summary(self, values: ValueSelection = "midpoint") -> Summary:
        """Totals, mean, deviation and the usual percentiles, also of an empty snapshot."""
        asked = ranks_and_room(structs.Percentile)
        raw = ask(self, self._functions.snapshot_summary, structs.Summary, "summary", selection_code(values), *asked)
        return Summary(with_percentiles(raw, asked[2]), self._name)

    def percentile(self, rank: float, values: ValueSelection = "midpoint") -> Percentile:
        """The percentile at a rank from 0 to 100. See :meth:`percentiles`."""
        return self.percentiles((rank,), values)[0]

    def percentiles(self, ranks: Iterable[float], values: ValueSelection = "midpoint") -> list[Percentile]:
        """The percentiles at many ranks, in the order asked, for the price of about one.

        :raises InvalidArgumentError: for a rank out of range, and NaN.
        :raises EmptyError: when nothing was recorded.
        """
        function = self._functions.snapshot_percentiles
        return [percentile_from(raw) for raw in self._at_ranks(function, ranks, structs.Percentile, selection_code(values))]

    def percentile_values(self, ranks: Iterable[float], values: ValueSelection = "midpoint") -> list[int]:
        """Only the values of :meth:`percentiles`."""
        function = self._functions.snapshot_percentile_values
        return list(self._at_ranks(function, ranks, c_uint64, selection_code(values)))

    def interpolated_percentiles(self, ranks: Iterable[float]) -> list[int]:
        """Like :meth:`percentile_values`, but as if the observations of a bucket were evenly distributed in it: for
        each rank the smallest value whose interpolated rank (:meth:`rank_of_value`) reaches it."""
        return list(self._at_ranks(self._functions.snapshot_interpolated_percentiles, ranks, c_uint64))

    def _at_ranks(self, function: Any, ranks: Iterable[float], kind: Any, *code: int) -> Any:
        """The result of a library function at the ranks, as an array of its kind."""
        if isinstance(ranks, (str, bytes)):
            raise TypeError("ranks must be an iterable of numbers")
        listed = [float(rank) for rank in ranks]
        asked = (c_double * len(listed))(*listed)
        found = (kind * len(asked))()
        with self._lock:
            status = function(self._handle(), asked, len(asked), *code, found)
        _check_ranks(status, listed)
        return found

    def rank_of_value(self, value: int, interpolate: bool = False) -> float:
        """The percentage of the observations that are at or below a value.

        :param interpolate: count the value's own bucket in proportion to the value's position in it, instead of whole.
        :raises EmptyError: when nothing was recorded.
        """
        function, value = self._functions.snapshot_rank_of_value, u64(value, "value")
        return float(ask(self, function, c_double, f"rank of {value}", value, bool(interpolate)).value)

    def bucket_of(self, value: int) -> Bucket:
        """The bucket of a value, with its count.

        :raises InvalidArgumentError: if the value is out of the histogram's range.
        """
        raw = structs.Bucket()
        value = u64(value, "value")
        with self._lock:
            status = self._functions.snapshot_bucket_of(self._handle(), value, byref(raw))
        if status == InvalidArgumentError.STATUS:
            raise InvalidArgumentError(message=f"value {value} is outside the range of the histogram")
        check(status, f"bucket of {value}")
        return bucket_from(raw)

    def count_between(self, low: int, high: int) -> int:
        """The number of observations in the buckets from ``low`` to ``high``; 0 if ``low`` is above ``high``."""
        function = self._functions.snapshot_count_between
        return int(ask(self, function, c_uint64, "count between", u64(low, "low"), u64(high, "high")).value)

    def linear_steps(self, width: int) -> list[CountStep]:
        """Steps of equal width, until everything recorded is covered: they end at ``width - 1``, ``2 * width - 1``, ...

        :raises InvalidArgumentError: for a width of 0, and for more than 16,777,216 steps.
        """
        function = self._functions.snapshot_linear_steps
        return _steps(self, function, "width must not be 0", u64(width, "width"))

    def logarithmic_steps(self, first: int, base: float) -> list[CountStep]:
        """Steps of growing width, until everything recorded is covered: they end at ``first - 1``, ``first * base - 1``,
        ``first * base * base - 1``, ..., rounded down.

        :raises InvalidArgumentError: unless ``first`` is 1 or more and ``base`` above 1, and for more than 16,777,216 steps.
        """
        function = self._functions.snapshot_logarithmic_steps
        return _steps(self, function, "first must not be 0, base must be above 1", u64(first, "first"), float(base))

    def percentile_steps(self, ticks_per_half_distance: int = 5) -> list[CountStep]:
        """Percentile steps that halve with each halving of the distance to 100 %: the rows of :meth:`hgrm`.

        :param ticks_per_half_distance: how many steps in each half.
        """
        ticks = interchange.ticks_of(ticks_per_half_distance)
        return _steps(self, self._functions.snapshot_percentile_steps, "ticks_per_half_distance", ticks)

    def buckets(self, non_empty: bool = True) -> list[Bucket]:
        """The buckets in ascending order: the non-empty ones, or all."""
        return [bucket_from(raw) for raw in self._raw_buckets(non_empty)]

    def bucket_percentiles(
        self, non_empty: bool = True, values: ValueSelection = "midpoint"
    ) -> list[BucketPercentile]:
        """The buckets in ascending order, each with the rank of the observation in its middle; empty if nothing was
        recorded.
        """
        selection_code(values)
        buckets = self.buckets(non_empty)
        total = self.counts.total
        if total == 0:
            return []
        listed = []
        before = 0
        for bucket in buckets:
            target = before + (bucket.count + 1) // 2
            listed.append(BucketPercentile(100 * target / total, bucket.value(values), target, bucket))
            before += bucket.count
        return listed

    def bucket_array(self, non_empty: bool = True) -> arrays.Array:
        """The buckets in ascending order as a structured numpy array, with the fields of :class:`Bucket`.

        :raises ImportError: without numpy, like every method here that makes arrays.
        """
        return arrays.bucket_array(self._raw_buckets(non_empty))

    def counts_and_edges(self) -> arrays.CountsAndEdges:
        """Counts and edges of the buckets from the first non-empty one to the last, like :func:`numpy.histogram`."""
        return arrays.counts_and_edges(self.bucket_array(non_empty=False))

    def percentile_array(self, ranks: Any, values: ValueSelection = "midpoint") -> arrays.UInt64Array:
        """The values at many ranks as a numpy array with the shape of the ranks. See :meth:`percentiles`."""
        numpy = arrays.need("numpy", "an array")
        asked = numpy.ascontiguousarray(ranks, "f8").reshape(numpy.shape(ranks))
        found = numpy.empty(asked.shape, "u8")
        code = selection_code(values)
        with self._lock:
            status = self._functions.snapshot_percentile_values(
                self._handle(), asked.ctypes.data, asked.size, code, found.ctypes.data
            )
        _check_ranks(status, asked.flat)
        return found  # type: ignore[no-any-return]

    def _raw_buckets(self, non_empty: bool) -> Any:
        with self._lock:
            return read_array(structs.Bucket, "buckets", self._functions.snapshot_buckets, self._handle(), bool(non_empty))

    def merge(self, other: Snapshot, *, placement: interchange.Placement = "midpoint") -> Merged:
        """Adds all counts of another snapshot, of any layout, and reports where they went. The next update discards
        them.

        Counts outside the range here become underflow or overflow; ``a + b`` has room for both.

        :param placement: where counts of wider buckets go: ``"midpoint"``, to the bucket at their midpoint;
            ``"spread"``, in proportion to all buckets here that share their values; ``"low"``, to the bucket at their
            low end, as in HdrHistogram.
        """
        code = choice(placement, interchange.PLACEMENTS, "placement")
        return self._combine(other, "merge", lambda *handles: self._functions.snapshot_merge(*handles[:2], code, handles[2]))

    def subtract(self, other: Snapshot) -> Merged:
        """Subtracts all counts of another snapshot, from where :meth:`merge` by midpoints would have put them. So it
        undoes a merge, and shows what came after an earlier snapshot. The next update discards the difference.

        :raises InvalidArgumentError: if there is less here than is to be subtracted; nothing changes then.
        """
        try:
            return self._combine(other, "subtract", self._functions.snapshot_subtract)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(error.status, "this snapshot has fewer values than the other, which cannot be subtracted") from None

    def _combine(self, other: Snapshot, what: str, function: Callable[..., int]) -> Merged:
        if not isinstance(other, Snapshot):
            raise TypeError(f"a snapshot can {what} snapshots, not {type(other).__name__}")
        if other is self:
            raise ValueError(f"a snapshot cannot {what} itself: nothing was changed")
        with locked(self, other):
            raw = fetch(structs.Merged, what, function, self._handle(), other._handle())
        return Merged(raw.refined, raw.underflow, raw.overflow, raw.lost)

    def __add__(self, other: Snapshot) -> Snapshot:
        """The counts of both, in a new snapshot with the range and the precision of both: see :meth:`merged`."""
        return self.merged((self, other), self._name) if isinstance(other, Snapshot) else NotImplemented

    def __radd__(self, other: Any) -> Snapshot:
        """``sum(snapshots)`` begins with 0."""
        return self.merged((self,), self._name) if other == 0 and isinstance(other, int) else NotImplemented

    def __sub__(self, other: Snapshot) -> Snapshot:
        """The counts here minus those of the other, in a new snapshot: see :meth:`subtract`."""
        if not isinstance(other, Snapshot):
            return NotImplemented
        left = self.copy()
        left.subtract(other)
        return left

    @classmethod
    def merged(cls, snapshots: Iterable[Snapshot], name: str = "") -> Snapshot:
        """The counts of all, in a new snapshot.

        It covers all their ranges and has the smallest of their relative errors, so that nothing is lost. Counts of a
        snapshot with wider buckets go to the bucket at their midpoint. The order makes no difference.

        :raises ValueError: without snapshots, as there is no range then.
        :raises IncompatibleError: for those of doubles with different ratios (:attr:`value_ratio`).
        """
        return interchange.merged(snapshots, name)

    def with_digits(self, significant_digits: int) -> Snapshot:
        """A copy with HdrHistogram's buckets of this many digits (0 to 5), as its encodings need.

        Exact if the buckets here are as fine or finer; counts of wider ones go to the bucket at their midpoint.
        """
        digits = u64(significant_digits, "significant_digits")
        if digits not in interchange.ERRORS_OF_DIGITS:
            raise ValueError(f"significant_digits must be within 0 .. 5, not {digits}")
        layout = self.layout._replace(relative_error=interchange.ERRORS_OF_DIGITS[digits])
        # With a larger unit there is no room for a block of units.
        layout = layout._replace(unit=min(layout.unit, 1 << (61 - layout.block_scale)))
        converted = interchange.empty(layout, self._name)
        converted.merge(self)
        return interchange.with_interval(converted, self)

    def corrected(self, expected_interval: int) -> Snapshot:
        """A copy with the values that were delayed (coordinated omission): the result that
        :meth:`Histogram.record_corrected` would have had, computed from the buckets."""
        interval = u64(expected_interval, "expected_interval")
        pointer = ask(self, self._functions.snapshot_corrected, c_void_p, "corrected", interval)
        return interchange.with_interval(self._adopt(pointer, self._name), self)

    def encode(self, encoding: interchange.Encoding = "native") -> bytes:
        """The counts as bytes, for other processes, machines and times.

        :param encoding: ``"native"`` has room for everything, and a checksum. Every later version decodes it.
            ``"hdr_v2"`` and ``"hdr_v2_compressed"`` are HdrHistogram's; they leave out underflow, overflow and lost
            counts, and cannot hold what raises an error.
        :raises IncompatibleError: in HdrHistogram's encodings, for buckets other than those of 0 to 5 digits
            (:meth:`with_digits` makes such), and for values and counts from 2**63 on.
        """
        return self._encode(encoding, self._functions.snapshot_encode)

    def encode_text(self, encoding: interchange.Encoding = "hdr_v2_compressed") -> str:
        """:meth:`encode` in base64; by default the text in HdrHistogram's logs, ``HISTFAAA...``"""
        return self._encode(encoding, self._functions.snapshot_encode_base64).decode("ascii")

    def _encode(self, encoding: str, function: Any) -> bytes:
        code = choice(encoding, interchange.ENCODINGS, "encoding")
        try:
            with self._lock:
                handle = self._handle()
                return read_bytes(lambda *buffer: function(handle, code, *buffer), "encode", interchange.MOST_FIT)
        except IncompatibleError as error:
            raise IncompatibleError(error.status, interchange.NO_ROOM) from None

    @classmethod
    def decode(cls, data: Any, *, max_counters: int = 0, name: str = "") -> Snapshot:
        """Decodes a snapshot: our own encoding, HdrHistogram's V2, V1 or V0, compressed or not, of integers or (Java's)
        of doubles, and any of these in base64.

        It holds only its counts, and has no histogram to be updated from.

        :param data: bytes, anything with a buffer of bytes, or base64 as a str. It need not be trusted.
        :param max_counters: limit of the counters of the result, 8 bytes each, and so also of the work (default:
            6,291,456, HdrHistogram's maximum).
        :raises CorruptError: for data that is none of these, or damaged.
        :raises OutOfMemoryError: for more counters than that.
        :raises UnsupportedError: for a later version of our own encoding.
        """
        encoded = interchange.bytes_of(data)
        limit = u64(max_counters, "max_counters")
        pointer = c_void_p()
        functions = released if len(encoded) >= interchange.LONG else held
        status = functions.snapshot_decode(encoded, len(encoded), limit, byref(pointer))
        interchange.check_decoding(status, f"{len(encoded)} bytes")
        return Snapshot._adopt(pointer, name)

    @classmethod
    def decode_first(cls, data: Any, offset: int = 0, *, max_counters: int = 0, name: str = "") -> tuple[Snapshot, int]:
        """Decodes the first of several consecutive snapshots, in any encodings; returns the offset of the next, too::

            offset = 0
            while offset < len(data):
                snapshot, offset = picollo.Snapshot.decode_first(data, offset)

        Each begins with its length, and must match it. The exceptions are uncompressed V0, which takes everything, and
        base64, which ends at white space and includes that.

        :param data: as for :meth:`decode`; each call copies data that is not bytes.
        :param offset: where it begins: in bytes, or in characters of a str.
        :raises ValueError: for an offset behind the end. Otherwise like :meth:`decode`.
        """
        at, limit = u64(offset, "offset"), u64(max_counters, "max_counters")
        if isinstance(data, str):
            # The decoder reads only ASCII, whatever comes before.
            encoded, start = interchange.bytes_of(data[at:]), 0
            length = len(data)
        else:
            encoded, start = interchange.bytes_of(data), at
            length = len(encoded)
        if at > length:
            raise ValueError(f"offset must be within 0 .. {length}, the length of the data, not {at}")
        pointer, taken = c_void_p(), c_size_t()
        # Bytes stay in place while a name refers to them.
        first = c_void_p((cast(c_char_p(encoded), c_void_p).value or 0) + start)
        rest = len(encoded) - start
        functions = released if rest >= interchange.LONG else held
        status = functions.snapshot_decode_first(first, rest, limit, byref(pointer), byref(taken))
        interchange.check_decoding(status, f"at {at}")
        return Snapshot._adopt(pointer, name), at + taken.value

    def hgrm(self, ticks_per_half_distance: int = 5, scale: float = 1.0, csv: bool = False) -> str:
        """The percentiles in HdrHistogram's print format, for its plotter (``.hgrm``).

        :param ticks_per_half_distance: rows for each halving of the distance to 100 %.
        :param scale: divides the values: 1000 shows nanoseconds as microseconds.
        :param csv: comma-separated values instead.
        """
        ticks, scale = interchange.ticks_of(ticks_per_half_distance), float(scale)
        if not 0 < scale < math.inf:
            raise InvalidArgumentError(message=f"scale must be positive and finite, not {scale!r}")
        return self._text("hgrm", self._functions.snapshot_format_hgrm, ticks, scale, bool(csv))

    def _text(self, what: str, function: Any, *arguments: Any) -> str:
        with self._lock:
            handle = self._handle()
            return read_text(lambda *buffer: function(handle, *arguments, *buffer), what)

    def sparkline(self, columns: int = 40, ascii: bool = False) -> str:
        """The density on one line: ``▁▂▅█▇▅▃▂▁▁``, from the smallest observation to P99.9 (of up to a thousand: all).

        :param columns: how many characters, at most 240.
        :param ascii: shades of ASCII instead of blocks.
        """
        columns = picture.size(columns, "columns")
        function = self._functions.snapshot_format_chart
        return self._text("sparkline", function, structs.PICTURE_SPARKLINE, None, None, columns, 0, bool(ascii))

    def chart(
        self,
        kind: picture.Kind = "percentiles",
        *,
        title: Optional[str] = None,
        unit: str = "",
        columns: int = 64,
        rows: int = 10,
        ascii: bool = False,
    ) -> str:
        """A chart of a few lines, for a terminal.

        :param kind: ``"percentiles"`` or ``"density"``.
        :param title: the heading (default: the name).
        :param unit: the unit of the values; see :func:`picollo.svg`.
        """
        code = picture.code(kind, {name: code for name, code in picture.KINDS.items() if name != "heat map"}, "kind")
        texts = c_text(self._name if title is None else title, "title"), c_text(unit, "unit")
        sizes = picture.size(columns, "columns"), picture.size(rows, "rows")
        return self._text("chart", self._functions.snapshot_format_chart, code, *texts, *sizes, bool(ascii))

    def svg(self, kind: picture.Kind = "percentiles", *, title: Optional[str] = None, **options: Any) -> picture.Svg:
        """A picture as SVG, which notebooks show; :func:`picollo.svg` draws several snapshots, and has more options.

        :param title: the heading (default: the name).
        """
        return picture.svg(self, kind=kind, labels=[""], title=self._name if title is None else title, **options)

    def plot(self, ax: Optional[Axes] = None, *, unit: str = "", label: Optional[str] = None) -> Axes:
        """Draws values by percentile with matplotlib, on ``ax`` or on a new figure.

        :param unit: ``"ps"``, ``"ns"``, ``"us"``, ``"ms"`` and ``"s"`` become times on the axis.
        :param label: the text in a legend (default: the name).
        """
        return picture.plot(self, ax, unit, self._name if label is None else label)

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_markdown_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        name = f" {self._name!r}" if self._name else ""
        if self._pointer is None:
            return f"<picollo.Snapshot{name} closed>"
        return f"<picollo.Snapshot{name} {self.counts}>"

    def __reduce__(self) -> Any:
        # Like a decoded snapshot, an unpickled one has no histogram to be updated from.
        arguments = interchange.unpickle, (self.encode("native"), self._name)
        state = {name: value for name, value in vars(self).items() if name in interchange.INTERVAL}
        return (*arguments, state) if state else arguments

    def copy(self) -> Snapshot:
        """A snapshot with the same counts, times and tag, and no histogram to be updated from."""
        return self._copied(self._name)

    def _copied(self, name: str) -> Snapshot:
        copy = self._adopt(ask(self, self._functions.snapshot_copy, c_void_p, "copy"), name)
        copy._ratio = self._ratio
        return interchange.with_interval(copy, self)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Snapshot:
        return self.copy()


def _check_ranks(status: int, ranks: Iterable[float]) -> None:
    if status == InvalidArgumentError.STATUS:
        wrong = [float(rank) for rank in ranks if not 0 <= rank <= 100]
        raise InvalidArgumentError(message=f"ranks must be within 0 .. 100, not {', '.join(map(repr, wrong))}")
    check(status, "percentiles")


def _steps(snapshot: Snapshot, function: Any, what: str, *arguments: Any) -> list[CountStep]:
    """The steps that the library's function returns."""
    with snapshot._lock:
        try:
            found = read_array(structs.Step, "steps", function, snapshot._handle(), *arguments)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(error.status, f"{what}, and must make at most {structs.MAX_STEPS:,} steps") from None
        buckets = snapshot._raw_buckets(non_empty=True)
    listed = []
    place, value, upper, count = 0, 0, -1, 0
    for raw in found:
        while place < len(buckets) and buckets[place].lower <= raw.to:
            bucket = buckets[place]
            upper, count = bucket.upper, bucket.count
            value += (bucket.lower + bucket.step // 2) * count
            place += 1
        counts = raw.added_count, raw.cumulative_count, raw.rank, raw.rank_level
        listed.append(CountStep(getattr(raw, "from"), raw.to, *counts, count if upper >= raw.to else 0, value))
    return listed
