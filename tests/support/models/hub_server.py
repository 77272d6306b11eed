"""A hub on this machine: the few routes that huggingface_hub calls to fetch a model."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from typing_extensions import override


class Hub:
    """Serves one model repository; `commits` are its states, the last one is `main`."""

    def __init__(self, hub_id: str, files: Path) -> None:
        self.hub_id = hub_id
        self.url = ""
        self.gated = False
        self.breaks_off: set[str] = set()
        """Files whose next answer ends half-way."""
        self.fetched: list[str] = []
        """Files that were sent, whole or in part."""
        self._commits: dict[str, dict[str, bytes]] = {}
        self.commit(files)

    def commit(self, files: Path) -> str:
        contents = {path.name: path.read_bytes() for path in files.iterdir() if path.is_file()}
        digest = hashlib.sha1(repr(sorted(contents.items())).encode()).hexdigest()  # noqa: S324 - as git names commits
        self._commits[digest] = contents
        return digest

    @property
    def main(self) -> str:
        return list(self._commits)[-1]

    def files_of(self, revision: str) -> dict[str, bytes] | None:
        return self._commits.get(self.main if revision == "main" else revision)


@contextmanager
def hub_server(hub_id: str, files: Path) -> Iterator[Hub]:
    """Yields a hub that serves a directory as a model under `hub_id`."""
    hub = Hub(hub_id, files)
    server = _Server(("127.0.0.1", 0), _Handler)
    server.hub = hub
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    hub: Hub


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        path = urlsplit(self.path).path.strip("/")
        api, page = f"api/models/{self.server.hub.hub_id}/", f"{self.server.hub.hub_id}/resolve/"
        if not path.startswith((api, page)):
            self._refuse(HTTPStatus.NOT_FOUND, "RepoNotFound")
        elif path.startswith(api):
            kind, _, revision = path.removeprefix(api).partition("/")
            self._describe(kind, revision)
        else:
            revision, _, name = path.removeprefix(page).partition("/")
            self._send_file(revision, name, body=body)

    def _describe(self, kind: str, revision: str) -> None:
        files = self.server.hub.files_of(revision)
        if files is None:
            self._refuse(HTTPStatus.NOT_FOUND, "RevisionNotFound")
            return
        sha = self.server.hub.main if revision == "main" else revision
        described: Any = {
            "id": self.server.hub.hub_id,
            "sha": sha,
            "siblings": [{"rfilename": name} for name in files],
        }
        if kind == "tree":
            described = [
                {"type": "file", "path": name, "size": len(content), "oid": _oid(content)}
                for name, content in files.items()
            ]
        self._send(json.dumps(described).encode(), {"Content-Type": "application/json"})

    def _send_file(self, revision: str, name: str, *, body: bool) -> None:
        files = self.server.hub.files_of(revision) or {}
        if self.server.hub.gated:
            self._refuse(HTTPStatus.FORBIDDEN, "GatedRepo")
            return
        if name not in files:
            self._refuse(HTTPStatus.NOT_FOUND, "EntryNotFound")
            return
        content = files[name]
        headers = {"ETag": f'"{_oid(content)}"', "X-Repo-Commit": revision}
        if not body:
            self._send(content, headers, body=False)
            return
        self.server.hub.fetched.append(name)
        first = int(self.headers.get("Range", "bytes=0-")[6:].partition("-")[0])
        breaks_off = name in self.server.hub.breaks_off
        self.server.hub.breaks_off.discard(name)
        self._send(content, headers, first=first, breaks_off=breaks_off)

    def _send(
        self,
        content: bytes,
        headers: dict[str, str],
        *,
        body: bool = True,
        first: int = 0,
        breaks_off: bool = False,
    ) -> None:
        self.send_response(HTTPStatus.PARTIAL_CONTENT if first else HTTPStatus.OK)
        if first:
            span = f"bytes {first}-{len(content) - 1}/{len(content)}"
            self.send_header("Content-Range", span)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content) - first))
        self.end_headers()
        if body:
            half = (first + len(content)) // 2
            self.wfile.write(content[first : half if breaks_off else len(content)])
        if breaks_off:
            self.close_connection = True

    def _refuse(self, status: HTTPStatus, code: str) -> None:
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("X-Error-Message", code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Writes nothing: a test's output is for its failures."""


def _oid(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
