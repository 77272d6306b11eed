"""Python graders over HTTP, before a real sandbox."""

import asyncio
import signal
from collections.abc import AsyncIterator

import pytest

from tests.support.patience import until
from tests.support.registry.trials import FLAGS, VALIDATE, Trials, serving
from tests.support.sandbox.running import RunningSandbox, running_sandbox
from tests.support.stack import Database

LENGTH = {
    "type": "python",
    "name": "length",
    "source": "def grade(sample, item):\n    return len(sample['output_text']) / item['most']\n",
    "image_tag": "2025-05-08",
}


@pytest.fixture
async def trials(database: Database, sandbox: RunningSandbox) -> AsyncIterator[Trials]:
    async with serving(database, sandbox=sandbox.socket) as running:
        yield running


async def test_a_trial_has_the_score_or_the_hosted_flags(trials: Trials) -> None:
    answer = await trials.run(LENGTH, "abc", item={"most": 4})
    assert (answer["reward"], answer["metadata"]["errors"]) == (0.75, FLAGS)
    assert (answer["metadata"]["type"], answer["metadata"]["name"]) == ("python", "length")
    answer = await trials.run(LENGTH, "abc", item={"most": 0})
    text = "ZeroDivisionError: division by zero (line 2, in grade: return "
    text += "len(sample['output_text']) / item['most'])"
    assert answer["reward"] == 0.0
    assert answer["metadata"]["errors"] == {
        **FLAGS,
        "python_grader_runtime_error": True,
        "python_grader_runtime_error_details": text,
        "details": text,
    }


async def test_validate_echoes_it_and_names_the_line_of_a_fault(trials: Trials) -> None:
    assert await trials.post(VALIDATE, {"grader": LENGTH}) == {"grader": LENGTH}
    network = {**LENGTH, "source": "import math\nimport socket\n" + str(LENGTH["source"])}
    param, code, message = await trials.fault(VALIDATE, {"grader": network})
    assert (param, code) == ("grader.source", "invalid_value")
    assert "line 2: 'socket' cannot work: the sandbox has no network" in message


async def test_readiness_reports_the_layers(trials: Trials, sandbox: RunningSandbox) -> None:
    part = (await trials.get("/readyz"))["parts"]["sandbox"]
    level = await sandbox.client.level()
    detail = f"layers: {', '.join(level.layers)}"
    assert part == {"status": "ok", "problem": None, "detail": detail}


async def test_a_flood_of_one_project_takes_no_slot_of_another(database: Database) -> None:
    """A request's project is the one whose share of the sandbox its programs take."""
    endless = {**LENGTH, "source": "def grade(sample, item):\n    while True:\n        pass\n"}
    with running_sandbox(parallel=2) as sandbox:
        async with (
            serving(database, sandbox=sandbox.socket) as trials,
            trials.of_another_project(database) as other,
        ):
            flood = [asyncio.create_task(trials.run(endless, "a", item={})) for _ in range(5)]
            await until(lambda: len(sandbox.processes()) == 2, what="a program of the flood")
            answer = await other.run(LENGTH, "abc", item={"most": 4})
            assert (answer["reward"], answer["metadata"]["errors"]) == (0.75, FLAGS)
            for task in flood:
                task.cancel()
            await asyncio.wait(flood)


async def test_readiness_names_a_sandbox_that_hangs(database: Database) -> None:
    with running_sandbox(parallel=1) as sandbox:
        async with serving(database, sandbox=sandbox.socket) as trials:
            sandbox.process.send_signal(signal.SIGSTOP)
            part = (await trials.get("/readyz"))["parts"]["sandbox"]
            sandbox.process.send_signal(signal.SIGCONT)
    assert part == {"status": "failing", "problem": "No answer in time."}
