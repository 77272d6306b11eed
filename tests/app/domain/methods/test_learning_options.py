from typing import Any

from app.jobs.learning import shown_learning
from app.jobs.reinforcement import ReinforcementMethod
from tests.support.cases import cases
from tests.support.learning.options import BASE, resolved

OBJECTIVE = {
    "token_penalty": 0.02,
    "token_budget": 300,
    "call_budget": None,
    "call_budget_penalty": 0.05,
    "repeated_call_penalty": 0.0,
    "overlong": None,
    "clamp_limit_stop": False,
    "kl_coefficient": 0.0,
}
CHECK = {"type": "exact_match", "reference": "{{item.a}}"}
JUDGE = {"type": "ai_judge", "model": "judge"}
PPO = {"type": "ppo", "epsilon": 0.2, "epsilon_high": 0.2, "dual_clip": None}
PLAIN: dict[str, Any] = {"truncation": None, "sequence_mask": None, "max_log_ratio": 20.0}
TRUNCATED: dict[str, Any] = {**PLAIN, "truncation": {"level": "token", "cap": 2.0}}
ASYNC = {"mode": {"type": "async", "max_staleness": 1}}
STALE = {"mode": {"type": "async", "max_staleness": 2}}


@cases(
    ("mode", "mismatch"),
    [
        ({}, PLAIN),
        ({"mode": {"type": "sync"}}, PLAIN),
        ({"mode": {"type": "streaming"}}, PLAIN),
        (ASYNC, TRUNCATED),
        (STALE, TRUNCATED),
    ],
)
def test_defaults_by_mode(mode: dict[str, Any], mismatch: dict[str, Any]) -> None:
    assert shown_learning({**mode, "grader": "another room's"}, BASE) == {
        "loss": PPO,
        "advantage": {"type": "centred"},
        "objective": OBJECTIVE,
        "mismatch": mismatch,
    }


@cases(
    ("sent", "shown", "in_async"),
    [
        ({"type": "importance_sampling"}, {"type": "importance_sampling"}, TRUNCATED),
        (
            {"type": "ppo", "epsilon": 0.1, "epsilon_high": 0.28, "dual_clip": 3},
            {"type": "ppo", "epsilon": 0.1, "epsilon_high": 0.28, "dual_clip": 3.0},
            TRUNCATED,
        ),
        ({"type": "cispo"}, {"type": "cispo", "low": 0.0, "high": 4.0}, TRUNCATED),
        ({"type": "dro", "beta": 0.05}, {"type": "dro", "beta": 0.05}, PLAIN),
    ],
)
def test_async_corrects_every_loss_with_a_ratio_unless_told_otherwise(
    sent: dict[str, Any], shown: dict[str, Any], in_async: dict[str, Any]
) -> None:
    for mode, mismatch in (({}, PLAIN), (ASYNC, in_async), (STALE, in_async)):
        found = shown_learning({**mode, "loss": sent}, BASE)
        assert (found["loss"], found["mismatch"]) == (shown, mismatch)
    off = {**ASYNC, "loss": sent, "mismatch": {"truncation": None}}
    assert shown_learning(off, BASE)["mismatch"] == PLAIN
    stale = STALE["mode"]
    assert resolved(mode=stale, loss={"type": "ppo"}) == resolved(mode=stale), "named or not"


@cases(
    ("sent", "shown"),
    [
        ({"truncation": {"level": "sequence"}}, {"truncation": {"level": "sequence", "cap": 5.0}}),
        (
            {"sequence_mask": {"type": "geometric_mean"}, "max_log_ratio": 5},
            {
                "sequence_mask": {"type": "geometric_mean", "low": 0.99, "high": 1.01},
                "max_log_ratio": 5.0,
            },
        ),
    ],
)
def test_mismatch_is_shown_whole(sent: dict[str, Any], shown: dict[str, Any]) -> None:
    resolved = shown_learning({"mismatch": sent}, BASE)["mismatch"]
    for name, value in shown.items():
        if isinstance(value, dict):
            assert value.items() <= resolved[name].items()
        else:
            assert resolved[name] == value
    assert resolved.keys() == PLAIN.keys()


@cases(
    ("mode", "sent", "band"),
    [
        ({}, {}, (0.99, 1.01)),
        (ASYNC, {}, (0.5, 2.0)),
        (ASYNC, {"low": 0.99}, (0.99, 2.0)),
    ],
)
def test_a_band_is_wide_where_rollouts_are_of_older_versions(
    mode: dict[str, Any], sent: dict[str, Any], band: tuple[float, float]
) -> None:
    mask = {"sequence_mask": {"type": "geometric_mean", **sent}}
    shown = shown_learning({**mode, "mismatch": mask}, BASE)["mismatch"]["sequence_mask"]
    assert (shown["low"], shown["high"]) == band


@cases(
    ("grader", "sent", "penalty"),
    [
        (CHECK, {}, 0.02),
        (JUDGE, {}, 0.0),
        (JUDGE, {"token_penalty": 0.1}, 0.1),
        ({"type": "multi", "graders": {"c": CHECK, "j": JUDGE}, "calculate_output": "j"}, {}, 0.0),
        ({"type": "multi", "graders": {"c": CHECK, "j": JUDGE}, "calculate_output": "c"}, {}, 0.02),
    ],
)
def test_a_judge_of_groups_has_no_token_penalty_of_its_own_accord(
    grader: dict[str, Any], sent: dict[str, Any], penalty: float
) -> None:
    options = {"grader": grader, "objective": sent}
    shown = shown_learning(options, BASE, model=ReinforcementMethod)
    assert shown["objective"]["token_penalty"] == penalty


@cases(
    "sent",
    [
        {},
        {**ASYNC, "loss": {"type": "dro", "beta": 0.1}},
        {**STALE, "loss": {"type": "importance_sampling"}, "mismatch": {"truncation": {}}},
        {
            "objective": {"overlong": {"limit": 9, "buffer": 9}, "call_budget": 0},
            "advantage": {"type": "leave_one_out"},
            "mismatch": {"truncation": {"level": "sequence"}},
        },
    ],
)
def test_resolving_again_changes_nothing(sent: dict[str, Any]) -> None:
    shown = shown_learning(sent, BASE)
    again = {**sent, **shown}
    assert shown_learning(again, BASE) == shown
    assert resolved(**again) == resolved(**sent)
