from typing import Any

import pytest

from app.domain.methods.stop import PreferenceStopOptions, shown_end
from app.domain.methods.supervised import automatic_values, resolved_options


@pytest.mark.parametrize(
    ("rows", "batch_size", "epochs"),
    [
        (1, 1, 25),
        (10, 1, 10),
        (33, 1, 3),
        (34, 1, 3),
        (8333, 17, 3),
        (8334, 17, 2),
        (25_000, 50, 1),
        (100_000, 200, 1),
        (1_000_000, 256, 1),
    ],
)
def test_auto_follows_the_rows(rows: int, batch_size: int, epochs: int) -> None:
    expected: dict[str, Any] = {
        "batch_size": batch_size,
        "learning_rate_multiplier": 1.0,
        "n_epochs": epochs,
    }
    assert automatic_values("supervised", rows) == expected
    assert automatic_values("dpo", rows) == {**expected, "beta": 0.1}


def test_sent_values_and_unknown_keys_stay() -> None:
    sent = {"n_epochs": 7, "beta": "auto", "batch_size": "auto", "mine": [1]}
    assert resolved_options({"hyperparameters": sent, "note": "kept"}, "dpo", 1000) == {
        "hyperparameters": {
            "n_epochs": 7,
            "beta": 0.1,
            "batch_size": 2,
            "learning_rate_multiplier": 1.0,
            "mine": [1],
        },
        "note": "kept",
        "loss": {"type": "dpo", "variant": "sigmoid", "label_smoothing": 0.0},
        **shown_end({}, PreferenceStopOptions),
    }


def test_the_loss_that_is_used_is_named() -> None:
    assert resolved_options({}, "supervised", 9)["loss"] == {"type": "cross_entropy"}
    sent = {"type": "bradley_terry", "margin": 0.5, "length_normalised": False}
    assert resolved_options({"loss": sent}, "dpo", 9)["loss"] == sent
