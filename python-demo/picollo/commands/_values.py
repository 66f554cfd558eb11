"""Values on the command line. What is wrong with one is an ``argparse.ArgumentTypeError``."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import math
import re
from typing import NamedTuple, Union

UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


class Time(NamedTuple):
    """A time as it was given: seconds since 1970, or after the beginning of the first log."""

    seconds: float
    is_absolute: bool


def time(text: str) -> Time:
    """Seconds after the beginning, @ and seconds since 1970, or a time of the clock; without a zone it is UTC."""
    number = text[1:] if text.startswith("@") else text
    with contextlib.suppress(ValueError):
        value = float(number)
        if not math.isfinite(value):
            raise argparse.ArgumentTypeError(f"{text!r} is no time")
        return Time(value, text.startswith("@"))
    # Before 3.11, Python knew neither Z nor fractions of other than six digits.
    iso = re.sub("[zZ]$", "+00:00", text)
    iso = re.sub(r"[.](\d+)", lambda fraction: "." + fraction[1].ljust(6, "0")[:6], iso)
    try:
        when = datetime.datetime.fromisoformat(iso)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no time: seconds after the first interval, @ and seconds since 1970, or 2015-09-09T15:24:39Z"
        ) from None
    return Time((when if when.tzinfo else when.replace(tzinfo=datetime.timezone.utc)).timestamp(), True)


def seconds(text: str) -> float:
    """A duration."""
    number = _float(text)
    if not 0.001 <= number < 1e12:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds from 0.001 on")
    return number


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def ranks(text: str) -> list[float]:
    """Percentiles, with commas between them."""
    listed = [_float(part) for part in text.split(",")]
    if not all(0 <= rank <= 100 for rank in listed):
        raise argparse.ArgumentTypeError(f"{text!r} are no percentiles: numbers from 0 to 100, with commas between them")
    return listed


def scale(text: str) -> tuple[float, str]:
    """What values are divided by, and the name of the unit that makes of nanoseconds."""
    if text in UNITS:
        return UNITS[text], text
    number = _float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a positive number nor one of {', '.join(UNITS)}")
    return number, ""


def ticks(text: str) -> int:
    """Rows for each half of the distance."""
    number: Union[int, float] = _float(text)
    if number not in range(1, 1_000_001):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to 1,000,000")
    return int(number)


def decimals(text: str) -> int:
    """How many decimals."""
    number: Union[int, float] = _float(text)
    if number not in range(10):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of decimals from 0 to 9")
    return int(number)
