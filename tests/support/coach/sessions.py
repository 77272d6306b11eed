"""Sessions of the Coach over HTTP without an engine: their steps, and jobs that look as ended."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from app.database import CoachClaim
from app.teaching.coach.driver import CoachRunner
from app.wiring import Factory, ProcessContext, coach_runner
from tests.support.api.application import Api
from tests.support.api.organization import execute
from tests.support.stack import Database

SESSIONS = "/v1/coach_sessions"
CLERK = {"name": "clerk", "base_model": "tiny-agent"}
GRADER = {
    "type": "string_check",
    "name": "x",
    "operation": "eq",
    "input": "{{ sample.output_text }}",
    "reference": "a",
}
GAIN = {
    "kind": "tag",
    "name": "refunds",
    "rows": 12,
    "weight": 1.0,
    "mean": 0.4,
    "headroom": 0.6,
    "spread": 6,
    "gain": 0.3,
}
REPORT = {"step": 1, "rows": 12, "reward": {"difference": 0.2, "difference_ci95": [0.1, 0.3]}}


def tagged_rows(tag: str, count: int = 12) -> bytes:
    rows = [
        {"messages": [{"role": "user", "content": f"{tag} {number}"}], "tags": [tag]}
        for number in range(count)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@dataclass(frozen=True, slots=True)
class Coaching:
    api: Api
    database: Database
    context: ProcessContext
    runner: CoachRunner

    async def post(self, path: str, body: Any = None, *, expect: int = 201) -> Any:
        reply = await self.api.call("POST", path, json=body)
        assert reply.status_code == expect, reply.text
        return reply.json()

    async def body(self, **changes: Any) -> dict[str, Any]:
        files = [
            (await self.api.upload(tagged_rows("refunds"))).json()["id"],
            (await self.api.upload(tagged_rows("refunds"))).json()["id"],
        ]
        return {
            "student": "clerk",
            "training_file": files[0],
            "validation_file": files[1],
            "grader": GRADER,
            **changes,
        }

    async def session(self, **changes: Any) -> str:
        """Makes a student and its session. Returns the session's path."""
        await self.post("/v1/students", CLERK)
        made = await self.post(SESSIONS, await self.body(**changes))
        return f"{SESSIONS}/{made['id']}"

    async def get(self, path: str) -> Any:
        reply = await self.api.call("GET", path)
        assert reply.status_code == 200, reply.text
        return reply.json()

    async def logbook(self, path: str) -> list[Any]:
        data: list[Any] = (await self.get(f"{path}/logbook?limit=100"))["data"]
        return data

    async def step(self) -> int:
        """Takes the next step, as if it were due now and no process held it."""
        execute(
            self.database,
            "UPDATE coach_sessions SET next_step_at = now(), lease_until = NULL RETURNING id",
        )
        return await self.runner.take_due_steps()

    async def claims(self, lease_s: float) -> list[CoachClaim]:
        return await self.context.database.claim_coach_sessions(9, lease_s)

    def factory(self, claim: CoachClaim) -> Factory:
        return Factory(self.context, claim.tenant)

    def jobs(self, path: str) -> list[tuple[str, str, str]]:
        """Returns id, status and role of the jobs of a session, in the order of their creation."""
        query = (
            "SELECT id, status, metadata->>'coach_role' FROM fine_tuning_jobs"
            " WHERE metadata->>'coach_session' = %s ORDER BY created_at"
        )
        return [tuple(row) for row in execute(self.database, query, path.rsplit("/", 1)[1])]

    def choose(self) -> None:
        """Makes the session look as if it had measured one weak tag."""
        progress = {"phase": "choosing", "gains": [GAIN], "mean": 0.4, "first_mean": 0.4}
        query = "UPDATE coach_sessions SET progress = %s::jsonb RETURNING id"
        execute(self.database, query, json.dumps(progress))

    def train(self, job_id: str, *, ended_early: Any = None) -> str:
        """Makes a job look as if it had succeeded, with a report. Returns its model."""
        model = f"ft:tiny-agent:first::{job_id[-8:]}"
        execute(
            self.database,
            "INSERT INTO tuned_models (name, project_id, job_id, base_model, engine_name,"
            " object_key, step) SELECT %s, project_id, id, model, %s, 'nowhere', 1"
            " FROM fine_tuning_jobs WHERE id = %s",
            *(model, f"model-{job_id}", job_id),
        )
        execute(
            self.database,
            "INSERT INTO reports (project_id, job_id, report)"
            " SELECT project_id, id, %s::jsonb FROM fine_tuning_jobs WHERE id = %s",
            *(json.dumps(REPORT), job_id),
        )
        execute(
            self.database,
            "UPDATE fine_tuning_jobs SET status = 'succeeded', fine_tuned_model = %s,"
            " finished_at = now(), ended_early = %s::jsonb WHERE id = %s",
            *(model, None if ended_early is None else json.dumps(ended_early), job_id),
        )
        return model


@asynccontextmanager
async def coaching_of(api: Api, database: Database) -> AsyncIterator[Coaching]:
    context = ProcessContext(database.settings)
    try:
        yield Coaching(api, database, context, coach_runner(context))
    finally:
        await context.aclose()
