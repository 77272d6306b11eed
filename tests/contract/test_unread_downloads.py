"""Clients that ask for a download and read nothing of it, on real sockets."""

import io
import socket
from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any

import httpx
import pytest

from app.http.protocol import Protocol
from app.kit.objects import LocalObjects
from tests.support.contract.adapters import WEIGHTS, add_adapter, get_adapter
from tests.support.contract.service import BASE, Service, running_service
from tests.support.contract.siblings import SiblingProject
from tests.support.patience import PATIENCE_S, wait_for
from tests.support.stack import Services

DOWNLOADS = 3
REQUESTS = 5
LARGE = bytes(12 << 20)
_NUMBERS = count()
MOST_BYTES = 1 << 20
"""Most bytes that an unread download takes from the storage; most fill the kernel's buffers."""


@pytest.fixture(scope="module")
def service(services: Services, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    directory = tmp_path_factory.mktemp("unread")
    quotas = {"downloads_in_flight": DOWNLOADS, "requests_in_flight": REQUESTS}
    with running_service(services, directory, **quotas) as running:
        yield running


@pytest.fixture
def produced(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of the chunks that left the storage."""
    sizes: list[int] = []
    whole = LocalObjects.read

    async def counted(*arguments: Any, **options: Any) -> AsyncGenerator[bytes, None]:
        async for chunk in whole(*arguments, **options):
            sizes.append(len(chunk))
            yield chunk

    monkeypatch.setattr(LocalObjects, "read", counted)
    return sizes


@pytest.fixture(params=["adapter", "file"])
def path(request: pytest.FixtureRequest, service: Service, job: Any) -> str:
    """The path of a large download."""
    if request.param == "adapter":
        name = f"ft:{BASE}:first::{job.id[-8:]}"
        return f"/v1/models/{add_adapter(service, job.id, name, LARGE).name}/adapter"
    content = io.BytesIO(LARGE)
    file = service.client().files.create(file=("large", content), purpose="user_data")
    return f"/v1/files/{file.id}/content"


@pytest.fixture
def unread(service: Service) -> Iterator["Unread"]:
    with ExitStack() as stack:
        yield Unread(service, stack)


class Unread:
    """Opens connections on which a request is sent and no reply is read."""

    def __init__(self, service: Service, stack: ExitStack) -> None:
        self._service = service
        self._stack = stack

    def open(self, path: str, *, body: bytes = b"") -> socket.socket:
        connection = socket.socket()
        self._stack.enter_context(connection)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(PATIENCE_S)
        connection.connect(self._service.api.address)
        method = "POST" if body else "GET"
        head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
        head += "Content-Type: application/json\r\n"
        head += f"Authorization: Bearer {self._service.api.key}\r\n\r\n"
        connection.sendall(head.encode() + body)
        return connection


def answer(service: Service, path: str, key: str | None = None) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key or service.api.key}"}
    root = service.api.base_url.removesuffix("/v1")
    return httpx.get(f"{root}{path}", headers=headers, timeout=PATIENCE_S)


def begun(connection: socket.socket) -> bool:
    """True once the first byte of a reply is there, which stays unread."""
    return bool(connection.recv(1, socket.MSG_PEEK))


def test_unread_downloads_take_the_slots_of_their_own_project_only(
    service: Service, unread: Unread, path: str, sibling: SiblingProject, job: Any
) -> None:
    held = [unread.open(path) for _ in range(DOWNLOADS)]
    assert all(map(begun, held))
    refused = answer(service, path)
    assert refused.status_code == 429
    error = refused.json()["error"]
    assert error["code"] == "rate_limit_exceeded"
    assert error["message"] == (
        f"{DOWNLOADS} downloads of this project are running; wait for one to end."
    )
    assert float(refused.headers["retry-after"]) > 0
    assert answer(service, "/v1/files").status_code == 200, "the project's other requests"
    shared = f"ft:{BASE}:first::{job.id[-8:]}:ckpt-step-{next(_NUMBERS)}"
    add_adapter(service, job.id, shared, WEIGHTS)
    service.client().fine_tuning.checkpoints.permissions.create(
        shared, project_ids=[sibling.project_id]
    )
    assert get_adapter(service, shared, key=sibling.key).status_code == 200, "a neighbour's"
    held[0].close()
    wait_for(lambda: answer(service, path).status_code == 200, what="the end of a download")


def test_a_download_that_is_not_read_holds_few_bytes_and_is_closed(
    service: Service,
    unread: Unread,
    path: str,
    produced: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Protocol, "reader_deadline_s", 0.3)
    held = [unread.open(path) for _ in range(DOWNLOADS)]
    assert all(map(begun, held))
    received = [whatever_came(connection) for connection in map(after_abort, held)]
    assert sum(produced) < DOWNLOADS * MOST_BYTES
    assert max(produced) <= 64 << 10
    assert max(received) < len(LARGE)
    monkeypatch.setattr(Protocol, "reader_deadline_s", PATIENCE_S)
    assert len(answer(service, path).content) >= len(LARGE)


def after_abort(connection: socket.socket) -> socket.socket:
    """Waits, without reading, until the service has closed the connection."""

    def closed() -> bool:
        return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != 1

    wait_for(closed, what="the end of the connection")
    return connection


def whatever_came(connection: socket.socket) -> int:
    size = 0
    try:
        while block := connection.recv(1 << 16):
            size += len(block)
    except ConnectionResetError:
        pass
    return size


def test_requests_in_flight_count_until_the_last_byte(
    service: Service, unread: Unread, path: str, sibling: SiblingProject
) -> None:
    service.engine.hang = True
    chat = b'{"model": "%s", "messages": [{"role": "user", "content": "x"}]}' % BASE.encode()
    downloads = [unread.open(path) for _ in range(DOWNLOADS)]
    assert all(map(begun, downloads))
    chats = [unread.open("/v1/chat/completions", body=chat) for _ in range(REQUESTS - DOWNLOADS)]
    wait_for(lambda: len(service.engine.bodies) == len(chats), what="the chats")
    refused = answer(service, "/v1/files")
    assert refused.status_code == 429
    assert refused.json()["error"]["message"] == (
        f"{REQUESTS} requests of this project are running; wait for one to end."
    )
    assert answer(service, "/v1/files", sibling.key).status_code == 200
    downloads[0].close()
    wait_for(lambda: answer(service, "/v1/files").status_code == 200, what="the end of a request")
