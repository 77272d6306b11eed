"""A session of the Coach has ends that its grader can reach, and warns of what its jobs cannot."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.support.api.application import Api
from tests.support.coach.sessions import CLERK, SESSIONS, Coaching, coaching_of
from tests.support.stack import Database

CONSTANT = {"type": "string_check", "name": "x", "operation": "eq", "input": "a", "reference": "a"}
UNREACHED: list[tuple[dict[str, Any], str]] = [
    ({"target": 50}, "target"),
    ({"target": 0}, "target"),
    ({"min_gain": 1.01}, "min_gain"),
]


@pytest.fixture
async def coaching(api: Api, database: Database) -> AsyncIterator[Coaching]:
    async with coaching_of(api, database) as made:
        yield made


@pytest.mark.parametrize(("options", "param"), UNREACHED)
async def test_an_end_that_no_score_reaches_is_refused(
    coaching: Coaching, options: dict[str, Any], param: str
) -> None:
    await coaching.post("/v1/students", CLERK)
    body = {**await coaching.body(), "grader": CONSTANT}
    refused = await coaching.api.call("POST", SESSIONS, json={**body, **options})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, param)
    files = {name: body[name] for name in ("training_file", "validation_file", "grader")}
    improved = {**files, "coach": options}
    refused = await coaching.api.call("POST", "/v1/students/clerk/improve", json=improved)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, f"coach.{param}")
    assert (await coaching.get(SESSIONS))["data"] == []


async def test_the_warnings_of_the_plan_are_in_the_reply(coaching: Coaching) -> None:
    await coaching.post("/v1/students", CLERK)
    body = {**await coaching.body(), "grader": CONSTANT, "target": 1}
    made = await coaching.api.call("POST", SESSIONS, json=body)
    assert made.status_code == 201, made.text
    assert "constant_grader" in {each["code"] for each in made.json()["warnings"]}
    assert "warnings" not in await coaching.get(f"{SESSIONS}/{made.json()['id']}")
