"""The library's HTTP server of a registry's metrics: see :meth:`picollo.Registry.serve`."""

from __future__ import annotations

import contextlib
from ctypes import byref
from typing import Any, Iterable

from . import _structs as structs
from ._calls import c_text, create, read_text
from ._library import held, released

__all__ = ["MetricsServer"]


class MetricsServer:
    """An endpoint that serves metrics in separate threads; made by :meth:`picollo.Registry.serve`.

    It ends with :meth:`close`, at the end of a ``with``, or with the process. After ``os.fork`` it serves only in the
    parent: the child does not have its threads.
    """

    def __init__(self, registry: Any, port: int = 9464, host: str = "127.0.0.1", *, path: str = "/metrics",
                 connections: int = 16, timeout: float = 5.0, hosts: Iterable[str] = ()) -> None:
        if not 1 <= connections < 2**32:
            raise ValueError(f"connections must be at least 1, not {connections!r}")
        if not timeout > 0:
            raise ValueError(f"timeout must be positive, not {timeout!r}")
        options = structs.options(
            structs.ServerOptions,
            connections=connections,
            timeout_seconds=timeout,
            path=c_text(path, "path") or b" ",  # nothing would mean the default
            hosts=c_text(",".join(hosts), "hosts"),
        )
        is_socket = host.startswith("unix:")
        address = host if is_socket else f"[{host}]:{port}" if ":" in host else f"{host or '0.0.0.0'}:{port}"
        pointer = create(released.server_start, registry._handle(), c_text(address, "host"), byref(options))
        # It serves until it is closed, even if nothing refers to it. Only one thread can take it out of the list.
        self._open = [pointer]
        address = read_text(lambda *buffer: held.server_address(pointer, *buffer), "address")
        self._port = 0 if is_socket else int(address.rpartition(":")[2])
        self._url = address if is_socket else f"http://{address}{path}"

    @property
    def port(self) -> int:
        """The port it listens on, also if 0 was requested. 0 for a Unix socket."""
        return self._port

    @property
    def url(self) -> str:
        """The URL for a scraper. For a Unix socket it is ``unix:`` with the path of the socket."""
        return self._url

    def close(self) -> None:
        """Stops listening. Answers that were begun have a second to arrive. May be called again."""
        with contextlib.suppress(IndexError):
            released.server_stop(self._open.pop())

    def __enter__(self) -> "MetricsServer":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<picollo.MetricsServer {self.url}{'' if self._open else ' closed'}>"
