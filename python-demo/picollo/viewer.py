"""Reading segments from outside: what other programs publish. See ``docs/segments.md``."""

from __future__ import annotations

import os
from ctypes import byref, c_size_t, c_uint64, c_void_p
from typing import Any, Dict, List, Literal, NamedTuple, Optional, Union

from . import _structs as structs
from ._arguments import u64
from ._handle import Handle, new_lock
from ._library import held, own, released
from ._text import c_name, c_text, read_text
from .errors import check, check_detail
from .snapshot import Snapshot

__all__ = ["SegmentEntry", "SegmentInfo", "Viewer", "segments"]


class SegmentInfo(NamedTuple):
    """What a segment says of itself."""

    #: What it is called.
    name: str
    #: The program that made it.
    program: str
    #: The process that made it, as it saw itself.
    pid: int
    #: Whether a process has it; ``False`` when all have ended.
    is_live: bool
    #: When it was made, in nanoseconds since 1970.
    created_unix_nanos: int
    #: Entries that can be read.
    entries: int
    #: How often an entry was refused because something was full.
    refused: int
    #: Bytes of memory that the file takes.
    memory: int
    #: Bytes that it may come to take.
    capacity: int


class SegmentEntry(NamedTuple):
    """What is published in a segment under one name."""

    #: Where it is, for :meth:`Viewer.snapshot` and :meth:`Viewer.counter`.
    position: int
    kind: Literal["histogram", "counter"]
    name: str
    #: The unit of its values as recorded; may be empty.
    unit: str
    help: str
    labels: Dict[str, str]
    #: Values are divided by this where they are exported.
    divisor: float
    #: Since when there are counts, in nanoseconds since 1970.
    created_unix_nanos: int
    #: Bytes of memory that it takes.
    bytes: int
    #: Of a single-writer histogram: the process that writes it, as it sees itself.
    writer: Optional[int]
    #: Whether the program has taken it out since this viewer first saw it; what was counted before can still be read.
    is_retired: bool


#: An entry, or its position.
Entry = Union[SegmentEntry, int]


def segments() -> List[str]:
    """The paths of all segments of this user, also of those that have ended; what they say of themselves tells
    :attr:`Viewer.info`."""
    return read_text(released.viewer_list, "segments").splitlines()


class Viewer(Handle):
    """Reads a segment from outside, while its program runs or after it ended. Never writes to it. Linux only.

    ::

        with picollo.Viewer.find("checkout") as viewer:
            for entry in viewer.entries:
                print(entry.name, entry.labels)
            latency = viewer.snapshot(0)
            time.sleep(1)
            viewer.update(0, latency, deltas=True)

    Any thread may use a viewer; calls on one follow one another.

    :param path: where the segment is.
    :raises PicolloError: names the file and the reason.
    """

    __slots__ = ("_entries", "_lock")

    _KIND = "viewer"

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self._open(released.viewer_open, c_text(os.fspath(path), "path"))

    @classmethod
    def find(cls, target: Union[str, int]) -> Viewer:
        """Opens the segment that somebody means by a path, a process, a segment's name, or a program's: of several the one that lives.

        :raises InvalidArgumentError: there is none, or there are several.
        """
        viewer = cls.__new__(cls)
        viewer._open(released.viewer_find, c_text(str(target), "target"))
        return viewer

    def _open(self, call: Any, what: bytes) -> None:
        self._pointer = None
        self._lock = new_lock(False)
        self._entries: List[SegmentEntry] = []
        pointer, error = c_void_p(), structs.Error()
        check_detail(call(what, byref(pointer), byref(error)), error)
        self._pointer = own(pointer, held.viewer_free)
        self._take_entries()

    def _take_entries(self) -> None:
        length = c_size_t()
        check(held.viewer_length(self._handle(), byref(length)), "viewer")
        entries = []
        for index in range(length.value):
            raw = structs.SegmentEntry()
            check(held.viewer_entry(self._handle(), index, byref(raw)), "entry")
            entries.append(_entry(raw, index))
        self._entries = entries

    @property
    def path(self) -> str:
        """Where the segment is."""
        with self._lock:
            return read_text(lambda *buffer: held.viewer_path(self._handle(), *buffer), "path")

    @property
    def entries(self) -> List[SegmentEntry]:
        """What is published, as of the last look: when it was opened, or :meth:`refresh`."""
        self._handle()
        with self._lock:
            return list(self._entries)

    @property
    def info(self) -> SegmentInfo:
        """What the segment says of itself, now."""
        raw, error = structs.SegmentInfo(), structs.Error()
        with self._lock:
            check_detail(released.viewer_info(self._handle(), byref(raw), byref(error)), error)
        return SegmentInfo(
            c_name(raw.name),
            c_name(raw.program),
            raw.pid,
            bool(raw.is_live),
            raw.created_unix_nanos,
            raw.entries,
            raw.refused,
            raw.memory,
            raw.capacity,
        )

    @property
    def faults(self) -> List[str]:
        """Which entries are left out, since they cannot be believed or are of another version, and why."""
        with self._lock:
            return read_text(lambda *buffer: held.viewer_faults(self._handle(), *buffer), "faults").splitlines()

    def refresh(self) -> Viewer:
        """Looks for entries that have come since, and returns the viewer itself. Those that there were keep their positions."""
        error = structs.Error()
        with self._lock:
            check_detail(released.viewer_refresh(self._handle(), byref(error)), error)
            self._take_entries()
        return self

    def snapshot(self, entry: Entry) -> Snapshot:
        """The counts of a histogram. Its :meth:`Snapshot.update` knows no histogram, and fails: see :meth:`update`.

        :raises InvalidArgumentError: the entry is no histogram, or there is none.
        """
        pointer = c_void_p()
        index = _index(entry)
        with self._lock:
            self._take(index, False, pointer)
            name = self._entries[index].name
        return Snapshot._adopt(pointer, name)

    def update(self, entry: Entry, snapshot: Snapshot, deltas: bool = False) -> Snapshot:
        """Takes the counts anew into a snapshot of this or another viewer of the segment, and returns it.

        :param deltas: count since the previous update instead of since the beginning.
        """
        with self._lock, snapshot._lock:
            self._take(_index(entry), deltas, c_void_p(snapshot._handle().value))
        return snapshot

    def counter(self, entry: Entry) -> int:
        """What a counter has counted.

        :raises InvalidArgumentError: the entry is no counter, or there is none.
        """
        count, error = c_uint64(), structs.Error()
        with self._lock:
            check_detail(released.viewer_counter(self._handle(), _index(entry), byref(count), byref(error)), error)
        return count.value

    def _take(self, index: int, deltas: bool, pointer: c_void_p) -> None:
        error = structs.Error()
        since = structs.SINCE_PREVIOUS if deltas else structs.SINCE_RESET
        check_detail(released.viewer_snapshot(self._handle(), index, since, byref(pointer), byref(error)), error)

    def __repr__(self) -> str:
        return f"<picollo.Viewer {'closed' if self._pointer is None else self.path}>"

    def __reduce__(self) -> Any:
        raise TypeError("a viewer cannot be pickled; its path can be sent")


def _index(entry: Entry) -> int:
    return entry.position if isinstance(entry, SegmentEntry) else u64(entry, "entry")


def _entry(raw: Any, index: int) -> SegmentEntry:
    labels = {raw.labels[i].name.decode(): raw.labels[i].value.decode() for i in range(raw.labels_length)}
    return SegmentEntry(
        index,
        "histogram" if raw.kind == structs.ENTRY_HISTOGRAM else "counter",
        raw.name.decode(),
        raw.unit.decode(),
        raw.help.decode(),
        labels,
        raw.divisor,
        raw.created_unix_nanos,
        raw.bytes,
        raw.writer_pid or None,
        bool(raw.is_retired),
    )
