"""The worked examples of the project's description of histograms, as text."""

from __future__ import annotations

import picollo

SUMMARY = """\
##### Example
| Percentile |    Value | ±      |    Count |
| :--------- | -------: | :----- | -------: |
| 0          |    2,008 | ±8     |        1 |
| 1          |    2,064 | ±16    |    1,000 |
| 5          |    2,288 | ±16    |    4,997 |
| 10         |    2,448 | ±16    |    9,994 |
| 25         |    2,928 | ±16    |   24,985 |
| 50         |    3,600 | ±16    |   49,970 |
| 75         |    5,472 | ±32    |   74,955 |
| 90         |    7,456 | ±32    |   89,946 |
| 92.5       |    7,840 | ±32    |   92,445 |
| 95         |    8,256 | ±64    |   94,943 |
| 97.5       |    8,768 | ±64    |   97,442 |
| 99         |    9,152 | ±64    |   98,941 |
| 99.9       |    9,664 | ±64    |   99,841 |
| 99.99      |    9,792 | ±64    |   99,931 |
| 99.999     |    9,792 | ±64    |   99,940 |
| 100        |    9,792 | ±64    |   99,940 |
| Underflow  |          |        |       60 |
|            |          |        |          |
| Mean:      | 4,332.91 | StDev: | 1,870.75 |
| Precision: |  0.7813% | Total: |   99,940 |
| Range Min: |    2,000 | Max:   |   12,000 |
"""

#: "…" stands for rows that the description leaves out.
DIFF = """\
##### Example diff
| Percentile |   Before |    After |     Δ% |
| :--------- | -------: | -------: | -----: |
| 0          |    2,008 |    2,008 |   0.0% |
…
| 99.9       |    9,664 |   10,304 |  +6.6% |
…
| 100        |    9,792 |   10,432 |  +6.5% |
|            |          |          |        |
| Mean:      | 4,332.91 | 4,488.54 |  +3.6% |
| StDev:     | 1,870.75 | 2,055.85 |  +9.9% |
| Precision: |  0.7813% |  0.7813% |   0.0% |
| Total:     |   99,940 |  145,798 | +45.9% |
| D-value:   |          |          |   0.08 |
"""

LINE = (
    "Example: Total=99,940, Underflow=60, Overflow=0, Mean=4,332.9, P0=2,008, P25=2,928, P50=3,600, P90=7,456, "
    "P95=8,256, P99=9,152, P999=9,664, P100=9,792"
)

PERCENTILE = "P99=9,152 [138 / 519]: [9,088, 9,216) 386"
LISTED_BUCKET = "P0.073=2,008 [0 / 381]: [2,000, 2,016) 146"


def values(seed: int, count: int, base: int, modulus: int, divisor: int) -> list[int]:
    """The example data: a linear congruential generator with a cubic tail."""
    x = seed
    out = []
    for _ in range(count):
        x = (x * 6364136223846793005 + 1442695040888963407) % 2**64
        out.append(base + (x >> 40) % modulus + ((x >> 20) % 64) ** 3 // divisor)
    return out


def first() -> picollo.Histogram:
    """Recorded one by one."""
    histogram = picollo.Histogram(relative_error=0.01, min=2000, max=12000)
    for value in values(1, 100_000, 1990, 1500, 40):
        histogram.record(value)
    return histogram


def second() -> picollo.Histogram:
    """Recorded in one batch."""
    histogram = picollo.Histogram(relative_error=0.01, min=2000, max=12000)
    histogram.record_many(values(2, 150_000, 1800, 1700, 36))
    return histogram
