"""The dashboard works in a real browser: one long visit, and texts that nobody may trust."""

import hashlib
from collections.abc import Callable
from typing import Any

from tests.support.api.application import Api
from tests.support.dashboard.browser import AXE, Tab
from tests.support.dashboard.scenes import (
    HOSTILE,
    STEPS,
    call,
    create_job,
    end,
    execute,
    put_lost,
    put_rollout,
    trace,
    train,
)
from tests.support.dashboard.tokens import put_tokens
from tests.support.stack import Database


def commit_step(database: Database, job: str, step: int) -> None:
    """Commits a step as a run does: its points, its event and the job's progress."""
    execute(
        database,
        "WITH job AS (UPDATE fine_tuning_jobs SET status = 'running', step = %(step)s, "
        "total_steps = 12 WHERE id = %(job)s RETURNING project_id, id), point AS ("
        "INSERT INTO job_metrics (project_id, job_id, name, split, step, value) "
        "SELECT project_id, id, 'reward/mean', 'train', %(step)s, %(step)s / 8.0 FROM job) "
        "INSERT INTO job_events (id, project_id, job_id, level, type, message, data) "
        "SELECT 'ftevent-' || %(step)s, project_id, id, 'info', 'metrics', 'Step', "
        "jsonb_build_object('step', %(step)s::int) FROM job",
        {"step": step, "job": job},
    )


def say(database: Database, job: str, message: str) -> None:
    execute(
        database,
        "INSERT INTO job_events (id, project_id, job_id, level, type, message) SELECT "
        "'ftevent-said', project_id, id, 'info', 'message', %s FROM fine_tuning_jobs WHERE id = %s",
        (message, job),
    )


async def test_a_visit(api: Api, tab: Tab, database: Database) -> None:
    page, other = tab.page, await create_job(api, suffix="waiting")
    busy = await create_job(api, suffix="busy")
    done, job = await create_job(api, suffix="rivers"), await create_job(api, suffix="live")
    train(database, done)
    put_lost(database, done)
    streams = list[int]()

    def answered(reply: Any) -> None:
        if "/stream" in reply.url:
            streams.append(reply.status)

    page.on("response", answered)
    await tab.sign_in(api.key)
    await page.get_by_role("link", name="live").click()
    await page.get_by_text("No step is done yet").wait_for()
    for step in (1, 2):  # the page renews itself
        commit_step(database, job, step)
        await page.get_by_text(f"{step} / 12", exact=True).wait_for()
    await page.locator("#chart-outcome canvas").wait_for()
    end(database, job)
    say(database, job, "The job has successfully completed")
    await page.get_by_role("link", name="Report", exact=True).click()
    await page.get_by_role("heading", name="Report").wait_for()
    # A page that asks again once the job has ended is told so, and asks no more. A stream that was
    # cut is opened again before.
    assert set(streams[:-1]) <= {200}
    assert streams[-1] in (200, 204)
    await find_a_lost_rollout(tab, done)
    await see_a_row_before_and_now(tab)
    await compare(tab, other, renew=lambda: commit_step(database, busy, 5))
    await page.get_by_role("link", name="Jobs").first.click()
    await page.get_by_role("link", name="waiting").click()
    await page.get_by_text("Cancel…").click()
    await page.get_by_role("button", name="Cancel the job").click()
    await page.locator(".status.cancelled").wait_for()
    await page.get_by_role("button", name="Sign out").click()
    await page.get_by_role("heading", name="Sign in").wait_for()


async def find_a_lost_rollout(tab: Tab, job: str) -> None:
    """Takes two clicks from the first screen of the job."""
    await tab.open(f"/jobs/{job}")
    await tab.page.get_by_role("link", name="tool timeout").click()
    await tab.page.get_by_role("link", name="train no. 0").first.click()
    await tab.page.get_by_text("lost: tool timeout").first.wait_for()
    await tab.page.get_by_text("search: no answer").wait_for()
    await press(tab, "]")
    await tab.page.get_by_role("heading", name="Step 2, row 0").wait_for()
    await press(tab, "[")
    await tab.page.get_by_role("heading", name="Step 1, row 0").wait_for()


async def press(tab: Tab, key: str) -> None:
    """Presses a key once the scripts of the page that is shown listen to it."""
    await tab.page.wait_for_load_state("load")
    await tab.page.keyboard.press(key)


async def see_a_row_before_and_now(tab: Tab) -> None:
    await tab.page.get_by_role("link", name="rivers").click()
    await tab.page.get_by_role("link", name="Report", exact=True).click()
    await tab.page.get_by_role("link", name="1", exact=True).click()
    await tab.page.get_by_text("Answer at step 0.").last.wait_for()
    await tab.page.get_by_text(f"Answer at step {STEPS}.").last.wait_for()
    await tab.page.get_by_role("link", name="no. 1").first.click()
    await tab.page.get_by_role("heading", name="no. 1").wait_for()
    await press(tab, "j")
    await tab.page.get_by_role("heading", name="no. 2").wait_for()


async def compare(tab: Tab, waiting: str, *, renew: Callable[[], None]) -> None:
    """Chooses two jobs of the list. `renew` changes a third one while they are chosen."""
    await tab.open("/")
    await tab.page.get_by_label("compare rivers").check()
    renew()
    await tab.page.get_by_text("5 / 12", exact=True).wait_for()  # the list renews itself
    assert await tab.page.get_by_label("compare rivers").is_checked()
    await tab.page.get_by_label("compare live").check()
    await tab.page.get_by_role("button", name="Compare the chosen jobs").click()
    await tab.page.get_by_role("heading", name="2 jobs compared").wait_for()
    await tab.page.locator("#chart-training-reward canvas").wait_for()
    assert waiting not in await tab.page.content()


async def test_hostile_texts_stay_texts(api: Api, tab: Tab, database: Database) -> None:
    job = await create_job(api, suffix="evil")
    hostile = trace(HOSTILE, "\u202e" + "x" * 1_000_000, call(HOSTILE, name=HOSTILE))
    put_rollout(database, job, "evil", trace=hostile)
    turn: dict[str, Any] = {**hostile["turns"][1], "tool_calls": []}
    messages = [{"role": "assistant", "content": f"{HOSTILE} {n}"} for n in range(5000)]
    put_rollout(database, job, "many", step=2, trace={"messages": messages, "turns": [turn] * 5000})
    await tab.sign_in(api.key)
    put_tokens(database, "evil", [[(HOSTILE, -9.0, 3.0), ("x" * 5000, -0.5, None)] * 500])
    for rollout in ("evil", "many", "evil/tokens"):
        await tab.open(f"/jobs/{job}/rollouts/{rollout}")
        assert await tab.page.locator("main img, main script").count() == 0
        assert await tab.page.get_by_text("<script>alert(1)</script>").count() > 0
        await tab.show("light", 360)
        width = await tab.page.evaluate("() => document.documentElement.scrollWidth")
        assert width <= 360


def test_axe_is_unchanged_and_has_its_licence() -> None:
    vendor = AXE.parent
    lines = (vendor / "SHA256SUMS").read_text().splitlines()[1:]
    sums = dict(line.split()[::-1] for line in lines)
    assert sums.keys() == {path.name for path in vendor.iterdir()} - {"SHA256SUMS"}
    for name, digest in sums.items():
        assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == digest, name
    assert "Mozilla Public License" in (vendor / "LICENSE.axe-core.txt").read_text()
