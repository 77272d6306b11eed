"""Resolves a job's learning options for a base model."""

from typing import Any

from app.jobs.learning import Learning, LearningOptions, resolved_learning
from app.models.models import BaseModelSpec

BASE = BaseModelSpec(name="m", path="m", context_length=4096, max_turn_tokens=300)


def resolved(base: BaseModelSpec = BASE, **sent: Any) -> Learning:
    return resolved_learning(LearningOptions.model_validate(sent), base)
