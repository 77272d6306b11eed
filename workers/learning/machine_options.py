"""Adds precision, checkpointing and micro-batch size of a base model to the options of a trainer.

A run, the plan of a start and its measurement all call this, so that the plan matches the run.
"""

from dataclasses import replace

from app.domain.models.models import BaseModelSpec
from app.domain.models.trainer_memory import TrainerMemory
from workers.learning.trainer_options import TrainerOptions


def machine_options(
    options: TrainerOptions, spec: BaseModelSpec, installed: TrainerMemory
) -> TrainerOptions:
    """Returns the options with the base model's values, or the installation's where the base model
    has none.
    """
    memory = installed.of(spec)
    return replace(
        options,
        dtype=spec.dtype,
        checkpointing=memory.checkpointing,
        max_batch_tokens=memory.micro_batch_tokens,
    )
