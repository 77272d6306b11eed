"""Puts the operator's settings of memory and precision into the options of a trainer."""

from dataclasses import replace

from workers.learning.trainer_options import TrainerOptions
from workers.runs.context import RunContext


def with_machine(options: TrainerOptions, context: RunContext) -> TrainerOptions:
    """Returns the options with precision, checkpointing and micro-batch as the base model has them,
    or else the installation.
    """
    base, runs = context.base_model, context.settings.runs
    checkpointing = base.checkpointing
    return replace(
        options,
        dtype=base.dtype,
        checkpointing=runs.checkpointing if checkpointing is None else checkpointing,
        max_batch_tokens=base.micro_batch_tokens or runs.micro_batch_tokens,
    )
