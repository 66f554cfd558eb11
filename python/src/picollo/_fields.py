"""Results that wrap a struct of the library in ``_raw``: each member is a field with its documentation."""

from __future__ import annotations

from typing import Any, Callable, Generic, TypeVar

T = TypeVar("T")


class Field(Generic[T]):
    """A read-only property, computed from the object and the property's name."""

    def __init__(self, read: Callable[[Any, str], T], doc: str) -> None:
        self._read, self.__doc__ = read, doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: Any = None) -> T:
        return self if instance is None else self._read(instance, self._name)  # type: ignore[return-value]

    def __set__(self, instance: Any, value: Any) -> None:
        raise AttributeError(f"{self._name} cannot be set")


def number(doc: str, *, member: str = "") -> Field[float]:
    """A double."""
    return Field(lambda one, name: float(getattr(one._raw, member or name)), doc)


def integer(doc: str, *, member: str = "") -> Field[int]:
    """An integer."""
    return Field(lambda one, name: int(getattr(one._raw, member or name)), doc)


def flag(bit: int, doc: str) -> Field[bool]:
    """Whether this bit of ``flags`` is set, in the struct or in the tuple itself."""
    return Field(lambda one, name: bool(getattr(one, "_raw", one).flags & bit), doc)


def pair(first: str, second: str, doc: str) -> Field[tuple[float, float]]:
    """Two doubles that belong together."""
    return Field(lambda one, name: (float(getattr(one._raw, first)), float(getattr(one._raw, second))), doc)
