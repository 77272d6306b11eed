import asyncio
import gzip
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from app.domain.errors import EndpointRefused
from app.gateways.egress.client import EgressClient
from app.gateways.egress.egress import (
    EgressFailure,
    EgressReply,
    FailureKind,
    InMemoryEgress,
    SentRequest,
)
from app.gateways.egress.guard import EgressPolicy
from app.gateways.egress.headers import check_headers
from tests.support.egress_clients import client_for, kind_of, post
from tests.support.endpoints import (
    Received,
    Reply,
    Script,
    Stream,
    endpoint,
    endpoint_in_thread,
)
from tests.support.patience import PATIENCE_S

MIB = 1_048_576


async def test_a_call_arrives_as_it_was_given() -> None:
    async with endpoint(lambda _: Reply(418, {"a": 1}, headers={"X-Two": "2"})) as server:
        client = client_for(server)
        reply = await client.post(
            server.url("/p%20q?x=1"), headers={"X-Key": "k"}, body=b'{"b":2}', timeout_s=PATIENCE_S
        )
        await client.aclose()
    request = server.received[0]
    assert (request.path, request.body) == ("/p%20q?x=1", b'{"b":2}')
    assert request.headers["host"] == server.host_port
    assert request.headers["x-key"] == "k"
    assert request.headers["accept-encoding"] == "identity"
    assert request.headers["content-type"] == "application/json"
    assert (reply.status, reply.body, reply.headers["x-two"]) == (418, b'{"a": 1}', "2")
    assert reply.latency_s > 0


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_not_followed(status: int) -> None:
    async with endpoint(lambda _: Reply()) as canary:

        def script(_: Received) -> Reply:
            return Reply(status, headers={"Location": canary.url("/caught")})

        async with endpoint(script) as server:
            client = client_for(server, canary)
            reply = await post(client, server.url())
            await client.aclose()
    assert reply.status == status
    assert canary.received == []


async def test_cookies_are_not_sent_back() -> None:
    def script(_: Received) -> Reply:
        return Reply(headers={"Set-Cookie": "tenant=a; Path=/"})

    async with endpoint(script) as server:
        client = client_for(server)
        for _ in range(2):
            await post(client, server.url())
        await client.aclose()
    assert ["cookie" in request.headers for request in server.received] == [False, False]
    assert server.connections == 1


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with endpoint(lambda _: Reply()) as server, endpoint(lambda _: Reply()) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url(""))
        client = client_for(server, proxy)
        await post(client, server.url())
        await client.aclose()
    assert (len(server.received), proxy.connections) == (1, 0)


def raw(*chunks: bytes, pause_s: float = 0.0) -> Callable[[Received], Stream]:
    async def stream() -> Stream:
        for chunk in chunks:
            yield chunk
            await asyncio.sleep(pause_s)

    return lambda _: stream()


def endless(head: bytes, chunk: bytes) -> Callable[[Received], Stream]:
    async def stream() -> Stream:
        yield head
        for _ in count():
            yield chunk

    return lambda _: stream()


OK = b"HTTP/1.1 200 OK\r\n"
BOMB = gzip.compress(b"\x00" * (64 * MIB))
HOSTILE: dict[str, tuple[Script, FailureKind]] = {
    "endless": (endless(OK + b"\r\n", b"x" * 65536), FailureKind.TOO_LARGE),
    "endless chunks": (
        endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"4000\r\n" + b"y" * 0x4000 + b"\r\n"),
        FailureKind.TOO_LARGE,
    ),
    "declared 10 GB": (
        endless(OK + b"Content-Length: 10737418240\r\n\r\n", b"z" * 4096),
        FailureKind.TOO_LARGE,
    ),
    "one byte over": (lambda _: Reply(body=b"x" * (MIB + 1)), FailureKind.TOO_LARGE),
    "gzip bomb": (
        lambda _: Reply(body=BOMB[:MIB], headers={"Content-Encoding": "gzip"}),
        FailureKind.BAD_ENCODING,
    ),
    "brotli": (lambda _: Reply(headers={"Content-Encoding": "br"}), FailureKind.BAD_ENCODING),
    "stacked": (
        lambda _: Reply(headers={"Content-Encoding": "identity, gzip"}),
        FailureKind.BAD_ENCODING,
    ),
    "1 MB header": (raw(OK + b"X: " + b"h" * MIB + b"\r\n\r\n"), FailureKind.BAD_ENCODING),
    "endless header": (endless(OK + b"X: ", b"h" * 65536), FailureKind.BAD_ENCODING),
    "many headers": (
        endless(OK, b"".join(b"X-%d: 1\r\n" % i for i in range(1000))),
        FailureKind.BAD_ENCODING,
    ),
    "not http": (raw(b"SSH-2.0-OpenSSH_9.7\r\n\r\n"), FailureKind.BAD_ENCODING),
    "broken chunk": (
        raw(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n"),
        FailureKind.BAD_ENCODING,
    ),
    "two lengths": (
        raw(OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc"),
        FailureKind.BAD_ENCODING,
    ),
    "cut short": (raw(OK + b"Content-Length: 100\r\n\r\nhalf"), FailureKind.UNREACHABLE),
    "hang up": (raw(), FailureKind.UNREACHABLE),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_replies_end_in_their_class(name: str) -> None:
    script, expected = HOSTILE[name]
    async with endpoint(script) as server:
        client = client_for(server)
        assert await kind_of(client, server.url()) is expected
        await client.aclose()
    # What the kernel buffers beyond the cap was sent but never read.
    assert server.sent_bytes < 16 * MIB


NOTED: dict[str, bytes] = {
    "compressed": b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok",
    "longer than the cap": b"Content-Length: 99999999\r\n\r\n",
    "cut short": b"Content-Length: 100\r\n\r\nhalf",
    "without an end": b"\r\n" + b"x" * 4 * MIB,
}


@pytest.mark.parametrize("name", NOTED)
async def test_a_notice_is_answered_by_its_status_whatever_follows(name: str) -> None:
    async with endpoint(raw(OK + NOTED[name])) as server:
        client = client_for(server)
        reply = await client.notify(server.url(), headers={}, body=b"{}", timeout_s=PATIENCE_S)
        assert (reply.status, reply.body) == (200, b"")
        await client.aclose()


async def test_a_drip_ends_at_the_deadline() -> None:
    async def drip() -> AsyncIterator[bytes]:
        yield OK + b"Content-Length: 1000\r\n\r\n"
        for _ in count():
            yield b"x"
            await asyncio.sleep(0.05)

    async with endpoint(lambda _: drip()) as server:
        client = client_for(server)
        started = time.monotonic()
        assert await kind_of(client, server.url(), timeout_s=0.4) is FailureKind.TIMEOUT
        assert time.monotonic() - started > 0.35
        await client.aclose()


async def test_a_reply_of_exactly_the_cap_is_read() -> None:
    async with endpoint(lambda _: Reply(body=b"x" * MIB)) as server:
        client = client_for(server)
        assert len((await post(client, server.url())).body) == MIB
        await client.aclose()


def unpacking_s() -> float:
    """Returns the processor time that this machine needs for a bomb of 128 MiB."""
    packed = zlib.compress(bytes(128 * MIB), 1)
    started = time.thread_time()
    zlib.decompress(packed)
    return time.thread_time() - started


async def test_fifty_hostile_endpoints_do_not_stall_the_loop() -> None:
    worst = 0.0

    async def watch() -> None:
        nonlocal worst
        last = time.thread_time()  # of this thread alone: other load on the machine is not ours
        while True:
            await asyncio.sleep(0)
            now = time.thread_time()
            worst, last = max(worst, now - last), now

    scripts = [script for script, _ in HOSTILE.values()]
    numbers = count()

    def in_turn(request: Received) -> Reply | Stream | Awaitable[Reply]:
        return scripts[next(numbers) % len(scripts)](request)

    with endpoint_in_thread(in_turn) as server:
        client = client_for(server)
        watching = asyncio.create_task(watch())
        replies = await asyncio.gather(
            *(post(client, server.url()) for _ in range(50)), return_exceptions=True
        )
        watching.cancel()
        await client.aclose()
    assert all(isinstance(reply, EgressFailure) for reply in replies)
    assert 0 < worst < unpacking_s()


async def test_a_port_without_a_listener_is_unreachable() -> None:
    async with endpoint(lambda _: Reply()) as server:
        client = client_for(server)
    assert await kind_of(client, server.url()) is FailureKind.UNREACHABLE
    await client.aclose()


async def test_tls_is_verified_against_the_name(tmp_path: Path) -> None:
    async def lookup(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    certificate = self_signed("tools.example", tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    names: list[str] = []
    tls.sni_callback = lambda _socket, name, _context: names.append(name)
    trusting = ssl.create_default_context(cafile=str(certificate))
    async with endpoint(lambda _: Reply(), tls=tls) as server:
        hosts = ("tools.example", "other.example")
        policy = EgressPolicy(frozenset(f"{host}:{server.port}" for host in hosts))
        good, other = (f"https://{host}:{server.port}/" for host in hosts)
        client = EgressClient(policy, lookup=lookup, ssl_context=trusting)
        assert (await post(client, good)).status == 200
        assert await kind_of(client, other) is FailureKind.UNREACHABLE
        await client.aclose()
        untrusting = EgressClient(policy, lookup=lookup)
        assert await kind_of(untrusting, good) is FailureKind.UNREACHABLE
        await untrusting.aclose()
    assert (len(server.received), names[:2]) == (1, ["tools.example", "other.example"])


def self_signed(name: str, directory: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, SHA256())
    )
    path = directory / "certificate.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(private + certificate.public_bytes(Encoding.PEM))
    return path


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "x"},
        {"content-length": "1"},
        {"Transfer-Encoding": "chunked"},
        {"Connection": "close"},
        {"Upgrade": "h2c"},
        {"webhook-id": "x"},
        {"Webhook-Anything": "x"},
        {"Idempotency-Key": "x"},
        {"X-Rollout-Id": "x"},
        {"x-attempt": "x"},
        {"traceparent": "x"},
        {"Cookie": "x"},
        {"some:thing": "x"},
        {"some\x00thing": "x"},
        {"some thing": "x"},
        {"": "x"},
        {"X": "a\r\nHost: evil"},
        {"X": "a\nb"},
        {"X": "a\x00b"},
        {"X": "ü€"},
        {"X": "v" * 4097},
    ],
)
def test_headers_a_customer_may_not_set(headers: dict[str, str]) -> None:
    with pytest.raises(EndpointRefused) as caught:
        check_headers(headers)
    assert "v" * 50 not in str(caught.value)


async def test_ordinary_headers_pass_and_arrive() -> None:
    headers = {"authorization": "Bearer k", "x-api-key": "v" * 4096, "user-agent": "me"}
    check_headers(headers)
    async with endpoint(lambda _: Reply()) as server:
        client = client_for(server)
        await client.post(server.url(), headers=headers, body=b"{}", timeout_s=5)
        await client.aclose()
    (received,) = server.received
    assert received.headers.items() >= headers.items()


async def test_512_posts_at_once() -> None:
    async with endpoint(lambda _: Reply(json={"output": "x"}, delay_s=0.05)) as server:
        client = client_for(server)
        replies = await asyncio.gather(*(post(client, server.url()) for _ in range(512)))
        await client.aclose()
    assert {reply.status for reply in replies} == {200}
    assert len(server.received) == 512


async def test_the_twin_keeps_what_was_sent() -> None:
    def script(request: SentRequest) -> EgressReply:
        return EgressReply(200, {}, request.body, 0.0)

    twin = InMemoryEgress(script, refused=["https://bad.example/"])
    reply = await twin.post("https://a.example/", headers={"X": "1"}, body=b"b", timeout_s=1)
    assert (reply.body, twin.sent[0].headers) == (b"b", {"X": "1"})
    with pytest.raises(EgressFailure):
        await twin.post("https://bad.example/", headers={}, body=b"", timeout_s=1)
    with pytest.raises(EndpointRefused):
        await twin.check_url("https://bad.example/")
