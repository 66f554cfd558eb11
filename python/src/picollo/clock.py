"""Clocks: ticks, their frequency, and exact conversion to units of time.

``tsc`` is the processor's time-stamp counter. The library calibrates it against the system's clock during use, so no
scope waits. If it cannot be trusted, ``monotonic`` replaces it, so ticks, frequency and conversions still match.
"""

from __future__ import annotations

from ctypes import c_uint32, c_uint64
from typing import Literal, get_args

from . import _structs as structs
from ._arguments import choice
from ._calls import fetch
from ._extension import function_in_c
from ._library import held, released
from .errors import check

__all__ = ["Clock", "Unit", "calibrate", "convert", "frequency", "ticks"]

#: Which clock.
Clock = Literal["tsc", "monotonic"]
#: The unit of a conversion or a scope.
Unit = Literal["ticks", "nanos", "micros", "millis", "picos"]

# ctypes passes an instance of exactly the declared type without converting it.
_CLOCKS = {name: c_uint32(code) for name, code in structs.codes("CLOCK", get_args(Clock)).items()}
_UNITS = {name: c_uint32(code) for name, code in structs.codes("UNIT", get_args(Unit)).items()}

_TICKS = held.clock_ticks


def clock_code(clock: str) -> c_uint32:
    """The library's number for a clock."""
    return choice(clock, _CLOCKS, "clock")


def unit_code(unit: str) -> c_uint32:
    """The library's number for a unit."""
    return choice(unit, _UNITS, "unit")


def calibrate() -> None:
    """Calibrates the clocks now instead of at first use."""
    check(released.clock_init(), "clock calibration")


@function_in_c
def ticks(clock: Clock = "tsc") -> int:
    """The clock's current count. Differences of two counts convert to time with :func:`convert`."""
    try:
        ticks: int = _TICKS(_CLOCKS[clock])
    except (KeyError, TypeError):
        ticks = _TICKS(clock_code(clock))
    return ticks


def frequency(clock: Clock = "tsc") -> int:
    """Ticks in a second."""
    return int(fetch(c_uint64, "clock frequency", released.clock_frequency, clock_code(clock)).value)


def convert(ticks: int, unit: Unit = "nanos", clock: Clock = "tsc") -> int:
    """Ticks in another unit: ``floor(ticks * units / hertz)``, exact, at most 2**64 - 1.

    :raises ValueError: for a negative number of ticks.
    """
    if not 0 <= ticks <= 0xFFFF_FFFF_FFFF_FFFF:
        raise ValueError(f"ticks must be within 0 .. 2**64 - 1, not {ticks}")
    return int(held.clock_convert(clock_code(clock), ticks, unit_code(unit)))
