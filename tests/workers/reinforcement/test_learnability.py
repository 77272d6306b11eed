"""The verdict of the base model's validation about a job, from rollouts built by hand."""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from app.graders.definitions import Grader
from app.jobs.learning import NothingToLearnOptions, ObjectiveOptions
from app.rollouts.trajectory import Grade, ScoredRollout, StopReason
from tests.support.cases import cases
from tests.support.reinforcement.scored_rollouts import scored
from tests.support.runs.world import plan
from workers.methods.reinforcement.learning_check import Diagnosis, LearnabilityCounts
from workers.methods.reinforcement.rows import Plan
from workers.runs.reporter import rollout_row

GRADERS: TypeAdapter[Any] = TypeAdapter(Grader)
CHECK = {"type": "string_check", "input": "a", "reference": "b", "operation": "eq"}
HOOK = {"type": "endpoint", "url": "https://grader.test/"}
JUDGE = {
    "type": "score_model",
    "model": "m",
    "input": [{"role": "user", "content": "x"}],
    "range": [1, 5],
}


def _rollouts(rewards: Sequence[float | None], *, flagged: int = 0) -> list[ScoredRollout]:
    rollouts = [scored(("valid", 0, n, 0), reward) for n, reward in enumerate(rewards)]
    for rollout in rollouts[:flagged]:
        rollout.grade = Grade(
            0.0, measures={"": {"errors/other_error": 1.0}}, details={"": "a text is too long"}
        )
    return rollouts


def _diagnosis(
    rollouts: list[ScoredRollout],
    *,
    grader: dict[str, Any] = HOOK,
    objective: dict[str, Any] | None = None,
    **options: Any,
) -> Diagnosis | None:
    evidence = LearnabilityCounts()
    for rollout in rollouts:
        evidence.add(rollout_row(rollout, project_id="proj_a"))
    return evidence.diagnosis(
        NothingToLearnOptions(**options),
        grader=GRADERS.validate_python(grader),
        objective=ObjectiveOptions.model_validate(objective or {}),
        context_length=64,
    )


@cases(
    ("rewards", "flagged", "found"),
    [
        ([0.0] * 19 + [1.0], 19, True),
        ([0.0] * 19 + [1.0], 18, False),
        ([0.0] * 9 + [1.0], 9, False),
        ([0.0] * 5 + [None] * 5, 5, True),
        ([0.0] * 4 + [None] * 6, 4, False),
    ],
)
def test_an_error_of_nearly_all_grades_is_a_diagnosis(
    rewards: list[float | None], flagged: int, found: bool
) -> None:
    diagnosis = _diagnosis(_rollouts(rewards, flagged=flagged))
    assert (diagnosis is not None and "'other_error'" in diagnosis.reason) == found
    if found and diagnosis is not None:
        assert "a text is too long; for example in row 1" in diagnosis.reason
        assert diagnosis.param == "method.reinforcement.grader"
    looser = _diagnosis(_rollouts(rewards, flagged=flagged), error_share=0.5)
    assert (looser is not None) == (flagged >= 5)


@cases(
    ("count", "reward", "grader", "certain"),
    [
        (63, 0.0, CHECK, False),
        (64, 0.0, CHECK, True),
        (5, 1.0, CHECK, True),
        (4, 1.0, CHECK, None),
        (63, 1.0, HOOK, False),
        (5, 5.0, JUDGE, True),
        (5, 1.0, JUDGE, False),
    ],
)
def test_equal_rewards_end_a_job_by_their_number_or_at_the_top(
    count: int, reward: float, grader: dict[str, Any], certain: bool | None
) -> None:
    diagnosis = _diagnosis(_rollouts([reward] * count), grader=grader)
    assert (None if diagnosis is None else diagnosis.certain) == certain


@cases(
    ("equal", "others", "reward", "certain"),
    [
        (63, 1, 0.0, False),  # one lucky answer may be where learning begins
        (62, 2, 0.0, None),
        (196, 4, 0.0, False),
        (63, 1, 1.0, True),
        (196, 4, 1.0, True),
        (495, 5, 1.0, None),  # 5 rows that rise are a clear gain
    ],
)
def test_nearly_equal_rewards_warn_and_end_a_job_at_the_top_alone(
    equal: int, others: int, reward: float, certain: bool | None
) -> None:
    rewards = [reward] * equal + [0.5] * others
    found = _diagnosis(_rollouts(rewards), grader=CHECK)
    assert (None if found is None else found.certain) == certain
    said = f"{equal} of {equal + others} validation rollouts of the base model earned {reward:g}"
    assert found is None or found.reason.startswith(said)
    if (equal, reward) == (63, 0.0) and found is not None:  # Clopper and Pearson, 1 of 64
        assert "at most 7.2% of the rollouts can be expected to earn another" in found.reason
    assert _diagnosis(_rollouts(rewards), grader=CHECK, equal_share=1.0) is None


def test_equal_rewards_beside_lost_rollouts_name_the_loss_first() -> None:
    diagnosis = _diagnosis(_rollouts([None] * 6 + [0.0] * 10))
    assert diagnosis is not None
    assert diagnosis.reason.startswith(
        "6 of 16 validation rollouts of the base model were lost, 6 of them with tool_error "
        "(lookup: answered 500). All other 10 validation rollouts of the base model earned 0: "
    )


@cases(
    ("objective", "may_differ"),
    [
        ({}, False),
        ({"token_penalty": 1.0}, False),
        ({"call_budget": 2}, True),
        ({"call_budget": 2, "call_budget_penalty": 0}, False),
        ({"call_budget_penalty": 0.5}, False),
        ({"repeated_call_penalty": 0.1}, True),
        ({"overlong": {"limit": 10}}, True),
        ({"clamp_limit_stop": True}, True),
    ],
)
def test_equal_rewards_may_still_differ_by_a_term_of_the_user(
    objective: dict[str, Any], may_differ: bool
) -> None:
    diagnosis = _diagnosis(_rollouts([1.0] * 64), objective=objective)
    assert (diagnosis is None) == may_differ


def test_prompts_that_fill_the_context_are_a_diagnosis() -> None:
    full = [scored(("valid", 0, n, 0), 0.0, sampled=0) for n in range(10)]
    for rollout in full:
        rollout.trajectory.turns.clear()
        rollout.trajectory.stop_reason = StopReason.TOKEN_LIMIT
        rollout.trajectory.prompt_tokens = 64
    diagnosis = _diagnosis(full)
    assert diagnosis is not None
    assert diagnosis.reason.startswith("10 of 10 validation rollouts had no token left to answer")
    assert diagnosis.param == "validation_file"
    answered = [scored(("valid", 0, 10, 0), 1.0)]
    assert _diagnosis(full + answered) is None


def test_a_formula_and_an_endpoint_have_no_known_highest_score() -> None:
    multi = {"type": "multi", "graders": {"a": CHECK}, "calculate_output": "2 * a"}
    found = [GRADERS.validate_python(sent).highest for sent in (CHECK, JUDGE, HOOK, multi)]
    assert found == [1.0, 5.0, None, None]


def test_a_plan_counts_the_groups_of_short_last_batches() -> None:
    """Fifteen rows in batches of 4 (auto) make steps of 4, 4, 4 and 3 groups."""
    of_fifteen: Plan = plan(train_rows=15)
    assert of_fifteen.hyperparameters.batch_size == 4
    counts = [of_fifteen.groups_before(step) for step in range(1, 8)]
    assert counts == [0, 4, 8, 12, 15, 19, 23]
