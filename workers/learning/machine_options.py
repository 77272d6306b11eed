"""Puts precision, checkpointing and micro-batch of a base model into the options of a trainer.

A run, the plan of a start and its measurement all ask here, so that what is planned is what runs.
"""

from dataclasses import replace

from app.domain.models.models import BaseModelSpec
from app.domain.models.trainer_memory import TrainerMemory
from workers.learning.trainer_options import TrainerOptions


def machine_options(
    options: TrainerOptions, spec: BaseModelSpec, installed: TrainerMemory
) -> TrainerOptions:
    """Returns the options with the values of the base model, or else those of the installation."""
    memory = installed.of(spec)
    return replace(
        options,
        dtype=spec.dtype,
        checkpointing=memory.checkpointing,
        max_batch_tokens=memory.micro_batch_tokens,
    )
