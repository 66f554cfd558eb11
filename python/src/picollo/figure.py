"""Figures derived from counts, such as instructions per cycle, and how precise they are. See ``docs/counters.md``."""

from __future__ import annotations

import ctypes
import math
from ctypes import byref
from typing import Mapping, NamedTuple, Optional, Sequence

from . import _structs as structs
from ._calls import c_text, explained
from ._library import released

__all__ = ["Figure", "figure"]


class Figure(NamedTuple):
    """A figure of many scopes, from the sums of events, with the interval that contains the true one."""

    #: From the sums, never the mean of the scopes' figures.
    value: float
    #: The lower end of the interval; ``None`` if there are too few scopes.
    lower: Optional[float]
    #: Its upper end.
    upper: Optional[float]
    #: The requested confidence.
    confidence: float
    #: The number of scopes in it.
    scopes: int
    #: An event was not counted in some scopes: they are left out.
    is_partial: bool


def figure(name: str, counts: Mapping[str, Sequence[Optional[float]]], *, confidence: float = 0.95) -> Figure:
    """Estimates a figure of many scopes, which may be of unequal sizes.

    ::

        picollo.figure("ipc", {"instructions": [3e6, 5e6], "cycles": [2e6, 4e6]})
        picollo.figure("branch-mpki", {"branch-misses": [1, 3, None], "instructions": [900, 1100, 1000]})

    :param name: of a figure; ``docs/counters.md`` lists them with their events.
    :param counts: for each event its counts, scope by scope; ``None`` if it was not counted.
    :raises InvalidArgumentError: if there is no such figure, or ``counts`` lacks one of its events.
    :raises NotCountedError: if an event was counted in no scope.
    :raises EmptyError: if the divisor would be zero.
    :raises ValueError: if events have unequal numbers of scopes.
    """
    names = tuple(counts)
    if any(len(event.split()) != 1 for event in names):
        raise ValueError("names of events have no spaces")
    columns = [[math.nan if value is None else float(value) for value in column] for column in counts.values()]
    scopes = len(columns[0]) if columns else 0
    if any(len(column) != scopes for column in columns):
        raise ValueError("each event has as many counts as there are scopes")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, not {confidence}")
    rows = (ctypes.c_double * (scopes * len(columns)))(*(value for row in zip(*columns) for value in row))
    raw, given = structs.FigureEstimate(), (c_text(name, "name"), " ".join(names).encode(), rows, scopes, confidence)
    explained(released.figure_compute, *given, byref(raw), events=names)
    few = bool(raw.flags & structs.FIGURE_FEW_SCOPES)
    lower, upper = (None, None) if few else (float(raw.lower), float(raw.upper))
    return Figure(float(raw.value), lower, upper, float(raw.confidence), int(raw.scopes), bool(raw.flags & structs.FIGURE_PARTIAL))
