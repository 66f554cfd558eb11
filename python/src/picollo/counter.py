"""Counters of one word that many threads or processes share. See ``docs/measure-latency.md``."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_uint32, c_uint64
from typing import Any, Literal, Optional

from . import _structs as structs
from ._arguments import choice, u64
from ._library import held

__all__ = ["Counter"]

#: How a :class:`Counter` counts.
Kind = Literal["scalable", "capped", "sensing", "interlocked"]

#: For each kind, the functions that add to 32 and to 64 bits. Steps of at most 1 are exact.
_ADD = {
    "scalable": (held.scalable_counter_add_n32, held.scalable_counter_add_n64),
    "capped": (held.capped_counter_add32, held.capped_counter_add64),
    "sensing": (held.sensing_counter_add32, held.sensing_counter_add64),
    "interlocked": (held.capped_counter_add32, held.capped_counter_add64),
}


class Counter:
    """One word that many threads add to.

    ::

        requests = picollo.Counter()
        requests.add()
        print(requests.value)

    :param kind: ``"scalable"``: exact up to ``2**threshold_bits``, then in ever larger steps with ever smaller
        probability, so that threads contend less the busier the counter is; the standard deviation is 0.9 % by default.
        ``"capped"``: the same with steps of at most ``2**cap_bits``. ``"sensing"``: exact if threads do not collide,
        else like ``"scalable"``. ``"interlocked"``: exact.
    :param bits: 64, or 32: then it counts modulo 2**32.
    :param threshold_bits: 1 to 31.
    :param cap_bits: 0 to 31.
    :param memory: a writable, aligned buffer of ``bits / 8`` bytes to count in, such as a piece of
        ``multiprocessing.shared_memory``; its value is kept.
    """

    __slots__ = ("_add", "_bits", "_kind", "_options", "_read", "_word")

    def __init__(
        self,
        kind: Kind = "scalable",
        bits: int = 64,
        *,
        threshold_bits: int = structs.SCALABLE_THRESHOLD_BITS,
        cap_bits: int = 10,
        memory: Optional[Any] = None,
    ) -> None:
        add = choice(kind, _ADD, "kind")
        if bits not in (32, 64):
            raise ValueError(f"bits must be 32 or 64, not {bits!r}")
        if not 1 <= u64(threshold_bits, "threshold_bits") <= 31:
            raise ValueError(f"threshold_bits must be within 1 .. 31, not {threshold_bits}")
        if not 0 <= u64(cap_bits, "cap_bits") <= 31:
            raise ValueError(f"cap_bits must be within 0 .. 31, not {cap_bits}")
        word_type: Any = c_uint64 if bits == 64 else c_uint32
        self._word = word_type() if memory is None else word_type.from_buffer(memory)
        if ctypes.addressof(self._word) % ctypes.sizeof(word_type):
            raise ValueError(f"memory must be aligned to {ctypes.sizeof(word_type)} bytes")
        self._kind = kind
        self._bits = bits
        self._add = add[bits == 64]
        self._read = held.counter_read64 if bits == 64 else held.counter_read32
        capped = {"capped": (threshold_bits, cap_bits), "interlocked": (31, 0)}
        self._options: tuple[int, ...] = capped.get(kind, (threshold_bits,))

    @property
    def kind(self) -> str:
        """The kind of counting."""
        return self._kind

    def add(self, count: int = 1) -> None:
        """Counts this many events."""
        self._add(byref(self._word), u64(count, "count"), *self._options)

    @property
    def value(self) -> int:
        """The count, exact or approximate."""
        return int(self._read(byref(self._word)))

    def __int__(self) -> int:
        return self.value

    def __repr__(self) -> str:
        return f"<picollo.Counter {self._kind} {self._bits} bits: {self.value}>"

    def __reduce__(self) -> Any:
        raise TypeError("a counter cannot be pickled; its value can")
