"""Host names whose name servers do not answer: whom they delay, and what is said of them."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from app.kit import addresses as lookups
from app.kit.addresses import OF_PROJECT
from tests.support.api.application import Api
from tests.support.patience import until
from tests.support.registry.environments import REGISTRY


@dataclass
class Resolver:
    """The system's resolver; names below `slow.example` are answered once they are released."""

    released: threading.Event = field(default_factory=threading.Event)
    asked: list[str] = field(default_factory=list)

    def __call__(self, host: Any, port: Any, *rest: Any, **options: Any) -> Any:
        if not str(host).endswith(".example"):
            return _system(host, port, *rest, **options)
        self.asked.append(host)
        if host.endswith(".slow.example"):
            self.released.wait()
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", port))]


_system = socket.getaddrinfo


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Resolver]:
    resolver = Resolver()
    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    yield resolver
    resolver.released.set()


async def registered(api: Api, host: str, *, key: str | None = None) -> Any:
    sent = {"name": host.replace(".", "-"), "url": f"https://{host}/"}
    return await api.call("POST", REGISTRY, json=sent, key=key)


def slow_ones(api: Api, number: int) -> "list[asyncio.Task[Any]]":
    return [asyncio.create_task(registered(api, f"n{n}.slow.example")) for n in range(number)]


async def test_slow_names_of_a_project_delay_no_other_project(api: Api, resolver: Resolver) -> None:
    slow = slow_ones(api, 16)
    await until(lambda: len(resolver.asked) == OF_PROJECT)
    reply = await registered(api, "good.example", key=api.other_key)
    assert reply.status_code == 200, reply.text
    assert len(resolver.asked) == OF_PROJECT + 1
    resolver.released.set()
    for ended in await asyncio.gather(*slow):
        assert ended.status_code in (400, 429), ended.text


async def test_a_name_that_was_not_looked_up_may_be_sent_again(
    api: Api, resolver: Resolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookups, "_SLOT_TIMEOUT_S", 0.01)
    monkeypatch.setattr(lookups, "_LOOKUP_TIMEOUT_S", 0.01)
    for ended in await asyncio.gather(*slow_ones(api, OF_PROJECT)):
        error = ended.json()["error"]
        assert (ended.status_code, error["code"]) == (400, "endpoint_not_allowed")
        assert "its name servers did not answer within 0.01 s" in error["message"]
    # Their threads are still waiting.
    busy = await registered(api, "good.example")
    assert (busy.status_code, busy.json()["error"]["code"]) == (429, "rate_limit_exceeded")
    assert busy.json()["error"]["message"] == (
        "The URL's host name was not looked up: other host names, whose name servers do not "
        "answer, had every slot of this project or its organization. Try again in a while."
    )
    assert busy.headers["retry-after"] == "10"
    assert "good.example" not in resolver.asked
    monkeypatch.undo()
    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    resolver.released.set()
    again = await registered(api, "good.example")
    assert again.status_code == 200, again.text


async def test_equal_names_of_a_project_share_one_lookup(api: Api, resolver: Resolver) -> None:
    sent = [registered(api, "one.slow.example") for _ in range(16)]
    tasks = [asyncio.create_task(each) for each in sent]
    await until(lambda: resolver.asked == ["one.slow.example"])
    reply = await registered(api, "good.example")
    assert reply.status_code == 200, reply.text
    resolver.released.set()
    for ended in await asyncio.gather(*tasks):
        assert "does not resolve" in ended.json()["error"]["message"]
