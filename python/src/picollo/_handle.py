"""Shared base of the library's objects: they can be closed, and those that threads share have locks."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import weakref
from ctypes import c_size_t, c_void_p
from typing import Any, ClassVar, ContextManager, Iterator, Optional, TypeVar

from ._calls import fetch
from ._extension import HandleBase
from .errors import ClosedError

#: False on free-threaded builds.
HAS_GIL: bool = getattr(sys, "_is_gil_enabled", lambda: True)()

Self = TypeVar("Self", bound="Handle")


class Handle(HandleBase):
    """An object of the library. It lives until it is closed or nothing refers to it any more."""

    __slots__ = ("__weakref__",)

    #: The name of the object in messages after it is closed.
    _KIND: ClassVar[str]
    #: Why it cannot be pickled; ``""`` if that needs no words.
    _NOT_PICKLED: ClassVar[str] = ""
    #: ``None`` if it is closed, or could not be made.
    _pointer: Optional[c_void_p]

    def close(self) -> None:
        """Frees it now instead of when nothing refers to it any more. May be called again."""
        self._pointer = None

    def _handle(self) -> c_void_p:
        pointer = self._pointer
        if pointer is None:
            raise ClosedError(f"the {self._KIND} is closed")
        return pointer

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError(self._NOT_PICKLED or f"a {self._KIND} cannot be pickled")


class _Closed:
    """Takes the place of a handle; ctypes refuses it as one."""

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message = message


class RecordingHandle(Handle):
    """A histogram. It passes its pointer to the library unchecked, as every check would cost time."""

    __slots__ = ("_name",)

    #: The library's function that returns the memory in use.
    _FOOTPRINT: ClassVar[Any]

    _pointer: Any

    def __init__(self, name: str) -> None:
        self._pointer = _Closed("the histogram could not be created")
        self._name = name

    @property
    def name(self) -> str:
        """Default title of summaries and heading in diffs."""
        return self._name

    @property
    def footprint(self) -> int:
        """Bytes of memory in use."""
        return int(fetch(c_size_t, "footprint", self._FOOTPRINT, self._handle()).value)

    def close(self) -> None:
        """Releases the memory now instead of when nothing refers to the histogram any more. May be called again.

        Snapshots and scopes made from it stay usable.
        """
        if not self.closed:
            self._pointer = _Closed("the histogram is closed")

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return isinstance(self._pointer, _Closed)

    def _handle(self) -> c_void_p:
        pointer = self._pointer
        if isinstance(pointer, _Closed):
            raise ClosedError(pointer.message)
        assert isinstance(pointer, c_void_p)
        return pointer

    def __enter__(self: Self) -> Self:
        self._handle()
        return self

    def summary(self) -> Any:
        """Totals and the usual percentiles."""
        raise NotImplementedError

    def text(self, title: Optional[str] = None, unit: str = "") -> str:
        """The summary for people: see :meth:`Summary.text`. ``print(h)`` is short and without units."""
        return str(self.summary().text(title, unit))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        name = f" {self._name!r}" if self._name else ""
        return f"<picollo.{type(self).__name__}{name} {'closed' if self.closed else self.summary().line('')}>"


def ask(snapshot: Any, function: Any, kind: Any, what: str, *arguments: Any) -> Any:
    """Returns the result of a library function for a snapshot: a struct or number of this kind."""
    with snapshot._lock:
        return fetch(kind, what, function, snapshot._handle(), *arguments)


class Lock:
    """A reentrant lock. It is free in a forked child, where nobody would release a lock of another thread."""

    __slots__ = ("_lock", "__weakref__")

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _LOCKS.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *exception: Any) -> None:
        self._lock.release()


_LOCKS: weakref.WeakSet[Lock] = weakref.WeakSet()


def _free_locks() -> None:
    for lock in _LOCKS:
        lock._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_locks)


def new_lock() -> ContextManager[Any]:
    """Serializes the calls on an object if all of them keep the GIL. If there is one, that already does it."""
    return contextlib.nullcontext() if HAS_GIL else Lock()


@contextlib.contextmanager
def locked(*snapshots: Any) -> Iterator[None]:
    """Holds all locks, in one order, so that no two threads wait for each other (a.merge(b) and b.merge(a))."""
    with contextlib.ExitStack() as locks:
        for snapshot in sorted(snapshots, key=id):
            locks.enter_context(snapshot._lock)
        yield
