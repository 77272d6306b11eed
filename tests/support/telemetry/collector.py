"""A collector of OpenTelemetry on a real socket. It takes spans, refuses them, or hangs."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from typing_extensions import override

from app.kit.span_export import SpanExport

Manner = Literal["takes", "refuses", "hangs"]
_ERROR = 2


@dataclass(frozen=True, slots=True)
class CollectedSpan:
    """A span as it was exported."""

    name: str
    trace: str
    span: str
    parent: str | None
    started_ns: int
    ended_ns: int
    attributes: dict[str, Any]
    links: list[tuple[str, str]]
    """Traces and spans."""
    is_error: bool
    service: str


@dataclass
class Collector:
    url: str = ""
    manner: Manner = "takes"
    spans: list[CollectedSpan] = field(default_factory=list)
    requests: list[dict[str, str]] = field(default_factory=list)
    """Headers of each request, with names in lower case."""
    bodies: list[bytes] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def export(self, **options: Any) -> SpanExport:
        return SpanExport(self.url, **options)

    def named(self, name: str) -> list[CollectedSpan]:
        return [span for span in self.spans if span.name == name]

    def take(self, path: str, headers: dict[str, str], body: bytes) -> int:
        self.requests.append(headers)
        match self.manner:
            case "hangs":
                self.released.wait()
                return 503
            case "refuses":
                return 400
            case "takes":
                assert path == "/v1/traces"
        self.bodies.append(body)
        self.spans += _read(body)
        return 200


def _read(body: bytes) -> Iterator[CollectedSpan]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        named = _attributes(resource.resource.attributes)
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield CollectedSpan(
                    span.name,
                    span.trace_id.hex(),
                    span.span_id.hex(),
                    span.parent_span_id.hex() or None,
                    span.start_time_unix_nano,
                    span.end_time_unix_nano,
                    _attributes(span.attributes),
                    [(link.trace_id.hex(), link.span_id.hex()) for link in span.links],
                    span.status.code == _ERROR,
                    named["service.name"],
                )


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


@contextmanager
def collector(manner: Manner = "takes") -> Iterator[Collector]:
    collected = Collector(manner=manner)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status = collected.take(self.path, headers, body)
            try:
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()
            except OSError:  # the exporter has given up
                return

        @override
        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    collected.url = f"http://127.0.0.1:{server.server_address[1]}"
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    serving.start()
    try:
        yield collected
    finally:
        collected.released.set()
        server.shutdown()
        serving.join()
        server.server_close()
