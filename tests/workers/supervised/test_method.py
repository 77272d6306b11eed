"""Files of supervised and preference jobs that end the job before anything is trained."""

import dataclasses
import json
from typing import Any

import pytest

from app.files.files import FileRow
from app.jobs.jobs import Job, JobStatus
from app.jobs.methods import stored_method
from app.jobs.supervised import DpoMethod, SupervisedMethod
from app.kit.ids import new_id
from tests.support.runs.world import World
from tests.support.store.new_jobs import insert_job
from workers.job_child import job_run

USER, ANSWER = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}
CHAT = {"messages": [USER, ANSWER]}
PAIR = {
    "input": {"messages": [USER]},
    "preferred_output": [ANSWER],
    "non_preferred_output": [{"role": "assistant", "content": "no"}],
}


def _lines(row: Any, count: int, *more: bytes) -> bytes:
    return b"\n".join([*[json.dumps(row).encode()] * count, *more])


async def _file(world: World, content: bytes) -> str:
    file_id, key = new_id("file-"), new_id("objects/")
    path = world.settings.objects_dir / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    row = FileRow(file_id, "", "a", "fine-tune", len(content), "0", key, "processed", None, 0, None)
    async with world.app.tenant(world.tenant) as unit:
        await unit.files.insert(row)
    return file_id


async def _ended(world: World, kind: str, training: bytes, validation: bytes | None = None) -> Job:
    hyper = {"batch_size": "auto", "learning_rate_multiplier": "auto", "n_epochs": "auto"}
    if kind == "dpo":
        hyper["beta"] = "auto"
    job = dataclasses.replace(
        await world.job(),
        id=new_id("ftjob-"),
        training_file=await _file(world, training),
        validation_file=None if validation is None else await _file(world, validation),
        method=stored_method({"type": kind, kind: {"hyperparameters": hyper}}),
    )
    await insert_job(world.app, world.tenant, job)
    method = DpoMethod() if kind == "dpo" else SupervisedMethod()
    await job_run(dataclasses.replace(await world.context(job), method=method)).run()
    return await world.read(job)


@pytest.mark.parametrize(
    ("kind", "training", "validation", "code", "text"),
    [
        (
            "supervised",
            _lines(CHAT, 11, b'{"messages": [{"role": "user", "content": "x"}]}'),
            None,
            "invalid_training_file",
            "Line 12, /messages/0/role: the last message must have role 'assistant'",
        ),
        (
            "supervised",
            _lines(CHAT, 10),
            _lines(CHAT, 10, b"{broken"),
            "invalid_validation_file",
            "Line 11: not valid JSON",
        ),
        ("supervised", _lines(CHAT, 9), None, "invalid_n_examples", "has 9 example(s)"),
        (
            "dpo",
            _lines(PAIR, 10, b"", json.dumps(CHAT).encode()),
            None,
            "invalid_training_file",
            "Line 12, /input: must be an object",
        ),
        ("dpo", _lines(PAIR, 10), _lines(PAIR, 1), "invalid_n_examples", "Validation file has 1"),
    ],
)
async def test_bad_files_fail_with_line_and_pointer(
    world: World, kind: str, training: bytes, validation: bytes | None, code: str, text: str
) -> None:
    job = await _ended(world, kind, training, validation)
    assert job.status is JobStatus.FAILED
    assert job.error is not None
    assert job.error.code == code
    assert text in str(job.error.message)
    hyper = job.method.options["hyperparameters"]
    assert hyper["n_epochs"] == "auto", "nothing is settled before the files are good"
