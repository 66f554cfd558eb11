"""Requests for an OpenTelemetry collector. See ``docs/metrics.md``."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_void_p
from typing import Any, Mapping, Optional

from . import _structs as structs
from ._handle import Handle
from ._library import held, own, released
from ._text import read_bytes
from .errors import check
from .registry import Registry, _labels

__all__ = ["OtlpExport"]

_TEMPORALITIES = {
    "cumulative": structs.TEMPORALITY_CUMULATIVE,
    "delta": structs.TEMPORALITY_DELTA,
}


class OtlpExport(Handle):
    """Requests for one OpenTelemetry collector, of all that a registry has, and what it has accepted.

    ::

        export = picollo.OtlpExport("delta", {"service.name": "shop"})
        ...
        export.update(registry)
        if post("http://localhost:4318/v1/metrics", export.request()):  # as export.CONTENT_TYPE
            export.accept()

    What is not accepted is in the next request too: with ``delta`` a push that fails makes the next interval longer, without a queue and
    without a loss. Only where a time-out comes after the collector has accepted all, that interval is counted twice.

    Any thread may use an export.
    """

    __slots__ = ()

    _KIND = "export"

    #: What HTTP calls a request.
    CONTENT_TYPE = "application/x-protobuf"

    def __init__(self, temporality: str = "cumulative", resource: Optional[Mapping[str, str]] = None) -> None:
        """
        :param temporality: ``cumulative``, where a request has the counts since metrics were made, or ``delta``, where it has those
            since the last one that was accepted.
        :param resource: what is known of the program: ``service.name`` and others.
        """
        self._pointer = None
        code = _TEMPORALITIES.get(temporality)
        if code is None:
            raise ValueError(f"temporality must be one of {', '.join(_TEMPORALITIES)}, not {temporality!r}")
        attributes, pointer = _labels(resource), c_void_p()
        options = structs.OtlpOptions(
            struct_size=ctypes.sizeof(structs.OtlpOptions),
            temporality=code,
            resource=attributes,
            resource_length=len(attributes),
        )
        check(held.otlp_export_create(byref(options), byref(pointer)), "export")
        self._pointer = own(pointer, held.otlp_export_free)

    def update(self, registry: Registry) -> None:
        """Updates a registry, always the same, and makes a request of it. Where that fails, the request before is still there."""
        check(released.otlp_export_update(self._handle(), registry._handle()), "export of a registry")

    def request(self) -> bytes:
        """The last request, an ``ExportMetricsServiceRequest``; empty once it was accepted, and before the first update."""
        handle = self._handle()
        return read_bytes(lambda *buffer: released.otlp_export_request(handle, *buffer), "request")

    def accept(self) -> None:
        """Notes that the collector has accepted the last request: the next difference counts from there.

        :raises EmptyError: when there is none that was not accepted yet.
        """
        check(released.otlp_export_accept(self._handle()), "request")

    def __repr__(self) -> str:
        return f"<picollo.OtlpExport{' closed' if self._pointer is None else ''}>"

    def __reduce__(self) -> Any:
        raise TypeError("an export cannot be pickled; its requests can be sent")
