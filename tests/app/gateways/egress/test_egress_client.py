import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from app.kit.egress import (
    EgressPolicy,
    EgressRequest,
    FailureKind,
    check_headers,
)
from app.kit.egress_client import EgressClient
from app.kit.errors import EndpointRefused
from tests.support.cases import cases
from tests.support.egress.egress_clients import client_for, kind_of, post
from tests.support.endpoints import ReceivedRequest, Reply, endpoint
from tests.support.patience import PATIENCE_S


async def test_a_call_arrives_as_it_was_given() -> None:
    async with endpoint(lambda _: Reply(418, {"a": 1}, headers={"X-Two": "2"})) as server:
        client = client_for(server)
        reply = await client.send(
            EgressRequest(server.url("/p%20q?x=1"), {"X-Key": "k"}, b'{"b":2}', PATIENCE_S)
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


@cases("status", [301, 302, 303, 307, 308])
async def test_redirects_are_not_followed(status: int) -> None:
    async with endpoint(lambda _: Reply()) as canary:

        def script(_: ReceivedRequest) -> Reply:
            return Reply(status, headers={"Location": canary.url("/caught")})

        async with endpoint(script) as server:
            client = client_for(server, canary)
            reply = await post(client, server.url())
            await client.aclose()
    assert reply.status == status
    assert canary.received == []


async def test_cookies_are_not_sent_back() -> None:
    def script(_: ReceivedRequest) -> Reply:
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


@cases(
    "headers",
    [
        {"Host": "x"},
        {"content-length": "1"},
        {"webhook-id": "x"},
        {"Idempotency-Key": "x"},
        {"x-attempt": "x"},
        {"traceparent": "x"},
        {"Cookie": "x"},
        {"some:thing": "x"},
        {"some\x00thing": "x"},
        {"": "x"},
        {"X": "a\r\nHost: evil"},
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
        await client.send(EgressRequest(server.url(), headers, b"{}", 5))
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
