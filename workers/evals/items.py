"""Works on one item of an eval run: samples it if the run has a model, and scores its samples.

Owns the output items. Promises: a sample that infrastructure prevents from being drawn or scored is
an error, never a failed item, and so is one whose work met an internal error. The samples of an
item are scored as a group, by the code that scores rollouts.
"""

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, assert_never

import structlog

from app.domain.data.dataset import DatasetRow
from app.domain.documents.json_object import Json
from app.domain.errors import LeaseLost, RunFailed, Unavailable, first_fault
from app.domain.evals.data_sources import EvalRow, JsonlSource, SampledSource
from app.domain.evals.evals import ItemStatus, OutputItem, token_usage
from app.domain.evals.given_samples import given_fault
from app.domain.evals.sampling import settings_of, tools_of
from app.domain.ids import GroupKey, SampleKey, new_id
from app.domain.rollouts.trajectory import ScoredRollout, Trajectory
from workers.evals.context import EvalContext
from workers.evals.criteria import CriteriaOutcome, CriteriaScorer, TokensByModel, digest
from workers.evals.eval_prompts import (
    UnusableItem,
    given_sample,
    prompt_of,
    sample_of,
)
from workers.evals.sampling import Sampler, SamplingRefused
from workers.journal.journal import InMemoryJournal
from workers.rollout.groups import score_group

log = structlog.get_logger()
_Result = TypeVar("_Result")
INTERNAL_ERROR: Final = {
    "code": "internal_error",
    "message": "This service met an internal error with this item. The operator's log describes it "
    "under the id of the run.",
}
WorkedItem = tuple[OutputItem, TokensByModel]
"""An output item, and the tokens used for it."""


@dataclass(slots=True)
class _ItemSample:
    """One sample of an item."""

    sample: Json
    """The hosted `sample` object that criteria address."""
    output: Json
    """The sample in the shape of the output item."""
    usage: TokensByModel = field(default_factory=list)
    fault: Json | None = None


async def work_on(
    context: EvalContext, index: int, row: EvalRow, *, slots: asyncio.Semaphore
) -> list[WorkedItem]:
    """Returns an output item for each sample of the item. Each sampling takes one of the `slots`.

    Raises only faults that end the run or this claim; an unusable item is an output item.
    """
    with structlog.contextvars.bound_contextvars(item=index):
        return await _work_on(context, index, row, slots=slots)


async def _work_on(
    context: EvalContext, index: int, row: EvalRow, *, slots: asyncio.Semaphore
) -> list[WorkedItem]:
    group = GroupKey(context.run.id, "test", 0, index)
    samples = await _samples(context, row, group.samples(context.source.samples), slots)
    scorable = {key: sampled for key, sampled in samples.items() if sampled.fault is None}
    scorer = CriteriaScorer(
        context, index, {key: sampled.sample for key, sampled in scorable.items()}
    )
    statuses = await _caught(_score(context, row, scorable, scorer)) if scorable else {}
    if statuses is None:
        statuses = {}
        for sampled in scorable.values():
            sampled.fault = INTERNAL_ERROR
    return [
        _worked(
            context,
            row,
            key,
            sampled,
            status=statuses.get(key, "error"),
            outcome=scorer.outcomes.get(key, CriteriaOutcome()),
        )
        for key, sampled in samples.items()
    ]


async def _caught(work: Coroutine[Any, Any, _Result]) -> _Result | None:
    """Returns the result of a part of an item's work, `None` after an exception that nothing
    foresees: it is most often the item's own, and would end each claim at the same item. A
    cancellation from within would leave the run without the item.
    """
    try:
        return await work
    except (RunFailed, LeaseLost, Unavailable):
        raise
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        log.exception("item cancelled from within")
    except Exception:  # the boundary of one item: its fault must not end the run
        log.exception("item ended by a fault")
    return None


async def _samples(
    context: EvalContext, row: EvalRow, keys: list[SampleKey], slots: asyncio.Semaphore
) -> dict[SampleKey, _ItemSample]:
    match context.source:
        case SampledSource() as source:
            with first_fault():
                async with asyncio.TaskGroup() as tasks:
                    asked = {
                        key: tasks.create_task(_drawn(context, source, key, row, slots))
                        for key in keys
                    }
            return {key: task.result() for key, task in asked.items()}
        case JsonlSource():
            return {key: await _given(context, row) for key in keys}
        case source:
            assert_never(source)


async def _score(
    context: EvalContext,
    row: EvalRow,
    samples: Mapping[SampleKey, _ItemSample],
    scorer: CriteriaScorer,
) -> dict[SampleKey, ItemStatus]:
    """Scores the samples of an item as one group."""
    first = next(iter(samples))
    trajectories = [
        Trajectory(key, [], [], [], messages=[*sampled.output["input"], *sampled.output["output"]])
        for key, sampled in samples.items()
    ]
    prompt, tools = samples[first].output["input"], tools_of(context.source)
    group = await score_group(
        trajectories,
        DatasetRow(first.prompt_index, prompt, tools, row.item),
        scorer=scorer,
        journal=InMemoryJournal(),
    )
    return {rollout.key: _status(rollout) for rollout in group.rollouts}


def _status(rollout: ScoredRollout) -> ItemStatus:
    if rollout.failure is not None:
        return "error"
    return "pass" if rollout.reward == 1.0 else "fail"


def _worked(
    context: EvalContext,
    row: EvalRow,
    key: SampleKey,
    sampled: _ItemSample,
    *,
    status: ItemStatus,
    outcome: CriteriaOutcome,
) -> WorkedItem:
    fault = sampled.fault
    if fault is None and status == "error":
        # Scores that were cancelled from within have no fault of a criterion.
        fault = outcome.faults[0] if outcome.faults else INTERNAL_ERROR
    item = OutputItem(
        id=new_id("outputitem_"),
        eval_id=context.of.id,
        run_id=context.run.id,
        index=key.prompt_index,
        sample_index=key.sample_index,
        status=status,
        datasource_item=row.item,
        results=outcome.results,
        sample={**sampled.output, "error": fault},
    )
    return item, sampled.usage + outcome.usage


def _no_output(model: str | None) -> Json:
    """Returns a sample in the shape of an output item, before it is drawn."""
    return {
        "input": [],
        "output": [],
        "finish_reason": None,
        "model": model,
        "usage": token_usage(0, 0),
        "seed": None,
        "temperature": None,
        "top_p": None,
        "max_completion_tokens": None,
    }


async def _given(context: EvalContext, row: EvalRow) -> _ItemSample:
    """Returns the sample that came with the item."""
    output = {**_no_output(None), "finish_reason": "stop"}

    async def read() -> _ItemSample:
        fault = given_fault(row, context.needs)
        if fault is not None:
            message = f"The row cannot be graded: {fault.reason}."
            return _ItemSample({}, output, fault={"code": "invalid_item", "message": message})
        if row.sample is None:
            return _ItemSample({}, output)
        sample = given_sample(row.sample)
        output["output"] = [{"role": "assistant", "content": sample.get("output_text")}]
        output["model"] = sample.get("model")
        return _ItemSample(sample, output)

    return await _caught(read()) or _ItemSample({}, output, fault=INTERNAL_ERROR)


async def _drawn(
    context: EvalContext,
    source: SampledSource,
    key: SampleKey,
    row: EvalRow,
    slots: asyncio.Semaphore,
) -> _ItemSample:
    """Returns one answer of the model under evaluation."""
    output = _no_output(source.model)
    with structlog.contextvars.bound_contextvars(sample=key.sample_index):
        drawn = await _caught(_sample(context, source, key, row, slots=slots, output=output))
    return drawn or _ItemSample({}, output, fault=INTERNAL_ERROR)


async def _sample(
    context: EvalContext,
    source: SampledSource,
    key: SampleKey,
    row: EvalRow,
    *,
    slots: asyncio.Semaphore,
    output: Json,
) -> _ItemSample:
    params = source.sampling_params
    seed = _seed(context, key, params.seed)
    settings = settings_of(params, seed=seed)
    output |= {
        "seed": seed,
        "temperature": settings["temperature"],
        "top_p": settings["top_p"],
        "max_completion_tokens": params.max_completion_tokens,
    }
    try:
        output["input"] = prompt_of(source.input_messages, row.item)
        async with slots:
            answer = await Sampler(context, source.model).ask(output["input"], settings)
    except UnusableItem as fault:
        return _ItemSample({}, output, fault={"code": "invalid_item", "message": str(fault)})
    except SamplingRefused as fault:
        return _ItemSample({}, output, fault={"code": "sampling_error", "message": str(fault)})
    tokens = token_usage(answer.prompt_tokens, answer.completion_tokens, answer.cached_tokens)
    choice = answer.choices[0]
    output |= {
        "output": [choice.get("message") or {}],
        "finish_reason": choice.get("finish_reason"),
        "usage": tokens,
    }
    return _ItemSample(
        sample_of(answer.choices, source.model, tokens=answer.completion_tokens),
        output,
        [(source.model, tokens)],
    )


def _seed(context: EvalContext, key: SampleKey, sent: int | None) -> int:
    """Returns the seed of a sample, the same for every attempt, and for all runs with the seed that
    was sent. The seeds of samples are independent: with one for all, the chances of the rows would
    vary together, and the interval of a mean would be too narrow.
    """
    start = context.run.id if sent is None else sent
    hashed = digest("seed", start, key.prompt_index, key.sample_index)
    return int(hashed[:8], 16) & 0x7FFFFFFF
