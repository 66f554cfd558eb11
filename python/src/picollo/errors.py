"""Exceptions: one for each status of the library, with its explanation."""

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
    """An operation failed. ``str(error)`` is the explanation: what failed, why, and what to do about it."""

    #: The status of this class.
    STATUS: int = 0

    #: The library's status code, which is negative; 0 if the library was not called (:class:`ClosedError`).
    status: int
    #: The explanation.
    message: str
    #: The operating system's error number, if there is one.
    errno: Optional[int]
    #: The event that caused the error, as given, if there is one.
    event: Optional[str]

    def __init_subclass__(cls, status: Optional[int] = None) -> None:
        if status is not None:
            cls.STATUS = status

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


class NullPointerError(PicolloError, status=structs.ERR_NULL_POINTER):
    """A pointer was NULL. The package never passes one: please report it."""


class InvalidArgumentError(PicolloError, ValueError, status=structs.ERR_INVALID_ARGUMENT):
    """An argument is outside its documented range."""


class OutOfMemoryError(PicolloError, MemoryError, status=structs.ERR_OUT_OF_MEMORY):
    """There was no memory; nothing changed."""


class BufferTooSmallError(PicolloError, status=structs.ERR_BUFFER_TOO_SMALL):
    """A buffer was too small. The package sizes its own: please report it."""


class UnsupportedError(PicolloError, status=structs.ERR_UNSUPPORTED):
    """This build, platform, mode or option does not offer the call."""


class IncompatibleError(PicolloError, ValueError, status=structs.ERR_INCOMPATIBLE):
    """Layouts that cannot be combined without loss."""


class CorruptError(PicolloError, ValueError, status=structs.ERR_CORRUPT):
    """Encoded data is malformed."""


class EmptyError(PicolloError, ValueError, status=structs.ERR_EMPTY):
    """Nothing was recorded, so there is no percentile; or nothing new was read, so there is nothing to record."""


class WrongThreadError(PicolloError, RuntimeError, status=structs.ERR_WRONG_THREAD):
    """The call must be made on the thread that opened the session."""


class SystemCallError(PicolloError, OSError, status=structs.ERR_OS):
    """The operating system refused; ``errno`` says how."""


class PermissionDeniedError(PicolloError, PermissionError, status=structs.ERR_PERMISSION):
    """The operating system does not permit it; the message says which setting to change."""


class NoSuchEventError(PicolloError, LookupError, status=structs.ERR_NO_SUCH_EVENT):
    """The event is unknown to this machine, or the machine has no performance counters."""


class NotCountedError(PicolloError, status=structs.ERR_NOT_COUNTED):
    """The event was never scheduled in the interval, so it has no value (which is not zero)."""


class BusyError(PicolloError, status=structs.ERR_BUSY):
    """Competing resets kept the call from finishing; try again."""


class ForkedError(PicolloError, RuntimeError, status=structs.ERR_FORKED):
    """Objects of the parent process do not survive ``fork``: open a new session, make a new registry."""


class InternalError(PicolloError, status=structs.ERR_PANIC):
    """A defect of the library: please report it."""


class ClosedError(PicolloError, ValueError):
    """The object was closed. The library was not called, so ``status`` is 0."""

    def __init__(self, message: str = "the object is closed") -> None:
        super().__init__(0, message)

    def __reduce__(self) -> Any:
        return type(self), (self.message,)


#: The classes above that stand for a status.
_BY_STATUS = {error.STATUS: error for error in PicolloError.__subclasses__() if error.STATUS != 0}


def status_text(status: int) -> str:
    """The library's sentence for a status."""
    text: bytes = held.status_str(status)
    return text.decode("utf-8", "replace")


def from_status(
    status: int, message: str = "", errno: Optional[int] = None, event: Optional[str] = None
) -> PicolloError:
    """The exception for a status. Unknown ones, from a newer library, become plain :class:`PicolloError`."""
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
