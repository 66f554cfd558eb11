"""Exceptions: one for each status of the library, carrying its explanation."""

from __future__ import annotations

from typing import Any, Optional

from . import _structs as structs
from ._library import LibraryError, held

__all__ = [
    "BufferTooSmallError",
    "BusyError",
    "ClosedError",
    "CorruptError",
    "EmptyError",
    "ForkedError",
    "IncompatibleError",
    "InternalError",
    "InvalidArgumentError",
    "LibraryError",
    "NoSuchEventError",
    "NotCountedError",
    "NullPointerError",
    "OutOfMemoryError",
    "PermissionDeniedError",
    "PicolloError",
    "SystemCallError",
    "UnsupportedError",
    "WrongThreadError",
]


class PicolloError(Exception):
    """A call of the library failed. ``str(error)`` is the explanation: what failed, why, and what to do about it."""

    #: The status that this class stands for.
    STATUS: int = 0

    #: The library's status code: 0 is success, errors are negative.
    status: int
    #: The explanation.
    message: str
    #: The operating system's error number, where there is one.
    errno: Optional[int]
    #: The event that caused it, as it was given, where there is one.
    event: Optional[str]

    def __init__(
        self,
        status: Optional[int] = None,
        message: str = "",
        errno: Optional[int] = None,
        event: Optional[str] = None,
    ) -> None:
        status = self.STATUS if status is None else status
        message = message or status_text(status)
        super().__init__(message)
        self.status = status
        self.message = message
        self.errno = errno
        self.event = event

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> Any:
        return type(self), (self.status, self.message, self.errno, self.event)


class NullPointerError(PicolloError):
    """A pointer was NULL. The package never passes one: please report it."""

    STATUS = -1


class InvalidArgumentError(PicolloError, ValueError):
    """An argument is outside its documented range."""

    STATUS = -2


class OutOfMemoryError(PicolloError, MemoryError):
    """There was no memory; nothing was changed."""

    STATUS = -3


class BufferTooSmallError(PicolloError):
    """A buffer was too small. The package sizes its own: please report it."""

    STATUS = -4


class UnsupportedError(PicolloError):
    """This build, platform, mode or option does not offer the call."""

    STATUS = -5


class IncompatibleError(PicolloError, ValueError):
    """Layouts that cannot be combined without loss."""

    STATUS = -6


class CorruptError(PicolloError, ValueError):
    """Encoded data is malformed."""

    STATUS = -7


class EmptyError(PicolloError, ValueError):
    """Nothing was recorded, so there is no percentile; or nothing new was read, so there is nothing to record."""

    STATUS = -8


class WrongThreadError(PicolloError, RuntimeError):
    """The call belongs on the thread that opened the session."""

    STATUS = -9


class SystemCallError(PicolloError, OSError):
    """The operating system refused; ``errno`` says how."""

    STATUS = -10


class PermissionDeniedError(PicolloError, PermissionError):
    """The operating system does not permit it; the message says which setting to change."""

    STATUS = -11


class NoSuchEventError(PicolloError, LookupError):
    """The event is unknown to this machine, or the machine has no performance counters."""

    STATUS = -12


class NotCountedError(PicolloError):
    """The event was never scheduled in the interval, so it has no value (which is not zero)."""

    STATUS = -13


class BusyError(PicolloError):
    """Competing resets kept the call from finishing; try again."""

    STATUS = -14


class ForkedError(PicolloError, RuntimeError):
    """What belongs to the parent process does not survive ``fork``: open a new session, make a new registry."""

    STATUS = -15


class InternalError(PicolloError):
    """A defect of the library: please report it."""

    STATUS = -127


class ClosedError(ValueError):
    """The object was closed."""


#: Those above.
_BY_STATUS = {error.STATUS: error for error in PicolloError.__subclasses__()}


def status_text(status: int) -> str:
    """The library's sentence for a status."""
    text: bytes = held.status_str(status)
    return text.decode("utf-8", "replace")


def from_status(
    status: int, message: str = "", errno: Optional[int] = None, event: Optional[str] = None
) -> PicolloError:
    """The exception for a status. Unknown ones, of a newer library, become plain :class:`PicolloError`."""
    return _BY_STATUS.get(status, PicolloError)(status, message, errno, event)


def check(status: int, what: str = "") -> None:
    """Raises unless the status is OK; ``what`` says what was attempted."""
    if status != 0:
        text = status_text(status)
        raise from_status(status, f"{what}: {text}" if what else text)


def check_detail(status: int, detail: structs.Error, events: tuple[str, ...] = ()) -> None:
    """Raises unless the status is OK, with the explanation that the library wrote."""
    if status != 0:
        message = detail.message.decode("utf-8", "replace") if detail.status == status else ""
        index = detail.event_index
        event = events[index] if 0 <= index < len(events) else None
        raise from_status(status, message, detail.os_errno or None, event)
