"""The examples of built-in environments as small jobs: tasks are those of the seed, and each
rollout earns what its answer is worth by a computation of the test's own.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.tools.environments import ENVIRONMENTS, training_numbers, validation_numbers
from tests.support.e2e.main_job import Endpoints
from tests.support.embedded.installation import Installation, wait_until_final
from tests.support.endpoints import endpoint_in_thread
from tests.support.environments.built_in import read_built_in
from tests.support.grading.judge_server import KEY, judges, score_of

EXAMPLES = Path(__file__).parents[2] / "examples" / "environments"
COUNTS = {"training_tasks": 10, "validation_tasks": 10}
SMALL = {"n_epochs": 1, "batch_size": 10, "compute_multiplier": 0.25, "eval_greedy": False}
Worth = Callable[[dict[str, Any], str], float]


def answer_of(rollout: dict[str, Any]) -> str:
    return rollout["trace"]["messages"][-1]["content"] or ""


def right(row: dict[str, Any], answer: str) -> bool:
    numbers = re.findall(r"(?:(?<![\w.])-)?(?<![\w.])\d[\d,]*(?:\.\d+)?", answer)
    return bool(numbers) and float(numbers[-1].replace(",", "")) == float(row["answer"])


def of_arithmetic(row: dict[str, Any], answer: str) -> float:
    lines = answer.rstrip().splitlines()
    formed = bool(lines) and re.fullmatch(r"Answer: [+-]?\d[\d,.]*", lines[-1]) is not None
    return right(row, answer) - (0.0 if formed else 0.1)


def of_code(row: dict[str, Any], answer: str) -> float:
    assert f"def {row['function']}" not in answer, "a model of this size writes no Python"
    return 0.0


def run(
    live: Installation, kind: str, worth: Worth, **changes: Any
) -> tuple[Any, list[dict[str, Any]]]:
    """Runs an example with few tasks; returns the job and its rollouts."""
    call = json.loads((EXAMPLES / f"{kind}.json").read_text())
    options = call["method"]["reinforcement"]
    environment = {**options["environment"], **COUNTS, **changes}
    options |= {
        "environment": environment,
        "hyperparameters": SMALL,
        # Each of these ends after the base model's validation, as it earns nothing there.
        "nothing_to_learn": {"equal_rewards": 10},
    }
    client = live.client()
    # The SDK has no call without a training file; `None` is sent as null.
    call["training_file"] = None
    created = client.fine_tuning.jobs.create(**call)
    job = wait_until_final(client, created.id)
    own = read_built_in(environment)
    rows = {
        ("train" if order is training_numbers else "validation"): [
            own.row(number) for number in order(own, own.problems)
        ]
        for order in (training_numbers, validation_numbers)
    }
    rollouts = live.rollouts(job.id)
    assert len(rollouts) >= 10
    for rollout in rollouts:
        split = "train" if rollout["split"] == "train" else "validation"
        row = rows[split][rollout["prompt_index"]]
        assert rollout["trace"]["messages"][:-1] == row["messages"]
        assert rollout["reward"] == pytest.approx(float(worth(row, answer_of(rollout))))
    return job, rollouts


WORTHS: dict[str, Worth] = {"arithmetic": of_arithmetic, "gsm8k": right, "code_execution": of_code}
JUDGED = "llm_judge"


def test_every_built_in_environment_has_a_job_here() -> None:
    assert {*WORTHS, JUDGED} == set(ENVIRONMENTS)


@pytest.mark.parametrize(
    ("kind", "worth"),
    [
        pytest.param(kind, worth, marks=pytest.mark.long if kind == "gsm8k" else ())
        for kind, worth in WORTHS.items()
    ],
)
def test_rollouts_earn_what_their_answers_are_worth(
    live: Installation, kind: str, worth: Worth
) -> None:
    job, _ = run(live, kind, worth)
    # A model of this size answers by chance, and the processor decides how.
    assert job.status == "succeeded" or job.error.code == "nothing_to_learn", job.error


def test_a_job_trains_on_the_scores_of_a_judge(live: Installation, endpoints: Endpoints) -> None:
    with endpoint_in_thread(judges, port=int(endpoints.hook.rpartition(":")[2])) as server:
        job, rollouts = run(
            live,
            JUDGED,
            lambda _, answer: score_of(answer) / 10,
            base_url=f"{endpoints.hook}/v1",
            headers={"Authorization": KEY},
        )
    assert job.status == "succeeded", job.error
    assert len({rollout["reward"] for rollout in rollouts}) > 3
    assert sum(rollout["split"] == "train" for rollout in rollouts) == 20
    assert len(server.received) >= len({answer_of(rollout) for rollout in rollouts})
    assert "clarity" in server.received[0].json["messages"][0]["content"]
