"""The endpoint over real sockets. The library's own tests have misbehaving peers and odd requests."""

import errno
import gc
import os
import socket
import urllib.request
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest
from conftest import forked

import picollo
from picollo.serving import MetricsServer


def talk(server: MetricsServer, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(request)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return answer


def status(answer: bytes) -> Optional[int]:
    return int(answer.split(b" ")[1]) if answer else None


def test_a_registry_serves_itself() -> None:
    registry = picollo.Registry()
    latency = picollo.Histogram(0.01, max=10**9)
    registry.add(latency, "latency")
    latency.record(5)
    with registry.serve(0, connections=8) as server:
        for accept, content_type, part in (
            ("application/openmetrics-text;version=1.0.0", "application/openmetrics-text", b"latency_count 1\n"),
            ("", "text/plain", b"latency_count 1\n"),
            (PROTOBUF, "application/vnd.google.protobuf", b"\x07latency"),
        ):
            request = urllib.request.Request(server.url, headers={"Accept": accept})
            with urllib.request.urlopen(request) as response:
                assert response.headers["Content-Type"].startswith(content_type)
                assert part in response.read()
        # Each scrape shows the current counts.
        latency.record(6)
        with urllib.request.urlopen(server.url) as response:
            assert b"latency_count 2\n" in response.read()


PROTOBUF = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"


def test_a_registry_is_an_application() -> None:
    registry = picollo.Registry()
    registry.add_counter("hits").add(7)
    seen: List[Any] = []
    validated = validator(registry.wsgi_app)
    environ: Dict[str, Any] = {"QUERY_STRING": ""}
    setup_testing_defaults(environ)
    environ["HTTP_ACCEPT"] = "application/openmetrics-text"

    def start(*answer: Any) -> Callable[[bytes], None]:
        seen.append(answer)
        return lambda data: None

    def ask(method: str) -> bytes:
        body = validated({**environ, "REQUEST_METHOD": method}, start)
        try:
            return b"".join(body)
        finally:
            body.close()  # type: ignore[attr-defined]

    assert b"hits_total 7\n" in ask("GET")
    assert ask("HEAD") == b""
    assert b"GET" in ask("POST")
    assert [answer[0][:3] for answer in seen] == ["200", "200", "405"]
    assert dict(seen[0][1])["Content-Type"].startswith("application/openmetrics-text")


def test_limits() -> None:
    """The only connection is taken, until the time for a request is over."""
    with picollo.Registry().serve(0, connections=1, timeout=0.5) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as slow:
            assert status(talk(server, b"")) == 503
            assert status(slow.recv(100)) == 408


def test_a_closed_server_listens_no_more() -> None:
    server = picollo.Registry().serve(0)
    port = server.port
    # A forked child closes nothing of its parent's.
    assert forked(server.close) == 0
    assert status(talk(server, b"GET /metrics HTTP/1.1\r\n\r\n")) == 200
    server.close()
    server.close()
    assert repr(server).endswith(" closed>")
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port))
    # Another server can use the port at once.
    picollo.Registry().serve(port).close()


def test_a_server_needs_no_variable() -> None:
    registry = picollo.Registry()
    registry.add_counter("hits").add(7)
    url = registry.serve(0).url
    registry.close()
    del registry
    gc.collect()
    with urllib.request.urlopen(url) as response:
        assert b"hits_total 7\n" in response.read()


def test_addresses(tmp_path: Path) -> None:
    registry = picollo.Registry()
    with registry.serve(host=f"unix:{tmp_path}/socket") as server:
        assert (server.url, server.port) == (f"unix:{tmp_path}/socket", 0)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(f"{tmp_path}/socket")
            connection.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
            assert status(connection.recv(100)) == 200
    assert not os.listdir(tmp_path)
    with registry.serve(0, "") as server:
        assert server.url == f"http://0.0.0.0:{server.port}/metrics"
        with pytest.raises(OSError, match="port 0 takes any free port") as failed:
            registry.serve(server.port)
        assert failed.value.errno == errno.EADDRINUSE
    with pytest.raises(ValueError, match="nonsense"):
        registry.serve(70000, "nonsense")
    with registry.serve(0, hosts=["a.example", "b.example"], path="/m") as server:
        assert server.url.endswith("/m")
        assert status(talk(server, b"GET /m HTTP/1.1\r\nHost: b.example\r\n\r\n")) == 200


@pytest.mark.parametrize("options", [
    {"path": ""}, {"path": "metrics"}, {"path": '/"><script>'}, {"connections": 0}, {"timeout": 0}, {"timeout": float("nan")},
])
def test_bad_options(options: Dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        picollo.Registry().serve(0, **options)
