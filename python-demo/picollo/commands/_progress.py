"""A progress bar for people who wait."""

from __future__ import annotations

import sys
import time
from typing import Optional, TextIO

#: Seconds until there is a bar at all, and between two of its pictures.
_PATIENCE, _BETWEEN = 0.5, 0.1
_WIDTH = 30


class Progress:
    """Shows how much of something is done, on a terminal, once it takes long enough to be noticed.

    :param total: ``None`` when it is unknown.
    :param is_on: whether to show anything (default: if ``stream`` is a terminal).
    """

    def __init__(self, total: Optional[int], is_on: Optional[bool] = None, stream: Optional[TextIO] = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._is_on = self._stream.isatty() if is_on is None else is_on
        self._total = total
        self._began = time.monotonic()
        self._next = self._began + _PATIENCE
        self._shown = ""

    def update(self, done: int, what: str = "") -> None:
        """Tells how many bytes are done."""
        now = time.monotonic()
        if self._is_on and now >= self._next:
            self._next = now + _BETWEEN
            self._show(self._line(done, now - self._began) + (f"  {what}" if what else ""))

    def _line(self, done: int, seconds: float) -> str:
        rate = done / seconds
        text = f"{done / 1e6:,.0f} MB, {rate / 1e6:,.0f} MB/s"
        if not self._total:
            return text
        share = min(done / self._total, 1.0)
        bar = "#" * round(share * _WIDTH)
        left = (self._total - done) / rate if rate else 0.0
        return f"{share:4.0%} [{bar:<{_WIDTH}}] {text}, {max(left, 0.0):,.0f} s left"

    def _show(self, line: str) -> None:
        # Over the line before, and no wider than a terminal usually is.
        line = line[:79]
        self._stream.write("\r" + line.ljust(len(self._shown)) + ("\r" if not line else ""))
        self._stream.flush()
        self._shown = line

    def clear(self) -> None:
        """Takes the bar away."""
        if self._shown:
            self._show("")

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        self.clear()
