"""Histograms with names and labels, written as OpenMetrics text for Prometheus and its like. See ``docs/metrics.md``."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_uint64, c_void_p
from typing import Any, Iterable, Mapping, Optional, Union

from . import _structs as structs
from ._arguments import u64
from ._buffers import batch_of, double_batch_of
from ._handle import Handle
from ._library import held, own, released
from ._text import c_text, read_text
from .doubles import DoubleHistogram
from .errors import check
from .histogram import Histogram

__all__ = ["Registry"]


class Registry(Handle):
    """Histograms with names and labels.

    ::

        registry = picollo.Registry()
        registry.add(latency, "request_seconds", labels={"method": "GET"}, unit="seconds", divisor=1e9,
                     bounds=[1_000_000, 10_000_000, 100_000_000], help="Time to serve a request")
        ...
        return Response(registry.openmetrics(), media_type=registry.CONTENT_TYPE)

    Any thread may use a registry.
    """

    __slots__ = ()

    _KIND = "registry"

    #: What HTTP calls the text.
    CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    def __init__(self) -> None:
        self._pointer = None
        pointer = c_void_p()
        check(held.registry_create(byref(pointer)), "registry")
        self._pointer = own(pointer, held.registry_free)

    def add(
        self,
        histogram: Union[Histogram, DoubleHistogram],
        name: str,
        *,
        help: str = "",
        unit: str = "",
        labels: Optional[Mapping[str, str]] = None,
        bounds: Optional[Iterable[float]] = None,
        divisor: float = 1.0,
        created: bool = True,
    ) -> int:
        """Adds a histogram, which the registry keeps alive. Returns a number for :meth:`remove`.

        :param name: letters, digits, underscores and colons. Histograms of one name differ in their labels.
        :param unit: such as ``seconds``, which the name has to end with.
        :param bounds: the largest values of the buckets to write, ascending, as recorded. Counts are exact where a bucket of
            the histogram ends, as at one below each power of two. Default: one below each power of four in the range; of
            doubles, each power of ten from 1e-6 to 1e6.
        :param divisor: values and bounds are divided by this: 1e9 for nanoseconds that are to be seconds.
        :param created: tell since when there are counts.
        :raises InvalidArgumentError: for names, labels, units and bounds that OpenMetrics does not allow, or that are taken.
        """
        if not isinstance(histogram, (Histogram, DoubleHistogram)):
            raise TypeError(f"a registry holds histograms, not {type(histogram).__name__}")
        if not divisor > 0:
            raise ValueError(f"divisor must be positive, not {divisor!r}")
        given = list((labels or {}).items())
        raw_labels = (structs.Label * len(given))(
            *(structs.Label(c_text(key, "a label's name"), c_text(value, f"label {key}")) for key, value in given)
        )
        options = structs.MetricOptions(
            struct_size=ctypes.sizeof(structs.MetricOptions),
            flags=0 if created else structs.METRIC_NO_CREATED,
            divisor=divisor,
            labels_length=len(given),
            name=c_text(name, "name"),
            help=c_text(help, "help"),
            unit=c_text(unit, "unit"),
            labels=raw_labels,
        )
        listed = () if bounds is None else bounds
        if isinstance(histogram, Histogram):
            add, batch = released.registry_add, batch_of(listed, "bounds")
        else:
            add, batch = released.registry_add_double, double_batch_of(listed, "bounds")
        number = c_uint64()
        status = add(
            self._handle(), histogram._handle(), byref(options), batch.address or None, batch.length, byref(number)
        )
        check(status, f"metric {name!r} with labels {dict(given)!r} and unit {unit!r}")
        return number.value

    def remove(self, number: int) -> None:
        """Takes a histogram out.

        :raises InvalidArgumentError: when there is none with this number.
        """
        check(released.registry_remove(self._handle(), u64(number, "number")), f"metric number {number}")

    def update(self) -> None:
        """Takes the counts of all histograms."""
        check(released.registry_update(self._handle()), "registry update")

    def openmetrics(self, update: bool = True) -> str:
        """The OpenMetrics text, of the counts as of now, or of the last :meth:`update`."""
        handle = self._handle()
        if update:
            self.update()
        form = structs.EXPOSITION_OPENMETRICS
        return read_text(lambda *buffer: released.registry_encode(handle, form, *buffer), "OpenMetrics text")

    def close(self) -> None:
        """Lets go of the histograms now rather than when nothing refers to the registry any more. May be called again."""
        self._pointer = None

    def __repr__(self) -> str:
        return f"<picollo.Registry{' closed' if self._pointer is None else ''}>"

    def __reduce__(self) -> Any:
        raise TypeError("a registry cannot be pickled; its text can be sent")
