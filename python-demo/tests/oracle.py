"""A naive histogram, too short to be wrong: it keeps the values, sorts them, and counts in integers."""

from __future__ import annotations

import math
from fractions import Fraction

U64_MAX = 2**64 - 1


def scale(relative_error: float) -> int:
    """log2 of the smallest power of two that is at least 0.5 / error."""
    error = min(max(relative_error, 1e-6), 0.1)
    s = 0
    while 2**s < Fraction(1, 2) / Fraction(error):
        s += 1
    return s


def bucket(value: int, s: int) -> tuple[int, int]:
    """The closed range of the values that share a count: the steps double with every block of 2**s buckets."""
    block = (value >> s).bit_length()
    step = 2 ** max(0, block - 1)
    lower = value // step * step
    return lower, lower + step - 1


def target(rank: float, total: int) -> int:
    """The nearest rank, for ranks with up to nine decimals."""
    units = round(Fraction(rank) * 10**9)
    return max(1, math.ceil(Fraction(units * total, 100 * 10**9)))


class Naive:
    """Keeps every value."""

    def __init__(self, relative_error: float, low: int = 0, high: int = U64_MAX) -> None:
        self.s = scale(relative_error)
        # The guaranteed range, widened to whole buckets.
        self.low = bucket(low, self.s)[0]
        self.high = bucket(high, self.s)[1]
        self.values: list[int] = []
        self.underflow = 0
        self.overflow = 0

    def record(self, value: int, count: int = 1) -> None:
        if value < self.low:
            self.underflow += count
        elif value > self.high:
            self.overflow += count
        else:
            self.values.extend([value] * count)

    def percentile(self, rank: float) -> tuple[int, int]:
        """The bucket at a rank."""
        return bucket(sorted(self.values)[target(rank, len(self.values)) - 1], self.s)

    def midpoints(self) -> list[int]:
        pairs = (bucket(value, self.s) for value in self.values)
        return [low + (high - low + 1) // 2 for low, high in pairs]

    def mean(self) -> Fraction:
        return Fraction(sum(self.midpoints()), len(self.values))

    def variance(self) -> Fraction:
        mean = self.mean()
        return sum(((m - mean) ** 2 for m in self.midpoints()), Fraction(0)) / len(self.values)

    def rank_of_value(self, value: int) -> Fraction:
        _, high = bucket(value, self.s)
        return Fraction(100 * sum(v <= high for v in self.values), len(self.values))

    def buckets(self) -> list[tuple[int, int, int]]:
        """Ranges and counts, ascending."""
        counts: dict[tuple[int, int], int] = {}
        for value in self.values:
            key = bucket(value, self.s)
            counts[key] = counts.get(key, 0) + 1
        return [(low, high, count) for (low, high), count in sorted(counts.items())]
