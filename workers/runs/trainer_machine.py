"""Puts the operator's settings of memory and precision into the options of a trainer."""

from workers.learning.machine_options import machine_options
from workers.learning.trainer_options import TrainerOptions
from workers.runs.context import RunContext


def with_machine(options: TrainerOptions, context: RunContext) -> TrainerOptions:
    """Returns the options with precision, checkpointing and micro-batch as the base model has them,
    or else the installation.
    """
    return machine_options(options, context.base_model, context.settings.runs.memory)
