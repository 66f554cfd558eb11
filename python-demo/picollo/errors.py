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
    """Something could not be done. ``str(error)`` is the explanation: what failed, why, and what to do about it."""

    #: The status that this class stands for.
    STATUS: int = 0

    #: The library's status code, which is negative; 0 where the library was not asked (:class:`ClosedError`).
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

    STATUS = structs.ERR_NULL_POINTER


class InvalidArgumentError(PicolloError, ValueError):
    """An argument is outside its documented range."""

    STATUS = structs.ERR_INVALID_ARGUMENT


class OutOfMemoryError(PicolloError, MemoryError):
    """There was no memory; nothing was changed."""

    STATUS = structs.ERR_OUT_OF_MEMORY


class BufferTooSmallError(PicolloError):
    """A buffer was too small. The package sizes its own: please report it."""

    STATUS = structs.ERR_BUFFER_TOO_SMALL


class UnsupportedError(PicolloError):
    """This build, platform, mode or option does not offer the call."""

    STATUS = structs.ERR_UNSUPPORTED


class IncompatibleError(PicolloError, ValueError):
    """Layouts that cannot be combined without loss."""

    STATUS = structs.ERR_INCOMPATIBLE


class CorruptError(PicolloError, ValueError):
    """Encoded data is malformed."""

    STATUS = structs.ERR_CORRUPT


class EmptyError(PicolloError, ValueError):
    """Nothing was recorded, so there is no percentile; or nothing new was read, so there is nothing to record."""

    STATUS = structs.ERR_EMPTY


class WrongThreadError(PicolloError, RuntimeError):
    """The call belongs on the thread that opened the session."""

    STATUS = structs.ERR_WRONG_THREAD


class SystemCallError(PicolloError, OSError):
    """The operating system refused; ``errno`` says how."""

    STATUS = structs.ERR_OS


class PermissionDeniedError(PicolloError, PermissionError):
    """The operating system does not permit it; the message says which setting to change."""

    STATUS = structs.ERR_PERMISSION


class NoSuchEventError(PicolloError, LookupError):
    """The event is unknown to this machine, or the machine has no performance counters."""

    STATUS = structs.ERR_NO_SUCH_EVENT


class NotCountedError(PicolloError):
    """The event was never scheduled in the interval, so it has no value (which is not zero)."""

    STATUS = structs.ERR_NOT_COUNTED


class BusyError(PicolloError):
    """Competing resets kept the call from finishing; try again."""

    STATUS = structs.ERR_BUSY


class ForkedError(PicolloError, RuntimeError):
    """What belongs to the parent process does not survive ``fork``: open a new session, make a new registry."""

    STATUS = structs.ERR_FORKED


class InternalError(PicolloError):
    """A defect of the library: please report it."""

    STATUS = structs.ERR_PANIC


class ClosedError(PicolloError, ValueError):
    """The object was closed. The library was not asked, so ``status`` is 0."""

    def __init__(self, message: str = "the object is closed") -> None:
        super().__init__(0, message)

    def __reduce__(self) -> Any:
        return type(self), (self.message,)


#: Those above that stand for a status.
_BY_STATUS = {error.STATUS: error for error in PicolloError.__subclasses__() if error.STATUS != 0}


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
