"""Finds and loads ``libpicollo``, and declares its functions.

There are two views of one library. ``held`` calls keep the GIL (:class:`ctypes.PyDLL`). They are cheaper, and no two
threads can be in them at once, so single-writer histograms stay single-writer. ``released`` calls
(:class:`ctypes.CDLL`) let other threads run meanwhile: for noticeably long work.
"""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import c_uint32, c_void_p
from pathlib import Path
from typing import Any, Optional

from . import _structs as structs

#: Overrides every other place that is searched.
ENVIRONMENT_VARIABLE = "PICOLLO_LIBRARY"


class LibraryError(ImportError):
    """``libpicollo`` was not found, could not be loaded, or does not fit this package."""


class Functions:
    """The functions of the library, without their prefix: ``functions.histogram_record``."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def __getattr__(self, name: str) -> Any:
        """Declares a function at its first use."""
        if name not in structs.FUNCTIONS:
            raise AttributeError(name)
        function = getattr(self._library, "picollo_" + name)
        function.restype, function.argtypes = structs.prototype(name)
        setattr(self, name, function)
        return function


def _file_name() -> str:
    if sys.platform == "darwin":
        return "libpicollo.dylib"
    if sys.platform == "win32":
        return "picollo.dll"
    return "libpicollo.so"


def candidates(package: Path) -> list[tuple[str, str]]:
    """Where to look, best first: the name for the loader, and the reason for looking there.

    If the environment variable is set, nothing else is tried: whoever names a library wants that one or an error.
    """
    override = os.environ.get(ENVIRONMENT_VARIABLE)
    if override:
        return [(override, f"the environment variable {ENVIRONMENT_VARIABLE}")]
    name = _file_name()
    found = [(str(package / name), "inside the package")]
    repository = package.parent.parent.parent  # of python/src/picollo
    for part in ("target/stage/lib", "target/release"):
        found.append((str(repository / part / name), "the repository's build"))
    if sys.platform == "linux":  # where only the development package has the name without a version
        found.append((f"{name}.{structs.ABI_VERSION}", "the system's loader"))
    found.append((name, "the system's loader"))
    return found


def _reason_against(library: ctypes.CDLL) -> Optional[str]:
    """Why this library does not fit the package; ``None`` if it does."""
    try:
        version = library.picollo_abi_version
    except AttributeError:
        return "has no picollo_abi_version, so it is not libpicollo"
    version.restype = c_uint32
    version.argtypes = []
    if version() != structs.ABI_VERSION:
        return f"its ABI version is {version()}, this package needs {structs.ABI_VERSION}"
    missing = [f"picollo_{name}" for name in structs.FUNCTIONS if not hasattr(library, f"picollo_{name}")]
    if missing:
        return f"older than this package, it lacks {', '.join(missing)}"
    return None


def _load() -> tuple[str, Functions, Functions]:
    tried = []
    for path, why in candidates(Path(__file__).resolve().parent):
        if os.sep in path and not os.path.isfile(path):
            tried.append(f"  {path} ({why}): no such file")
            continue
        try:
            library = ctypes.CDLL(path)
            holding = ctypes.PyDLL(path)
        except OSError as error:
            tried.append(f"  {path} ({why}): {error}")
            continue
        reason = _reason_against(library)
        if reason is None:
            return path, Functions(holding), Functions(library)
        tried.append(f"  {path} ({why}): {reason}")
    raise LibraryError(
        "libpicollo was not found. Tried, in this order:\n"
        + "\n".join(tried)
        + f"\nBuild it with `cargo build --release -p picollo-ffi`, or set {ENVIRONMENT_VARIABLE} to its path."
    )


#: Path of the library in use, and its functions.
path, held, released = _load()


class Owner:
    """Frees a handle when nothing refers to it any more."""

    __slots__ = ("_address", "_free")

    def __init__(self, address: int, free: Any) -> None:
        self._address = address
        self._free = free

    def __del__(self) -> None:
        # No module globals here: this may run while the interpreter shuts down.
        self._free(self._address)


def own(handle: c_void_p, free: Any) -> c_void_p:
    """Ties the lifetime of a new handle to the pointer object that passes it to C.

    A call's arguments stay alive until the call returns. So if another thread closes a handle in the middle of a call,
    or between lookup and call, the handle is freed only after that call.
    """
    # This must be exactly c_void_p, as subclasses are slower in ctypes; each one has an attribute dictionary.
    handle.owner = Owner(handle.value or 0, free)  # type: ignore[attr-defined]
    return handle
