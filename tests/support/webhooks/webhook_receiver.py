"""A customer's receiver of webhooks on a thread of its own, at a port that was agreed on before."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from typing_extensions import override

Taken = list[tuple[dict[str, str], bytes]]


@contextmanager
def webhook_receiver(port: int) -> Iterator[Taken]:
    """Answers 204 to everything; yields headers and bodies that arrived."""
    arrived: Taken = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            arrived.append((dict(self.headers), body))
            self.send_response(204)
            self.end_headers()

        @override
        def log_message(self, *_: Any) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", port), Receiver) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield arrived
        finally:
            server.shutdown()
            thread.join()
