"""Addresses that the egress refuses, before and after it resolves a name."""

import asyncio
from itertools import count

import pytest

from app.kit.egress import EgressPolicy, FailureKind
from app.kit.egress_client import EgressClient
from app.kit.errors import EndpointRefused
from tests.support.cases import cases
from tests.support.egress.egress_clients import client_for, kind_of, post
from tests.support.endpoints import Reply, endpoint


async def test_only_the_allowed_port_of_loopback_is_reachable() -> None:
    async with endpoint(lambda _: Reply()) as server, endpoint(lambda _: Reply()) as canary:
        client = client_for(server)
        assert (await post(client, server.url())).status == 200
        for url in (
            canary.url(),
            canary.url(host="localhost"),
            f"http://[::1]:{canary.port}/",
            server.url(host="127.0.0.2"),
            f"http://[::ffff:127.0.0.1]:{server.port}/",
            f"https://0.0.0.0:{server.port}/",
        ):
            assert await kind_of(client, url) is FailureKind.REFUSED
            with pytest.raises(EndpointRefused):
                await client.check_url(url)
        await client.aclose()
    assert (canary.connections, len(server.received)) == (0, 1)


@cases("spelling", ["localhost", "127.0.0.1", "[::1]"])
async def test_an_allowed_spelling_of_loopback_allows_the_others(spelling: str) -> None:
    async with endpoint(lambda _: Reply()) as server:
        policy = EgressPolicy(frozenset({f"{spelling}:{server.port}"}), allow_plain_http=True)
        client = EgressClient(policy)
        for host in ("localhost", "LOCALHOST.", "127.0.0.1", "[::1]"):
            await client.check_url(server.url(host=host))
        for host in ("localhost", "127.0.0.1"):
            assert (await post(client, server.url(host=host))).status == 200
        await client.aclose()
    assert len(server.received) == 2


@cases(
    ("url", "named"),
    [
        ("http://localhost:8900/x", "localhost:8900"),
        ("http://tools.localhost/", "tools.localhost:80"),
        ("http://127.0.0.1:8900/", "127.0.0.1:8900"),
        ("https://10.1.2.3/", "10.1.2.3:443"),
        ("https://inside.example/", "inside.example:443"),
    ],
)
async def test_the_refusal_of_a_private_address_names_the_cure(url: str, named: str) -> None:
    async def lookup(_host: str, _port: int) -> list[str]:
        return ["10.0.0.7"]

    client = EgressClient(EgressPolicy(frozenset({"127.0.0.1:9"})), lookup=lookup)
    with pytest.raises(EndpointRefused) as caught:
        await client.check_url(url)
    plain = " together with AGENT_RFT_EGRESS__ALLOW_PLAIN_HTTP=true" * url.startswith("http:")
    assert str(caught.value) == (
        f"{named} is a private address, not a public one; the operator can allow it with "
        f"`agent-rft up --allow-endpoint {named}` or AGENT_RFT_EGRESS__ALLOW_ENDPOINTS{plain}"
    )


@cases("host", [
    "169.254.169.254", "168.63.129.16", "[::ffff:169.254.169.254]", "metadata.google.internal",
    "Metadata.Google.Internal.", "metadata", "instance-data.ec2.internal",
])  # fmt: skip
async def test_metadata_is_refused_even_when_allowed(host: str) -> None:
    policy = EgressPolicy(frozenset({f"{host}:80"}), allow_plain_http=True)
    client = EgressClient(policy)
    with pytest.raises(EndpointRefused, match="metadata service, which no setting allows"):
        await client.check_url(f"http://{host}/latest/meta-data")
    assert await kind_of(client, f"http://{host}/latest") is FailureKind.REFUSED


async def test_plain_http_needs_both_switches() -> None:
    strict = EgressClient(EgressPolicy(frozenset({"127.0.0.1:9000"})))
    with pytest.raises(EndpointRefused, match=r"https.*AGENT_RFT_EGRESS__ALLOW_PLAIN_HTTP=true"):
        await strict.check_url("http://127.0.0.1:9000/")
    await strict.check_url("https://127.0.0.1:9000/")
    lax = EgressClient(EgressPolicy(allow_plain_http=True))
    with pytest.raises(EndpointRefused, match="https"):
        await lax.check_url("http://93.184.216.34/")
    await lax.check_url("https://93.184.216.34/")


async def test_a_name_with_one_private_answer_is_refused() -> None:
    async def lookup(host: str, _port: int) -> list[str]:
        return {"mixed.example": ["93.184.216.34", "10.0.0.7"], "empty.example": []}[host]

    client = EgressClient(EgressPolicy(), lookup=lookup)
    for name, text in (("mixed", "is a private address"), ("empty", "does not resolve")):
        with pytest.raises(EndpointRefused, match=text) as caught:
            await client.check_url(f"https://{name}.example/")
        assert "10.0.0.7" not in str(caught.value)
    assert await kind_of(client, "https://mixed.example/") is FailureKind.REFUSED
    assert await kind_of(client, "https://empty.example/") is FailureKind.UNREACHABLE
    await client.aclose()


async def test_a_name_that_turns_private_after_registration_reaches_nothing() -> None:
    async with endpoint(lambda _: Reply()) as canary:
        answers = iter([["93.184.216.34"], ["127.0.0.1"], ["169.254.169.254"], ["::1"]])

        async def lookup(_host: str, _port: int) -> list[str]:
            return next(answers)

        client = EgressClient(EgressPolicy(), lookup=lookup)
        url = f"https://rebind.example:{canary.port}/"
        await client.check_url(url)
        for _ in range(3):
            assert await kind_of(client, url) is FailureKind.REFUSED
        await client.aclose()
    assert canary.connections == 0


async def test_the_name_is_resolved_once_per_connection_and_kept_as_host() -> None:
    queries: list[str] = []

    async def lookup(host: str, _port: int) -> list[str]:
        queries.append(host)
        await asyncio.sleep(0.01)
        return ["127.0.0.1"]

    async with endpoint(lambda _: Reply(delay_s=0.05)) as server:
        allowed = frozenset({f"tools.example:{server.port}"})
        client = EgressClient(EgressPolicy(allowed, allow_plain_http=True), lookup=lookup)
        await asyncio.gather(*(post(client, server.url(host="tools.example")) for _ in range(20)))
        await client.aclose()
    assert {request.headers["host"] for request in server.received} == {
        f"tools.example:{server.port}"
    }
    assert len(server.received) == 20
    assert len(queries) == 1


async def test_a_peer_that_was_not_checked_is_dropped_before_a_byte_is_sent() -> None:
    async with endpoint(lambda _: Reply()) as server:
        calls = count()

        async def lookup(_host: str, _port: int) -> list[str]:
            return ["127.0.0.1"]

        policy = EgressPolicy(frozenset({f"tools.example:{server.port}"}), allow_plain_http=True)
        client = EgressClient(policy, lookup=lookup)
        guard = client._guard
        original = guard.check_address

        def check(address: object, host: str, port: int) -> None:
            if next(calls):  # the first check is the resolver's, the second the peer's
                raise EndpointRefused("the URL's host is not a public address")
            original(address, host, port)  # type: ignore[arg-type]  # the stand-in takes any address

        guard.check_address = check  # type: ignore[method-assign]  # the stand-in takes any address
        assert await kind_of(client, server.url(host="tools.example")) is FailureKind.REFUSED
        await client.aclose()
    assert server.received == []
