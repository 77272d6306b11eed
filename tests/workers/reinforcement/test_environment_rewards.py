"""Jobs of built-in environments whose model answers as it should, nearly or not at all: the shipped
model earns something by chance only, so that its own jobs show little more than rewards of nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from app.jobs.jobs import JobStatus
from app.settings import SandboxSettings
from app.tools.environments import training_numbers
from tests.support.environments.built_in import read_built_in
from tests.support.runs.real_run import QUIET, ROWS, RealRuns, Script, engine_of
from tests.support.runs.spoken import SpokenInference, roomy_model
from tests.support.runs.world import World
from tests.support.sandbox.running import RunningSandbox, running_sandbox
from workers.job_child import job_run

Task = dict[str, Any]


@pytest.fixture
def sandbox() -> Iterator[RunningSandbox]:
    with running_sandbox() as running:
        yield running


@pytest.fixture
def world(world: World, sandbox: RunningSandbox) -> World:
    of_runner = {"sandbox": SandboxSettings(socket=sandbox.socket)}
    return replace(world, settings=world.settings.model_copy(update=of_runner))


@dataclass(frozen=True, slots=True)
class Practice:
    """An environment, and the answers to one of its tasks with the reward of each."""

    options: dict[str, Any]
    answers: Callable[[Task], dict[str, float]]


def programs(task: Task) -> dict[str, float]:
    """Returns programs that know the results of some of a task's tests."""
    found = {}
    for passed in (0, 2, 4):
        known = {repr(tuple(one["arguments"])): one["expected"] for one in task["tests"][:passed]}
        code = f"def {task['function']}(*a):\n    return {known!r}.get(repr(a), '?')"
        found[f"```python\n{code}\n```"] = passed / len(task["tests"])
    return found


def results(task: Task) -> dict[str, float]:
    """Returns answers to an expression, by the value that Python has for it."""
    value = eval(task["expression"], {"__builtins__": {}})  # noqa: S307 - digits and signs
    return {
        f"Answer: {value}": 1.0,
        f"It is {value}": 0.75,
        f"{2 * value} / 2": 0.75,
        f"{value}, or 1.234,50": -0.25,
        f"So: {value}\nAnswer: {value + 1}": 0.0,
        f"<reasoning>{value}": -0.25,
    }


def solutions(task: Task) -> dict[str, float]:
    value = int(task["answer"])
    return {
        f"Step by step.\n#### {value:,}.0": 1.0,
        f"<thinking>{value + 1}</thinking>{value}": 1.0,
        f"#### {value + 1}": 0.0,
        f"<thinking>{value}</thinking>": 0.0,
    }


PRACTICES = {
    "code_execution": Practice({}, programs),
    "arithmetic": Practice({"operands": 3, "format_penalty": 0.25}, results),
    "gsm8k": Practice({}, solutions),
}


@pytest.mark.long
async def test_answers_earn_their_worth_in_jobs(runs: RealRuns) -> None:
    with engine_of(roomy_model()) as engine:
        for kind, practice in PRACTICES.items():
            await practised(replace(runs, engine=engine), kind, practice)


async def practised(runs: RealRuns, kind: str, practice: Practice) -> None:
    environment = read_built_in(
        {"type": kind, "training_tasks": ROWS, "seed": 3, **practice.options}
    )
    numbers = training_numbers(environment, environment.problems)
    read = replace(runs, rows=tuple(environment.row(number) for number in numbers))
    worth = {task["messages"][0]["content"]: practice.answers(task) for task in read.rows}

    asked = Counter({question: number for number, question in enumerate(worth)})

    def says(prompt: str, seed: int) -> str:
        del seed  # the answers are given in turn, so that each of them is
        (question,) = [question for question in worth if question in prompt]
        asked[question] += 1
        answers = list(worth[question])
        return answers[asked[question] % len(answers)]

    job = await read.job(
        grader=environment.grader(), stop=QUIET, hyperparameters={"batch_size": ROWS}
    )
    async with read.context(job, Script()) as context:
        spoken = SpokenInference(read.engine.url, says)
        try:
            await job_run(replace(context, inference=spoken)).run()
        finally:
            await spoken.aclose()
    ended = await read.world.read(job)
    assert ended.status is JobStatus.SUCCEEDED, ended.error
    assert ended.usage is not None
    assert ended.usage.trained_tokens > 0
    rollouts = [*await read.rollouts(job, "train"), *await read.rollouts(job, "valid")]
    assert len(rollouts) >= 3 * ROWS
    earned = set[float]()
    for rollout in rollouts:
        question, answer = rollout.trace["messages"][0], rollout.trace["messages"][-1]["content"]
        assert rollout.reward == pytest.approx(worth[question["content"]][answer]), answer
        earned.add(worth[question["content"]][answer])
    assert earned == {value for answers in worth.values() for value in answers.values()}, kind
