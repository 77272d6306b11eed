"""What the base model's validation shows about a job: each mistake that only it tells."""

from typing import Any

import pytest

from app.jobs.learning import NothingToLearnOptions, ObjectiveOptions
from app.jobs.reinforcement import ReinforcementMethod
from tests.support.api.mistakes import BASELINE, CHECK, TOOL, altered
from tests.support.reinforcement.scored_rollouts import scored, tool_call
from workers.methods.reinforcement.learning_check import LearnabilityCounts
from workers.runs.reporter import rollout_row

ROLLOUTS = 64


def told(
    changes: dict[str, Any], rewards: list[float], *, calls: int = 0, **more: Any
) -> list[str]:
    """Returns the sentences about a job whose validation has these rewards in turn."""
    plain = {"method": {"reinforcement": {"grader": CHECK, "tools": [TOOL]}}}
    method = ReinforcementMethod.model_validate(altered(plain, changes)["method"]["reinforcement"])
    evidence = LearnabilityCounts()
    for number in range(ROLLOUTS):
        reward = rewards[number % len(rewards)]
        parts = {"a": reward, "b": 0.0} if method.grader.parts else {}
        rollout = scored(
            ("valid", 0, number, 0), reward, calls=(tool_call(),) * calls, components=parts, **more
        )
        evidence.add(rollout_row(rollout, project_id="proj_a"))
    objective = method.objective or ObjectiveOptions()
    unused = evidence.effects.unused_terms(objective)
    diagnosis = evidence.diagnosis(
        NothingToLearnOptions(), grader=method.grader, objective=objective, context_length=64
    )
    return [
        *evidence.effects.warnings(method),
        *([] if unused is None else [unused]),
        *([] if diagnosis is None else [diagnosis.reason]),
    ]


@pytest.mark.parametrize(("changes", "rewards", "sentence"), BASELINE)
def test_a_mistake_that_the_baseline_shows_is_told(
    changes: dict[str, Any], rewards: list[float], sentence: str
) -> None:
    found = told(changes, rewards)
    assert any(sentence in text for text in found), found


@pytest.mark.parametrize(
    "objective",
    [
        {"call_budget": 1},
        {"repeated_call_penalty": 0.1},
        {"overlong": {"limit": 60, "buffer": 20}},
        {"token_penalty": 0.1},
    ],
)
def test_a_job_whose_parts_have_an_effect_is_told_nothing(objective: dict[str, Any]) -> None:
    changes = {"method.reinforcement.objective": objective}
    assert told(changes, [0, 1], calls=2, sampled=50) == []


def test_a_job_without_tools_and_without_an_option_about_them_is_told_nothing() -> None:
    assert told({"method.reinforcement.tools": []}, [0, 1]) == []
