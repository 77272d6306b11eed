"""From a job's options to what the rooms of learning are given."""

from typing import Any

import pytest

from app.jobs.learning import MismatchOptions, ObjectiveOptions
from tests.support.cases import cases
from tests.support.learning.options import resolved
from workers.learning.advantages import ShapingConfig
from workers.learning.losses import build_loss
from workers.learning.trainer import MismatchConfig
from workers.methods.reinforcement.training import mismatch_config, shaping_config, trainer_options


@cases(
    "loss",
    [
        {"type": "importance_sampling"},
        {"type": "ppo", "epsilon": 0.1, "epsilon_high": 0.28, "dual_clip": 3},
        {"type": "cispo", "low": 0.5, "high": 2},
        {"type": "dro", "beta": 0.05},
    ],
)
def test_a_loss_is_built_with_its_options(loss: dict[str, Any]) -> None:
    options = trainer_options(resolved(loss=loss))
    built = build_loss(options.loss, **options.loss_options)
    said = {name: value for name, value in loss.items() if name != "type"}
    assert options.loss == loss["type"]
    assert {name: getattr(built, name) for name in said} == said


@cases(
    ("sent", "config"),
    [
        ({}, MismatchConfig()),
        ({"mode": {"type": "async"}}, MismatchConfig(truncation="token", cap=2.0)),
        (
            {"mismatch": {"truncation": {"level": "sequence"}, "max_log_ratio": 3}},
            MismatchConfig(truncation="sequence", cap=5.0, max_log_ratio=3.0),
        ),
        (
            {"mismatch": {"sequence_mask": {"type": "geometric_mean"}}},
            MismatchConfig(sequence_mask="geometric_mean", band=(0.99, 1.01)),
        ),
        (
            {"mismatch": {"sequence_mask": {"type": "product", "low": 0.5, "high": 2}}},
            MismatchConfig(sequence_mask="product", band=(0.5, 2.0)),
        ),
    ],
)
def test_mismatch(sent: dict[str, Any], config: MismatchConfig) -> None:
    assert trainer_options(resolved(**sent)).mismatch == config


def test_objective() -> None:
    assert shaping_config(resolved().objective) == ShapingConfig(
        token_penalty=0.02, token_budget=300, call_budget_penalty=0.05
    )
    assert trainer_options(resolved()).kl_coefficient == 0.0
    sent = {
        "token_penalty": 0.1,
        "token_budget": 50,
        "call_budget": 3,
        "call_budget_penalty": 0.2,
        "repeated_call_penalty": 0.3,
        "overlong": {"limit": 100, "penalty": 0.5},
        "clamp_limit_stop": True,
        "kl_coefficient": 0.4,
    }
    assert trainer_options(resolved(objective=sent)).kl_coefficient == 0.4
    assert shaping_config(resolved(objective=sent).objective) == ShapingConfig(
        token_penalty=0.1,
        token_budget=50,
        call_budget=3,
        call_budget_penalty=0.2,
        repeated_call_penalty=0.3,
        overlong_limit=100,
        overlong_buffer=20,
        overlong_penalty=0.5,
        clamp_limit_stop=True,
    )


def test_what_is_not_resolved_is_refused() -> None:
    with pytest.raises(ValueError, match="truncation"):
        mismatch_config(MismatchOptions())
    with pytest.raises(ValueError, match="token penalty"):
        shaping_config(ObjectiveOptions())
