"""A job of the environment `code_execution` whose model writes programs: the shipped model writes
none, so that its own jobs only show the reward of no program.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from app.domain.environments.environments import read_built_in, training_numbers
from app.domain.jobs.jobs import JobStatus
from app.settings.sandbox import SandboxSettings
from tests.support.runs.real_run import QUIET, ROWS, RealRuns, Script, engine_of
from tests.support.runs.spoken import SpokenInference, roomy_model
from tests.support.runs.world import World
from tests.support.sandbox.running import RunningSandbox, running_sandbox
from workers.methods import job_run

ENVIRONMENT = read_built_in({"type": "code_execution", "training_tasks": ROWS, "seed": 3})
TASKS = tuple(
    ENVIRONMENT.row(number) for number in training_numbers(ENVIRONMENT, ENVIRONMENT.problems)
)


@pytest.fixture
def sandbox() -> Iterator[RunningSandbox]:
    with running_sandbox() as running:
        yield running


@pytest.fixture
def world(world: World, sandbox: RunningSandbox) -> World:
    of_runner = {"sandbox": SandboxSettings(socket=sandbox.socket)}
    return replace(world, settings=world.settings.model_copy(update=of_runner))


def program(task: dict[str, Any], passed: int) -> str:
    """Returns a program that knows the results of so many tests of a task."""
    known = {repr(tuple(test["arguments"])): test["expected"] for test in task["tests"][:passed]}
    name = task["function"]
    return f"```python\ndef {name}(*a):\n    return {known!r}.get(repr(a), '?')\n```"


async def test_a_program_earns_the_share_of_its_tests_in_a_job(runs: RealRuns) -> None:
    passed = {
        program(task, number): number / len(task["tests"]) for task in TASKS for number in (0, 2, 4)
    }

    def says(prompt: str, seed: int) -> str:
        (task,) = [each for each in TASKS if each["messages"][0]["content"] in prompt]
        return program(task, (0, 2, 4)[seed % 3])

    with engine_of(roomy_model()) as engine:
        read = replace(runs, engine=engine, rows=TASKS)
        job = await read.job(
            grader=ENVIRONMENT.grader(), stop=QUIET, hyperparameters={"batch_size": ROWS}
        )
        async with read.context(job, Script()) as context:
            spoken = SpokenInference(engine.url, says)
            try:
                await job_run(replace(context, inference=spoken)).run()
            finally:
                await spoken.aclose()
        ended = await read.world.read(job)
        rollouts = [*await read.rollouts(job, "train"), *await read.rollouts(job, "valid")]
    assert ended.status is JobStatus.SUCCEEDED, ended.error
    assert ended.usage is not None
    assert ended.usage.trained_tokens > 0
    earned = [(row.trace["messages"][-1]["content"], row.reward) for row in rollouts]
    assert len(earned) >= 3 * ROWS
    assert [reward for _, reward in earned] == pytest.approx([passed[text] for text, _ in earned])
    assert {0.0, 2 / 6, 4 / 6} <= {reward for _, reward in earned}
