"""Sessions of the Coach over HTTP: life, refusals, walls between projects, kills, ends."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest

from app.kit.errors import LeaseLost
from tests.support.api.application import Api
from tests.support.api.organization import execute
from tests.support.coach.sessions import CLERK, SESSIONS, Coaching, coaching_of
from tests.support.patience import until
from tests.support.stack import Database

WAITING = """
    SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'
    AND datname = current_database()
"""
GAP = {"rule": "gap", "action": "stop", "step": 4, "reason": "The gap is 0.4."}


@pytest.fixture
async def coaching(api: Api, database: Database) -> AsyncIterator[Coaching]:
    async with coaching_of(api, database) as made:
        yield made


async def _error(coaching: Coaching, body: Any) -> tuple[int, str, str]:
    reply = await coaching.api.call("POST", SESSIONS, json=body)
    error = reply.json()["error"]
    return reply.status_code, error["code"], error["param"]


async def test_a_session_is_made_listed_paused_and_cancelled(coaching: Coaching) -> None:
    path = await coaching.session(target=0.5, seed=11, suffix="desk", metadata={"team": "desk"})
    made = await coaching.get(path)
    assert (made["status"], made["phase"], made["outcome"]) == ("running", "measuring", None)
    assert (made["target"], made["budget"]["jobs"], made["promote"]) == (0.5, 8, "automatic")
    assert made["metadata"] == {"team": "desk"}
    listed = await coaching.get(f"{SESSIONS}?student=clerk")
    assert [row["id"] for row in listed["data"]] == [made["id"]]
    assert (await coaching.get(f"{SESSIONS}?student=nobody"))["data"] == []
    assert (await coaching.post(f"{path}/pause", expect=200))["status"] == "paused"
    assert await coaching.step() == 0
    assert (await coaching.post(f"{path}/resume", expect=200))["status"] == "running"
    assert await coaching.step() == 1
    [(job_id, status, role)] = coaching.jobs(path)
    assert (status, role) == ("validating_files", "measure")
    assert (await coaching.get(path))["waiting_for"] == {"kind": "job", "id": job_id}
    job = await coaching.get(f"/v1/fine_tuning/jobs/{job_id}")
    assert (job["max_rollouts"], job["model"]) == (1, "tiny-agent-2026-11-23")
    assert (job["seed"], job["user_provided_suffix"]) == (11, "desk")
    assert job["method"]["reinforcement"]["hyperparameters"]["eval_samples"] == 4
    assert (await coaching.post(f"{path}/cancel", expect=200))["status"] == "cancelled"
    assert coaching.jobs(path) == [(job_id, "cancelled", "measure")]
    entries = await coaching.logbook(path)
    assert [entry["id"] for entry in entries] == ["1", "2", "3", "4"]
    after = await coaching.get(f"{path}/logbook?after={entries[2]['id']}")
    assert after["data"] == entries[3:]
    kinds = [entry["kind"] for entry in entries]
    assert kinds == ["started", "paused", "started", "ended"]
    await coaching.post(f"{path}/resume", expect=400)


async def test_wrong_calls_name_their_parameter(coaching: Coaching) -> None:
    path = await coaching.session()
    body = await coaching.body()
    assert await _error(coaching, body) == (400, "coach_session_open", "student")
    await coaching.post(f"{path}/cancel", expect=200)
    assert await _error(coaching, {**body, "student": "nobody"}) == (
        *(404, "student_not_found"),
        "student",
    )
    for changes, param in (
        ({"samples": 1}, "samples"),
        ({"promote": "always"}, "promote"),
        ({"budget": {"jobs": 0}}, "budget.jobs"),
        ({"budgett": {}}, "budgett"),
        ({"prompts": ["Be kind.", "Be brief.", "Be kind. "]}, "prompts[2]"),
    ):
        status, _, named = await _error(coaching, {**body, **changes})
        assert (status, named) == (400, param), changes
    paired = {"student": "clerk", "recipe": "safety_alignment"}
    assert (await _error(coaching, paired))[0::2] == (400, "method")
    missing = await _error(coaching, {**body, "training_file": "file-none"})
    assert missing[0::2] == (404, "training_file")
    reply = await coaching.api.call("GET", f"{SESSIONS}/coach_none")
    assert reply.json()["error"]["code"] == "coach_session_not_found"
    made = await coaching.post(SESSIONS, {**body, "student": "student:clerk"})
    assert made["student"] == "clerk"


async def test_no_project_sees_or_moves_the_session_of_another(coaching: Coaching) -> None:
    path = await coaching.session()
    foreign = coaching.api.other_key
    calls: list[tuple[str, str, Any]] = [
        ("GET", path, None),
        ("GET", f"{path}/logbook", None),
        *(("POST", f"{path}/{verb}", None) for verb in ("pause", "resume", "cancel")),
        ("POST", SESSIONS, await coaching.body()),
    ]
    for method, where, body in calls:
        reply = await coaching.api.call(method, where, json=body, key=foreign)
        assert reply.status_code == 404, (where, reply.text)
    assert (await coaching.api.call("GET", SESSIONS, key=foreign)).json()["data"] == []
    assert (await coaching.get(path))["status"] == "running"


async def test_a_deleted_student_ends_its_session_and_the_job(coaching: Coaching) -> None:
    path = await coaching.session()
    await coaching.step()
    assert (await coaching.api.call("DELETE", "/v1/students/clerk")).status_code == 200
    assert (await coaching.api.call("GET", path)).status_code == 404
    assert [status for _, status, _ in coaching.jobs(path)] == ["cancelled"]
    await coaching.post("/v1/students", CLERK)
    assert await coaching.step() == 0


async def test_a_step_that_is_killed_anywhere_makes_its_job_once(coaching: Coaching) -> None:
    path = await coaching.session()
    made = []
    for moment in range(0, 400, 16):
        step = asyncio.ensure_future(coaching.step())
        for _ in range(moment):
            await asyncio.sleep(0.001 if moment > 200 else 0)
        step.cancel()
        await asyncio.gather(step, return_exceptions=True)
        made.append(len(coaching.jobs(path)))
    await coaching.step()
    assert set(made) <= {0, 1}
    [(job_id, _, _)] = coaching.jobs(path)
    session = await coaching.get(path)
    assert (session["waiting_for"]["id"], session["spent"]["jobs"]) == (job_id, 1)


async def test_an_older_claim_writes_nothing(coaching: Coaching) -> None:
    path = await coaching.session()
    [older] = await coaching.claims(-1.0)
    [newer] = await coaching.claims(60.0)
    assert newer.lease.fence == older.lease.fence + 1
    assert await coaching.claims(60.0) == []
    with pytest.raises(LeaseLost):
        await coaching.factory(older).coach_driver().step(older)
    assert coaching.jobs(path) == []
    await coaching.factory(newer).coach_driver().step(newer)
    assert len(coaching.jobs(path)) == 1


async def test_a_reward_hack_stops_the_session_with_the_reason(coaching: Coaching) -> None:
    path = await coaching.session()
    coaching.choose()
    await coaching.step()
    [(job_id, _, role)] = coaching.jobs(path)
    assert role == "round 1"
    coaching.train(job_id, ended_early=GAP)
    await coaching.step()
    ended = await coaching.get(path)
    assert (ended["status"], ended["outcome"]) == ("completed", "reward_hack")
    assert ended["reason"].endswith("The gap is 0.4.")
    assert (await coaching.get("/v1/students/clerk/skills"))["data"] == []
    kinds = [entry["kind"] for entry in await coaching.logbook(path)]
    assert kinds == ["started", "chose", "trained", "ended"]


async def test_ask_waits_for_the_promotion_and_continues(coaching: Coaching) -> None:
    path = await coaching.session(promote="ask")
    coaching.choose()
    await coaching.step()
    [(job_id, *_)] = coaching.jobs(path)
    model = coaching.train(job_id)
    await coaching.step()
    waiting = (await coaching.get(path))["waiting_for"]
    execute(coaching.database, "UPDATE skills SET status = 'passed' RETURNING id")
    await coaching.step()
    paused = await coaching.get(path)
    assert paused["status"] == "paused"
    assert waiting["id"] in paused["reason"]
    await coaching.post("/v1/students/clerk/promote", {"skill": waiting["id"]}, expect=200)
    await coaching.post(f"{path}/resume", expect=200)
    await coaching.step()
    after = await coaching.get(path)
    assert (after["phase"], after["promoted"], after["waiting_for"]) == ("choosing", 1, None)
    await coaching.step()
    last = await coaching.get(f"/v1/fine_tuning/jobs/{coaching.jobs(path)[-1][0]}")
    assert (last["model"], last["metadata"]["coach_role"]) == (model, "round 2")


async def test_a_skill_is_held_without_regression_evals(coaching: Coaching) -> None:
    path = await coaching.session()
    assert "will hold every skill" in (await coaching.logbook(path))[0]["text"]
    coaching.choose()
    await coaching.step()
    [(job_id, *_)] = coaching.jobs(path)
    coaching.train(job_id)
    for _ in range(2):
        await coaching.step()
    ended = await coaching.get(path)
    assert (ended["outcome"], ended["promoted"]) == ("held", 0)
    assert (await coaching.get("/v1/students/clerk"))["current_skill"] is None


async def test_a_full_queue_delays_a_step_and_a_refusal_ends_the_session(
    coaching: Coaching,
) -> None:
    path = await coaching.session()
    full = "UPDATE projects SET max_queued_jobs = 0 RETURNING id"
    execute(coaching.database, full)
    await coaching.step()
    assert (await coaching.get(path))["status"] == "running"
    assert coaching.jobs(path) == []
    execute(coaching.database, full.replace("= 0", "= NULL"))
    session = await coaching.get(path)
    await coaching.api.call("DELETE", f"/v1/files/{session['training_file']}")
    await coaching.step()
    ended = await coaching.get(path)
    assert ended["status"] == "failed"
    assert session["training_file"] in ended["reason"]


async def test_a_step_locks_the_student_before_the_session(coaching: Coaching) -> None:
    path = await coaching.session()
    url = coaching.database.superuser_url.replace("+psycopg", "")
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await connection.execute("SELECT 1 FROM students FOR UPDATE")
        step = asyncio.create_task(coaching.step())
        await until(lambda: bool(execute(coaching.database, WAITING)))
        await connection.execute("SELECT 1 FROM coach_sessions FOR UPDATE NOWAIT")
        await connection.rollback()
    assert await step == 1
    assert (await coaching.get(path))["waiting_for"]["kind"] == "job"
