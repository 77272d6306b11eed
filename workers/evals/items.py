"""Works on one item of an eval run: samples an answer if the run samples, then scores it by every
criterion of the eval.

An item that infrastructure keeps from being sampled or scored is an error, never a failure. Ids of
calls are derived from run, position and criterion, so that a receiver recognises a repeated call.
"""

import asyncio
import hashlib
from dataclasses import dataclass, field
from typing import Any

from app.domain.evals.data_sources import EvalRow, SampledSource
from app.domain.evals.evals import ItemStatus, OutputItem, passes, result_names, token_usage
from app.domain.ids import new_id
from app.grading.scorer import GradeRequest, ScoreFault, ScoreResult
from workers.evals.context import EvalContext
from workers.evals.eval_prompts import (
    UnusableItem,
    given_sample,
    prompt_of,
    sample_of,
    settings_of,
)
from workers.evals.sampling import Sampler, SamplingRefused

Json = dict[str, Any]
Usage = list[tuple[str, dict[str, int]]]


@dataclass(slots=True)
class _Sampled:
    """The sample that graders get, and the part of it that the output item shows."""

    sample: Json
    shown: Json
    usage: Usage = field(default_factory=list)
    fault: Json | None = None


async def work_on(context: EvalContext, position: int, row: EvalRow) -> tuple[OutputItem, Usage]:
    """Returns the item's result and its token usage. An exception ends the run or this claim; a
    fault of the item itself is part of the result.
    """
    if isinstance(context.source, SampledSource):
        sampled = await _sample(context, context.source, position, row)
    else:
        sampled = _given(row)
    status: ItemStatus = "error"
    results: list[Json] = []
    if sampled.fault is None:
        results, faults = await _score(context, position, row, sampled)
        if faults:
            sampled.fault = faults[0]
        else:
            status = "pass" if all(result["passed"] for result in results) else "fail"
    item = OutputItem(
        id=new_id("outputitem_"),
        eval_id=context.of.id,
        run_id=context.run.id,
        index=position,
        status=status,
        datasource_item=row.item,
        results=results,
        sample={**sampled.shown, "error": sampled.fault},
    )
    return item, sampled.usage


def _given(row: EvalRow) -> _Sampled:
    """The sample that came with the item; the engine is not asked."""
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
    context: EvalContext, source: SampledSource, position: int, row: EvalRow
) -> _Sampled:
    params = source.sampling_params
    seed = _seed(context.run.id, position) if params.seed is None else params.seed
    settings = settings_of(params, seed=seed)
    shown: Json = {
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
        shown["input"] = prompt_of(source.input_messages, row.item)
        answer = await Sampler(context, source.model).ask(shown["input"], settings)
    except UnusableItem as fault:
        return _Sampled({}, shown, fault={"code": "invalid_item", "message": str(fault)})
    except SamplingRefused as fault:
        return _Sampled({}, shown, fault={"code": "sampling_error", "message": str(fault)})
    tokens = token_usage(answer.prompt_tokens, answer.completion_tokens, answer.cached_tokens)
    choice = answer.choices[0]
    shown |= {
        "output": [choice.get("message") or {}],
        "finish_reason": choice.get("finish_reason"),
        "usage": tokens,
    }
    return _Sampled(sample_of(answer.choices, source.model), shown, [(source.model, tokens)])


async def _score(
    context: EvalContext, position: int, row: EvalRow, sampled: _Sampled
) -> tuple[list[Json], list[Json]]:
    """Returns the results of the criteria that scored, and the faults of the others."""

    async def ask(number: int) -> ScoreResult | ScoreFault:
        request = GradeRequest(
            sample=sampled.sample,
            item=row.item,
            trace_id=f"trace_{_digest(context.run.id, position)[:32]}",
            call_id=f"grade_{_digest(context.run.id, position, number)[:24]}",
        )
        try:
            return await context.scorers[number].score(request)
        except ScoreFault as fault:
            return fault

    answers = await asyncio.gather(*(ask(number) for number in range(len(context.scorers))))
    results, faults = [], []
    names, criteria = result_names(context.of), context.of.testing_criteria
    for name, criterion, answer in zip(names, criteria, answers, strict=True):
        if isinstance(answer, ScoreFault):
            faults.append({"code": f"grader_{answer.kind}", "message": str(answer)})
            continue
        results.append(_result(name, criterion, answer))
        sampled.usage += [
            (model, token_usage(used.prompt_tokens, used.completion_tokens, used.cached_tokens))
            for model, used in answer.token_usage.items()
        ]
    return results, faults


def _result(name: str, criterion: Json, answer: ScoreResult) -> Json:
    details: Json = {}
    if answer.sub_scores:
        details["sub_scores"] = answer.sub_scores
    if answer.errors.raised:
        details["errors"] = list(answer.errors.raised)
    if answer.errors.details is not None:
        details["details"] = answer.errors.details
    if answer.sampled_model_name is not None:
        details["model"] = answer.sampled_model_name
    return {
        "name": name,
        "type": criterion.get("type"),
        "score": answer.score,
        "passed": passes(answer.score, criterion),
        "sample": details or None,
    }


def _seed(run_id: str, position: int) -> int:
    """The sampling seed of an item, the same at every attempt."""
    return int(_digest("seed", run_id, position)[:8], 16) & 0x7FFFFFFF


def _digest(*parts: object) -> str:
    return hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).hexdigest()
