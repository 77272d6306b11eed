"""Adds the operator's settings of memory and precision, and the way to compute on a CPU, to the
options of a trainer.

A resumed run computes as it began, whatever the machine would choose today: the bits of its sums
depend on it.
"""

from dataclasses import replace

from app.domain.models.compute_choices import ComputeChoice
from app.settings.compute import ComputeSettings
from workers.compute.compute_thread import run_on_compute_thread
from workers.compute.processor import is_accelerated
from workers.learning.machine_options import machine_options
from workers.learning.trainer_options import TrainerOptions
from workers.runs.context import RunContext
from workers.runs.opening.resuming import saved_trainer


def with_machine(
    options: TrainerOptions, context: RunContext, way: ComputeChoice | None
) -> TrainerOptions:
    """Returns the options with the base model's precision, checkpointing and micro-batch size, or
    the installation's where the base model has none, and with the way to compute.
    """
    sized = machine_options(options, context.base_model, context.settings.runs.memory)
    return sized if way is None else replace(sized, threads=way.threads, products=way.products)


async def way_to_compute(context: RunContext) -> ComputeChoice | None:
    """Returns the way of the run's trainer; `None` on an accelerator. Measures it if this machine
    has not done so. A state without a way was saved by a trainer that computed as is assumed.
    """
    if is_accelerated():
        return None
    saved = await saved_trainer(context)
    if saved is not None and saved.computes is not None:
        return ComputeChoice.model_validate(saved.computes)
    return await run_on_compute_thread(_chosen, context, measure=saved is None)


def _chosen(context: RunContext, *, measure: bool) -> ComputeChoice:
    from workers.learning.training.autotuning import trainer_way  # noqa: PLC0415 - loads torch, on the compute thread

    settings = context.settings.compute if measure else ComputeSettings(measure=False)
    return trainer_way(context.base_model, settings, context.settings.data_dir / "compute")
