"""The training module of a supervised or DPO run: resume, reference, baseline, steps, report.

Importing it takes seconds, because it imports torch.
"""

from dataclasses import dataclass
from typing import assert_never

from app.jobs.losses import CrossEntropyOptions, DpoOptions, PreferenceLoss, SupervisedLoss
from app.jobs.supervised import DpoMethod, SupervisedMethod
from app.models.compute import ComputeChoice
from workers.compute import run_on_compute_thread
from workers.engines.policy import EnginePolicy
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.options import TrainerOptions
from workers.learning.trainer import Trainer
from workers.methods.supervised.examples import Examples, SupervisedPlan
from workers.methods.supervised.loop import SupervisedLoop
from workers.methods.supervised.report import build_report
from workers.methods.supervised.samples import ReferenceLogprobs, Samples
from workers.runs.context import RunContext
from workers.runs.method import CheckStop, TrainingResult, best_adapter
from workers.runs.opening import (
    AdapterSettings,
    adapter_settings_of_resume,
    committed_step,
    restore,
    way_to_compute,
    with_machine,
)
from workers.runs.publisher import Publisher
from workers.runs.reporter import Reporter
from workers.runs.step_outcome import StoppedEarly


@dataclass(frozen=True, slots=True)
class _TrainingParts:
    trainer: Trainer
    publisher: Publisher


async def train(
    context: RunContext,
    method: SupervisedMethod | DpoMethod,
    plan: SupervisedPlan,
    *,
    examples: tuple[Examples, Examples | None],
    reporter: Reporter,
    check_stop: CheckStop,
) -> TrainingResult:
    """See `workers.runs.method.PreparedRun`. `examples`: those to train on, those held out."""
    settings = await adapter_settings_of_resume(
        context, learning_rate=plan.hyperparameters.learning_rate
    )
    way = await way_to_compute(context)
    parts = await run_on_compute_thread(_assemble, context, method, plan, settings, way)
    reporter.meter.accelerators = parts.trainer.accelerators
    ended = None
    try:
        await parts.publisher.forget_earlier_claims()
        resumed = await restore(context, parts.trainer)
        loop = SupervisedLoop(
            context,
            plan,
            trainer=parts.trainer,
            samples=await _samples(context, method, examples, parts.trainer, check_stop),
            publisher=parts.publisher,
            reporter=reporter,
        )
        await loop.baseline()
        await reporter.stopping.load()
        try:
            await loop.steps(first=resumed.step + 1, check_stop=check_stop)
        except StoppedEarly as stop:
            ended = stop.trigger
            await loop.validate(await committed_step(context))
    finally:
        parts.trainer.close()
        await parts.publisher.close()
    chosen = await best_adapter(context)
    paired = await build_report(context, chosen, ended) if plan.valid_rows else None
    return TrainingResult(chosen.step, chosen.key, paired, ended)


def _assemble(
    context: RunContext,
    method: SupervisedMethod | DpoMethod,
    plan: SupervisedPlan,
    settings: AdapterSettings,
    way: ComputeChoice | None,
) -> _TrainingParts:
    base, hyper = context.base_model, plan.hyperparameters
    loss = _loss(method)
    options = loss.options()
    if loss.uses_reference:
        options["beta"] = hyper.beta
    trainer = LoraTrainer(
        base.path,
        base_name=base.name,
        rank=settings.rank,
        alpha=settings.alpha,
        learning_rate=settings.learning_rate,
        seed=context.job.seed,
        options=with_machine(
            TrainerOptions(loss=loss.type, loss_options=options, start=context.start), context, way
        ),
    )
    policy = EnginePolicy(context.inference, base_model=base.name)
    return _TrainingParts(trainer, Publisher(context, trainer, policy))


def _loss(method: SupervisedMethod | DpoMethod) -> SupervisedLoss | PreferenceLoss:
    match method:
        case SupervisedMethod():
            return method.loss or CrossEntropyOptions()
        case DpoMethod():
            return method.loss or DpoOptions()
        case _:
            assert_never(method)


async def _samples(
    context: RunContext,
    method: SupervisedMethod | DpoMethod,
    examples: tuple[Examples, Examples | None],
    trainer: Trainer,
    check_stop: CheckStop,
) -> Samples:
    train, valid = examples
    loss = _loss(method)
    pairs = loss.rows_per_example > 1
    if not loss.uses_reference:
        return Samples(train, valid, pairs)

    async def reference(split: str, rows: Examples) -> ReferenceLogprobs:
        logprobs = ReferenceLogprobs(context.notes(f"reference/{split}"), trainer, rows)
        await logprobs.fill(check_stop)
        return logprobs

    train_reference = await reference("train", train)
    valid_reference = None if valid is None else await reference("valid", valid)
    return Samples(train, valid, pairs, train_reference, valid_reference)
