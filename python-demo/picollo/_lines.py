"""The text of a log in UTF-8, whatever it is read from: by whole lines, in bounded memory."""

from __future__ import annotations

import codecs
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
#: What HdrHistogram.NET writes, and a Windows shell that redirects what a tool writes.
_UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


class TooLong(Exception):
    """A line is longer than anyone can use."""


class LineSource:
    """The text of a log in UTF-8, whatever it is read from, by whole lines.

    :param skip: so many bytes of that text are passed over.
    """

    def __init__(self, source: Any, skip: int = 0) -> None:
        self._closes = contextlib.ExitStack()
        self.size: Optional[int] = None
        self._read_bytes = 0
        self._skip = skip
        #: Opened here, so that it can be moved in.
        self._file: Any = None
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
            raw = self._file = self._closes.enter_context(open(source, "rb"))
        else:
            raise TypeError(
                f"a log is read from a path, a file, bytes, or a str with lines, not from {type(source).__name__}"
            )
        if self.size is None:
            with contextlib.suppress(OSError, ValueError, AttributeError, TypeError):
                self.size = os.fstat(raw.fileno()).st_size or None
        # What is there, rather than waiting for more of it.
        self._read: Callable[[int], Any] = getattr(raw, "read1", raw.read)
        #: What pieces come from, once they were looked into: as they are in the file, or unpacked.
        self._from: Callable[[int], bytes] = self._from_raw
        self._is_plain, self._is_open = True, False
        self._unread = b""
        self._decoder: Optional[codecs.IncrementalDecoder] = None
        self._rest: list[bytes] = []
        #: Whether there are no more lines.
        self.is_done = False

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

    def _look(self) -> None:
        """Reads the first bytes: one is too few to tell what they are; text files count in characters."""
        while len(self._unread) < 2 and (more := self._from(1 if self._unread else PIECE)):
            self._unread += more

    def _open(self) -> None:
        self._look()
        if self._is_plain and self._unread.startswith(_GZIP):
            self._from = gzip.GzipFile(fileobj=_Rejoined(self._unread, self._from_raw)).read1
            self._is_plain, self._unread = False, b""
            self._look()
        codec = _UTF_16.get(self._unread[:2])
        if codec is not None:
            # Halves of characters become U+FFFD; one at the end waits for its other half.
            self._decoder = codecs.getincrementaldecoder(codec)("replace")
            self._unread = self._unread[2:]
        elif self._is_plain and self._skip > len(self._unread) and self._file is not None and self._file.seekable():
            self._read_bytes = self._file.seek(self._skip)
            self._skip, self._unread = 0, b""
        self._is_open = True

    def _piece(self) -> bytes:
        """Some text; none at the end."""
        if not self._is_open:
            self._open()
        while piece := self._unread or self._from(PIECE):
            self._unread = b""
            if self._decoder is not None:
                piece = self._decoder.decode(piece).encode("utf-8")
            skipped = min(self._skip, len(piece))
            self._skip -= skipped
            if len(piece) > skipped:
                return piece[skipped:]
        return b""

    def lines(self) -> bytes:
        """Whole lines, as many as there are in a piece; none at the end."""
        length = sum(map(len, self._rest))
        while not self.is_done:
            piece = self._piece()
            if not piece:
                self.is_done = True
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
        self.is_done, self._rest = True, []

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
