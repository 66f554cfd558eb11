"""Passes texts, arrays, structs and handles to and from the library."""

from __future__ import annotations

import ctypes
from ctypes import byref
from typing import Any, Callable, Optional

from . import _structs as structs
from .errors import BufferTooSmallError, check, check_detail

#: Most texts fit: a Markdown summary has about 1,400 bytes.
_FIRST_CAPACITY = 4096


def fetch(kind: Any, what: str, function: Any, *arguments: Any) -> Any:
    """Returns what a library function writes through its last argument: a struct, number or handle of this kind."""
    found = kind()
    check(function(*arguments, byref(found)), what)
    return found


def explained(function: Any, *arguments: Any, events: tuple[str, ...] = ()) -> None:
    """Calls a library function that explains its errors through its last argument."""
    error = structs.Error()
    check_detail(function(*arguments, byref(error)), error, events)


def create(function: Any, *arguments: Any, events: tuple[str, ...] = ()) -> ctypes.c_void_p:
    """Returns the new handle from a library function that explains its errors."""
    pointer = ctypes.c_void_p()
    explained(function, *arguments, byref(pointer), events=events)
    return pointer


def read_array(kind: Any, what: str, function: Any, *arguments: Any) -> Any:
    """Returns the array that a library function writes. The first call returns its length."""
    length = ctypes.c_size_t()
    status = function(*arguments, None, 0, byref(length))
    if status != BufferTooSmallError.STATUS:
        check(status, what)
    found = (kind * length.value)()
    check(function(*arguments, found, length.value, byref(length)), what)
    return found


def read_text(call: Callable[[Any, int, Any], int], what: str) -> str:
    """Returns the text that ``call(buffer, capacity, out_length)`` writes, of any length."""
    return read_bytes(call, what).decode("utf-8")


def read_bytes(call: Callable[[Any, int, Any], int], what: str, capacity: int = _FIRST_CAPACITY) -> bytes:
    """Returns the bytes that ``call(buffer, capacity, out_length)`` writes, of any length."""
    while True:
        buffer = ctypes.create_string_buffer(capacity)
        length = ctypes.c_size_t()
        status = call(buffer, capacity, byref(length))
        if status != BufferTooSmallError.STATUS or length.value < capacity:
            check(status, what)
            return ctypes.string_at(buffer, length.value)
        capacity = length.value + 1


def c_text(text: str, what: str) -> bytes:
    """UTF-8 for the library, whose strings end at the first NUL."""
    if not isinstance(text, str):
        raise TypeError(f"{what} must be a str, not {type(text).__name__}")
    if "\0" in text:
        raise ValueError(f"{what} must not contain NUL characters")
    return text.encode("utf-8")


def c_name(raw: bytes) -> str:
    """A fixed-size text field of a struct."""
    return raw.decode("utf-8", "replace")


def titled(title: str, unit: str) -> str:
    """A title followed by its unit, as the library's text for people expects it: ``Latency (ns)``."""
    if not isinstance(unit, str):
        raise TypeError(f"unit must be a str, not {type(unit).__name__}")
    return f"{title} ({unit})" if unit else title


class Texts:
    """Texts from the library, for people and programs. ``str()`` is short, for people; notebooks use Markdown."""

    __slots__ = ()

    def _format(self, form: int, title: Optional[str]) -> str:
        raise NotImplementedError

    def markdown(self, title: Optional[str] = None) -> str:
        """Markdown tables, under a heading if there is a title (default: the histogram's name, or the initial
        title)."""
        return self._format(structs.TEXT_MARKDOWN, title)

    def text(self, title: Optional[str] = None, unit: str = "") -> str:
        """A few lines for people, the most important first: ``print(h.summary().text(unit="ns"))``.

        :param unit: of the values: ``ps``, ``ns``, ``us``, ``ms``, ``s``, ``bytes``, ``cycles``, ``instructions``.
            Numbers are then rounded to three digits (``4.51 µs``). With any other unit, or without one, they stay
            exact. A title may also end with it: ``"Latency (ns)"``.
        """
        return self._format(structs.TEXT_HUMAN, titled(self._own_title() if title is None else title, unit))

    def _own_title(self) -> str:
        """The default title."""
        raise NotImplementedError

    def line(self, title: Optional[str] = None) -> str:
        """One line, for logs."""
        return self._format(structs.TEXT_LINE, title)

    def json(self, title: Optional[str] = None) -> str:
        """A JSON object."""
        return self._format(structs.TEXT_JSON, title)

    def __str__(self) -> str:
        return self.text()

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def __repr__(self) -> str:
        return f"<picollo.{type(self).__name__} {self.line()}>"
