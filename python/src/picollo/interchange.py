"""Encodings, layouts and sums of snapshots, which the methods of :class:`Snapshot` use."""

from __future__ import annotations

import math
from ctypes import byref, c_void_p
from functools import reduce
from typing import TYPE_CHECKING, Any, Iterable, Literal, NamedTuple, Optional, get_args

from . import _structs as structs
from ._arguments import u64
from ._calls import fetch
from ._handle import ask
from ._library import held, released
from .errors import CorruptError, IncompatibleError, InvalidArgumentError, OutOfMemoryError, UnsupportedError, check, from_status

if TYPE_CHECKING:
    from .histogram import Histogram
    from .snapshot import Snapshot

#: Where counts of wider buckets go: to the bucket here at their midpoint, in proportion to all buckets that share
#: values with them, or to the bucket at their low end.
Placement = Literal["midpoint", "spread", "low"]

PLACEMENTS: dict[str, int] = {
    "midpoint": structs.PLACEMENT_MIDPOINT,
    "spread": structs.PLACEMENT_SPREAD,
    "low": structs.PLACEMENT_LOW_ENDS,
}

#: The encoding of a snapshot as bytes.
Encoding = Literal["native", "hdr_v2", "hdr_v2_compressed"]

ENCODINGS = structs.codes("ENCODING", get_args(Encoding))

#: Half a step over the value, for 0 to 5 significant digits.
ERRORS_OF_DIGITS = {0: 0.5, 1: 0.5 / 16, 2: 0.5 / 128, 3: 0.5 / 1024, 4: 0.5 / 16384, 5: 0.5 / 131072}

#: More counters than any snapshot has: the finest layout of all 64 bits has 46 * 2**19.
ANY_COUNTERS = 1 << 25

#: Why something cannot be written in HdrHistogram's encodings.
NO_ROOM = (
    "HdrHistogram's encodings have no room for these buckets, or for values or counts from 2**63 on: "
    "with_digits(3) makes buckets that fit, and the native encoding has room for everything"
)

#: Most encodings fit. Others are encoded a second time.
MOST_FIT = 1 << 15

#: The fields of a snapshot that describe the interval of a log.
INTERVAL = ("start", "end", "tag")

#: Decoding this many bytes takes longer than getting the GIL back.
LONG = 1 << 14


def bytes_of(data: Any) -> bytes:
    if isinstance(data, bytes):
        return data
    if isinstance(data, str):
        # Base64 is ASCII. Anything else is reported as not being an encoding.
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
    """Pickles refer to this function, so its name and signature must not change."""
    from .snapshot import Snapshot

    return Snapshot.decode(encoded, max_counters=ANY_COUNTERS, name=name)


def ticks_of(ticks_per_half_distance: int) -> int:
    """Returns the number if the library accepts it. 0 selects the library's default, which callers do not mean."""
    ticks = u64(ticks_per_half_distance, "ticks_per_half_distance")
    if not 1 <= ticks <= 1_000_000:
        raise InvalidArgumentError(message=f"ticks_per_half_distance must be within 1 .. 1,000,000, not {ticks}")
    return ticks


class Layout(NamedTuple):
    """The values that a snapshot has buckets for, and their precision: see :attr:`Snapshot.layout`."""

    #: At most half a step over the value, for values from a block of units on.
    relative_error: float
    #: Smallest value that is certainly counted.
    low: int
    #: Largest value that is certainly counted.
    high: int
    #: Number of counters.
    counters: int
    #: Step of the smallest buckets, a power of two: the largest one in HdrHistogram's lowest discernible value.
    unit: int = 1
    #: Digits of the HdrHistogram with these buckets; 0 if there is no such one, or it has no digits.
    significant_digits: int = 0

    @property
    def block_scale(self) -> int:
        """Binary logarithm of the block size."""
        return round(-1 - math.log2(self.relative_error))

    def union(self, other: Layout) -> Layout:
        """A layout that covers both."""
        error, unit = min(self.relative_error, other.relative_error), min(self.unit, other.unit)
        return self.over(other)._replace(relative_error=error, unit=unit)

    def over(self, other: Layout) -> Layout:
        """The same buckets, over both ranges; the number of counters is not known here."""
        return self._replace(low=min(self.low, other.low), high=max(self.high, other.high), counters=0)


def precision_of(layout: Layout) -> dict[str, Any]:
    """The histogram parameters that give blocks of this size. Relative errors of 0 digits are not among them."""
    if layout.block_scale == 0:
        return {"significant_digits": 0}
    return {"relative_error": layout.relative_error}


def with_interval(made: Snapshot, source: Snapshot) -> Snapshot:
    """Copies the times and the tag of the source to a snapshot made from it."""
    for name in INTERVAL:
        if name in vars(source):
            setattr(made, name, getattr(source, name))
    return made


def empty(layout: Layout, name: str = "") -> Snapshot:
    """An empty snapshot to merge into."""
    from .snapshot import Snapshot

    options = structs.options(
        structs.HistogramOptions,
        relative_error=layout.relative_error,
        significant_digits=0 if layout.block_scale else structs.ZERO_DIGITS,
        min_trackable=layout.low,
        max_trackable=layout.high,
        unit=layout.unit,
    )
    raw = fetch(structs.Layout, "layout", held.layout_of_options, byref(options))
    # Zeroing hundreds of megabytes takes a while: let others run.
    return Snapshot._adopt(fetch(c_void_p, "snapshot", released.snapshot_create_from_layout, byref(raw)), name)


class Accumulator:
    """Adds up snapshots of any layouts, in a layout that covers all of them.

    :param as_logs: use the buckets of the first, over the ranges of all, by low ends, as HdrHistogram's tools do.
    """

    def __init__(self, name: str = "", as_logs: bool = False) -> None:
        self._name = name
        self._as_logs = as_logs
        # One sum per precision and unit: adding equal buckets is exact, midpoints of midpoints depend on the order.
        self._sums: dict[tuple[float, int], tuple[Snapshot, Layout]] = {}
        #: The ratio of doubles, which all must share.
        self._ratio: Optional[float] = None

    def add(self, snapshot: Snapshot) -> None:
        """Adds the counts of a snapshot."""
        ratio = snapshot.value_ratio
        if self._ratio is None:
            self._ratio = ratio
        elif repr(self._ratio) != repr(ratio):
            what = f"histograms of doubles whose values are multiplied by {self._ratio!r} and {ratio!r} cannot be added up"
            raise IncompatibleError(message=what)
        layout = snapshot.layout
        buckets = (layout.relative_error, layout.unit)
        if self._as_logs:
            buckets = next(iter(self._sums), buckets)
        if buckets not in self._sums:
            self._sums[buckets] = snapshot._copied(self._name), layout
            return
        total, reach = self._sums[buckets]
        over = reach.over(layout)
        if (over.low, over.high) != (reach.low, reach.high):
            wider = empty(over, self._name)
            wider.merge(total)
            total = wider
            self._sums[buckets] = total, total.layout
        total.merge(snapshot, placement="low" if self._as_logs else "midpoint")

    def total(self) -> Optional[Snapshot]:
        """The sum so far, or ``None`` if nothing was added. It has no histogram to be updated from."""
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


def digits_for(snapshot: Snapshot) -> Optional[int]:
    """The fewest digits that are as fine as a snapshot, 5 for finer ones; ``None`` if it already has such buckets."""
    raw = ask(snapshot, held.snapshot_layout, structs.Layout, "layout")
    if raw.significant_digits or raw.relative_error == ERRORS_OF_DIGITS[0]:
        return None
    return next((digits for digits, finest in ERRORS_OF_DIGITS.items() if finest <= raw.relative_error), 5)


def unpickle_histogram(options: dict[str, Any], encoded: bytes, name: str) -> Histogram:
    """Pickles refer to this function, so its name and signature must not change."""
    from .histogram import Histogram

    histogram = Histogram(**options, name=name)
    histogram.add(unpickle(encoded, name))
    return histogram
