"""Settings of the base models, and the small models that are shipped."""

import importlib.util
import json
from pathlib import Path

from pydantic import Field

from app.domain.models.models import BaseModelSpec
from app.settings.sources import Sources

DEFAULT_MODEL = "tiny-agent-2026-11-23"


SCHOLAR_MODEL = "tiny-scholar-2026-11-27"


def shipped_model_dir(folder: str = "tiny_agent") -> Path:
    """Returns the directory of a shipped model in the package `workers`, without importing it."""
    spec = importlib.util.find_spec("workers")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the package `workers` is not installed")
    return Path(next(iter(spec.submodule_search_locations))) / "base_models" / folder


def shipped_models() -> tuple[BaseModelSpec, ...]:
    """Returns the base models of an installation that configures none."""
    return (
        BaseModelSpec(
            name=DEFAULT_MODEL,
            aliases=("tiny-agent",),
            path=str(shipped_model_dir()),
            context_length=1024,
            tool_parser="hermes",
            lora_rank=16,
            lora_alpha=16,
            # At 2e-3 with alpha 32 one seed in ten permanently unlearns a whole kind of question.
            learning_rate=1e-3,
            supervised_learning_rate=1e-3,
            dpo_learning_rate=1e-3,
            max_turn_tokens=256,
        ),
    )


def scholar_model() -> BaseModelSpec:
    """Returns the shipped model that knows the questions of the recipes; `--model` serves it."""
    return BaseModelSpec(
        name=SCHOLAR_MODEL,
        aliases=("tiny-scholar",),
        path=str(shipped_model_dir("tiny_scholar")),
        context_length=1024,
        tool_parser="hermes",
        lora_rank=16,
        lora_alpha=16,
        learning_rate=2e-3,
        supervised_learning_rate=1e-3,
        dpo_learning_rate=5e-4,
        max_turn_tokens=128,
    )


def known_by_name() -> tuple[BaseModelSpec, ...]:
    """Returns every shipped model: those that `--model` serves without preparation."""
    return (*shipped_models(), scholar_model())


class ModelSettings(Sources):
    """Settings of an engine, except its key."""

    base_models: tuple[BaseModelSpec, ...] = Field(default_factory=shipped_models, min_length=1)
    """Base models of the engine, each an object; without any, the small model that is shipped."""


def to_models_json(models: tuple[BaseModelSpec, ...]) -> str:
    """Returns the base models in the format of an engine's `--models-json` file."""
    return json.dumps([spec.model_dump(mode="json") for spec in models], indent=1)
