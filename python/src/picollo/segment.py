"""Histograms that other processes watch while the program runs. See ``docs/watch-from-outside.md``."""

from __future__ import annotations

import os
from ctypes import byref, c_uint64
from typing import Mapping, Optional, Union

from . import _structs as structs
from ._arguments import MODES, checked_error, choice, u64
from ._calls import c_text, create, explained, fetch, read_text, titled
from ._handle import Handle
from ._library import held, own, released
from .histogram import Histogram, Mode
from .registry import MetricCounter, _options

__all__ = ["Segment"]


def _histogram(relative_error: float, min: int, max: Optional[int], mode: Optional[Mode]) -> structs.HistogramOptions:
    return structs.options(
        structs.HistogramOptions,
        relative_error=checked_error(relative_error),
        min_trackable=u64(min, "min"),
        max_trackable=0 if max is None else u64(max, "max"),
        mode=0 if mode is None else choice(mode, MODES, "mode"),
    )


class Segment(Handle):
    """A file in memory that contains histograms and counters. ``picollo list`` and ``picollo show`` read it while this
    program runs, and after it crashed. Linux only.

    ::

        with picollo.Segment("checkout") as segment:
            latency = segment.histogram("request", unit="ns", labels={"route": "/pay"})
        latency.record(1_234_567)

    Forked workers write into the segment that they inherit. The histograms outlive the handle.

    :param name: 1 to 64 letters, digits, ``_`` and ``-``; default: the program's name.
    :param directory: the file's directory; default: ``$PICOLLO_DIR``, or a directory of this user in memory.
    :param max_bytes: the maximum size of the file; 0: 128 MiB.
    :param keep: keep the file when the process ends normally.
    :param on_disk: also accept a directory that is not in memory; records may then wait for the disk.
    :param interlocked: histograms without a mode have one set of counters, which all add to atomically, instead of one
        for each CPU: less memory, and less to read.
    :param live_reset: histograms can be reset: three times the memory, and interlocked by default. Per-CPU ones cannot.
    :raises UnsupportedError: on systems other than Linux, and for a directory that is not in memory.
    """

    __slots__ = ()

    _KIND = "segment"
    _NOT_PICKLED = "a segment cannot be pickled; its path can be sent"

    def __init__(
        self,
        name: str = "",
        *,
        directory: Union[str, "os.PathLike[str]"] = "",
        max_bytes: int = 0,
        keep: bool = False,
        on_disk: bool = False,
        interlocked: bool = False,
        live_reset: bool = False,
    ) -> None:
        self._pointer = None
        options = structs.options(
            structs.SegmentOptions,
            flags=structs.flags("SEGMENT", KEEP=keep, ON_DISK=on_disk, INTERLOCKED=interlocked, LIVE_RESET=live_reset),
            max_bytes=u64(max_bytes, "max_bytes"),
            name=c_text(name, "name"),
            directory=c_text(os.fspath(directory), "directory"),
        )
        self._pointer = own(create(released.segment_create, byref(options)), held.segment_free)

    @classmethod
    def attach(cls, path: Union[str, "os.PathLike[str]"] = "") -> Segment:
        """Opens a segment that another process made; default: the environment variable ``PICOLLO_SEGMENT``."""
        segment = cls.__new__(cls)
        segment._pointer = None
        segment._pointer = own(create(released.segment_attach, c_text(os.fspath(path), "path")), held.segment_free)
        return segment

    @property
    def path(self) -> str:
        """The path, for :meth:`attach` in other processes."""
        return read_text(lambda *buffer: held.segment_path(self._handle(), *buffer), "path")

    def histogram(
        self,
        name: str,
        *,
        unit: str = "",
        help: str = "",
        labels: Optional[Mapping[str, str]] = None,
        divisor: float = 1.0,
        relative_error: float = 0.01,
        min: int = 0,
        max: Optional[int] = None,
        mode: Optional[Mode] = None,
    ) -> Histogram:
        """The histogram with this name and these labels: the existing one, or a new one. Resets need ``live_reset``.

        :param unit: of the recorded values, such as ``ns``. The histogram's name here includes it: ``"request (ns)"``.
        :param divisor: exported values are divided by this.
        :param max: with ``min`` 0 and no ``max``, values from 1 to 3.6e12 are tracked, an hour in nanoseconds.
        :param mode: by default and with ``"per_cpu"``, any thread and process may record; by default there are counters
            for each CPU if the machine has few. ``"single_writer"``: only the thread that made it may record. Others
            are refused when they ask for it, and a forked child that records into an inherited one loses counts.
        :raises IncompatibleError: if there is one with another layout or mode, or another thread's.
        :raises UnsupportedError: for the other modes.
        :raises OutOfMemoryError: if the segment or the file system is full.
        """
        options = _histogram(relative_error, min, max, mode)
        metric = _options(name, help, unit, labels, divisor)
        pointer = create(released.segment_histogram, self._handle(), byref(metric), byref(options))
        histogram = Histogram.__new__(Histogram)
        histogram._take(pointer, titled(name, unit), many_writers=mode != "single_writer", options=None)
        return histogram

    def counter(
        self,
        name: str,
        *,
        unit: str = "",
        help: str = "",
        labels: Optional[Mapping[str, str]] = None,
        divisor: float = 1.0,
        striped: bool = False,
    ) -> MetricCounter:
        """The counter with this name and these labels, the existing one or a new one at zero: see :meth:`histogram`.

        :param striped: the counter has sixteen words, of which the CPU chooses one, so that neither threads nor forked
            workers wait for each other: 1 KB.
        :raises IncompatibleError: also if one is striped and the other is not.
        """
        metric = _options(name, help, unit, labels, divisor, STRIPED=striped)
        return MetricCounter(create(released.segment_counter, self._handle(), byref(metric)), 0)

    def retire(self, name: str, *, labels: Optional[Mapping[str, str]] = None) -> None:
        """Removes the histogram or counter with this name and these labels. No reader sees it any more, except those
        that already did, and the next request for it gets a new one. Existing objects stay valid; the memory stays in
        use.

        :raises InvalidArgumentError: if there is none with that name.
        """
        explained(released.segment_retire, self._handle(), byref(_options(name, "", "", labels, 1.0)))

    @staticmethod
    def estimate(
        *,
        relative_error: float = 0.01,
        min: int = 0,
        max: Optional[int] = None,
        mode: Optional[Mode] = None,
        interlocked: bool = False,
        live_reset: bool = False,
    ) -> int:
        """Bytes that a histogram takes in a segment.

        :param interlocked: as for the segment; likewise ``live_reset``.
        """
        options = _histogram(relative_error, min, max, mode)
        flags = structs.flags("SEGMENT", INTERLOCKED=interlocked, LIVE_RESET=live_reset)
        return int(fetch(c_uint64, "estimate", held.segment_estimate, byref(options), flags).value)

    def __repr__(self) -> str:
        return f"<picollo.Segment {'closed' if self._pointer is None else self.path}>"
