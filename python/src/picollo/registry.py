"""Histograms, counters and gauges with names and labels, written for Prometheus, OpenTelemetry and similar systems. See
``docs/export.md``.
"""

from __future__ import annotations

import ctypes
import math
from ctypes import byref, c_double, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, Callable, ClassVar, Iterable, List, Mapping, NamedTuple, Optional, Tuple, Union

from . import _structs as structs
from ._arguments import choice, identifier, u32, u64
from ._buffers import batch_of, double_batch_of
from ._calls import c_text, explained, fetch, read_bytes
from ._handle import Handle
from ._library import held, own, released
from .doubles import DoubleHistogram
from .errors import InvalidArgumentError, check
from .histogram import Histogram
from .serving import MetricsServer

__all__ = ["Exemplar", "Exposition", "MetricCounter", "MetricGauge", "Registry"]

_FORMATS = structs.codes("EXPOSITION", ("openmetrics", "prometheus-text", "prometheus-protobuf", "otlp"))


class Exposition(NamedTuple):
    """The format of the answer to a request."""

    #: The format for :meth:`Registry.encode`.
    format: str
    #: The value of the ``Content-Type`` header.
    content_type: str


class Exemplar(NamedTuple):
    """One observation that is written with a metric as an example, with links to its origin."""

    #: As recorded: it is divided like the metric's values.
    value: float
    #: When it happened, in seconds since 1970, like :func:`time.time`; 0 if unknown.
    time: float = 0.0
    #: Its trace: 32 hexadecimal digits, as in W3C's ``traceparent``.
    trace_id: str = ""
    #: Its span: 16 hexadecimal digits.
    span_id: str = ""
    #: Other labels. Names and values are up to 128 characters in all, of which a trace takes 40 and a span 23.
    labels: Optional[Mapping[str, str]] = None

    def _native(self) -> structs.MetricExemplar:
        labels, (seconds, fraction) = _labels(self.labels), divmod(float(self.time), 1.0)
        return structs.MetricExemplar(
            value=float(self.value),
            unix_nanos=u64(int(seconds) * 10**9 + round(fraction * 1e9), "an exemplar's time"),
            trace_id=identifier(self.trace_id, 16, "trace_id"),
            span_id=identifier(self.span_id, 8, "span_id"),
            labels=labels,
            labels_length=len(labels),
        )


class _Number(Handle):
    """Shared base of counters and gauges."""

    __slots__ = ("number",)

    #: The library's function that frees the handle.
    _FREE: ClassVar[Any]

    #: The argument for :meth:`Registry.remove`.
    number: int

    def __init__(self, pointer: c_void_p, number: int) -> None:
        self._pointer = own(pointer, self._FREE)
        self.number = number

    @property
    def value(self) -> float:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<picollo.{type(self).__name__} {'closed' if self._pointer is None else self.value}>"


class MetricCounter(_Number):
    """A number of a registry that only grows. It may outlive the registry. Any thread may use it."""

    __slots__ = ()

    _KIND = "counter"
    _FREE = held.metric_counter_free

    def add(self, count: int = 1) -> None:
        """Adds a count of at least 0, with an atomic addition and the library call."""
        held.metric_counter_add(self._handle(), u64(count, "count"))

    @property
    def value(self) -> int:
        """The sum so far, modulo 2**64."""
        return int(fetch(c_uint64, "counter", held.metric_counter_read, self._handle()).value)


class MetricGauge(_Number):
    """A number of a registry that goes up and down. It may outlive the registry. Any thread may use it."""

    __slots__ = ()

    _KIND = "gauge"
    _FREE = held.metric_gauge_free

    def set(self, value: float) -> None:
        """Sets the value."""
        held.metric_gauge_set(self._handle(), c_double(value))

    def add(self, value: float) -> None:
        """Adds a value, which may be negative. If several threads add at once, no addition is lost."""
        held.metric_gauge_add(self._handle(), c_double(value))

    @property
    def value(self) -> float:
        """The current value."""
        return float(fetch(c_double, "gauge", held.metric_gauge_read, self._handle()).value)


class Registry(Handle):
    """Histograms, counters and gauges with names and labels.

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
    _NOT_PICKLED = "a registry cannot be pickled; its text can be sent"

    #: The ``Content-Type`` of the text.
    CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    def __init__(self) -> None:
        self._pointer = None
        self._pointer = own(fetch(c_void_p, "registry", held.registry_create), held.registry_free)

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
        native: bool = False,
        max_buckets: int = 0,
        since_reset: bool = False,
        summary: bool = False,
    ) -> int:
        """Adds a histogram, which the registry keeps alive. Returns a number for :meth:`remove`.

        :param name: letters, digits, underscores and colons. Histograms with the same name must have different labels.
            Dots, hyphens and slashes are for OpenTelemetry; Prometheus sees underscores instead.
        :param unit: such as ``seconds``; the name must end with it.
        :param bounds: the largest values of the buckets to write, ascending, as recorded, up to 500. Counts are exact
            if a bucket of the histogram ends there, as at one below each power of two. Default: one below each power of
            four in the range; for doubles, each power of ten from 1e-6 to 1e6.
        :param divisor: values and bounds are divided by this: 1e9 converts nanoseconds to seconds.
        :param created: write the time since which there are counts.
        :param native: write a native histogram in Prometheus' format; servers then drop the buckets at bounds.
        :param max_buckets: how many exponential buckets may have counts before they become coarser; 0: 320.
        :param since_reset: write the counts since the last reset, which looks like a restart to collectors, not all.
        :param summary: write the quantiles 0.5, 0.9, 0.99 and 0.999 of all counts for Prometheus, instead of buckets.
        :raises InvalidArgumentError: for names, labels, units and bounds that OpenMetrics forbids, or that are taken.
        """
        if not isinstance(histogram, (Histogram, DoubleHistogram)):
            raise TypeError(f"a registry holds histograms, not {type(histogram).__name__}")
        options = _options(name, help, unit, labels, divisor, created, NATIVE=native, SINCE_RESET=since_reset, SUMMARY=summary)
        options.max_buckets = u32(max_buckets, 0, "max_buckets")
        listed = () if bounds is None else bounds
        add: Any = released.registry_add
        if isinstance(histogram, Histogram):
            batch = batch_of(listed, "bounds")
        else:
            add, batch = released.registry_add_double, double_batch_of(listed, "bounds")
        number, given = c_uint64(), (byref(options), batch.address or None, batch.length)
        explained(add, self._handle(), histogram._handle(), *given, byref(number))
        return number.value

    def add_counter(
        self,
        name: str,
        *,
        help: str = "",
        unit: str = "",
        labels: Optional[Mapping[str, str]] = None,
        divisor: float = 1.0,
        created: bool = True,
        striped: bool = False,
    ) -> MetricCounter:
        """Adds a new counter, at zero, and returns it. Its name may end with ``_total``. Otherwise like :meth:`add`.

        :param striped: the counter has sixteen words, so that threads seldom wait for each other: 1 KB.
        """
        options = _options(name, help, unit, labels, divisor, created, STRIPED=striped)
        return MetricCounter(*self._made(released.registry_add_counter, options))

    def add_gauge(
        self,
        name: str,
        *,
        help: str = "",
        unit: str = "",
        labels: Optional[Mapping[str, str]] = None,
        divisor: float = 1.0,
    ) -> MetricGauge:
        """Adds a new gauge, at zero, and returns it. Otherwise like :meth:`add`."""
        options = _options(name, help, unit, labels, divisor, False)
        return MetricGauge(*self._made(released.registry_add_gauge, options))

    def _made(self, add: Callable[..., int], options: structs.MetricOptions) -> Tuple[c_void_p, int]:
        pointer, number = c_void_p(), c_uint64()
        explained(add, self._handle(), byref(options), byref(pointer), byref(number))
        return pointer, number.value

    def remove(self, number: int) -> None:
        """Removes a histogram, counter or gauge.

        :raises InvalidArgumentError: if there is none with this number.
        """
        status = released.registry_remove(self._handle(), u64(number, "number"))
        if status == InvalidArgumentError.STATUS:
            raise InvalidArgumentError(message=f"the registry has no metric number {number}")
        check(status, "remove")

    def set_exemplars(self, number: int, exemplars: Iterable[Exemplar]) -> None:
        """Sets the exemplars that are written with a histogram or counter from now on, replacing earlier ones.

        ::

            registry.set_exemplars(number, [picollo.Exemplar(40_000_000, time.time(), trace_id=span.trace_id)])

        OpenMetrics has the latest in each bucket. Prometheus' Protocol Buffers have these, and for native histograms
        all that have a time. OTLP has all of them.

        :param number: the result of :meth:`add`, or ``.number`` of a counter.
        :raises InvalidArgumentError: if there is no metric with this number, for values that are not finite, and for
            labels that are invalid for metrics, or too long.
        :raises UnsupportedError: for gauges.
        """
        given = [exemplar._native() for exemplar in exemplars]
        array = (structs.MetricExemplar * len(given))(*given)
        explained(released.registry_set_exemplars, self._handle(), u64(number, "number"), array, len(given))

    def update(self) -> None:
        """Takes new counts of all histograms."""
        check(released.registry_update(self._handle()), "registry update")

    def openmetrics(self, update: bool = True) -> str:
        """The OpenMetrics text with the counts as of now, or of the last :meth:`update`."""
        return self.encode("openmetrics", update).decode("utf-8")

    def encode(self, format: str = "openmetrics", update: bool = True) -> bytes:
        """An exposition of the counts as of now, or of the last :meth:`update`.

        :param format: ``openmetrics`` or ``prometheus-text``, both texts in UTF-8; ``prometheus-protobuf``, with native
            histograms if requested; ``otlp``, with exponential histograms.
        """
        code, handle = choice(format, _FORMATS, "format"), self._handle()
        if update:
            self.update()
        return read_bytes(lambda *buffer: released.registry_encode(handle, code, *buffer), "exposition")

    @staticmethod
    def negotiate(accept: Optional[str] = None) -> Exposition:
        """The format for a request with this ``Accept`` header, and the ``Content-Type`` of the answer."""
        raw = (accept or "").encode("utf-8", "replace").split(b"\0")[0]
        code, length, buffer = c_uint32(), c_size_t(), ctypes.create_string_buffer(128)
        check(held.registry_negotiate(raw, byref(code), buffer, len(buffer), byref(length)), "negotiation")
        name = next(name for name, number in _FORMATS.items() if number == code.value)
        return Exposition(name, buffer.value.decode("ascii"))

    def _answer(self, accept: str) -> Tuple[str, bytes]:
        form = self.negotiate(accept)
        return form.content_type, self.encode(form.format)

    def serve(self, port: int = 9464, host: str = "127.0.0.1", **limits: Any) -> MetricsServer:
        """Serves the metrics over HTTP to scrapers, in separate threads, until it is closed.

        ::

            with registry.serve(9464) as server:
                print(server.url)               # http://127.0.0.1:9464/metrics
                ...

        :param port: 0 selects a free port; :attr:`MetricsServer.port` returns it.
        :param host: the address to listen on. All users of this machine can reach a loopback address, but no other
            machine can. There, only requests for addresses, ``localhost`` and ``hosts`` are served: browser pages could
            send others. ``unix:/run/service/metrics`` is a Unix socket that only its owner can use.
        :param limits: ``path`` (``/metrics``), ``connections`` served at once (16; others get 503), ``timeout``,
            seconds for a whole request (5; up to 3600), ``hosts``, names of this endpoint.
        :raises SystemCallError: if the address is in use, or not of this machine.
        """
        return MetricsServer(self, port, host, **limits)

    def wsgi_app(self, environ: Mapping[str, Any], start_response: Callable[..., Any]) -> List[bytes]:
        """The metrics as a WSGI application, for a service that speaks HTTP. Accepts any path, ``GET`` and ``HEAD``."""
        if environ.get("REQUEST_METHOD", "GET") not in ("GET", "HEAD"):
            start_response("405 Method Not Allowed", [("Content-Type", "text/plain"), ("Allow", "GET, HEAD")])
            return [b"only GET and HEAD\n"]
        content_type, body = self._answer(environ.get("HTTP_ACCEPT", ""))
        start_response("200 OK", [("Content-Type", content_type), ("Content-Length", str(len(body))), ("Vary", "Accept")])
        return [] if environ.get("REQUEST_METHOD") == "HEAD" else [body]

    def close(self) -> None:
        """Releases the histograms now instead of when nothing refers to the registry any more. May be called again."""
        self._pointer = None

    def __repr__(self) -> str:
        return f"<picollo.Registry{' closed' if self._pointer is None else ''}>"


def _labels(labels: Optional[Mapping[str, str]]) -> Any:
    given = list((labels or {}).items())
    return (structs.Label * len(given))(
        *(structs.Label(c_text(key, "a label's name"), c_text(value, f"label {key}")) for key, value in given)
    )


def _options(
    name: str, help: str, unit: str, labels: Optional[Mapping[str, str]], divisor: float, created: bool = True, **flags: bool
) -> structs.MetricOptions:
    if not 0 < divisor < math.inf:
        raise ValueError(f"divisor must be positive and finite, not {divisor!r}")
    raw_labels = _labels(labels)
    return structs.options(
        structs.MetricOptions,
        flags=structs.flags("METRIC", NO_CREATED=not created, **flags),
        divisor=divisor,
        labels_length=len(raw_labels),
        name=c_text(name, "name"),
        help=c_text(help, "help"),
        unit=c_text(unit, "unit"),
        labels=raw_labels,
    )
