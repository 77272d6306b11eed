"""A start checks the configured base models and marks those that cannot be trained."""

from pathlib import Path

import pytest
from transformers import GPT2Config

from app.local.base_model import checked_models
from app.local.state import ModelRefused
from app.models.models import BaseModelSpec
from app.settings import shipped_models
from tests.support.learning.architectures import build_architecture
from tests.support.rendering.family_templates import NO_TOOLS, save_family


@pytest.fixture
def models(tmp_path: Path) -> tuple[BaseModelSpec, ...]:
    """A model that works, one that the CPU engine cannot serve, and one without LoRA layers."""
    for name in ("sinks", "old"):
        save_family(tmp_path / name, NO_TOOLS)
    build_architecture("gpt-oss", device="meta").config.save_pretrained(tmp_path / "sinks")
    GPT2Config(n_layer=1, n_embd=8, n_head=1, vocab_size=20).save_pretrained(tmp_path / "old")
    (shipped,) = shipped_models()
    others = tuple(
        BaseModelSpec(name=name, path=str(tmp_path / name), context_length=64)
        for name in ("sinks", "old")
    )
    return (shipped.model_copy(update={"name": "mine"}), *others)


@pytest.mark.long
def test_a_model_that_the_own_engine_cannot_serve_is_refused_too(
    models: tuple[BaseModelSpec, ...],
) -> None:
    mine, sinks, old = checked_models(models, on_cpu_engine=True)
    assert mine == models[0]
    assert str(sinks.refusal).startswith("the CPU engine cannot serve it: its attention has sinks")
    assert str(old.refusal).startswith("old: The trainer cannot train this base model: none of its")


@pytest.mark.long
def test_another_engine_serves_what_can_be_trained(models: tuple[BaseModelSpec, ...]) -> None:
    _, sinks, old = models
    served, refused = checked_models((sinks, old), on_cpu_engine=False)
    assert served == sinks
    assert refused.refusal is not None


def test_a_start_without_a_model_that_works_is_refused(models: tuple[BaseModelSpec, ...]) -> None:
    with pytest.raises(ModelRefused, match=r"^every base model is refused:\nold: old: The trainer"):
        checked_models(models[2:], on_cpu_engine=False)


def test_the_shipped_model_costs_no_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subprocess.run", lambda *_, **__: pytest.fail("a check was started"))
    assert checked_models(shipped_models(), on_cpu_engine=True) == shipped_models()
