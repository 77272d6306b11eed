"""Lookups of names whose servers do not answer: whose slots they have, and what others learn."""

import asyncio

import pytest

from app.kit import addresses as lookups
from app.kit.addresses import LookupsBusy, NameLookups, calls_of
from tests.support.patience import PATIENCE_S, until


async def test_projects_of_one_organization_share_its_lookups(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lookups, "_SLOT_TIMEOUT_S", 0.01)
    monkeypatch.setattr(lookups, "_LOOKUP_TIMEOUT_S", PATIENCE_S)
    asked, answered = list[str](), asyncio.Event()

    async def late(host: str, _: int) -> list[str]:
        asked.append(host)
        await answered.wait()
        return ["93.184.216.34"]

    names = NameLookups(late)

    def look_up(host: str, organization: str, project: str) -> "asyncio.Task[list[str]]":
        with calls_of(organization, project):
            return asyncio.create_task(names.addresses(host, 443))

    first = [look_up(f"{name}{n}.example", "first", name) for name in "abc" for n in range(4)]
    await until(lambda: sum(task.done() for task in first) == 4)
    refused = [task.exception() for task in first if task.done()]
    assert [type(fault) for fault in refused] == [LookupsBusy] * 4
    assert str(refused[0]) == (
        "the host name was not looked up: other host names, whose name servers do not answer, had "
        "every slot of this project or its organization"
    )
    assert len(asked) == 8, "of three projects with four slots each"
    second = look_up("d.example", "second", "d")
    await until(lambda: asked[8:] == ["d.example"])
    answered.set()
    assert await second == ["93.184.216.34"]
    found = await asyncio.gather(*first, return_exceptions=True)
    assert found.count(["93.184.216.34"]) == 8
