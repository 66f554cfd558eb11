"""Figures derived from counts, as instructions per cycle, and how well they are known. See ``docs/counters.md``."""

from __future__ import annotations

import ctypes
import math
from ctypes import byref
from typing import Any, Mapping, NamedTuple, Optional, Sequence

from . import _structs as structs
from ._library import released
from ._text import c_text, read_text
from .errors import check_detail

__all__ = ["Figure", "FigureTail", "figure", "figure_tail", "figures"]


class Figure(NamedTuple):
    """A figure of many scopes: the formula of the sums of events, and the interval that holds the true one."""

    #: The formula of the sums, never the mean of the scopes' own figures.
    value: float
    #: The lower end of the interval; ``None`` where there are too few scopes.
    lower: Optional[float]
    #: Its upper end.
    upper: Optional[float]
    #: The confidence asked for.
    confidence: float
    #: How many scopes are in it.
    scopes: int
    #: In some scopes an event was not counted: they are left out.
    is_partial: bool


def figure(formula: str, counts: Mapping[str, Sequence[Optional[float]]], *, confidence: float = 0.95) -> Figure:
    """Estimates a figure of many scopes, which may be of unequal sizes.

    ::

        picollo.figure("ipc", {"instructions": [3e6, 5e6], "cycles": [2e6, 4e6]})
        picollo.figure("1000 * faults / calls", {"faults": [1, 3, None], "calls": [900, 1100, 1000]})

    :param formula: a formula (``+ - * /``, ``min``, ``max``, parentheses, numbers, names of events), or the name of one of
        :func:`figures`.
    :param counts: for each event its counts, scope by scope; ``None`` where it was not counted.
    :raises InvalidArgumentError: where the formula is none, or has an event that ``counts`` has not.
    :raises NotCountedError: where an event was counted in no scope.
    :raises EmptyError: where it would be divided by zero.
    :raises ValueError: where events have unequal numbers of scopes.
    """
    names, scopes, rows = _rows(counts, confidence)
    raw, error = structs.FigureEstimate(), structs.Error()
    status = released.figure_compute(
        c_text(formula, "formula"), " ".join(names).encode(), rows, scopes, confidence, byref(raw), byref(error)
    )
    check_detail(status, error, names)
    return _figure(raw)


class FigureTail(NamedTuple):
    """A figure of the slowest scopes, and of all others."""

    tail: Figure
    rest: Figure


def figure_tail(
    formula: str,
    counts: Mapping[str, Sequence[Optional[float]]],
    durations: Sequence[Optional[float]],
    *,
    share: float = 0.01,
    confidence: float = 0.95,
) -> FigureTail:
    """Estimates a figure of the slowest scopes, and of the rest: whether it holds where it is slow.

    ::

        found = picollo.figure_tail("ipc", {"instructions": instructions, "cycles": cycles}, times)
        print(f"the tail: {found.tail.value:.1f} instructions per cycle, and {found.rest.value:.1f} elsewhere")

    :param formula: as of :func:`figure`, and so are ``counts``.
    :param durations: what each scope took, in any unit; ``None`` where that is not known: such a scope is in neither.
    :param share: how many of the scopes are slow: at least one, and also those that took exactly as long as the fastest of these.
    :raises EmptyError: also where all scopes took equally long.
    """
    names, scopes, rows = _rows(counts, confidence)
    if len(durations) != scopes:
        raise ValueError("there are as many durations as scopes")
    if not 0 < share < 1:
        raise ValueError(f"share must be between 0 and 1, not {share}")
    times = (ctypes.c_double * scopes)(*(math.nan if value is None else float(value) for value in durations))
    tail, rest, error = structs.FigureEstimate(), structs.FigureEstimate(), structs.Error()
    joined = " ".join(names).encode()
    outputs = byref(tail), byref(rest), byref(error)
    status = released.figure_compute_tail(c_text(formula, "formula"), joined, rows, times, scopes, share, confidence, *outputs)
    check_detail(status, error, names)
    return FigureTail(_figure(tail), _figure(rest))


def _rows(counts: Mapping[str, Sequence[Optional[float]]], confidence: float) -> tuple[tuple[str, ...], int, Any]:
    """The events, how many scopes there are, and a row of counts for each."""
    names = tuple(counts)
    if any(len(name.split()) != 1 for name in names):
        raise ValueError("names of events have no spaces")
    columns = [[math.nan if value is None else float(value) for value in column] for column in counts.values()]
    scopes = len(columns[0]) if columns else 0
    if any(len(column) != scopes for column in columns):
        raise ValueError("each event has as many counts as there are scopes")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, not {confidence}")
    return names, scopes, (ctypes.c_double * (scopes * len(columns)))(*(value for row in zip(*columns) for value in row))


def _figure(raw: structs.FigureEstimate) -> Figure:
    few = bool(raw.flags & structs.FIGURE_FEW_SCOPES)
    return Figure(
        value=float(raw.value),
        lower=None if few else float(raw.lower),
        upper=None if few else float(raw.upper),
        confidence=float(raw.confidence),
        scopes=int(raw.scopes),
        is_partial=bool(raw.flags & structs.FIGURE_PARTIAL),
    )


def figures() -> dict[str, str]:
    """The formulas of the built-in figures, by name."""
    found = {}
    for line in read_text(released.figures_format, "figures").splitlines():
        if line and line[0] not in " #" and not line.startswith("event "):
            head, formula = line.split("=", 1)
            found[head.split("[")[0].strip()] = formula.strip()
    return found
