"""Batches of values, read from the caller's memory in place."""

from __future__ import annotations

import array
import ctypes
import sys
from ctypes import POINTER, c_char_p, c_int, c_ssize_t, c_void_p, py_object
from typing import Any, NamedTuple, Optional

_NATIVE_ORDER = "@=<" if sys.byteorder == "little" else "@=>!"
_UNSIGNED = "QLNPI"
_SIGNED = "qlni"
_SIZE = 8


class Batch(NamedTuple):
    """The address of the values. They stay there while the batch is alive."""

    address: int
    length: int
    #: Keeps the memory in place.
    owner: Any


class _PyBuffer(ctypes.Structure):
    """``Py_buffer``, whose layout is part of Python's stable ABI."""

    _fields_ = [
        ("buf", c_void_p),
        ("obj", py_object),
        ("len", c_ssize_t),
        ("itemsize", c_ssize_t),
        ("readonly", c_int),
        ("ndim", c_int),
        ("format", c_char_p),
        ("shape", c_void_p),
        ("strides", c_void_p),
        ("suboffsets", c_void_p),
        ("internal", c_void_p),
    ]


#: PyBUF_ANY_CONTIGUOUS: row-major or column-major, as the order of values makes no difference.
_ANY_CONTIGUOUS = 0x98

_get_buffer: Any = None
_release_buffer: Any = None
if sys.implementation.name == "cpython":
    _get_buffer = ctypes.pythonapi.PyObject_GetBuffer
    _get_buffer.argtypes = [py_object, POINTER(_PyBuffer), c_int]
    _get_buffer.restype = c_int
    _release_buffer = ctypes.pythonapi.PyBuffer_Release
    _release_buffer.argtypes = [POINTER(_PyBuffer)]
    _release_buffer.restype = None


class _Export:
    """A buffer held open through the C API, because ctypes takes the address only of writable C-contiguous buffers."""

    __slots__ = ("_release", "_view", "address")

    def __init__(self, view: memoryview) -> None:
        self._release: Any = None
        self._view = _PyBuffer()
        _get_buffer(view, self._view, _ANY_CONTIGUOUS)  # raises by itself
        self._release = _release_buffer
        self.address: int = self._view.buf or 0

    def __del__(self) -> None:
        if self._release is not None:
            self._release(self._view)


def _export(view: memoryview) -> tuple[int, Any]:
    """The address of a contiguous, non-empty view, and what keeps it valid."""
    if view.c_contiguous and not view.readonly:
        first = ctypes.c_char.from_buffer(view)
        return ctypes.addressof(first), first
    if _get_buffer is None:  # not CPython: this is the only way to get the address
        return _copy(view)
    export = _Export(view)
    return export.address, export


def _copy(view: memoryview) -> tuple[int, Any]:
    copy = array.array("Q", view.tobytes())
    return copy.buffer_info()[0], copy


def _in_place(view: memoryview) -> Batch:
    """The batch of a contiguous view of 8-byte items; copied if it is not aligned."""
    length = view.nbytes // _SIZE
    if length == 0:
        return Batch(0, 0, None)
    address, owner = _export(view)
    if address % _SIZE:
        address, owner = _copy(view)
    return Batch(address, length, owner)


def _without_masked(values: Any) -> Any:
    """Returns the unmasked values of a masked array, whose buffer has the masked ones too; anything else unchanged."""
    masked = sys.modules.get("numpy.ma")
    if masked is None or not isinstance(values, masked.MaskedArray):
        return values
    return values.compressed() if masked.is_masked(values) else values.data


def batch_of(values: Any, name: str = "values") -> Batch:
    """The batch that ``values`` holds: in place for buffers of 64-bit integers, converted for other iterables of ints.
    Masked values of a masked array are left out.

    :raises TypeError: for buffers of anything else; the message says how to convert.
    :raises ValueError: for negative values and for buffers that are not contiguous.
    """
    values = _without_masked(values)
    try:
        view = memoryview(values)
    except TypeError:
        return _converted(values, name)
    except ValueError as error:
        if not hasattr(values, "dtype"):
            raise
        # numpy's dates and durations
        raise TypeError(f"{name} must be a buffer of 64-bit integers: {error}; use {name}.view('i8')") from None
    code = _format_code(view)
    if code is None:
        raise TypeError(_wrong_type(view, name))
    if not view.contiguous:
        raise ValueError(
            f"{name} must be contiguous in memory, this is a strided view: "
            f"use numpy.ascontiguousarray({name}), or list({name})"
        )
    if code in _SIGNED and view.nbytes:
        _refuse_negative(view, name)
    return _in_place(view)


def _format_code(view: memoryview) -> Optional[str]:
    """The type code of 64-bit integers in native byte order, ``None`` for anything else."""
    code = view.format
    if len(code) == 2 and code[0] in _NATIVE_ORDER:
        code = code[1]
    is_integer = len(code) == 1 and code in _UNSIGNED + _SIGNED
    return code if is_integer and view.itemsize == _SIZE else None


def _wrong_type(view: memoryview, name: str) -> str:
    what = f"{name} must be a buffer of 64-bit integers, not of {view.itemsize}-byte items of type {view.format!r}: "
    code = view.format[-1:]
    if view.format in ("B", "b", "c") and view.itemsize == 1:
        return what + (
            f"if the bytes are 64-bit integers, use memoryview({name}).cast('Q'); "
            f"if each byte is a value, list({name}) or numpy.frombuffer({name}, 'u1').astype('u8')"
        )
    if code in "fdeg":
        return what + f"scale to a unit that leaves whole numbers, then {name}.astype(numpy.uint64)"
    return what + f"use {name}.astype(numpy.uint64), or array.array('Q', {name})"


def _refuse_negative(view: memoryview, name: str) -> None:
    """Signed integers may be read as unsigned if all are at least 0."""
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        smallest = int(numpy.asarray(view).min())
    else:
        smallest = min(array.array("q", view.tobytes()))
    if smallest < 0:
        raise ValueError(f"{name} must not be negative: the smallest is {smallest}")


def _converted(values: Any, name: str) -> Batch:
    """Converts a list, tuple, range, generator, ... of ints, or anything that numpy can convert to an array."""
    as_array = getattr(values, "__array__", None)
    if as_array is not None and not isinstance(values, type):
        return batch_of(as_array(), name)
    if isinstance(values, (str, dict)):
        raise TypeError(f"{name} must be a buffer of 64-bit integers or an iterable of ints, not {type(values).__name__}")
    try:
        copy = array.array("Q", values)
    except OverflowError:
        raise ValueError(f"{name} must be within 0 .. 2**64 - 1") from None
    except TypeError as error:
        raise TypeError(f"{name} must be a buffer of 64-bit integers or an iterable of ints: {error}") from None
    address, length = copy.buffer_info()
    return Batch(address, length, copy)


def double_batch_of(values: Any, name: str = "values") -> Batch:
    """The batch of doubles that ``values`` holds: in place for contiguous buffers of doubles, converted for all other
    collections of numbers. Masked values of a masked array are left out.

    :raises TypeError: for anything else, such as complex numbers, strings and dates; the message says how to convert.
    """
    values = _without_masked(values)
    if isinstance(values, (str, bytes, bytearray, dict)):
        raise TypeError(f"{name} must be a buffer of doubles or an iterable of numbers, not {type(values).__name__}")
    kind = _kind_of_array(values)
    # numpy would convert nearly anything to doubles, even strings and dates, and would take half of a complex number.
    if kind is not None and kind not in _KINDS_OF_NUMBERS:
        raise TypeError(_no_doubles(values.dtype, kind, name))
    if kind == "O":
        return _converted_doubles(values.ravel().tolist(), name)
    try:
        view = memoryview(values)
    except (TypeError, ValueError):  # no buffer, or a format that memoryview does not support
        as_array = getattr(values, "__array__", None)
        if as_array is not None and not isinstance(values, type) and kind is None:
            return double_batch_of(as_array(), name)
        return _converted_doubles(values, name)
    is_double = view.format in ("d", "@d", "=d", "<d" if sys.byteorder == "little" else ">d")
    if not is_double or not view.contiguous:
        if kind is not None:
            return double_batch_of(values.astype("f8", order="C"), name)
        try:
            return _converted_doubles(view.tolist(), name)
        except NotImplementedError as error:
            raise TypeError(f"{name} must be a buffer of doubles or an iterable of numbers: {error}") from None
    return _in_place(view)


#: Floating point, integers, booleans, and objects; the code checks objects one by one.
_KINDS_OF_NUMBERS = "fiubO"


def _kind_of_array(values: Any) -> Optional[str]:
    """The kind of a numpy array's items, ``None`` for anything else."""
    numpy = sys.modules.get("numpy")
    is_array = numpy is not None and isinstance(values, (numpy.ndarray, numpy.generic))
    return values.dtype.kind if is_array else None


def _no_doubles(dtype: Any, kind: str, name: str) -> str:
    what = f"{name} must be numbers that doubles can hold, not {dtype}: "
    if kind == "c":
        return what + f"use {name}.real, or abs({name})"
    if kind == "m":
        return what + f"divide by a unit, such as {name} / numpy.timedelta64(1, 's')"
    if kind == "M":
        return what + f"subtract a date and divide by a unit, such as ({name} - {name}[0]) / numpy.timedelta64(1, 's')"
    return what + f"use {name}.astype(float) if that is what is meant"


def _converted_doubles(values: Any, name: str) -> Batch:
    try:
        copy = array.array("d", values)
    except (TypeError, OverflowError) as error:
        raise TypeError(f"{name} must be a buffer of doubles or an iterable of numbers: {error}") from None
    address, length = copy.buffer_info()
    return Batch(address, length, copy)
