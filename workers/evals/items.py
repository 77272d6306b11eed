"""Works on one item of an eval run: samples it if the run has a model, and scores it.

Owns the output item. Promises: an item that infrastructure prevents from being sampled or scored is
an error, never a failed item. The item's one sample is scored as a group of one, by the code that
scores rollouts.
"""

from dataclasses import dataclass, field
from typing import assert_never

from app.domain.data.dataset import DatasetRow
from app.domain.documents.json_object import Json
from app.domain.evals.data_sources import EvalRow, JsonlSource, SampledSource
from app.domain.evals.evals import ItemStatus, OutputItem, token_usage
from app.domain.ids import GroupKey, new_id
from app.domain.rollouts.trajectory import Trajectory
from workers.evals.context import EvalContext
from workers.evals.criteria import CriteriaScorer, TokensByModel, digest
from workers.evals.eval_prompts import (
    UnusableItem,
    given_sample,
    prompt_of,
    sample_of,
    settings_of,
)
from workers.evals.sampling import Sampler, SamplingRefused
from workers.journal.journal import InMemoryJournal
from workers.rollout.groups import score_group


@dataclass(slots=True)
class _Sampled:
    """One sample of an item."""

    sample: Json
    """The hosted `sample` object that criteria address."""
    output: Json
    """The sample in the shape of the output item."""
    usage: TokensByModel = field(default_factory=list)
    fault: Json | None = None


async def work_on(
    context: EvalContext, index: int, row: EvalRow
) -> tuple[OutputItem, TokensByModel]:
    """Returns the output item and the tokens used for it.

    Raises only faults that end the run or this claim; an unusable item is an output item.
    """
    match context.source:
        case SampledSource() as source:
            sampled = await _sample(context, source, index, row)
        case JsonlSource():
            sampled = _sample_of_item(row)
        case source:
            assert_never(source)
    status: ItemStatus = "error"
    results: list[Json] = []
    if sampled.fault is None:
        scorer = CriteriaScorer(context, index, sampled.sample)
        status = await _score(context, index, row, sampled, scorer)
        results = scorer.results
    item = OutputItem(
        id=new_id("outputitem_"),
        eval_id=context.of.id,
        run_id=context.run.id,
        index=index,
        status=status,
        datasource_item=row.item,
        results=results,
        sample={**sampled.output, "error": sampled.fault},
    )
    return item, sampled.usage


async def _score(
    context: EvalContext, index: int, row: EvalRow, sampled: _Sampled, scorer: CriteriaScorer
) -> ItemStatus:
    """Scores the sample as a group of one; adds its faults and token usage to `sampled`."""
    (key,) = GroupKey(context.run.id, "test", 0, index).samples(1)
    messages = [*sampled.output["input"], *sampled.output["output"]]
    group = await score_group(
        [Trajectory(key, [], [], [], messages=messages)],
        DatasetRow(index, sampled.output["input"], [], row.item),
        scorer=scorer,
        journal=InMemoryJournal(),
    )
    sampled.usage += scorer.usage
    (rollout,) = group.rollouts
    if rollout.failure is not None:
        sampled.fault = scorer.faults[0]
        return "error"
    return "pass" if rollout.reward == 1.0 else "fail"


def _sample_of_item(row: EvalRow) -> _Sampled:
    """Returns the sample that came with the item."""
    sample = {} if row.sample is None else given_sample(row.sample)
    text = sample.get("output_text")
    return _Sampled(
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
    context: EvalContext, source: SampledSource, index: int, row: EvalRow
) -> _Sampled:
    params = source.sampling_params
    seed = _seed(context.run.id, index) if params.seed is None else params.seed
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
        answer = await Sampler(context, source.model).ask(output["input"], settings)
    except UnusableItem as fault:
        return _Sampled({}, output, fault={"code": "invalid_item", "message": str(fault)})
    except SamplingRefused as fault:
        return _Sampled({}, output, fault={"code": "sampling_error", "message": str(fault)})
    tokens = token_usage(answer.prompt_tokens, answer.completion_tokens, answer.cached_tokens)
    choice = answer.choices[0]
    output |= {
        "output": [choice.get("message") or {}],
        "finish_reason": choice.get("finish_reason"),
        "usage": tokens,
    }
    return _Sampled(
        sample_of(answer.choices, source.model, tokens=answer.completion_tokens),
        output,
        [(source.model, tokens)],
    )


def _seed(run_id: str, index: int) -> int:
    """Returns the item's seed, the same for every attempt."""
    return int(digest("seed", run_id, index)[:8], 16) & 0x7FFFFFFF
