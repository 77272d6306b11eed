"""Resume, reference, baseline, steps, report of a supervised or DPO run. Imports torch."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from app.jobs.losses import CrossEntropyOptions, DpoOptions, PreferenceLoss, SupervisedLoss
from app.jobs.supervised import DpoMethod, SupervisedMethod
from app.kit.ids import VALID_BASE
from app.models.compute import ComputeChoice
from app.rollouts import metrics as names
from workers.compute import run_on_compute_thread
from workers.engines.policy import EnginePolicy
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import Trainer, TrainerOptions, count_trained_tokens
from workers.methods.supervised.examples import Examples, ReferenceLogprobs, Samples, SupervisedPlan
from workers.methods.supervised.report import (
    RowValues,
    build_report,
    committed_values,
    store_base_values,
    store_values,
    weighted_means,
)
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
from workers.runs.reporter import ObservedStep, Reporter
from workers.runs.step_outcome import (
    PublishedAdapter,
    StepOutcome,
    StoppedEarly,
    TrainedStep,
    Validation,
)


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
    trainer, publisher = await run_on_compute_thread(
        _assemble, context, method, plan, settings, way
    )
    reporter.meter.accelerators = trainer.accelerators
    ended = None
    try:
        await publisher.forget_earlier_claims()
        resumed = await restore(context, trainer)
        samples = await _samples(context, method, examples, trainer, check_stop)
        loop = SupervisedLoop(context, plan, trainer, samples, publisher, reporter)
        await loop.baseline()
        await reporter.stopping.load()
        try:
            await loop.steps(first=resumed.step + 1, check_stop=check_stop)
        except StoppedEarly as stop:
            ended = stop.trigger
            await loop.validate(await committed_step(context))
    finally:
        trainer.close()
        await publisher.close()
    chosen = await best_adapter(context)
    paired = await build_report(context, chosen, ended) if plan.valid_rows else None
    return TrainingResult(chosen.step, chosen.key, paired, ended)


def _assemble(
    context: RunContext,
    method: SupervisedMethod | DpoMethod,
    plan: SupervisedPlan,
    settings: AdapterSettings,
    way: ComputeChoice | None,
) -> tuple[Trainer, Publisher]:
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
    return trainer, Publisher(context, trainer, policy)


def _loss(method: SupervisedMethod | DpoMethod) -> SupervisedLoss | PreferenceLoss:
    if isinstance(method, SupervisedMethod):
        return method.loss or CrossEntropyOptions()
    return method.loss or DpoOptions()


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


_AT_ONCE: Final = 16
_OF_SAMPLING: Final = frozenset(
    {
        names.SAMPLER_KL_K3,
        names.SAMPLER_MAX_LOG_RATIO,
        names.CLIPPED_SHARE,
        names.COMPUTED_TOKENS,
        names.MASKED_SHARE,
        names.TRUNCATED_SHARE,
        names.BASE_KL_K1,
    }
)


class SupervisedLoop:
    def __init__(
        self,
        context: RunContext,
        plan: SupervisedPlan,
        trainer: Trainer,
        samples: Samples,
        publisher: Publisher,
        reporter: Reporter,
    ) -> None:
        self._context = context
        self._plan = plan
        self._trainer = trainer
        self._samples = samples
        self._publisher = publisher
        self._reporter = reporter
        self._pending: list[ObservedStep] = []
        self._saves = SaveSchedule(context.settings.runs.save_share)
        self._pace_s = 0.0

    async def baseline(self) -> None:
        """Once per job: the model at the start, and the base model if that is another."""
        if not self._plan.valid_rows or await self._reporter.has_baseline():
            return
        validation = await self._validate(0)
        if self._context.start is not None:
            rows = await self._measured(range(self._plan.valid_rows), adapter=False)
            await store_base_values(self._context, rows)
            validation = replace(validation, further={VALID_BASE: weighted_means(rows)})
        await self._reporter.commit_baseline(StepOutcome(TrainedStep(0), validation=validation))

    async def validate(self, step: int) -> None:
        """Measures the last committed step of a run that ends before its plan does."""
        if not self._plan.valid_rows or await self._reporter.was_validated(step):
            return
        validation = await self._validate(step)
        await self._reporter.commit_validation(
            StepOutcome(TrainedStep(step), validation=validation)
        )

    async def steps(self, *, first: int, check_stop: CheckStop) -> None:
        """Steps are committed when their state is saved, which takes long beside a step of a large
        model: once enough time has passed, or the run ends here.
        """
        begun = time.perf_counter()
        for step in range(first, self._plan.total_steps + 1):
            try:
                check_stop()
            except Exception:
                await self._commit_pending()
                raise
            started = time.perf_counter()
            outcome = await self._step(step)
            ended = time.perf_counter()
            self._pace_s = (ended - begun) / (step - first + 1)
            outcome = replace(outcome, seconds=ended - started, ended_at=time.time())
            self._pending.append(self._reporter.observe(outcome))
            if outcome.adapter is not None:
                await self._commit(self._pending)

    async def _commit_pending(self) -> None:
        """Saves and commits the steps that were trained since the last commit."""
        if not self._pending:
            return
        last = self._pending.pop()
        adapter = await self._saved(last.outcome.trained)
        last = replace(last, outcome=replace(last.outcome, adapter=adapter))
        await self._commit([*self._pending, last])

    async def _commit(self, steps: Sequence[ObservedStep]) -> None:
        await self._reporter.commit_steps(
            steps, total_steps=self._plan.total_steps, pace_s=self._pace_s
        )
        self._pending = []
        await self._publisher.retire()

    async def _saved(self, trained: TrainedStep) -> PublishedAdapter:
        started = time.monotonic()
        adapter = await self._publisher.save(trained)
        self._saves.saved(time.monotonic() - started)
        return adapter

    async def _step(self, step: int) -> StepOutcome:
        trained = await run_on_compute_thread(self._train, step)
        if self._plan.ends_epoch(step):
            adapter = await self._publisher.publish(trained)
            if not self._plan.valid_rows:
                return StepOutcome(trained, adapter)
            return StepOutcome(trained, adapter, await self._validate(step))
        outcome = StepOutcome(trained, await self._saved(trained) if self._saves.due else None)
        if not self._plan.looks_at_some(step):
            return outcome
        some = await self._measured(self._plan.some_held_out(step))
        return replace(outcome, validation=Validation(_batch_values(some)))

    def _train(self, step: int) -> TrainedStep:
        samples = [
            sample for row in self._plan.rows(step) for sample in self._samples.training(row)
        ]
        started = time.perf_counter()
        values = self._curves(self._trainer.update(samples))
        values[names.TIME_TRAINING] = time.perf_counter() - started
        tokens = count_trained_tokens(samples)
        values[names.TRAINED_TOKENS] = float(tokens)
        return TrainedStep(step, values, trained_tokens=tokens, probe=samples[0].tokens)

    def _curves(self, stats: dict[str, float]) -> dict[str, float]:
        left_out = _OF_SAMPLING
        if self._samples.pairs:
            left_out |= {names.TOKEN_ACCURACY}  # rejected answers are not to become likely
        return {name: value for name, value in stats.items() if name not in left_out}

    async def _validate(self, step: int) -> Validation:
        started = time.perf_counter()
        rows = await self._measured(range(self._plan.valid_rows))
        await store_values(self._context, step, rows)
        values = weighted_means(rows)
        if step:
            values |= _batch_values([rows[row] for row in self._plan.some_held_out(step)])
        if step and self._samples.pairs:
            start = weighted_means(await committed_values(self._context, 0))
            chosen = names.PREFERENCE_CHOSEN_LOGPROB
            values[names.PREFERENCE_CHOSEN_CHANGE] = values[chosen] - start[chosen]
        return Validation(values, time.perf_counter() - started)

    async def _measured(self, rows: Sequence[int], *, adapter: bool = True) -> list[RowValues]:
        found: list[RowValues] = []
        for start in range(0, len(rows), _AT_ONCE):
            found += await run_on_compute_thread(
                self._some_measured, rows[start : start + _AT_ONCE], adapter=adapter
            )
        return found

    def _some_measured(self, rows: Sequence[int], *, adapter: bool) -> list[RowValues]:
        found = self._trainer.evaluate(
            [self._samples.held_out(row) for row in rows], adapter=adapter
        )
        return [
            RowValues(
                1.0 if self._samples.pairs else values[names.COMPUTED_TOKENS], self._curves(values)
            )
            for values in found
        ]


def _batch_values(rows: Sequence[RowValues]) -> dict[str, float]:
    values = weighted_means(rows)
    named = {names.BATCH_LOSS: names.LOSS, names.BATCH_TOKEN_ACCURACY: names.TOKEN_ACCURACY}
    return {curve: values[name] for curve, name in named.items() if name in values}


class SaveSchedule:
    def __init__(self, share: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`share`: largest share of the time that saving may take; 1 saves at every opportunity."""
        self._share = share
        self._clock = clock
        self._next = clock()

    @property
    def due(self) -> bool:
        return self._clock() >= self._next

    def saved(self, seconds: float) -> None:
        self._next = self._clock() + seconds * (1 / self._share - 1)
