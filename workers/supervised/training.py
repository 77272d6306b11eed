"""The heavy half of a supervised or preference run: resume, reference, baseline, steps, report.
Importing it takes seconds (torch).
"""

from collections.abc import Callable
from dataclasses import dataclass

from app.domain.methods.loss import CrossEntropyOptions, DpoOptions, LossOptions
from app.domain.methods.supervised import DpoMethod, SupervisedMethod
from workers.engines.policy import EnginePolicy
from workers.learning.compute_thread import run_on_compute_thread
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import Trainer
from workers.learning.trainer_options import TrainerOptions
from workers.runs.context import RunContext
from workers.runs.finished import Trained, best_adapter
from workers.runs.publisher import Publisher
from workers.runs.reporter import Reporter
from workers.runs.resuming import (
    AdapterSettings,
    adapter_settings_of_resume,
    committed_step,
    restore,
)
from workers.runs.stopping import StoppedEarly
from workers.supervised.examples import Examples
from workers.supervised.held_out import report
from workers.supervised.loop import TextLoop
from workers.supervised.plan import TextPlan
from workers.supervised.preparation import Prepared, text_method
from workers.supervised.reference import ReferenceLogprobs
from workers.supervised.samples import Samples


@dataclass(frozen=True, slots=True)
class _Parts:
    trainer: Trainer
    publisher: Publisher


async def tune(
    context: RunContext,
    prepared: Prepared,
    *,
    reporter: Reporter,
    between: Callable[[], None],
) -> Trained:
    """From the last committed step to the last one, or to the one that a rule ends it at. What
    `between` raises ends it between steps; `StoppedEarly` is a success.
    """
    plan = prepared.plan
    terms = await adapter_settings_of_resume(
        context, learning_rate=plan.hyperparameters.learning_rate
    )
    parts = await run_on_compute_thread(_assemble, context, plan, terms)
    reporter.meter.accelerators = parts.trainer.accelerators
    ended = None
    try:
        await parts.publisher.forget_earlier_claims()
        resumed = await restore(context, parts.trainer)
        loop = TextLoop(
            context,
            plan,
            trainer=parts.trainer,
            samples=await run_on_compute_thread(
                _samples, context, prepared, parts.trainer, between
            ),
            publisher=parts.publisher,
            reporter=reporter,
        )
        await loop.baseline()
        await reporter.stopping.load()
        try:
            await loop.steps(first=resumed.step + 1, between=between)
        except StoppedEarly as stop:
            ended = stop.finding
            await loop.validate(await committed_step(context))
    finally:
        await parts.publisher.close()
    step, adapter_key = await best_adapter(context)
    shown = report(context, step, ended) if plan.valid_rows else None
    return Trained(step, adapter_key, shown, ended)


def _assemble(context: RunContext, plan: TextPlan, terms: AdapterSettings) -> _Parts:
    base, hyper = context.base_model, plan.hyperparameters
    loss = _loss(text_method(context))
    options = loss.options()
    if isinstance(loss, DpoOptions):
        options["beta"] = hyper.beta
    trainer = LoraTrainer(
        base.path,
        base_name=base.name,
        rank=terms.rank,
        alpha=terms.alpha,
        learning_rate=terms.learning_rate,
        seed=context.job.seed,
        options=TrainerOptions(loss=loss.type, loss_options=options, start=context.start),
    )
    policy = EnginePolicy(context.inference, base_model=base.name)
    return _Parts(trainer, Publisher(context, trainer, policy))


def _loss(method: SupervisedMethod | DpoMethod) -> LossOptions:
    if isinstance(method, DpoMethod):
        return method.loss or DpoOptions()
    return method.loss or CrossEntropyOptions()


def _samples(
    context: RunContext, prepared: Prepared, trainer: Trainer, between: Callable[[], None]
) -> Samples:
    method = text_method(context)
    pairs = isinstance(method, DpoMethod)
    if not isinstance(_loss(method), DpoOptions):
        return Samples(prepared.train, prepared.valid, pairs)

    def filled(split: str, examples: Examples) -> ReferenceLogprobs:
        path = context.objects.local_path(f"{context.job_key}/reference/{split}")
        references = ReferenceLogprobs(path, trainer, examples)
        references.fill(between)
        return references

    train = filled("train", prepared.train)
    valid = None if prepared.valid is None else filled("valid", prepared.valid)
    return Samples(prepared.train, prepared.valid, pairs, train, valid)
