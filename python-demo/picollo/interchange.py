"""Encodings and combinations of snapshots. See :class:`Snapshot`, whose methods these are."""

from __future__ import annotations

import math
from ctypes import byref, c_char_p, c_double, c_size_t, c_uint64, c_void_p, cast
from functools import reduce
from typing import TYPE_CHECKING, Any, Iterable, Literal, NamedTuple, Optional

from . import _structs as structs
from ._arguments import choice, u64
from ._library import held, released
from ._text import read_bytes, read_text
from .errors import CorruptError, IncompatibleError, InvalidArgumentError, OutOfMemoryError, UnsupportedError, check, from_status

if TYPE_CHECKING:
    from .histogram import Histogram
    from .snapshot import Snapshot

#: Where counts of wider buckets go: to the bucket here at their midpoint, in proportion to all that they have values of, or to
#: that at their low end.
Placement = Literal["midpoint", "spread", "low"]

_PLACEMENTS: dict[str, int] = {
    "midpoint": structs.PLACEMENT_MIDPOINT,
    "spread": structs.PLACEMENT_SPREAD,
    "low": structs.PLACEMENT_LOW_ENDS,
}

#: How a snapshot becomes bytes.
Encoding = Literal["native", "hdr_v2", "hdr_v2_compressed"]

_ENCODINGS: dict[str, int] = {
    "native": structs.ENCODING_NATIVE,
    "hdr_v2": structs.ENCODING_HDR_V2,
    "hdr_v2_compressed": structs.ENCODING_HDR_V2_COMPRESSED,
}

#: Half a step over the value, for 0 to 5 significant digits.
_ERRORS_OF_DIGITS = {0: 0.5, 1: 0.5 / 16, 2: 0.5 / 128, 3: 0.5 / 1024, 4: 0.5 / 16384, 5: 0.5 / 131072}

#: More than any snapshot has: the finest layout of all 64 bits has 46 * 2**19.
ANY_COUNTERS = 1 << 25

#: Why something cannot be written in HdrHistogram's encodings.
NO_ROOM = (
    "HdrHistogram's encodings have no room for these buckets, or for values or counts from 2**63 on: "
    "with_digits(3) makes buckets that fit, and the native encoding has room for everything"
)

#: Most encodings fit. Those that do not are made a second time.
MOST_FIT = 1 << 15

#: What a snapshot keeps of the interval of a log.
INTERVAL = ("start", "end", "tag")

#: Decoding so many bytes takes longer than getting the GIL back.
_LONG = 1 << 14


def placement_code(placement: str, spread: bool) -> int:
    """The library's number for a placement, which ``spread`` may say instead."""
    code = choice(placement, _PLACEMENTS, "placement")
    if spread and placement == "low":
        raise ValueError("counts are spread or go to low ends, not both")
    return structs.PLACEMENT_SPREAD if spread else code


def encode(snapshot: Snapshot, encoding: str) -> bytes:
    """See :meth:`Snapshot.encode`."""
    return _encode(snapshot, encoding, snapshot._functions.snapshot_encode)


def encode_text(snapshot: Snapshot, encoding: str) -> str:
    """See :meth:`Snapshot.encode_text`."""
    return _encode(snapshot, encoding, snapshot._functions.snapshot_encode_base64).decode("ascii")


def _encode(snapshot: Snapshot, encoding: str, function: Any) -> bytes:
    code = choice(encoding, _ENCODINGS, "encoding")
    try:
        with snapshot._lock:
            handle = snapshot._handle()
            return read_bytes(lambda *buffer: function(handle, code, *buffer), "encode", MOST_FIT)
    except IncompatibleError as error:
        raise IncompatibleError(error.status, NO_ROOM) from None


def decode(data: Any, max_counters: int, name: str) -> Snapshot:
    """See :meth:`Snapshot.decode`."""
    from .snapshot import Snapshot

    encoded = _bytes_of(data)
    limit = u64(max_counters, "max_counters")
    pointer = c_void_p()
    functions = released if len(encoded) >= _LONG else held
    status = functions.snapshot_decode(encoded, len(encoded), limit, byref(pointer))
    check_decoding(status, f"{len(encoded)} bytes")
    return Snapshot._adopt(pointer, name)


def decode_first(data: Any, offset: int, max_counters: int, name: str) -> tuple[Snapshot, int]:
    """See :meth:`Snapshot.decode_first`."""
    from .snapshot import Snapshot

    at, limit = u64(offset, "offset"), u64(max_counters, "max_counters")
    if isinstance(data, str):
        # All that is read of it is ASCII, whatever comes before.
        encoded, start = _bytes_of(data[at:]), 0
        length = len(data)
    else:
        encoded, start = _bytes_of(data), at
        length = len(encoded)
    if at > length:
        raise ValueError(f"offset must be within 0 .. {length}, the length of the data, not {at}")
    pointer, taken = c_void_p(), c_size_t()
    # Bytes stay where they are while there is a name for them.
    first = c_void_p((cast(c_char_p(encoded), c_void_p).value or 0) + start)
    rest = len(encoded) - start
    functions = released if rest >= _LONG else held
    status = functions.snapshot_decode_first(first, rest, limit, byref(pointer), byref(taken))
    check_decoding(status, f"at {at}")
    return Snapshot._adopt(pointer, name), at + taken.value


def _bytes_of(data: Any) -> bytes:
    if isinstance(data, bytes):
        return data
    if isinstance(data, str):
        # Base64 is ASCII. What is not, is told as what it is: not an encoding.
        return data.encode("utf-8", "surrogatepass")
    try:
        return bytes(memoryview(data))
    except TypeError:
        raise TypeError(f"an encoded snapshot is bytes or base64 in a str, not {type(data).__name__}") from None


#: What can be wrong with encoded data, in words.
_REASONS = {
    CorruptError.STATUS: "this is no encoded histogram, or a damaged one",
    OutOfMemoryError.STATUS: "the histogram has more counters than max_counters, or than there is memory for",
    UnsupportedError.STATUS: "this was encoded by a later version of picollo",
}


def check_decoding(status: int, what: str) -> None:
    """Raises unless the status is OK."""
    if status in _REASONS:
        raise from_status(status, f"{what}: {_REASONS[status]}")
    check(status, what)


def unpickle(encoded: bytes, name: str) -> Snapshot:
    """Part of what pickles hold: it stays as it is."""
    return decode(encoded, ANY_COUNTERS, name)


def ticks_of(ticks_per_half_distance: int) -> int:
    """The number, if the library takes it. It has a default for 0; whoever writes it here means something else."""
    ticks = u64(ticks_per_half_distance, "ticks_per_half_distance")
    if not 1 <= ticks <= 1_000_000:
        raise InvalidArgumentError(message=f"ticks_per_half_distance must be within 1 .. 1,000,000, not {ticks}")
    return ticks


def hgrm(snapshot: Snapshot, ticks_per_half_distance: int, scale: float, csv: bool) -> str:
    """See :meth:`Snapshot.hgrm`."""
    ticks, scale = ticks_of(ticks_per_half_distance), float(scale)
    if not 0 < scale < math.inf:
        raise InvalidArgumentError(message=f"scale must be positive and finite, not {scale!r}")
    function = snapshot._functions.snapshot_format_hgrm
    with snapshot._lock:
        handle = snapshot._handle()
        return read_text(lambda *buffer: function(handle, ticks, scale, bool(csv), *buffer), "hgrm")


class Layout(NamedTuple):
    """Which values a snapshot has buckets for, and how fine: see :attr:`Snapshot.layout`."""

    #: Half a step over the value, at the most; of values from a block of units on.
    relative_error: float
    #: Smallest value that is counted for sure.
    low: int
    #: Largest value that is counted for sure.
    high: int
    #: Number of counters.
    counters: int
    #: Step of the smallest buckets, a power of two: the largest one in HdrHistogram's lowest discernible value.
    unit: int = 1
    #: Of the HdrHistogram that has these buckets; 0 where there is none, or one of no digits.
    significant_digits: int = 0

    @property
    def block_scale(self) -> int:
        """Binary logarithm of the block size."""
        return round(-1 - math.log2(self.relative_error))

    def union(self, other: Layout) -> Layout:
        """What covers both."""
        error, unit = min(self.relative_error, other.relative_error), min(self.unit, other.unit)
        return self.over(other)._replace(relative_error=error, unit=unit)

    def over(self, other: Layout) -> Layout:
        """The same buckets, over both ranges; of as many counters as that takes, which is not known here."""
        return self._replace(low=min(self.low, other.low), high=max(self.high, other.high), counters=0)


def precision_of(layout: Layout) -> dict[str, Any]:
    """What of the parameters of a histogram gives it blocks of this size. Relative errors of 0 digits are not among them."""
    if layout.block_scale == 0:
        return {"significant_digits": 0}
    return {"relative_error": layout.relative_error}


def layout_of(snapshot: Snapshot) -> Layout:
    """The layout of a snapshot."""
    raw = _raw_layout(snapshot)
    unit = c_uint64()
    check(held.layout_unit(byref(raw), byref(unit)), "unit")
    return Layout(
        raw.relative_error, raw.min_trackable, raw.max_trackable, raw.length, unit.value, raw.significant_digits
    )


def value_ratio(snapshot: Snapshot) -> float:
    """See :attr:`Snapshot.value_ratio`."""
    if snapshot._ratio is not None:
        return snapshot._ratio
    ratio = c_double()
    with snapshot._lock:
        check(held.snapshot_value_ratio(snapshot._handle(), byref(ratio)), "value ratio")
    return ratio.value


def _raw_layout(snapshot: Snapshot) -> structs.Layout:
    raw = structs.Layout()
    with snapshot._lock:
        check(held.snapshot_layout(snapshot._handle(), byref(raw)), "layout")
    return raw


def copied(snapshot: Snapshot, name: str) -> Snapshot:
    """A snapshot with the same counts, and no histogram to be updated from."""
    pointer = c_void_p()
    with snapshot._lock:
        check(snapshot._functions.snapshot_copy(snapshot._handle(), byref(pointer)), "copy")
    copy = snapshot._adopt(pointer, name)
    copy._ratio = snapshot._ratio
    return with_interval(copy, snapshot)


def with_interval(made: Snapshot, source: Snapshot) -> Snapshot:
    """What was made of a snapshot, with its times and its tag."""
    for name in INTERVAL:
        if name in vars(source):
            setattr(made, name, getattr(source, name))
    return made


def empty(layout: Layout, name: str = "") -> Snapshot:
    """A snapshot of nothing, to merge into."""
    from .snapshot import Snapshot

    scale = layout.block_scale

    def index(value: int) -> int:
        value //= layout.unit
        shift = max(0, (value >> scale).bit_length() - 1)
        return (shift << scale) + (value >> shift)

    # The unit is told by where the counters begin and how many there are.
    first = index(layout.low)
    raw = structs.Layout(
        min_trackable=layout.low,
        max_trackable=layout.high,
        first_index=first,
        length=index(layout.high) - first + 1,
        relative_error=layout.relative_error,
        block_scale=scale,
    )
    pointer = c_void_p()
    # Zeroing hundreds of megabytes takes a while: let others run.
    check(released.snapshot_create_from_layout(byref(raw), byref(pointer)), "snapshot")
    return Snapshot._adopt(pointer, name)


class Accumulator:
    """Adds up snapshots of any layouts, in the layout that they all have room in.

    :param as_logs: in the buckets of the first, over the ranges of all, by low ends: as HdrHistogram's tools add up a log.
    """

    def __init__(self, name: str = "", as_logs: bool = False) -> None:
        self._name = name
        self._as_logs = as_logs
        # Those of the same buckets: adding them up is exact, and midpoints of midpoints would depend on the order.
        self._sums: dict[tuple[float, int], tuple[Snapshot, Layout]] = {}
        #: That of doubles, which all must have.
        self._ratio: Optional[float] = None

    @property
    def counters(self) -> int:
        """Number of the counters of the sums."""
        return sum(layout.counters for _, layout in self._sums.values())

    def add(self, snapshot: Snapshot) -> None:
        """Adds the counts of a snapshot."""
        ratio = value_ratio(snapshot)
        if self._ratio is None:
            self._ratio = ratio
        elif repr(self._ratio) != repr(ratio):
            what = f"histograms of doubles whose values are multiplied by {self._ratio!r} and {ratio!r} cannot be added up"
            raise IncompatibleError(message=what)
        layout = layout_of(snapshot)
        buckets = (layout.relative_error, layout.unit)
        if self._as_logs:
            buckets = next(iter(self._sums), buckets)
        if buckets not in self._sums:
            self._sums[buckets] = copied(snapshot, self._name), layout
            return
        total, reach = self._sums[buckets]
        over = reach.over(layout)
        if (over.low, over.high) != (reach.low, reach.high):
            wider = empty(over, self._name)
            wider.merge(total)
            total = wider
            self._sums[buckets] = total, layout_of(total)
        total.merge(snapshot, placement="low" if self._as_logs else "midpoint")

    def total(self) -> Optional[Snapshot]:
        """The sum so far; ``None`` of nothing at all. It has no histogram to be updated from."""
        if not self._sums:
            return None
        all_ = next(total for total, _ in self._sums.values())
        if len(self._sums) > 1:
            all_ = empty(reduce(Layout.union, (layout for _, layout in self._sums.values())), self._name)
            for total, _ in self._sums.values():
                all_.merge(total)
        all_._ratio = self._ratio
        return all_


def merged(snapshots: Iterable[Snapshot], name: str, as_logs: bool = False) -> Snapshot:
    """See :meth:`Snapshot.merged`, and for logs :meth:`LogReader.sum`."""
    from .snapshot import Snapshot

    accumulator = Accumulator(name, as_logs)
    for snapshot in snapshots:
        if not isinstance(snapshot, Snapshot):
            raise TypeError(f"snapshots are merged with snapshots, not {type(snapshot).__name__}")
        accumulator.add(snapshot)
    total = accumulator.total()
    if total is None:
        raise ValueError("there are no snapshots to merge")
    return total


def with_digits(snapshot: Snapshot, significant_digits: int) -> Snapshot:
    """See :meth:`Snapshot.with_digits`."""
    digits = u64(significant_digits, "significant_digits")
    if digits not in _ERRORS_OF_DIGITS:
        raise ValueError(f"significant_digits must be within 0 .. 5, not {digits}")
    layout = layout_of(snapshot)._replace(relative_error=_ERRORS_OF_DIGITS[digits])
    # Beyond that there is no room for a block of units.
    layout = layout._replace(unit=min(layout.unit, 1 << (61 - layout.block_scale)))
    converted = empty(layout, snapshot.name)
    converted.merge(snapshot)
    return with_interval(converted, snapshot)


def digits_for(snapshot: Snapshot) -> Optional[int]:
    """The fewest digits that are as fine as a snapshot, 5 for finer ones; ``None`` where it has the buckets of such already."""
    raw = _raw_layout(snapshot)
    if raw.significant_digits or raw.relative_error == _ERRORS_OF_DIGITS[0]:
        return None
    return next((digits for digits, finest in _ERRORS_OF_DIGITS.items() if finest <= raw.relative_error), 5)


def unpickle_histogram(options: dict[str, Any], encoded: bytes, name: str) -> Histogram:
    """Part of what pickles hold: it stays as it is."""
    from .histogram import Histogram

    histogram = Histogram(**options, name=name)
    histogram.add(unpickle(encoded, name))
    return histogram
