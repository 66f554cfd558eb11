"""The text of a log in UTF-8, from any source: in whole lines, with bounded memory."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import zlib
from itertools import chain
from typing import Any, Iterator, Optional

#: The number of bytes read at once.
PIECE = 1 << 18
#: No useful line of a log is longer: one with six million different counts is shorter.
LONGEST_LINE = 1 << 27

_GZIP = b"\x1f\x8b"
#: Encodings of HdrHistogram.NET's logs, and of Windows shells that redirect a tool's output.
_UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


class TooLong(Exception):
    """A line exceeds the maximum length."""


class LineSource:
    """The text of a log in UTF-8, from any source, in whole lines."""

    def __init__(self, source: Any) -> None:
        self._closes = contextlib.ExitStack()
        raw: Any
        if isinstance(source, str) and ("\n" in source or "\r" in source):
            self.name, raw = "<str>", io.BytesIO(source.encode("utf-8", "surrogatepass"))
        elif isinstance(source, (bytes, bytearray, memoryview)):
            self.name, raw = "<bytes>", io.BytesIO(source)
        elif hasattr(source, "read"):
            name = getattr(source, "name", None)
            self.name, raw = name if isinstance(name, str) else f"<{type(source).__name__}>", source
        elif isinstance(source, (str, os.PathLike)):
            self.name = os.fspath(source)
            raw = self._closes.enter_context(open(source, "rb"))
        else:
            raise TypeError(f"source must be a path, a file, bytes, or a str with lines, not {type(source).__name__}")
        # Takes the available bytes instead of waiting for more.
        self._read = getattr(raw, "read1", raw.read)
        self._lines: Optional[Iterator[bytes]] = self._all_lines()

    def _pieces(self) -> Iterator[bytes]:
        """The pieces of the file, unchanged."""
        while (piece := self._read(PIECE)) != "" and piece != b"":
            if isinstance(piece, str):
                piece = piece.encode("utf-8", "surrogatepass")
            elif piece is None:
                raise BlockingIOError(f"{self.name} has nothing to read yet: use a file whose reads block")
            yield bytes(piece)

    def _text(self) -> Iterator[bytes]:
        """The pieces, decompressed and in UTF-8."""
        first, pieces = _begun(self._pieces())
        if first.startswith(_GZIP):
            first, pieces = _begun(_unpacked(chain((first,), pieces)))
        codec = _UTF_16.get(first[:2])
        if codec is None:
            yield from chain((first,), pieces)
            return
        # Invalid halves of characters become U+FFFD; one at the end of a piece waits for its other half.
        decoder = codecs.getincrementaldecoder(codec)("replace")
        for piece in chain((first[2:],), pieces):
            yield decoder.decode(piece).encode("utf-8")

    def _all_lines(self) -> Iterator[bytes]:
        rest: list[bytes] = []
        length = 0
        for piece in self._text():
            # A piece may end between \r and \n.
            end = max(piece.rfind(b"\n"), piece.rfind(b"\r", 0, -1)) + 1
            if end:
                yield b"".join((*rest, piece[:end]))
                rest, length = [], 0
            rest.append(piece[end:])
            length += len(piece) - end
            if length > LONGEST_LINE:
                raise TooLong(f"this line is longer than {LONGEST_LINE:,} bytes")
        if last := b"".join(rest):
            yield last

    def lines(self) -> Optional[bytes]:
        """Returns the whole lines of a piece, at the end the rest without a line end, and then ``None``."""
        if self._lines is None:
            # If a read failed or was interrupted, the rest must not look like the end.
            raise OSError(f"{self.name}: an earlier read failed")
        lines, self._lines = self._lines, None
        text = next(lines, None)
        self._lines = lines
        return text

    def close(self) -> None:
        self._lines = iter(())
        self._closes.close()


def _begun(pieces: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The beginning, and the rest. One byte cannot identify the format, but the first piece may be that short."""
    first = b""
    for piece in pieces:
        first += piece
        if len(first) >= 2:
            break
    return first, pieces


def _unpacked(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Decompresses gzip data of one or more parts."""
    unpacking = zlib.decompressobj(31)
    for piece in pieces:
        # Padding may follow each part.
        while piece := piece.lstrip(b"\0") if unpacking.eof else piece:
            if unpacking.eof:
                unpacking = zlib.decompressobj(31)
            yield unpacking.decompress(piece, PIECE)
            piece = unpacking.unconsumed_tail or unpacking.unused_data
    if not unpacking.eof:
        raise EOFError("the compressed data is incomplete")
