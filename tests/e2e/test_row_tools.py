"""A job without tools whose rows offer some: the calls of one turn are graded, none is run."""

from typing import Any

import pytest

from app.files.datasets import TOOLS_NOT_RUN
from examples.records_agent.dataset import make_rows
from examples.records_agent.records import build_catalogue
from tests.support.embedded.installation import Installation, wait_until_final
from tests.support.embedded.jobs import upload_dataset

pytestmark = pytest.mark.long

VALID = 10
METHOD: Any = {
    "type": "reinforcement",
    "reinforcement": {
        "grader": {
            "type": "string_check",
            "name": "first_tool",
            "input": "{{ sample.output_tools[0].function.name }}",
            "reference": "{{ item.reference_tools[0] }}",
            "operation": "eq",
        },
        "hyperparameters": {"n_epochs": 1, "batch_size": 8, "eval_interval": 3},
    },
}


@pytest.fixture(scope="module")
def job(live: Installation, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Three steps of 8 prompts × 8 rollouts."""
    directory = tmp_path_factory.mktemp("row_tools")
    files = upload_dataset(live.client(), directory, train=24, valid=VALID)
    made = live.client().fine_tuning.jobs.create(
        model="tiny-agent", training_file=files[0], validation_file=files[1], seed=3, method=METHOD
    )
    ended = wait_until_final(live.client(), made.id)
    assert ended.status == "succeeded", ended.error
    return ended


def turn_of(rollout: dict[str, Any]) -> dict[str, Any]:
    """The one turn of a rollout."""
    question, turn = rollout["trace"]["messages"]
    assert (question["role"], turn["role"]) == ("user", "assistant")
    found: dict[str, Any] = turn
    return found


def calls_of(turn: dict[str, Any]) -> list[tuple[str, str]]:
    calls = [call["function"] for call in turn.get("tool_calls") or []]
    return [(call["name"], call["arguments"]) for call in calls]


def test_the_calls_of_one_turn_are_graded_and_not_run(live: Installation, job: Any) -> None:
    rows = {
        "train": make_rows(build_catalogue(), "train", 24, seed=7),
        "valid": make_rows(build_catalogue(), "validation", VALID, seed=7),
    }
    rows["report"] = rows["valid"]
    rollouts = live.rollouts(job.id)
    rewards = set()
    for rollout in rollouts:
        item = rows[rollout["split"].removesuffix("_greedy")][rollout["prompt_index"]]
        names = [name for name, _ in calls_of(turn_of(rollout))]
        right = float(names[:1] == item["reference_tools"][:1])
        assert rollout["reward"] == right, (names, item["reference_tools"])
        assert rollout["tool_calls"] == 0
        rewards.add(right)
    assert rewards == {0.0, 1.0}
    assert set(live.curve(job.id, "tool_calls/mean").values()) == {0.0}
    assert set(live.curve(job.id, "turns/mean").values()) == {1.0}
    events = live.client().fine_tuning.jobs.list_events(job.id, limit=100)
    assert [e.level for e in events if e.message == TOOLS_NOT_RUN] == ["warn"]


def test_the_served_model_gives_the_turn_that_was_graded(live: Installation, job: Any) -> None:
    step = live.get(f"/fine_tuning/jobs/{job.id}/report")["step"]
    greedy = live.rollouts(job.id, split="valid_greedy", step=step)
    assert len(greedy) == VALID
    rows = make_rows(build_catalogue(), "validation", VALID, seed=7)
    client = live.client()
    same = 0
    for rollout in greedy:
        row = rows[rollout["prompt_index"]]
        reply = client.chat.completions.create(
            model=job.fine_tuned_model, messages=row["messages"], tools=row["tools"], temperature=0
        )
        message, turn = reply.choices[0].message.to_dict(), turn_of(rollout)
        same += (message.get("content") or "", calls_of(message)) == (
            turn["content"] or "",
            calls_of(turn),
        )
    assert same >= VALID - 1, "one near tie of two tokens may fall the other way"
