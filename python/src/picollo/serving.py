"""An HTTP endpoint for scrapers, over ``http.server``, with limits: see :meth:`picollo.Registry.serve`."""

from __future__ import annotations

import contextlib
import io
import ipaddress
import socket
import socketserver
import sys
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler
from typing import Any, Callable, Iterable, Tuple
from urllib.parse import urlsplit

__all__ = ["MetricsServer"]

#: Produces the answer for the value of an ``Accept`` header: its media type and its bytes.
Answer = Callable[[str], Tuple[str, bytes]]

# The maximum size of a request with all its headers.
_HEAD_BYTES = 8192


class _Head(io.RawIOBase):
    """The bytes that a connection sends, up to a deadline and up to the maximum size of a request."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection, self._deadline, self._left = connection, deadline, _HEAD_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._deadline - time.monotonic()
        if left <= 0 or self._left <= 0:
            raise TimeoutError("the request is too long, or takes too long")
        self._connection.settimeout(left)
        read = self._connection.recv_into(buffer, min(len(buffer), self._left))
        self._left -= read
        return read


class _Handler(BaseHTTPRequestHandler):
    server: "_Server"

    # For invalid requests; http.server would answer them without a status.
    default_request_version = "HTTP/1.0"

    def setup(self) -> None:
        self.connection = self.request
        deadline = time.monotonic() + self.server.timeout_seconds
        self.rfile = io.BufferedReader(_Head(self.connection, deadline), 2048)
        self._answer = self.wfile = io.BytesIO()

    def finish(self) -> None:
        # Sends everything at once, with one deadline. Closes the connection so that the answer arrives even if the peer
        # has sent more. Failures of a connection affect nobody else.
        answer = self._answer.getvalue()
        with contextlib.suppress(OSError):
            if answer:
                self.connection.settimeout(2 * self.server.timeout_seconds)
                self.connection.sendall(answer)
                self.connection.shutdown(socket.SHUT_WR)
                self.connection.settimeout(1)
                for _ in range(16):
                    if not self.connection.recv(4096):
                        break

    def handle(self) -> None:
        with contextlib.suppress(OSError):
            super().handle()

    def do_GET(self) -> None:
        try:
            path = urlsplit(self.path)
        except ValueError:
            self._send(400, "text/plain; charset=utf-8", b"this is no address\n")
            return
        host = path.netloc or self.headers.get("Host")
        if self.server.is_local and host is not None and not self.server.is_known(host):
            # Another person's name server can send browser pages to this address; they must not read the metrics.
            self._send(403, "text/plain; charset=utf-8", b"not a name of this endpoint: see hosts=\n")
        elif path.path == self.server.path:
            accept = ",".join(self.headers.get_all("Accept") or ())
            try:
                content_type, body = self.server.answer(accept)
            except Exception:
                traceback.print_exc()
                self._send(500, "text/plain; charset=utf-8", b"the metrics could not be made\n")
            else:
                self._send(200, content_type, body)
        elif path.path == "/":
            link = f'<!DOCTYPE html><title>Picollo</title><a href="{self.server.path}">{self.server.path}</a>\n'
            self._send(200, "text/html; charset=utf-8", link.encode())
        else:
            self._send(404, "text/plain; charset=utf-8", b"nothing is here\n")

    do_HEAD = do_GET

    def _send(self, status: int, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Vary", "Accept")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def version_string(self) -> str:
        return "picollo"

    def log_message(self, format: str, *args: Any) -> None:
        """Scrapers come every few seconds, so requests are not logged."""


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    is_closing = False

    def __init__(self, host: str, port: int, answer: Answer, path: str, connections: int, timeout: float,
                 hosts: Iterable[str]) -> None:
        self.address_family = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        self.answer, self.path, self.timeout_seconds = answer, path, timeout
        self._hosts = frozenset(name.lower() for name in hosts)
        self._free = threading.BoundedSemaphore(connections)
        super().__init__((host, port), _Handler)
        self.host, self.port = str(self.server_address[0]), int(self.server_address[1])
        self.is_local = ipaddress.ip_address(self.host.split("%")[0]).is_loopback

    def is_known(self, host: str) -> bool:
        """Whether a ``Host`` is an address, ``localhost``, or one of the given names."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name == "localhost" or name in self._hosts
        return True

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            # A few bytes into an empty buffer: this does not block.
            request.settimeout(0.02)
            with contextlib.suppress(OSError):
                request.sendall(b"HTTP/1.0 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n")
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def serve(self) -> None:
        """Serves until the socket is shut down. (``serve_forever`` wakes up twice a second to look.)"""
        with self:
            while not self.is_closing:
                try:
                    request, client_address = self.get_request()
                except OSError:
                    # Probably no file descriptors are left; an immediate retry would not help.
                    time.sleep(0.02)
                    continue
                try:
                    self.process_request(request, client_address)
                except Exception:
                    self.handle_error(request, client_address)
                    self.shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class MetricsServer:
    """An endpoint that serves metrics in separate threads; made by :meth:`picollo.Registry.serve`.

    It ends with :meth:`close`, at the end of a ``with``, or with the process. After ``os.fork`` it serves only in the
    parent: the child does not have its threads.
    """

    def __init__(self, answer: Answer, port: int = 9464, host: str = "127.0.0.1", *, path: str = "/metrics",
                 connections: int = 16, timeout: float = 5.0, hosts: Iterable[str] = ()) -> None:
        if not path.startswith("/") or any(character in path for character in '<>"&?# '):
            raise ValueError(f"path must begin with a slash, and be a plain one, not {path!r}")
        if connections < 1:
            raise ValueError(f"connections must be at least 1, not {connections!r}")
        if not timeout > 0:
            raise ValueError(f"timeout must be positive, not {timeout!r}")
        self._server = _Server(host, port, answer, path, connections, timeout, hosts)
        self._thread = threading.Thread(target=self._server.serve, name="picollo-serve", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """The port it listens on, also if 0 was requested."""
        return self._server.port

    @property
    def url(self) -> str:
        """The URL for a scraper."""
        host = self._server.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}{self._server.path}"

    def close(self) -> None:
        """Stops listening. May be called again."""
        self._server.is_closing = True
        # In a forked child the thread is not alive, and the socket belongs to the parent.
        with contextlib.suppress(OSError):
            if self._thread.is_alive():
                self._server.socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()

    def __enter__(self) -> "MetricsServer":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<picollo.MetricsServer {self.url}{'' if self._thread.is_alive() else ' closed'}>"
