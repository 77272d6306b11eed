"""From a claimed supervised or preference job to checked rows and a plan. Without torch, so that a
broken file is answered at once.
"""

from dataclasses import dataclass
from typing import Any, Literal

from app.domain.methods.supervised import (
    DpoMethod,
    SupervisedMethod,
    resolved,
    text_hyperparameters,
)
from app.rendering.renderer import Renderer
from workers.processes.retry import retry_while_unavailable
from workers.runs.announcer import FILES_VALIDATED
from workers.runs.context import RunContext
from workers.runs.data import checked_examples, load_text_rows
from workers.runs.reporter import Reporter
from workers.supervised.examples import Examples, Make, preference, supervised
from workers.supervised.plan import TextPlan

Kind = Literal["supervised", "dpo"]


@dataclass(frozen=True, slots=True)
class Prepared:
    plan: TextPlan
    train: Examples
    valid: Examples | None


def text_method(context: RunContext) -> SupervisedMethod | DpoMethod:
    if not isinstance(context.method, SupervisedMethod | DpoMethod):
        raise TypeError(f"{context.job.id} is a reinforcement job")
    return context.method


async def prepare(context: RunContext, reporter: Reporter) -> Prepared:
    """Raises `RunFailed` for the first fault of a file, with line and pointer."""
    method = text_method(context)
    kind: Kind = "dpo" if isinstance(method, DpoMethod) else "supervised"
    fresh = context.job.total_steps is None
    if fresh:
        await reporter.announcer.validating_files()
    rows = await load_text_rows(context, kind, training=True)
    held_out = None
    if context.job.validation_file is not None:
        held_out = await load_text_rows(context, kind, training=False)
    make = _make(context, method)
    train = Examples(rows, make)
    valid = None if held_out is None else Examples(held_out, make)
    plan = TextPlan(
        hyperparameters=text_hyperparameters(
            method, train_rows=len(train), base_model=context.base_model
        ),
        train_rows=len(train),
        valid_rows=0 if valid is None else len(valid),
        seed=context.job.seed,
    )
    if fresh:
        warnings = await _rendered(context, train, valid)
        shown = resolved(context.job.method, kind, len(train))
        await retry_while_unavailable(lambda: _mark_validated(context, plan, shown, warnings))
    return Prepared(plan, train, valid)


def _make(context: RunContext, method: SupervisedMethod | DpoMethod) -> Make:
    base = context.base_model
    renderer = Renderer(base.path, tool_parser=base.tool_parser, chat_template=base.chat_template)
    if isinstance(method, DpoMethod):
        return preference(renderer, limit=base.context_length)
    return supervised(renderer, limit=base.context_length, train_on=method.train_on or "all")


async def _rendered(context: RunContext, train: Examples, valid: Examples | None) -> list[str]:
    """Every row once, so that none of them fails a run halfway; what is to be said of them."""
    warnings = []
    for examples, training in ((train, True), (valid, False)):
        if examples is None:
            continue
        cut = await checked_examples(examples, training=training)
        if cut:
            label = "training" if training else "validation"
            warnings.append(
                f"{cut} of {len(examples)} {label} examples are longer than "
                f"{context.base_model.context_length} tokens and are cut at their end"
            )
    return warnings


async def _mark_validated(
    context: RunContext, plan: TextPlan, method: dict[str, Any], warnings: list[str]
) -> None:
    job_id = context.job.id
    async with context.unit() as unit:
        if (await unit.jobs.get(job_id)).total_steps is not None:
            return
        await unit.jobs.mark_validated(plan.total_steps, method)
        for warning in warnings:
            await unit.events.append(job_id, level="warn", type="message", message=warning)
        await unit.events.append(job_id, level="info", type="message", message=FILES_VALIDATED)
