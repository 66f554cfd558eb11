"""The bytes of a log, whatever it is read from: by whole lines, in bounded memory."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
from typing import Any, Callable, Optional

#: So much is read at once.
PIECE = 1 << 18
#: No line of a log that someone can use is longer: one of six million different counts has less.
LONGEST_LINE = 1 << 27

_GZIP = b"\x1f\x8b"


class TooLong(Exception):
    """A line is longer than anyone can use."""


class LineSource:
    """The bytes of a log, whatever it is read from, by whole lines."""

    def __init__(self, source: Any) -> None:
        self._closes = contextlib.ExitStack()
        self.size: Optional[int] = None
        self._read_bytes = 0
        raw: Any
        if isinstance(source, str) and ("\n" in source or "\r" in source):
            self.name, raw, self.size = "<str>", io.BytesIO(source.encode("utf-8", "surrogatepass")), len(source)
        elif isinstance(source, (bytes, bytearray, memoryview)):
            self.name, raw, self.size = "<bytes>", io.BytesIO(source), len(source)
        elif hasattr(source, "read"):
            name = getattr(source, "name", None)
            self.name, raw = name if isinstance(name, str) else f"<{type(source).__name__}>", source
        elif isinstance(source, (str, os.PathLike)):
            self.name = os.fspath(source)
            raw = self._closes.enter_context(open(source, "rb"))
        else:
            raise TypeError(
                f"a log is read from a path, a file, bytes, or a str with lines, not from {type(source).__name__}"
            )
        if self.size is None:
            with contextlib.suppress(OSError, ValueError, AttributeError, TypeError):
                self.size = os.fstat(raw.fileno()).st_size or None
        # What is there, rather than waiting for more of it.
        self._read: Callable[[int], Any] = getattr(raw, "read1", raw.read)
        self._rest: list[bytes] = []
        self._is_done = False
        self._file: Any = None

    @property
    def position(self) -> int:
        return self._read_bytes

    def _from_raw(self, size: int) -> bytes:
        piece = self._read(size)
        if isinstance(piece, str):
            piece = piece.encode("utf-8", "surrogatepass")
        elif piece is None:
            raise BlockingIOError(f"{self.name} has nothing to read yet: logs are read from files that block")
        self._read_bytes += len(piece)
        return bytes(piece)

    def _piece(self) -> bytes:
        if self._file is None:
            first = self._from_raw(PIECE)
            # One byte is too few to tell; text files count in characters.
            while len(first) == 1 and (more := self._from_raw(1)):
                first += more
            if first.startswith(_GZIP):
                self._file = gzip.GzipFile(fileobj=_Rejoined(first, self._from_raw))
            else:
                self._file = self
                return first
        piece: bytes = self._from_raw(PIECE) if self._file is self else self._file.read1(PIECE)
        return piece

    def lines(self) -> bytes:
        """Whole lines, as many as there are in a piece; none at the end."""
        length = sum(map(len, self._rest))
        while not self._is_done:
            piece = self._piece()
            if not piece:
                self._is_done = True
                break
            # A line may end in \r\n, with the piece between them.
            end = max(piece.rfind(b"\n"), piece.rfind(b"\r", 0, -1)) + 1
            text = b"".join((*self._rest, piece[:end])) if end else b""
            if end:
                self._rest = [piece[end:]]
                return text
            self._rest.append(piece)
            length += len(piece)
            if length > LONGEST_LINE:
                raise TooLong(f"this line is longer than {LONGEST_LINE:,} bytes")
        text, self._rest = b"".join(self._rest), []
        return text

    def end(self) -> None:
        """Reads no more."""
        self._is_done, self._rest = True, []

    def close(self) -> None:
        self._closes.close()


class _Rejoined(io.RawIOBase):
    """A file whose beginning was read already."""

    def __init__(self, first: bytes, read: Callable[[int], bytes]) -> None:
        self._first = first
        self._read = read

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        size = PIECE if size < 0 else size
        if self._first:
            piece, self._first = self._first[:size], self._first[size:]
            return piece
        return self._read(size)
