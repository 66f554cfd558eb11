"""The most frequent calls, in C if the optional module ``_speed`` is available.

A Python function through ctypes takes about 200 ns, the same in C 40. Each function with a twin in C is complete, and
runs without the module. With the module, the twin handles the ordinary case and passes others to the function.

The wheel has ``_speed`` if there was a compiler with Python's headers; ``build-extension.sh`` builds it here. It
supports CPython with the GIL, and one interpreter in a process. Otherwise, ctypes makes all calls.
"""

from __future__ import annotations

import ctypes
import inspect
import os
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, Optional, TypeVar, cast

from . import _structs as structs
from ._library import LibraryError, held

#: A path, which must then work, or ``off``.
ENVIRONMENT_VARIABLE = "PICOLLO_EXTENSION"

_NAME = "_speed.abi3.so"
#: The same as in _speed.c.
_REVISION = 2

_Class = TypeVar("_Class", bound=type)
_Function = TypeVar("_Function", bound=Callable[..., Any])


def candidates(package: Path) -> list[str]:
    """Where to look, best first."""
    override = os.environ.get(ENVIRONMENT_VARIABLE)
    if override:
        return [] if override == "off" else [override]
    return [str(package / _NAME), str(package.parent.parent.parent / "target" / "python" / _NAME)]


def _connected(path: str) -> ModuleType:
    """Loads the module at this path and connects it to the library's functions."""
    if sys.implementation.name != "cpython" or "t" in getattr(sys, "abiflags", ""):
        raise ImportError("it needs CPython with the GIL")
    name = f"{__package__}._speed"
    spec = spec_from_file_location(name, path, loader=ExtensionFileLoader(name, path))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    functions = (held.histogram_record, held.histogram_record_n, held.scope_begin, held.scope_end, held.clock_ticks)
    addresses = (ctypes.cast(function, ctypes.c_void_p).value for function in functions)
    module.connect(_REVISION, ctypes.c_void_p, ctypes.sizeof(structs.Scope), *addresses)
    return module


def _load() -> tuple[Optional[str], Any]:
    for path in candidates(Path(__file__).resolve().parent):
        try:
            return path, _connected(path)
        except ImportError as error:
            if os.environ.get(ENVIRONMENT_VARIABLE):
                raise LibraryError(f"{path} (the environment variable {ENVIRONMENT_VARIABLE}): {error}") from None
    return None, None


#: Path of the module in use, and the module; ``None`` if ctypes makes all calls.
path, _speed = _load()


class HandleBase:
    """Base class of objects with a handle."""

    __slots__ = ("_pointer",)


if _speed:
    HandleBase = _speed.Handle  # type: ignore[misc]


def methods_in_c(*names: str) -> Callable[[_Class], _Class]:
    """Replaces methods of a class of handles by their twins in C."""

    def decorate(cls: _Class) -> _Class:
        if _speed:
            for name in names:
                function = vars(cls)[name]
                setattr(cls, f"_plain_{name}", function)
                setattr(cls, name, _speed.method(cls, name, _doc(function, "$self")))
        return cls

    return decorate


def function_in_c(function: _Function) -> _Function:
    """Returns the twin in C of a module's function."""
    if not _speed:
        return function
    module = sys.modules[function.__module__]
    setattr(module, f"_plain_{function.__name__}", function)
    return cast(_Function, _speed.function(module, _doc(function, "$module")))


def scope_in_c(cls: _Class) -> _Class:
    """Returns the twin in C of :class:`.scope.Scope`."""
    if not _speed:
        return cls
    for name in ("__doc__", "__aenter__", "__aexit__"):
        setattr(_speed.Scope, name, vars(cls)[name])
    return cast(_Class, _speed.Scope)


def _doc(function: Callable[..., Any], first: str) -> str:
    """The docstring of a function in C: the signature, in the form from which Python reads it, and the text."""
    signature = inspect.signature(function)
    parameters = [p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name != "self"]
    listed = ", ".join([first, *map(str, parameters)])
    return f"{function.__name__}({listed})\n--\n\n{inspect.getdoc(function) or ''}"
