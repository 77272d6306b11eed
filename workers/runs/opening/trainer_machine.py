"""Adds the operator's settings of memory and precision to the options of a trainer."""

from workers.learning.machine_options import machine_options
from workers.learning.trainer_options import TrainerOptions
from workers.runs.context import RunContext


def with_machine(options: TrainerOptions, context: RunContext) -> TrainerOptions:
    """Returns the options with the base model's precision, checkpointing and micro-batch size, or
    the installation's where the base model has none.
    """
    return machine_options(options, context.base_model, context.settings.runs.memory)
