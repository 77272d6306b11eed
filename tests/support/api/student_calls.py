"""Calls on students that change something."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol
from uuid import uuid4

from tests.support.api.organization import execute
from tests.support.stack import Database

STUDENTS, SESSIONS = "/v1/students", "/v1/coach_sessions"
FILES = ("training_file", "validation_file")
GRADER = {"type": "string_check", "name": "x", "operation": "eq", "input": "a", "reference": "a"}


class Caller(Protocol):
    @property
    def database(self) -> Database: ...

    def __call__(self, method: str, path: str, **options: Any) -> Awaitable[Any]: ...

    async def model(self) -> str: ...

    async def file(self) -> str: ...


Call = Callable[[Any], Awaitable[Any]]


async def student(caller: Caller) -> str:
    """Makes a student. Returns its path."""
    name = f"clerk-{uuid4().hex}"
    await caller("POST", STUDENTS, json={"name": name, "base_model": "tiny-agent"})
    return f"{STUDENTS}/{name}"


async def coach_session(caller: Caller) -> str:
    """Makes a session of the Coach. Returns its path."""
    name = (await student(caller)).rsplit("/", 1)[1]
    files = {file: await caller.file() for file in FILES}
    body = {"student": name, **files, "grader": GRADER}
    return f"{SESSIONS}/{(await caller('POST', SESSIONS, json=body))['id']}"


def moved(*verbs: str) -> Call:
    """Returns calls on a session, one after another."""

    async def call(caller: Caller) -> Any:
        path = await coach_session(caller)
        return [await caller("POST", f"{path}/{verb}") for verb in verbs][-1]

    return call


async def improvement(caller: Caller) -> Any:
    path, files = await student(caller), {name: await caller.file() for name in FILES}
    return await caller("POST", f"{path}/improve", json={**files, "grader": GRADER})


async def proposal(caller: Caller) -> Any:
    """Proposes the model of a job, which is made to look as one that has succeeded."""
    path, model = await student(caller), await caller.model()
    [(job,)] = execute(
        caller.database,
        "UPDATE fine_tuning_jobs SET status = 'succeeded', fine_tuned_model = %s"
        " WHERE id = (SELECT job_id FROM tuned_models WHERE name = %s) RETURNING id",
        *(model, model),
    )
    return await caller("POST", f"{path}/skills", json={"job": job})


async def promotion(caller: Caller) -> Any:
    """Promotes a skill; the gate's runs are not made here, so its decision is set."""
    skill = await proposal(caller)
    execute(caller.database, "UPDATE skills SET status = 'passed' WHERE id = %s", skill["id"])
    path = f"{STUDENTS}/{skill['student']}"
    await caller("POST", f"{path}/promote", json={"skill": skill["id"]})
    return path


async def roll_back(caller: Caller) -> Any:
    path = await promotion(caller)
    return await caller("POST", f"{path}/roll_back", json={"skill": None})


MOVED = "coach_session.updated"
COACHING: dict[str, tuple[str, Call]] = {
    "createCoachSession": ("coach_session.created", coach_session),
    "pauseCoachSession": (MOVED, moved("pause")),
    "resumeCoachSession": (MOVED, moved("pause", "resume")),
    "cancelCoachSession": (MOVED, moved("cancel")),
}
"""Calls on sessions of the Coach, each with the entry that it must leave."""
