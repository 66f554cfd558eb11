"""Many histograms of one layout in one block of memory: per endpoint, per core, per tenant."""

from __future__ import annotations

import operator
from ctypes import byref, c_size_t, c_void_p
from typing import Any, Iterator, Optional

from ._arguments import described, histogram_options, u64
from ._handle import Handle
from ._library import held, own, released
from .errors import check
from .histogram import Histogram, Mode, Storage
from .snapshot import Snapshot
from .summary import Summary

__all__ = ["HistogramArray"]


class HistogramArray(Handle):
    """Histograms found by an index, made by one call in one allocation, each on cache lines of its own.

    ::

        latency = picollo.HistogramArray(len(ENDPOINTS), 0.01, max=10**10)
        latency.record(endpoint, 1234)
        print(latency[endpoint].summary())
        picollo.to_frame(latency.summaries(), index=ENDPOINTS)

    An element is a :class:`Histogram` like any other; it keeps the array's memory alive. The parameters other than ``length``
    are those of :class:`Histogram`, and hold for each of them.

    :param length: how many.
    """

    __slots__ = ("_length", "_many_writers", "_name")

    _KIND = "array"

    def __init__(
        self,
        length: int,
        relative_error: float = 0.001,
        min: int = 0,
        max: Optional[int] = None,
        mode: Mode = "interlocked",
        storage: Storage = "dense",
        counter_bits: int = 64,
        significant_digits: Optional[int] = None,
        live_reset: bool = True,
        *,
        max_bytes: int = 0,
        name: str = "",
    ) -> None:
        self._pointer = None
        self._length = u64(length, "length")
        if self._length == 0:
            raise ValueError("length must not be 0")
        options = histogram_options(
            relative_error, min, max, mode, storage, counter_bits, significant_digits, live_reset, max_bytes
        )
        self._name = name
        self._many_writers = mode != "single_writer"
        pointer = c_void_p()
        status = released.histogram_array_create(byref(options), self._length, byref(pointer))
        check(status, f"array of {self._length} histograms ({described(options)})")
        self._pointer = own(pointer, held.histogram_array_free)

    @property
    def name(self) -> str:
        """The histograms are named like this, with their index: ``name[3]``."""
        return self._name

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> Histogram:
        """A histogram; negative indices count from the end."""
        at = self._index(index)
        pointer = c_void_p()
        check(held.histogram_array_ref(self._handle(), at, byref(pointer)), "histogram of an array")
        histogram = Histogram._adopt(pointer, f"{self._name}[{at}]" if self._name else "")
        histogram._many_writers = self._many_writers
        return histogram

    def __iter__(self) -> Iterator[Histogram]:
        return (self[index] for index in range(self._length))

    def record(self, index: int, value: int) -> None:
        """Counts one value in one of the histograms: ``array[index].record(value)`` without making the object.

        :raises IndexError: when there is no such histogram.
        :raises ValueError: for an integer that does not fit 64 bits.
        """
        held.histogram_array_record(self._handle(), self._index(index), u64(value, "value"))

    def summaries(self) -> list[Summary]:
        """The summaries of all histograms, in the order of their indices."""
        return [histogram.summary() for histogram in self]

    def merged(self) -> Snapshot:
        """The counts of all histograms together."""
        total = self[0].snapshot()
        for index in range(1, self._length):
            with self[index].snapshot() as other:
                total.merge(other)
        return total

    @property
    def footprint(self) -> int:
        """Bytes of memory in use."""
        size = c_size_t()
        check(held.histogram_array_footprint(self._handle(), byref(size)), "footprint")
        return size.value

    def close(self) -> None:
        """Lets go of the array now rather than when nothing refers to it any more. Histograms taken from it stay usable."""
        self._pointer = None

    def _index(self, index: int) -> int:
        at = operator.index(index)
        if not -self._length <= at < self._length:
            raise IndexError(f"index {at} of an array of {self._length} histograms")
        return at + self._length if at < 0 else at

    def __enter__(self) -> HistogramArray:
        self._handle()
        return self

    def __repr__(self) -> str:
        name = f" {self._name!r}" if self._name else ""
        return f"<picollo.HistogramArray{name} {'closed' if self._pointer is None else f'of {self._length}'}>"

    def __reduce__(self) -> Any:
        raise TypeError("an array of histograms cannot be pickled")
