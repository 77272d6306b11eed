"""Agreement of losses and gradients with TRL; requires `make peers`."""

from pathlib import Path

import pytest

from tests.support.learning import trl_agreement
from tests.support.models.tiny_model import save_tiny_model

pytest.importorskip("trl", reason="TRL is not installed; `make peers` adds it")


@pytest.fixture(scope="module")
def chat_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("trl") / "model")


def check(found: trl_agreement.TrlAgreement) -> None:
    assert found.ours == pytest.approx(found.theirs, rel=1e-5, abs=1e-5)
    assert abs(found.theirs) > 1e-3
    assert found.gradient <= 1e-5


@pytest.mark.parametrize("loss", ["ppo", "cispo"])
def test_policy_gradient_is_grpo_trainer_s(chat_model: Path, loss: str) -> None:
    found = trl_agreement.policy_gradient(chat_model, loss)
    check(found)
    assert loss == "cispo" or 0.05 < found.clipped < 0.6


def test_cross_entropy_is_sft_trainer_s(chat_model: Path) -> None:
    check(trl_agreement.supervised(chat_model))


@pytest.mark.parametrize("variant", ["sigmoid", "ipo"])
def test_dpo_is_dpo_trainer_s(chat_model: Path, variant: str) -> None:
    check(trl_agreement.preference(chat_model, variant))
