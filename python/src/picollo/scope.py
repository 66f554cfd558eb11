"""Scopes: the time that a ``with`` block takes, recorded into a histogram."""

from __future__ import annotations

from ctypes import addressof, c_uint32, c_void_p
from typing import Any, Optional

from . import _structs as structs
from ._extension import scope_in_c
from ._library import held

_BEGIN = held.scope_begin
_END = held.scope_end


@scope_in_c
class Scope:
    """Times a ``with`` block and records the result, also when the block raises. ``async with`` does the same. Both
    include the time in which the task waits for others.

    The library reads the clock last on entry and first on exit. Some tens of nanoseconds of overhead remain in the
    result, about half a microsecond through ctypes. A scope can be kept and entered again, one use at a time;
    recursion, other threads and other tasks need one each.
    """

    __slots__ = ("_active", "_address", "_arguments", "_elapsed", "_raw")

    def __init__(self, histogram: c_void_p, clock: c_uint32, unit: c_uint32) -> None:
        """Not for callers: see ``Histogram.nano_scope`` and its siblings."""
        self._raw = structs.Scope()
        # An address passes faster than a reference, and is valid as long as the struct beside it.
        self._address = addressof(self._raw)
        # The first of these keeps the histogram alive.
        self._arguments = (histogram, clock, unit, self._address)
        self._elapsed: Optional[int] = None
        self._active = False

    @property
    def elapsed(self) -> int:
        """The value that the last use recorded.

        :raises ValueError: before the first use has ended.
        """
        if self._elapsed is None:
            raise ValueError("the scope has not ended yet")
        return self._elapsed

    def __enter__(self) -> Scope:
        if self._active:
            raise RuntimeError("the scope is already active: nested and concurrent uses need a scope each")
        self._elapsed = None
        self._active = True
        _BEGIN(*self._arguments)
        return self

    def __exit__(self, *exception: Any) -> None:
        if not self._active:
            raise RuntimeError("the scope is not active")
        self._elapsed = _END(self._address)
        self._active = False

    async def __aenter__(self) -> Scope:
        return self.__enter__()

    async def __aexit__(self, *exception: Any) -> None:
        self.__exit__()
