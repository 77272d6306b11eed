"""A hub on this machine with one data set: the few routes that huggingface_hub calls to read it."""

import hashlib
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from typing_extensions import override


@dataclass
class DataSetHub:
    """Serves the files of a data set at one commit, which is `main`."""

    name: str
    files: Mapping[str, bytes]
    configs: list[Any] = field(default_factory=list)
    redirects_to: str | None = None
    """Address to which every file is redirected."""
    describes_with: bytes | None = None
    """Answer to the question for the data set, instead of its description."""
    breaks_off: bool = False
    """True: the connection drops instead of the description."""
    url: str = ""
    sent: list[tuple[str, int]] = field(default_factory=list)
    """Name and number of bytes of each part of a file that was sent."""
    authorized: list[str] = field(default_factory=list)
    """Credentials that came with requests."""

    @property
    def commit(self) -> str:
        return hashlib.sha1(repr(sorted(self.files.items())).encode()).hexdigest()  # noqa: S324 - as git names commits


@contextmanager
def data_set_hub(name: str, files: Mapping[str, bytes], **parts: Any) -> Iterator[DataSetHub]:
    hub = DataSetHub(name, files, **parts)
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
    hub: DataSetHub


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        hub, path = self.server.hub, unquote(urlsplit(self.path).path).strip("/")
        if (credential := self.headers.get("authorization")) is not None:
            hub.authorized.append(credential)
        api, page = f"api/datasets/{hub.name}", f"datasets/{hub.name}/resolve/"
        if path == api or path.startswith(f"{api}/revision/"):
            revision = path.removeprefix(api).removeprefix("/revision/") or "main"
            self._describe(revision)
        elif path.startswith(f"{api}/tree/{hub.commit}"):
            self._list(path.removeprefix(f"{api}/tree/{hub.commit}").strip("/"))
        elif path.startswith(page):
            _, _, name = path.removeprefix(page).partition("/")
            self._send_file(name)
        else:
            self._refuse("RepoNotFound")

    def _describe(self, revision: str) -> None:
        hub = self.server.hub
        if revision not in {"main", "v1", hub.commit}:
            self._refuse("RevisionNotFound")
            return
        if hub.breaks_off:
            self.close_connection = True
            return
        if hub.describes_with is not None:
            self._send(hub.describes_with)
            return
        found = {
            "id": hub.name,
            "sha": hub.commit,
            "private": False,
            "cardData": {"configs": hub.configs} if hub.configs else {},
            "siblings": [{"rfilename": name} for name in hub.files],
        }
        self._send(json.dumps(found).encode())

    def _list(self, folder: str) -> None:
        found = [
            {"type": "file", "path": name, "size": len(content), "oid": "0" * 40}
            for name, content in self.server.hub.files.items()
            if name.rpartition("/")[0] == folder
        ]
        self._send(json.dumps(found).encode())

    def _send_file(self, name: str) -> None:
        hub = self.server.hub
        content = hub.files.get(name)
        if content is None:
            self._refuse("EntryNotFound")
            return
        if hub.redirects_to is not None:
            self._send(b"", status=HTTPStatus.FOUND, location=hub.redirects_to)
            return
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("range", ""))
        if asked is None:
            hub.sent.append((name, len(content)))
            self._send(content)
            return
        begin, end = int(asked[1]), int(asked[2] or len(content) - 1) + 1
        hub.sent.append((name, len(content[begin:end])))
        shown = f"bytes {begin}-{min(end, len(content)) - 1}/{len(content)}"
        self._send(content[begin:end], status=HTTPStatus.PARTIAL_CONTENT, content_range=shown)

    def _refuse(self, code: str) -> None:
        self._send(b"{}", status=HTTPStatus.NOT_FOUND, x_error_code=code)

    def _send(self, content: bytes, *, status: HTTPStatus = HTTPStatus.OK, **headers: str) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        self.send_header("x-repo-commit", self.server.hub.commit)
        self.send_header("etag", '"0"')
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    @override
    def log_message(self, format: str, *_args: object) -> None:
        """Writes nothing."""
