"""The page of a plan shows the choices that a visitor made, however slowly its scripts arrive."""

import asyncio
from typing import Any

from tests.support.api.application import Api
from tests.support.dashboard.browser import Tab
from tests.support.dashboard.teaching import rows


async def test_knobs_moved_before_the_scripts_arrive_are_in_the_plan(api: Api, tab: Tab) -> None:
    body = {"name": "clerk", "base_model": "tiny-agent"}
    await api.call("POST", "/v1/students", json=body)
    made = await api.call("POST", "/v1/curricula", json={"name": "answers", **rows()})
    await tab.sign_in(api.key)
    page, moved = tab.page, asyncio.Event()

    async def held(route: Any) -> None:
        await moved.wait()
        await route.continue_()

    await page.route("**/assets/htmx.min.js", held)
    query = f"recipe=customer_support&curriculum={made.json()['id']}"
    path = f"{tab.base_url}/teach/students/clerk/plan?{query}"
    await page.goto(path, wait_until="commit")
    await page.get_by_label("Drift guard").press("Home")
    await page.get_by_label("Effort for each example").select_option("strong")
    assert await page.get_by_text("The student may change a lot.").count() == 0
    moved.set()
    await page.get_by_text("The student may change a lot.").wait_for()
    await page.get_by_text("Many attempts at each example").wait_for()
    assert await page.locator("#plan [name=drift_guard]").input_value() == "0"
