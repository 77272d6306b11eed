"""Works on one item of an eval run: samples it if the run has a model, and scores its samples.

Owns the output items. Promises: a sample that infrastructure prevents from being drawn or scored is
an error, never a failed item. The samples of an item are scored as a group, by the code that scores
rollouts.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from app.domain.data.dataset import DatasetRow
from app.domain.documents.json_object import Json
from app.domain.errors import first_fault
from app.domain.evals.data_sources import EvalRow, JsonlSource, SampledSource
from app.domain.evals.evals import ItemStatus, OutputItem, token_usage
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
    group = GroupKey(context.run.id, "test", 0, index)
    samples = await _samples(context, row, group.samples(context.source.samples), slots)
    scorable = {key: sampled for key, sampled in samples.items() if sampled.fault is None}
    scored = await _score(context, row, scorable) if scorable else {}
    return [
        _worked(context, row, key, sampled, scored.get(key)) for key, sampled in samples.items()
    ]


async def _samples(
    context: EvalContext, row: EvalRow, keys: list[SampleKey], slots: asyncio.Semaphore
) -> dict[SampleKey, _ItemSample]:
    match context.source:
        case SampledSource() as source:
            with first_fault():
                async with asyncio.TaskGroup() as tasks:
                    asked = {
                        key: tasks.create_task(_sample(context, source, key, row, slots))
                        for key in keys
                    }
            return {key: task.result() for key, task in asked.items()}
        case JsonlSource():
            return {key: _sample_of_item(row) for key in keys}
        case source:
            assert_never(source)


async def _score(
    context: EvalContext, row: EvalRow, samples: Mapping[SampleKey, _ItemSample]
) -> dict[SampleKey, tuple[ItemStatus, CriteriaOutcome]]:
    """Scores the samples of an item as one group."""
    first = next(iter(samples))
    scorer = CriteriaScorer(
        context, first.prompt_index, {key: sampled.sample for key, sampled in samples.items()}
    )
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
    return {
        rollout.key: (_status(rollout), scorer.outcomes[rollout.key]) for rollout in group.rollouts
    }


def _status(rollout: ScoredRollout) -> ItemStatus:
    if rollout.failure is not None:
        return "error"
    return "pass" if rollout.reward == 1.0 else "fail"


def _worked(
    context: EvalContext,
    row: EvalRow,
    key: SampleKey,
    sampled: _ItemSample,
    scored: tuple[ItemStatus, CriteriaOutcome] | None,
) -> WorkedItem:
    status, outcome = scored or ("error", CriteriaOutcome())
    fault = sampled.fault or (outcome.faults[0] if status == "error" else None)
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


def _sample_of_item(row: EvalRow) -> _ItemSample:
    """Returns the sample that came with the item."""
    sample = {} if row.sample is None else given_sample(row.sample)
    text = sample.get("output_text")
    return _ItemSample(
        sample,
        {
            "input": [],
            "output": [] if row.sample is None else [{"role": "assistant", "content": text}],
            "finish_reason": "stop",
            "model": sample.get("model"),
            "usage": token_usage(0, 0),
            "seed": None,
            "temperature": None,
            "top_p": None,
            "max_completion_tokens": None,
        },
    )


async def _sample(
    context: EvalContext,
    source: SampledSource,
    key: SampleKey,
    row: EvalRow,
    slots: asyncio.Semaphore,
) -> _ItemSample:
    params = source.sampling_params
    seed = _seed(context, key, params.seed)
    settings = settings_of(params, seed=seed)
    output: Json = {
        "input": [],
        "output": [],
        "finish_reason": None,
        "model": source.model,
        "usage": token_usage(0, 0),
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
    """Returns the seed of a sample, the same for every attempt. The samples of an item have
    different seeds, which count up from the one that was sent.
    """
    if sent is not None:
        return (sent + key.sample_index) & 0x7FFFFFFF
    position = key.prompt_index * context.source.samples + key.sample_index
    return int(digest("seed", context.run.id, position)[:8], 16) & 0x7FFFFFFF
