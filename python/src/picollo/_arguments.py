"""Checks arguments before the library sees them: ctypes would truncate integers, and zero is often a default there."""

from __future__ import annotations

import ctypes
import operator
from typing import Any, Mapping, Sequence, TypeVar, Union

from . import _structs as structs

#: The library's codes for modes.
MODES = structs.codes("MODE", ("interlocked", "single_writer", "thread_local", "per_cpu"))
STORAGES = structs.codes("STORAGE", ("dense", "sparse"))

MAX = 0xFFFF_FFFF_FFFF_FFFF

Code = TypeVar("Code")


def integer(value: Any, name: str) -> int:
    """An integer argument of any size."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, not {type(value).__name__}") from None


def u64(value: Any, name: str) -> int:
    """An integer argument of 64 bits."""
    number = integer(value, name)
    if not 0 <= number <= MAX:
        raise ValueError(f"{name} must be within 0 .. 2**64 - 1, not {number}")
    return number


def u32(value: Any, least: int, name: str) -> int:
    """An integer argument of 32 bits."""
    number = u64(value, name)
    if not least <= number <= 0xFFFF_FFFF:
        raise ValueError(f"{name} must be within {least} .. 2**32 - 1, not {number}")
    return number


def identifier(given: Union[str, bytes], size: int, name: str) -> Any:
    """The id of a trace or a span, from hexadecimal digits or bytes; zeroes without one."""
    try:
        raw = bytes.fromhex(given) if isinstance(given, str) else bytes(memoryview(given))
    except ValueError:
        raw = b"?"
    except TypeError:
        raise TypeError(f"{name} must be a str or bytes, not {type(given).__name__}") from None
    if len(raw) != (size if given else 0):
        raise ValueError(f"{name} must be {2 * size} hexadecimal digits or {size} bytes, not {given!r}")
    return (ctypes.c_uint8 * size).from_buffer_copy(raw.ljust(size, b"\0"))


def choice(value: str, choices: Mapping[str, Code], name: str) -> Code:
    """Returns the code that a name stands for."""
    try:
        return choices[value]
    except (KeyError, TypeError):
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {value!r}") from None


def one_of(value: int, choices: Sequence[int], name: str) -> int:
    """Rejects all other numbers."""
    number = u64(value, name)
    if number not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(str, choices))}, not {number}")
    return number


def checked_counter_bits(value: int) -> int:
    """32 or 64."""
    return one_of(value, (32, 64), "counter_bits")


def checked_error(value: float, least: float = 1e-6) -> float:
    """Rejects values that the library would replace: zero and NaN by its default, others by its limits."""
    number = float(value)
    # A histogram made with the least error reports the power of two below it, and 0.1 may have single precision.
    if not least * 0.6 <= number <= 0.1 * 1.000001:
        raise ValueError(f"relative_error must be a proportion within {least:g} .. 0.1, such as 0.01 for 1 %, not {value!r}")
    return number


def parameters(options: structs.HistogramOptions) -> dict[str, Any]:
    """The parameters that a layout does not contain."""
    return {
        "mode": _name_of(options.mode, MODES),
        "storage": _name_of(options.storage, STORAGES),
        "counter_bits": options.counter_bits,
        "live_reset": not options.flags & structs.HISTOGRAM_NO_LIVE_RESET,
        "max_bytes": options.max_bytes,
    }


def described(options: structs.HistogramOptions) -> str:
    """The options as parameters, for messages."""
    digits = 0 if options.significant_digits == structs.ZERO_DIGITS else options.significant_digits
    precision = (
        f"significant_digits={digits}"
        if options.significant_digits
        else f"relative_error={options.relative_error:g}"
    )
    return (
        f"{precision}, min={options.min_trackable}, max={options.max_trackable}, "
        + (f"unit={options.unit}, " if options.unit > 1 else "")
        + f"mode={_name_of(options.mode, MODES)}, "
        f"storage={_name_of(options.storage, STORAGES)}, counter_bits={options.counter_bits}"
    )


def _name_of(code: int, choices: dict[str, int]) -> str:
    return next(name for name, number in choices.items() if number == code)
