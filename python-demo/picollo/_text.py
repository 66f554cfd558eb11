"""Text out of and into the library."""

from __future__ import annotations

import ctypes
from ctypes import byref
from typing import Any, Callable

from .errors import BufferTooSmallError, check

#: Most texts fit: a Markdown summary has about 1,400 bytes.
_FIRST_CAPACITY = 4096


def read_text(call: Callable[[Any, int, Any], int], what: str) -> str:
    """The text that ``call(buffer, capacity, out_length)`` writes, however long it is."""
    return read_bytes(call, what).decode("utf-8")


def read_bytes(call: Callable[[Any, int, Any], int], what: str, capacity: int = _FIRST_CAPACITY) -> bytes:
    """The bytes that ``call(buffer, capacity, out_length)`` writes, however many they are."""
    while True:
        buffer = ctypes.create_string_buffer(capacity)
        length = ctypes.c_size_t()
        status = call(buffer, capacity, byref(length))
        if status != BufferTooSmallError.STATUS or length.value < capacity:
            check(status, what)
            return ctypes.string_at(buffer, length.value)
        capacity = length.value + 1


def c_text(text: str, what: str) -> bytes:
    """UTF-8 for the library, whose texts end at the first NUL."""
    if not isinstance(text, str):
        raise TypeError(f"{what} must be a str, not {type(text).__name__}")
    if "\0" in text:
        raise ValueError(f"{what} must not contain NUL characters")
    return text.encode("utf-8")


def c_name(raw: bytes) -> str:
    """A fixed-size text field of a struct."""
    return raw.decode("utf-8", "replace")
