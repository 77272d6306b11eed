"""Training on supervised or preference data, without torch: a faulty file is reported at once."""

import asyncio
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import structlog

from app.files.rows import DatasetError
from app.jobs.jobs import Usage
from app.jobs.stop_options import StopOptions
from app.jobs.stop_rules import LOSSES
from app.jobs.supervised import (
    DpoMethod,
    SupervisedMethod,
    resolve_supervised_hyperparameters,
    resolved_options,
)
from app.rollouts import metrics as names
from app.rollouts.renderer import Renderer
from workers.methods.supervised.examples import (
    Examples,
    MakeExample,
    SupervisedPlan,
    load_rows,
    preference_examples,
    supervised_examples,
)
from workers.runs.context import RunContext
from workers.runs.method import CheckStop, Method, PreparedRun, TrainingResult
from workers.runs.opening import JobFile, file_warnings, training_file, validation_file
from workers.runs.reporter import Reporter
from workers.runs.step_outcome import StepOutcome

log = structlog.get_logger()


def supervised_training(context: RunContext, method: SupervisedMethod | DpoMethod) -> Method:
    rules = method.rules if isinstance(method, DpoMethod) else method.stop or StopOptions()
    return Method(SupervisedStepReport(), rules, LOSSES, prepare=lambda: _prepared(context, method))


async def _prepared(context: RunContext, method: SupervisedMethod | DpoMethod) -> PreparedRun:
    """The first claim also renders every row, so that no row fails the run halfway."""
    train_file = await training_file(context)
    train_rows = await load_rows(train_file, method)
    valid_file, valid_rows = await validation_file(context), None
    if valid_file is not None:
        valid_rows = await load_rows(valid_file, method)
    make = _make_example(context, method)
    examples = Examples(train_rows, make)
    held_out = None if valid_rows is None else Examples(valid_rows, make)
    plan = SupervisedPlan(
        hyperparameters=resolve_supervised_hyperparameters(
            method, train_rows=len(examples), base_model=context.base_model
        ),
        train_rows=len(examples),
        valid_rows=0 if held_out is None else len(held_out),
        seed=context.job.seed,
    )
    if context.job.started_at is None:
        await _check_rows(context, train_file, examples)
        if valid_file is not None and held_out is not None:
            await _check_rows(context, valid_file, held_out)

    async def train_prepared(reporter: Reporter, check_stop: CheckStop) -> TrainingResult:
        await asyncio.to_thread(import_module, "workers.methods.supervised.training")
        from workers.methods.supervised.training import train  # noqa: PLC0415 - imports torch; loaded by now

        both = (examples, held_out)
        return await train(
            context, method, plan, examples=both, reporter=reporter, check_stop=check_stop
        )

    stored = context.job.method
    return PreparedRun(
        plan.total_steps,
        stored.with_options(resolved_options(stored.options, method.kind, len(examples))),
        train_prepared,
        file_warnings=await file_warnings(context, train_file, valid_file),
        overlap=None if valid_rows is None else train_rows.prompts.overlap(valid_rows.prompts),
    )


async def _check_rows(context: RunContext, file: JobFile, examples: Examples) -> None:
    try:
        cut = await asyncio.to_thread(examples.count_cut)
    except DatasetError as error:
        raise file.invalid(error) from error
    log.info("rows rendered", job_id=context.job.id, file=file.label, cut=cut)


def _make_example(context: RunContext, method: SupervisedMethod | DpoMethod) -> MakeExample:
    base = context.base_model
    renderer = Renderer(base.path, tool_parser=base.tool_parser, chat_template=base.chat_template)
    if isinstance(method, DpoMethod):
        return preference_examples(renderer, limit=base.context_length)
    train_on = method.train_on or "all"
    return supervised_examples(renderer, limit=base.context_length, train_on=train_on)


_TRAIN: Final = {
    "train_loss": names.LOSS,
    "train_mean_token_accuracy": names.TOKEN_ACCURACY,
    "train_reward_accuracy": names.PREFERENCE_ACCURACY,
    "train_reward_margin": names.PREFERENCE_MARGIN,
}
_VALID: Final = {
    "valid_loss": names.BATCH_LOSS,
    "valid_mean_token_accuracy": names.BATCH_TOKEN_ACCURACY,
    "full_valid_loss": names.LOSS,
    "full_valid_mean_token_accuracy": names.TOKEN_ACCURACY,
    "full_valid_preference_accuracy": names.PREFERENCE_LOGPROB_ACCURACY,
    "full_valid_chosen_logprob": names.PREFERENCE_CHOSEN_LOGPROB,
    "full_valid_chosen_change": names.PREFERENCE_CHOSEN_CHANGE,
    "full_valid_rejected_logprob": names.PREFERENCE_REJECTED_LOGPROB,
    "full_valid_reward_accuracy": names.PREFERENCE_ACCURACY,
    "full_valid_reward_margin": names.PREFERENCE_MARGIN,
}
_WORDS: Final = {
    "train_loss": "training loss",
    "valid_loss": "validation loss",
    "full_valid_loss": "full validation loss",
}


class SupervisedStepReport:
    nothing_trained = (
        "every update was left out, because its loss or gradient was not finite. Use a smaller "
        "learning_rate_multiplier"
    )

    def baseline(self, outcome: StepOutcome) -> Sequence[str]:
        return [f"Before training: {_words(self.checkpoint(outcome))}"]

    def validation(self, outcome: StepOutcome) -> str:
        return f"Step {outcome.step}: {_words(self.checkpoint(outcome))}"

    def step(self, outcome: StepOutcome, total_steps: int) -> tuple[str, dict[str, Any]]:
        values = self.checkpoint(outcome)
        message = f"Step {outcome.step}/{total_steps}: {_words(values)}"
        return message, {"step": outcome.step, "total_steps": total_steps, **values}

    def makes_checkpoint(self, outcome: StepOutcome) -> bool:
        """Every step that ends an epoch becomes a checkpoint: the engine serves those."""
        return outcome.adapter is not None and outcome.adapter.engine_name is not None

    def checkpoint(self, outcome: StepOutcome) -> dict[str, float]:
        sources = ((_TRAIN, outcome.train_values), (_VALID, outcome.valid_values))
        return {
            key: values[name]
            for keys, values in sources
            for key, name in keys.items()
            if name in values
        }

    def usage(self, outcome: StepOutcome) -> Usage:
        return Usage(
            update_time_s=outcome.trained.values.get(names.TIME_TRAINING, 0.0),
            evaluation_time_s=outcome.validation.seconds or 0.0,
            trained_tokens=outcome.trained_tokens,
        )


def _words(values: dict[str, float]) -> str:
    words = [f"{_WORDS[name]}={values[name]:.2f}" for name in _WORDS if name in values]
    return ", ".join(words) or "no finite loss"
