"""Picollo for engines of many machines: the histogram of all values of a column, to the count.

``picollo_engines.dask`` and ``picollo_engines.spark`` import their engine when they are called. See ``docs/engines.md``.
"""

from .layout import Layout, Rules
from .part import Part, Result, Tally, TooManyGroups

__all__ = ["InvalidValue", "Files", "Layout", "Part", "Result", "Rules", "Tally", "TooManyGroups"]

from .counting import InvalidValue
from .logs import Files
