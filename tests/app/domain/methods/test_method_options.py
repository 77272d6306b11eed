from typing import Any

from app.jobs.losses import DpoOptions
from app.jobs.reinforcement import ReinforcementMethod, resolve_hyperparameters
from app.jobs.stop_options import PreferenceStopOptions, shown_end
from app.jobs.supervised import automatic_values, resolved_options
from app.models.models import BaseModelSpec
from tests.support.cases import cases


@cases(
    ("rows", "examples", "pairs", "epochs"),
    [
        (1, 1, 1, 25),
        (10, 1, 1, 10),
        (200, 16, 25, 3),
        (1000, 16, 32, 3),
        (8333, 17, 32, 3),
        (8334, 17, 32, 2),
        (25_000, 50, 50, 1),
        (1_000_000, 256, 256, 1),
    ],
)
def test_auto_follows_the_rows(rows: int, examples: int, pairs: int, epochs: int) -> None:
    same: dict[str, Any] = {"learning_rate_multiplier": 1.0, "n_epochs": epochs}
    assert automatic_values("supervised", rows) == {**same, "batch_size": examples}
    assert automatic_values("dpo", rows) == {**same, "batch_size": pairs, "beta": 0.1}


def test_sent_values_and_unknown_keys_stay() -> None:
    sent = {"n_epochs": 7, "beta": "auto", "batch_size": "auto", "mine": [1]}
    assert resolved_options({"hyperparameters": sent, "note": "kept"}, "dpo", 1000) == {
        "hyperparameters": {
            "n_epochs": 7,
            "beta": 0.1,
            "batch_size": 32,
            "learning_rate_multiplier": 1.0,
            "mine": [1],
        },
        "note": "kept",
        "loss": DpoOptions().model_dump(),
        **shown_end({}, PreferenceStopOptions),
    }


@cases(
    ("rows", "batch_size", "steps"),
    [(3, 3, 10), (40, 4, 40), (128, 8, 48), (256, 16, 48), (640, 16, 40), (1280, 32, 40)],
)
def test_a_larger_file_makes_larger_steps_and_no_more_rollouts(
    rows: int, batch_size: int, steps: int
) -> None:
    base = BaseModelSpec(name="m", path="x", context_length=64)
    method = ReinforcementMethod.model_validate(
        {
            "grader": {
                "type": "string_check",
                "name": "g",
                "input": "a",
                "reference": "a",
                "operation": "eq",
            }
        }
    )
    found = resolve_hyperparameters(method, train_rows=rows, base_model=base)
    assert (found.batch_size, found.total_steps) == (batch_size, steps)
    assert found.group_size == 8
