"""A small session on the shipped model that goes through every phase, and what is left of it."""

import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from app.settings import shipped_models
from app.teaching.coach.sessions import Phase
from tests.support.coach.classroom import Classroom, classroom_of, rows
from tests.support.coach.killed_classroom import KilledClassroom, Kills
from tests.support.stack import Database, Services

PHASES: Final = {phase.value for phase in Phase}
_TURN_TOKENS = 4
"""Most tokens of an answer, which has one or two; the others are not computed."""
_ID = re.compile(r"\b(eval|skill|ftjob|file|coach)[-_]\w+")
_USAGE = ("rollouts", "prompt_tokens", "completion_tokens", "grader_calls", "trained_tokens")
_JOBS = "/v1/fine_tuning/jobs"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything of a session but names and times."""

    session: dict[str, Any]
    logbook: list[tuple[str, str]]
    jobs: list[tuple[str, str, dict[str, int]]]
    """Role, state and usage of each job."""
    samples: list[int]
    """Number of the rollouts of each job."""
    skills: list[tuple[str, str | None, bool]]
    """State and reason of each skill, and whether it answers for the student."""
    runs: list[tuple[str, dict[str, int]]]
    """State and counts of each eval run, the one that has the rows first."""
    files: list[str]
    weights: str
    """SHA-256 of the weights of the last job's last step."""


async def quiet_lesson(services: Services, directory: Path, engine_url: str) -> Outcome:
    """Plays a session that nothing disturbs."""
    with services.database(directory) as database:
        async with classroom_of(_brief_answers(database), engine_url, Classroom) as room:
            return await _played(room)


async def killed_lesson(
    services: Services, directory: Path, engine_url: str, kills: Kills
) -> Outcome:
    """Plays the same session while its processes are killed."""
    with services.database(directory) as database:
        async with classroom_of(_brief_answers(database), engine_url, KilledClassroom) as room:
            room.kills = kills
            return await _played(room)


def _brief_answers(database: Database) -> Database:
    """Returns a database whose processes let the model answer in a few tokens."""
    models = tuple(
        model.model_copy(update={"max_turn_tokens": _TURN_TOKENS}) for model in shipped_models()
    )
    settings = database.settings.model_copy(update={"base_models": models})
    return replace(database, settings=settings)


async def _played(room: Classroom) -> Outcome:
    await room.student()
    path = await room.session(
        rows("refunds", count=10, start=100),
        rows("refunds", count=10),
        samples=2,
        target=0.75,
        prompts=["Be brief."],
        knobs={"practice_mode": "quick", "effort": "light", "drift_guard": 0},
        seed=5,
    )
    return await _outcome(room, path, await room.finish(path))


async def _outcome(room: Classroom, path: str, ended: dict[str, Any]) -> Outcome:
    logbook = await room.logbook(path)
    jobs = (await room.get(_JOBS, limit=100))["data"][::-1]
    student = await room.get("/v1/students/clerk")
    skills = (await room.get("/v1/students/clerk/skills"))["data"]
    [eval_id] = [chosen["eval_id"] for chosen in student["regression_sets"]]
    runs = (await room.get(f"/v1/evals/{eval_id}/runs", limit=100))["data"]
    files = (await room.get("/v1/files", order="asc"))["data"]
    return Outcome(
        session=_session(ended),
        logbook=[(entry["kind"], _ID.sub(r"\1", entry["text"])) for entry in logbook],
        jobs=[_job(job) for job in jobs],
        samples=[await _samples(room, job["id"]) for job in jobs],
        skills=[
            (
                skill["status"],
                _ID.sub(r"\1", skill["reason"] or ""),
                skill["id"] == student["current_skill"],
            )
            for skill in skills
        ],
        runs=[(run["status"], run["result_counts"]) for run in runs],
        files=[file["filename"] for file in files],
        weights=_weights(room, jobs[-1]["id"]),
    )


def _session(ended: dict[str, Any]) -> dict[str, Any]:
    spent = {name: ended["spent"][name] for name in ("jobs", "rollouts", "tokens")}
    names = ("status", "outcome", "phase", "round", "promoted", "first_mean", "mean", "waiting_for")
    return {name: ended[name] for name in names} | {"spent": spent}


def _job(job: dict[str, Any]) -> tuple[str, str, dict[str, int]]:
    usage = {name: job["usage_metrics"][name] for name in _USAGE}
    return job["metadata"]["coach_role"], job["status"], usage


async def _samples(room: Classroom, job_id: str) -> int:
    """Returns the number of a job's rollouts, each of which was counted once."""
    found: list[Any] = []
    more = True
    while more:
        after = {"after": found[-1]["id"]} if found else {}
        page = await room.get(f"{_JOBS}/{job_id}/rollouts", limit=100, **after)
        found, more = found + page["data"], page["has_more"]
    names = ("split", "step", "prompt_index", "sample_index")
    assert len({tuple(row[name] for name in names) for row in found}) == len(found)
    return len(found)


def _weights(room: Classroom, job_id: str) -> str:
    """The folder of each step has the fence of its claim in its name."""
    pattern = f"projects/*/jobs/{job_id}/step-*/adapter/adapter_model.safetensors"
    stored = (room.database.settings.data_dir / "objects").glob(pattern)
    return hashlib.sha256(max(stored).read_bytes()).hexdigest()
