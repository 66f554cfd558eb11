"""Finds and loads ``libpicollo``, and declares the functions that the package calls.

Two views of one library. ``held`` calls keep the GIL (:class:`ctypes.PyDLL`): cheaper, and under the GIL no two threads can
be in them at once, so single-writer histograms stay single-writer. ``released`` calls let other threads run meanwhile
(:class:`ctypes.CDLL`): for work long enough to be noticed.
"""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import POINTER, c_char_p, c_double, c_int32, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Optional

from . import _structs as structs

#: Overrides every other place that is searched.
ENVIRONMENT_VARIABLE = "PICOLLO_LIBRARY"

_SONAME_VERSION = 0


class LibraryError(ImportError):
    """``libpicollo`` was not found, could not be loaded, or does not fit this package."""


# A value of 64 bits on the hot path. Where pointers have 64 bits too, c_void_p passes the same bits in the same register, and
# ctypes converts an int to it in half the time of c_uint64 (no isinstance check). Callers check the range first.
HOT_U64: Any = c_void_p if ctypes.sizeof(c_void_p) == 8 else c_uint64

_HANDLE = c_void_p
_OUT = c_void_p
_ERROR = POINTER(structs.Error)
_SIZE_OUT = POINTER(c_size_t)
#: Room for a text, and its length: the last arguments of what writes.
_BUFFER = [c_void_p, c_size_t, _SIZE_OUT]

# name without "picollo_": (result, arguments). Handles, arrays and out parameters are c_void_p: byref() objects pass through
# unchecked, which is cheaper than a typed pointer; the modules that call are few and tested.
_PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
    "abi_version": (c_uint32, []),
    "version": (c_char_p, []),
    "status_str": (c_char_p, [c_int32]),
    # histogram
    "histogram_create": (c_int32, [_OUT, _OUT]),
    "histogram_free": (None, [_HANDLE]),
    "histogram_record": (None, [_HANDLE, HOT_U64]),
    "histogram_record_n": (None, [_HANDLE, HOT_U64, HOT_U64]),
    "histogram_record_batch": (None, [_HANDLE, c_void_p, c_size_t]),
    "histogram_record_corrected": (None, [_HANDLE, HOT_U64, HOT_U64]),
    "histogram_record_in_range": (c_int32, [_HANDLE, HOT_U64, HOT_U64, HOT_U64]),
    "histogram_reset": (c_int32, [_HANDLE]),
    "histogram_footprint": (c_int32, [_HANDLE, _SIZE_OUT]),
    "histogram_add_reported": (c_int32, [_HANDLE, _HANDLE, c_uint32, _OUT]),
    "histogram_summary": (c_int32, [_HANDLE, c_uint32, _OUT]),
    # snapshot
    "snapshot_create": (c_int32, [_HANDLE, _OUT]),
    "snapshot_update": (c_int32, [_HANDLE, c_uint32]),
    "snapshot_free": (None, [_HANDLE]),
    "snapshot_counts": (c_int32, [_HANDLE, _OUT]),
    "snapshot_percentiles": (c_int32, [_HANDLE, c_void_p, c_size_t, c_uint32, _OUT]),
    "snapshot_percentile_values": (c_int32, [_HANDLE, c_void_p, c_size_t, c_uint32, _OUT]),
    "snapshot_interpolated_percentiles": (c_int32, [_HANDLE, c_void_p, c_size_t, _OUT]),
    "snapshot_rank_of_value": (c_int32, [_HANDLE, c_uint64, c_uint32, POINTER(c_double)]),
    "snapshot_bucket_of": (c_int32, [_HANDLE, c_uint64, _OUT]),
    "snapshot_buckets": (c_int32, [_HANDLE, c_uint32, _OUT, c_size_t, _SIZE_OUT]),
    "snapshot_summary": (c_int32, [_HANDLE, c_uint32, _OUT]),
    "snapshot_layout": (c_int32, [_HANDLE, _OUT]),
    "snapshot_copy": (c_int32, [_HANDLE, _OUT]),
    "snapshot_merge_reported": (c_int32, [_HANDLE, _HANDLE, c_uint32, _OUT]),
    "snapshot_subtract": (c_int32, [_HANDLE, _HANDLE, _OUT]),
    # interchange
    "snapshot_encode": (c_int32, [_HANDLE, c_uint32, *_BUFFER]),
    "snapshot_encode_base64": (c_int32, [_HANDLE, c_uint32, *_BUFFER]),
    "snapshot_decode": (c_int32, [c_void_p, c_size_t, c_uint64, _OUT]),
    "snapshot_format_hgrm": (c_int32, [_HANDLE, c_uint32, c_double, c_uint32, *_BUFFER]),
    "snapshot_corrected": (c_int32, [_HANDLE, c_uint64, _OUT]),
    "log_reader_create": (c_int32, [c_void_p, c_size_t, _OUT]),
    "log_reader_set_max_counters": (c_int32, [_HANDLE, c_uint64]),
    "log_reader_next_interval": (c_int32, [_HANDLE, _OUT]),
    "log_reader_decode": (c_int32, [_HANDLE, _OUT]),
    "log_reader_tag": (c_int32, [_HANDLE, *_BUFFER]),
    "log_reader_position": (c_int32, [_HANDLE, _OUT, _OUT]),
    "log_reader_times": (c_int32, [_HANDLE, _OUT, _OUT]),
    "log_reader_free": (None, [_HANDLE]),
    "log_format_header": (c_int32, [c_double, c_char_p, *_BUFFER]),
    "log_format_interval": (c_int32, [_HANDLE, c_double, c_double, c_char_p, *_BUFFER]),
    # text
    "summary_format": (c_int32, [_OUT, c_char_p, c_uint32, *_BUFFER]),
    "summary_format_diff": (c_int32, [_OUT, _OUT, c_char_p, c_char_p, c_char_p, c_uint32, *_BUFFER]),
    "percentile_format": (c_int32, [_OUT, *_BUFFER]),
    # comparing
    "snapshot_quantile_interval": (c_int32, [_HANDLE, c_double, c_double, _OUT]),
    "compare": (c_int32, [_HANDLE, _HANDLE, _OUT, _OUT]),
    "compare_blocks": (c_int32, [c_void_p, c_void_p, c_size_t, _OUT, _OUT]),
    "comparison_format": (c_int32, [_OUT, _OUT, _OUT, c_char_p, c_char_p, c_char_p, c_uint32, *_BUFFER]),
    # doubles
    "double_histogram_create": (c_int32, [_OUT, _OUT]),
    "double_histogram_free": (None, [_HANDLE]),
    "double_histogram_record": (None, [_HANDLE, c_double]),
    "double_histogram_record_n": (None, [_HANDLE, c_double, HOT_U64]),
    "double_histogram_record_batch": (None, [_HANDLE, c_void_p, c_size_t]),
    "double_histogram_add": (c_int32, [_HANDLE, _HANDLE]),
    "double_histogram_footprint": (c_int32, [_HANDLE, _SIZE_OUT]),
    "double_snapshot_create": (c_int32, [_OUT]),
    "double_snapshot_free": (None, [_HANDLE]),
    "double_snapshot_update": (c_int32, [_HANDLE, _HANDLE, c_uint32]),
    "double_snapshot_statistics": (c_int32, [_HANDLE, _OUT]),
    "double_snapshot_quantiles": (c_int32, [_HANDLE, c_void_p, c_size_t, _OUT]),
    "double_snapshot_summary": (c_int32, [_HANDLE, _OUT]),
    "double_snapshot_buckets": (c_int32, [_HANDLE, _OUT, c_size_t, _SIZE_OUT]),
    "double_snapshot_merge": (c_int32, [_HANDLE, _HANDLE]),
    "double_summary_format": (c_int32, [_OUT, c_char_p, c_uint32, *_BUFFER]),
    # arrays
    "histogram_array_create": (c_int32, [_OUT, c_size_t, _OUT]),
    "histogram_array_free": (None, [_HANDLE]),
    "histogram_array_at": (c_int32, [_HANDLE, c_size_t, _OUT]),
    "histogram_array_record": (None, [_HANDLE, c_size_t, HOT_U64]),
    "histogram_array_footprint": (c_int32, [_HANDLE, _SIZE_OUT]),
    # registries
    "registry_create": (c_int32, [_OUT]),
    "registry_free": (None, [_HANDLE]),
    "registry_add": (c_int32, [_HANDLE, _HANDLE, _OUT, c_void_p, c_size_t, POINTER(c_uint64)]),
    "registry_add_double": (c_int32, [_HANDLE, _HANDLE, _OUT, c_void_p, c_size_t, POINTER(c_uint64)]),
    "registry_remove": (c_int32, [_HANDLE, c_uint64]),
    "registry_update": (c_int32, [_HANDLE]),
    "registry_write_openmetrics": (c_int32, [_HANDLE, *_BUFFER]),
    # counters: on the caller's memory
    **{
        f"{kind}_counter_add{suffix}{bits}": (None, [_OUT, *arguments])
        for bits in (32, 64)
        for kind, suffix, arguments in (
            ("scalable", "_n", [HOT_U64, c_uint32]),
            ("capped", "", [HOT_U64, c_uint32, c_uint32]),
            ("sensing", "", [HOT_U64, c_uint32]),
            ("interlocked", "", [HOT_U64]),
            ("racing", "", [HOT_U64]),
        )
    },
    "counter_read32": (c_uint32, [_OUT]),
    "counter_read64": (c_uint64, [_OUT]),
    "striped_counter_create": (c_int32, [_OUT]),
    "striped_counter_free": (None, [_HANDLE]),
    "striped_counter_add": (None, [_HANDLE, HOT_U64]),
    "striped_counter_read": (c_int32, [_HANDLE, POINTER(c_uint64)]),
    # benchmarks
    "benchmark_create": (c_int32, [_OUT, c_void_p, c_size_t, _OUT, _ERROR]),
    "benchmark_free": (None, [_HANDLE]),
    "benchmark_next": (c_int32, [_HANDLE, _OUT, _OUT]),
    "benchmark_done": (c_int32, [_HANDLE]),
    "benchmark_done_after": (c_int32, [_HANDLE, c_uint64]),
    "benchmark_progress": (c_int32, [_HANDLE, POINTER(c_double)]),
    "benchmark_get_result": (c_int32, [_HANDLE, _OUT]),
    "benchmark_get_counter": (c_int32, [_HANDLE, c_size_t, _OUT]),
    "benchmark_histogram": (c_int32, [_HANDLE, c_uint32, _OUT]),
    "benchmark_format_markdown": (c_int32, [_HANDLE, c_char_p, c_char_p, c_char_p, *_BUFFER]),
    # pictures
    "snapshot_format_sparkline": (c_int32, [_HANDLE, c_uint32, c_uint32, *_BUFFER]),
    "snapshot_format_chart": (c_int32, [_HANDLE, c_uint32, c_char_p, c_char_p, c_uint32, c_uint32, c_uint32, *_BUFFER]),
    "pictures_format_svg": (c_int32, [c_void_p, c_void_p, c_size_t, c_uint32, c_char_p, c_char_p, _OUT, *_BUFFER]),
    "report_format_html": (c_int32, [c_void_p, c_void_p, c_size_t, c_char_p, c_char_p, *_BUFFER]),
    # time
    "clock_init": (c_int32, []),
    "clock_ticks": (c_uint64, [c_uint32]),
    "clock_frequency": (c_int32, [c_uint32, POINTER(c_uint64)]),
    "clock_convert": (c_uint64, [c_uint32, c_uint64, c_uint32]),
    "scope_begin": (None, [_HANDLE, c_uint32, c_uint32, _OUT]),
    "scope_end": (c_uint64, [_OUT]),
    # performance counters
    "event_parse": (c_int32, [c_char_p, _OUT, _ERROR]),
    "perf_probe": (c_int32, [_OUT, _ERROR]),
    "session_create": (c_int32, [_OUT, c_void_p, c_size_t, _OUT, _ERROR]),
    "session_free": (None, [_HANDLE]),
    "session_length": (c_int32, [_HANDLE, _SIZE_OUT]),
    "session_event": (c_int32, [_HANDLE, c_size_t, _OUT]),
    "session_event_info": (c_int32, [_HANDLE, c_size_t, _OUT]),
    "session_enable": (c_int32, [_HANDLE, _ERROR]),
    "session_disable": (c_int32, [_HANDLE, _ERROR]),
    "session_calibrate": (c_int32, [_HANDLE, _ERROR]),
    "session_read": (c_int32, [_HANDLE, c_uint32, _ERROR]),
    "session_record": (c_int32, [_HANDLE, c_uint32]),
    "session_readings": (c_int32, [_HANDLE, c_uint32, _OUT, c_size_t]),
    "session_reset": (c_int32, [_HANDLE, _ERROR]),
    "session_histogram": (c_int32, [_HANDLE, c_size_t, _OUT]),
    "work_add_chain_256": (None, [c_uint64]),
}


class Functions:
    """The functions of the library, without their prefix: ``functions.histogram_record``."""

    def __init__(self, library: ctypes.CDLL) -> None:
        for name, (result, arguments) in _PROTOTYPES.items():
            function = getattr(library, "picollo_" + name)
            function.restype = result
            function.argtypes = arguments
            setattr(self, name, function)

    # Only for type checkers: every attribute is set by __init__.
    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


def _file_name() -> str:
    if sys.platform == "darwin":
        return "libpicollo.dylib"
    if sys.platform == "win32":
        return "picollo.dll"
    return "libpicollo.so"


def candidates(package: Path) -> list[tuple[str, str]]:
    """Where to look, best first: what to hand to the loader, and why it is looked at.

    With the environment variable set, nothing else is tried: whoever names a library wants that one or an error.
    """
    override = os.environ.get(ENVIRONMENT_VARIABLE)
    if override:
        return [(override, f"the environment variable {ENVIRONMENT_VARIABLE}")]
    name = _file_name()
    found = [(str(package / name), "inside the package")]
    repository = package.parent.parent
    for part in ("target/stage/lib", "target/release"):
        found.append((str(repository / part / name), "the repository's build"))
    if sys.platform == "linux":  # where the name without a version comes with the headers only
        found.append((f"{name}.{_SONAME_VERSION}", "the system's loader"))
    found.append((name, "the system's loader"))
    return found


def _reason_against(library: ctypes.CDLL) -> Optional[str]:
    """Why this library does not fit the package; ``None`` when it does."""
    try:
        version = library.picollo_abi_version
    except AttributeError:
        return "has no picollo_abi_version, so it is not libpicollo"
    version.restype = c_uint32
    version.argtypes = []
    if version() != structs.ABI_VERSION:
        return f"its ABI version is {version()}, this package needs {structs.ABI_VERSION}"
    missing = [f"picollo_{name}" for name in _PROTOTYPES if not hasattr(library, f"picollo_{name}")]
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
    """Ties the life of a new handle to the pointer object that passes it to C.

    A call's arguments are alive for the time of the call. So a handle that another thread closes in the middle of a call
    (or between looking it up and calling) is freed only after that call.
    """
    # An exact c_void_p, as subclasses take a slower way through ctypes; it has an attribute dictionary of its own.
    handle.owner = Owner(handle.value or 0, free)  # type: ignore[attr-defined]
    return handle
