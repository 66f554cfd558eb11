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


def test_the_tail_against_the_rest() -> None:
    source = random.Random(2)
    slow = [scope % 100 == 7 for scope in range(2000)]
    cycles = [source.uniform(5e6, 6e6) if is_slow else source.uniform(1e6, 2e6) for is_slow in slow]
    instructions = [count * (0.4 if is_slow else 1.9) for count, is_slow in zip(cycles, slow)]
    counts = {"instructions": instructions, "cycles": cycles}
    found = picollo.figure_tail("ipc", counts, cycles)
    assert found.tail.value == pytest.approx(0.4) and found.rest.value == pytest.approx(1.9)
    assert (found.tail.scopes, found.rest.scopes) == (20, 1980)
    # The same as of the two apart.
    for part, is_meant in ((found.tail, True), (found.rest, False)):
        alone = {name: [value for value, of in zip(column, slow) if of == is_meant] for name, column in counts.items()}
        assert part == picollo.figure("ipc", alone)
    half = picollo.figure_tail("a", {"a": [1, 2, 3, 4]}, [4, None, 3, 1], share=0.5)
    assert (half.tail.value, half.rest.value, half.rest.is_partial) == (1, 7, True)
    with pytest.raises(picollo.EmptyError):
        picollo.figure_tail("a", {"a": [1, 2]}, [3, 3])
    with pytest.raises(picollo.NotCountedError, match="cycles was not counted"):
        picollo.figure_tail("ipc", {"instructions": [1, 2, 3], "cycles": [1, 1, None]}, [1, 2, 3])
    for durations, share in (([1], 0.01), ([1, 2], 0), ([1, 2], 1)):
        with pytest.raises(ValueError):
            picollo.figure_tail("a", {"a": [1, 2]}, durations, share=share)
    with pytest.raises(picollo.InvalidArgumentError):
        picollo.figure_tail("a", {"a": [1, 2]}, [1, -2])


def test_built_in_figures() -> None:
    found = picollo.figures()
    assert found["ipc"] == "instructions / cycles" and found["clock"] == "cycles / task-clock"
    assert len(found) > 20 and all(not name.startswith("event") for name in found)
    planted = {"topdown-retiring": [40], "topdown-bad-spec": [10], "topdown-fe-bound": [20], "topdown-be-bound": [30]}
    parts = ["tma-retiring", "tma-bad-speculation", "tma-frontend-bound", "tma-backend-bound"]
    assert [picollo.figure(part, planted).value for part in parts] == [0.4, 0.1, 0.2, 0.3]
