"""Figures derived from counts."""

from __future__ import annotations

import math
import random
from typing import Sequence

import picollo
import pytest


def jackknife(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Ratio of sums, and the standard error by leaving one scope out at a time."""
    value = sum(a) / sum(b)
    others = [(sum(a) - x) / (sum(b) - y) for x, y in zip(a, b)]
    return value, math.sqrt(sum((other - value) ** 2 for other in others) * (len(a) - 1) / len(a))


def test_ratios_are_of_sums_and_have_an_interval() -> None:
    source = random.Random(1)
    cycles = [source.randint(1000, 9000) for _ in range(500)]
    instructions = [count * source.uniform(1, 2) for count in cycles]
    found = picollo.figure("ipc", {"instructions": instructions, "cycles": cycles})
    value, error = jackknife(instructions, cycles)
    assert found.value == pytest.approx(value, rel=1e-12)
    assert found.scopes == 500 and not found.is_partial and found.confidence == 0.95
    assert found.lower is not None and found.upper is not None
    # Student's, of the effective number of scopes: hardly wider than the normal distribution's.
    assert 1.96 * error < found.upper - found.value < 2.0 * error
    assert found.upper - found.value == pytest.approx(found.value - found.lower, rel=1e-9)


def test_formulas_of_ones_own() -> None:
    found = picollo.figure("1000 * max(a, b) - (a - 1)", {"a": [1, 2], "b": [10, 20]})
    assert found.value == 1000 * 30 - 2
    with pytest.raises(picollo.InvalidArgumentError, match="at byte 4"):
        picollo.figure("a / x", {"a": [1]})
    with pytest.raises(picollo.InvalidArgumentError, match="not 0"):
        picollo.figure("1", {})
    with pytest.raises(ValueError):
        picollo.figure("a", {"a": [1], "b": []})
    with pytest.raises(ValueError):
        picollo.figure("a", {"a b": [1]})
    for confidence in (0, 1, math.nan):
        with pytest.raises(ValueError):
            picollo.figure("a", {"a": [1]}, confidence=confidence)


def test_not_counted_is_never_zero() -> None:
    with pytest.raises(picollo.NotCountedError, match="cycles was not counted"):
        picollo.figure("ipc", {"instructions": [1, 2], "cycles": [None, None]})
    with pytest.raises(picollo.EmptyError, match="divided by zero"):
        picollo.figure("ipc", {"instructions": [1], "cycles": [0]})
    found = picollo.figure("ipc", {"instructions": [1, 2, 100], "cycles": [1, 2, None]})
    assert (found.value, found.scopes, found.is_partial) == (1.0, 2, True)
    one = picollo.figure("ipc", {"instructions": [1], "cycles": [2]})
    assert one == (0.5, None, None, 0.95, 1, False)


def test_built_in_figures() -> None:
    found = picollo.figures()
    assert found["ipc"] == "instructions / cycles" and found["clock"] == "cycles / task-clock"
    assert len(found) > 20 and all(not name.startswith("event") for name in found)
    planted = {"topdown-retiring": [40], "topdown-bad-spec": [10], "topdown-fe-bound": [20], "topdown-be-bound": [30]}
    parts = ["tma-retiring", "tma-bad-speculation", "tma-frontend-bound", "tma-backend-bound"]
    assert [picollo.figure(part, planted).value for part in parts] == [0.4, 0.1, 0.2, 0.3]
