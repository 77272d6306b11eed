"""Threads that make pages, shared out among organizations."""

import asyncio
from threading import Event

from app.kit.callers import Tenant
from app.kit.ids import OrganizationId, ProjectId, new_id
from app.pages.rendering import made_on_thread
from tests.support.patience import PATIENCE_S, until


def tenant(organization_id: str) -> Tenant:
    return Tenant(OrganizationId(organization_id), ProjectId(new_id("proj_")), "slug", "key_x")


async def test_pages_of_one_organization_leave_a_thread_to_another() -> None:
    running, go_on, mine = list[str](), Event(), new_id("org-")

    def make() -> bool:
        running.append("page")
        return go_on.wait(PATIENCE_S)

    pages = [asyncio.create_task(made_on_thread(tenant(mine), make)) for _ in range(6)]
    await until(lambda: len(running) == 3, what="three pages")
    assert await made_on_thread(tenant(new_id("org-")), lambda: "other") == "other"
    assert len(running) == 3
    go_on.set()
    assert await asyncio.gather(*pages) == [True] * 6


async def test_pages_of_one_project_are_made_one_after_another() -> None:
    running, go_on, owner = list[str](), Event(), tenant(new_id("org-"))
    sibling = tenant(owner.organization_id)

    def make() -> bool:
        running.append("page")
        return go_on.wait(PATIENCE_S)

    pages = [asyncio.create_task(made_on_thread(owner, make)) for _ in range(3)]
    await until(lambda: len(running) == 1, what="a page")
    assert await made_on_thread(sibling, lambda: "sibling") == "sibling"
    assert len(running) == 1
    go_on.set()
    assert await asyncio.gather(*pages) == [True] * 3
