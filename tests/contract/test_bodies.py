"""Hostile requests as bytes on a socket: each gets its answer, costs no memory, stops nobody."""

import gzip
import itertools
import json
import socket
import tracemalloc
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.contract.service import ROW, Service
from tests.support.patience import PATIENCE_S, wait_for
from tests.support.web.corpora import FORMS, JSON_BODIES, RANGES, MultipartForm

HUGE = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> dict[str, str | None]:
        found = json.loads(self.body)["error"]
        assert set(found) == {"message", "type", "param", "code"}
        assert len(self.body) < 4096
        return dict(found)


def exchange(service: Service, pieces: Iterable[bytes], *, timeout_s: float = PATIENCE_S) -> Answer:
    """Send pieces until the server answers; read one answer."""
    with socket.create_connection(service.api.address, timeout=timeout_s) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it answered and hung up
        with connection.makefile("rb") as reply:
            status = int(reply.readline().split()[1])
            lines = iter(lambda: reply.readline().strip(), b"")
            pairs = (line.decode().split(": ", 1) for line in lines)
            headers = {name.lower(): value for name, value in pairs}
            return Answer(status, headers, reply.read(int(headers["content-length"])))


def head(service: Service, line: str, *headers: str, key: bool = True) -> bytes:
    authorization = (f"Authorization: Bearer {service.api.key}",) if key else ()
    return "\r\n".join([line, "Host: x", *authorization, *headers, "", ""]).encode()


def posted(service: Service, path: str, body: bytes, *headers: str) -> Answer:
    length = f"Content-Length: {len(body)}"
    return exchange(service, [head(service, f"POST {path} HTTP/1.1", length, *headers), body])


def files_below(objects: Path) -> set[Path]:
    return {path for path in objects.rglob("*") if path.is_file()}


@contextmanager
def little_memory(*, most_mib: int = 20) -> Iterator[None]:
    """Fails if Python, the client's pieces included, holds more than so much more at one instant.
    The system's count of this process has what other threads and its allocator keep.
    """
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before < most_mib << 20


@pytest.mark.parametrize("name", JSON_BODIES)
@pytest.mark.parametrize("path", ["/v1/fine_tuning/jobs", "/v1/uploads", "/v1/chat/completions"])
def test_an_unusable_json_body_is_a_400(service: Service, path: str, name: str) -> None:
    answer = posted(service, path, JSON_BODIES[name], "Content-Type: application/json")
    assert answer.status == 400
    assert answer.error["type"] == "invalid_request_error"
    assert answer.headers["x-request-id"].startswith("req_")


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_too_long_a_body_is_a_413_with_and_without_its_length(
    service: Service, method: str
) -> None:
    start = f"{method} /v1/fine_tuning/jobs HTTP/1.1"
    reported = exchange(service, [head(service, start, f"Content-Length: {HUGE + 1}")])
    assert (reported.status, reported.error["code"]) == (413, "request_too_large")

    def endless() -> Iterator[bytes]:
        yield head(service, start, "Transfer-Encoding: chunked")
        for _ in range(200):
            yield b"100000\r\n" + b" " * 0x100000 + b"\r\n"
        yield b"0\r\n\r\n"

    with little_memory():
        untold = exchange(service, endless())
    assert (untold.status, untold.error["code"]) == (413, "request_too_large")


def test_a_compressed_body_is_refused_unread(service: Service) -> None:
    bomb = gzip.compress(bytes(100 << 20))
    for path in ("/v1/fine_tuning/jobs", "/v1/files"):
        answer = posted(service, path, bomb, "Content-Encoding: gzip")
        assert (answer.status, answer.error["code"]) == (400, None)


@pytest.mark.parametrize("host", ["a/?x=", "[::1", "x:99999999", "a b", "", "@", "a\\b"])
def test_no_host_leads_past_the_key(service: Service, host: str) -> None:
    for path in ("/v1/models", "/healthz/../v1/models", "/v1/files/healthz"):
        request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
        answer = exchange(service, [request])
        assert answer.status in {400, 401, 404}
        assert answer.error["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET @x HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET v1/models HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://evil@x/v1/models HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01",
        b"GET /v1/models\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /v1/models\x00 HTTP/1.1\r\n\r\n",
        b"NONSENSE / HTTP/1.1\r\n\r\n",
        b"POST /v1/uploads HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        b"POST /v1/uploads HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        b"POST /v1/uploads HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nA: b\x00c\r\n\r\n",
        b"GET / HTTP/1.1\r\n: b\r\n\r\n",
    ],
)
def test_what_is_no_http_is_answered_in_the_envelope(
    service: Service, request_bytes: bytes
) -> None:
    answer = exchange(service, [request_bytes])
    assert 400 <= answer.status < 500
    assert answer.error["type"] == "invalid_request_error"
    assert answer.headers["x-request-id"].startswith("req_")


@pytest.mark.parametrize("opening", ["GET /", "GET / HTTP/1.1\r\nA: "])
def test_an_endless_header_is_cut_off(service: Service, opening: str) -> None:
    with little_memory():
        answer = exchange(service, [opening.encode(), *([b"x" * (1 << 20)] * 64)])
    assert (answer.status, answer.headers["connection"]) == (431, "close")


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("field", ["file", "data"])
def test_a_hostile_form_is_refused_at_little_cost(service: Service, name: str, field: str) -> None:
    form: MultipartForm = FORMS[name](field)
    path = "/v1/files"
    if field == "data":
        client = service.client()
        upload = client.uploads.create(
            filename="a", purpose="user_data", bytes=1, mime_type="text/plain"
        )
        path = f"/v1/uploads/{upload.id}/parts"
    request = head(
        service,
        f"POST {path} HTTP/1.1",
        f"Content-Type: {form.content_type}",
        "Transfer-Encoding: chunked",
    )
    chunks = (b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in form.chunks() if chunk)
    with little_memory():
        answer = exchange(service, itertools.chain([request], chunks, [b"0\r\n\r\n"]))
    assert answer.status in {400, 413}
    assert answer.error["type"] == "invalid_request_error"
    stored = service.database.settings.objects_dir.rglob(".*")
    assert [left for left in stored if left.is_file()] == []


@pytest.mark.parametrize("value", RANGES)
def test_no_range_costs_more_than_the_file(service: Service, value: str) -> None:
    file = service.client().files.create(file=ROW, purpose="fine-tune")
    line = f"GET /v1/files/{file.id}/content HTTP/1.1"
    answer = exchange(service, [head(service, line, f"Range: {RANGES[value]}")])
    assert (answer.status, answer.body) == (200, ROW)


def test_an_interrupted_upload_leaves_nothing(service: Service) -> None:
    client = service.client()
    before = {file.id for file in client.files.list()}
    objects = service.database.settings.objects_dir
    known = files_below(objects)
    with socket.create_connection(service.api.address) as connection:
        connection.sendall(
            head(
                service,
                "POST /v1/files HTTP/1.1",
                "Content-Type: multipart/form-data; boundary=0123456789",
                "Content-Length: 400000000",
            )
        )
        form = '--0123456789\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'
        connection.sendall(form.encode() + ROW * 100_000)
        wait_for(lambda: files_below(objects) != known, what="the beginning of the upload")
    wait_for(lambda: files_below(objects) == known, what="the end of the broken-off upload")
    assert {file.id for file in client.files.list()} == before


def test_many_half_sent_bodies_delay_no_other_request(service: Service) -> None:
    """300 connections that stopped in the middle hold a socket each, and no more."""
    heads = [
        head(service, "POST /v1/fine_tuning/jobs HTTP/1.1", "Content-Length: 1000") + b'{"a',
        head(
            service,
            "POST /v1/files HTTP/1.1",
            "Content-Type: multipart/form-data; boundary=0123456789",
            "Content-Length: 100000",
        )
        + b"--01234",
        b"POST /v1/files HT",
    ]
    with ThreadPoolExecutor(8) as pool:
        open_one = socket.create_connection
        half = list(pool.map(open_one, [service.api.address] * 300))
        try:
            for number, connection in enumerate(half):
                connection.sendall(heads[number % 3])
            client = service.client(max_retries=0, timeout=PATIENCE_S)
            made = client.files.create(file=ROW, purpose="fine-tune")
            for _ in range(20):
                assert client.files.retrieve(made.id).status == "processed"
        finally:
            for connection in half:
                connection.close()
