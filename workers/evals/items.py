"""Works on one item of an eval run: samples it, and scores its samples as a group of rollouts."""

import asyncio
import hashlib
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import structlog

from app.evals.data_sources import (
    EvalRow,
    ItemReference,
    JsonlSource,
    MessageTemplate,
    SampledSource,
    UnusableItem,
    given_fault,
    messages_at,
    settings_of,
    tools_of,
)
from app.evals.evals import (
    INVOCATIONS,
    ItemStatus,
    OutputItem,
    passes_criterion,
    result_names,
    token_usage,
)
from app.files.conversations import engine_messages, instructed
from app.files.datasets import DatasetRow
from app.graders.grader_model import Prompt
from app.graders.judge_calls import EngineModel
from app.graders.samples import object_or_list, one_turn_keys
from app.graders.scorer import GradeRequest, ScoreFault, ScoreResult, TokenUsage
from app.graders.templates import MissingVariable, RenderedTooLong
from app.jobs.response_formats import with_trained_effort
from app.kit.errors import LeaseLost, RequestError, RunFailed, Unavailable, together
from app.kit.fields import Json
from app.kit.ids import GroupKey, SampleKey, new_id
from app.models.engine import AdapterMissing
from app.rollouts.trajectory import Grade, GradeOrFailure, ScoredRollout, Trajectory
from workers.evals.context import EvalContext, SingleCriterion, find_model
from workers.grading.job_grader import to_failure
from workers.journal import InMemoryJournal, Journal
from workers.processes.clients import Clients
from workers.rollout.episode import score_group

TokensByModel = list[tuple[str, dict[str, int]]]


@dataclass(slots=True)
class CriteriaOutcome:
    results: list[Json] = field(default_factory=list)
    faults: list[Json] = field(default_factory=list)
    usage: TokensByModel = field(default_factory=list)


class CriteriaScorer:
    """Scores the samples of one item by the share of criteria passed. Nothing is journalled."""

    def __init__(self, context: EvalContext, index: int, samples: Mapping[SampleKey, Json]) -> None:
        self._context = context
        self._index = index
        self._samples = samples
        self.outcomes = {key: CriteriaOutcome() for key in samples}

    async def score_early(
        self,
        trajectory: Trajectory,  # noqa: ARG002 - a judge of groups needs the siblings too
        row: DatasetRow,  # noqa: ARG002 - as above
        *,
        journal: Journal,  # noqa: ARG002 - a judge of groups needs the siblings too
    ) -> None:
        return None

    async def score(
        self,
        trajectories: Sequence[Trajectory],
        row: DatasetRow,
        *,
        journal: Journal,  # noqa: ARG002 - a written item is the journal entry
    ) -> list[GradeOrFailure]:
        criteria = self._context.criteria
        answers = await asyncio.gather(
            *(self._answers(number, trajectories, row) for number in range(len(criteria)))
        )
        return [
            self._verdict(trajectory.key, [of_criterion[at] for of_criterion in answers])
            for at, trajectory in enumerate(trajectories)
        ]

    async def _answers(
        self, number: int, trajectories: Sequence[Trajectory], row: DatasetRow
    ) -> Sequence[ScoreResult | ScoreFault]:
        run_id = self._context.run.id
        requests = [
            GradeRequest(
                sample=self._samples[trajectory.key],
                item=row.item,
                trace_id=f"trace_{self._digest(trajectory.key)[:32]}",
                call_id=f"grade_{self._digest(trajectory.key, number)[:24]}",
            )
            for trajectory in trajectories
        ]
        criterion = self._context.criteria[number]
        if isinstance(criterion, SingleCriterion):
            scored = await criterion.score(requests)
        else:
            group = trajectories[0].key.group
            scored = await criterion.score(
                requests,
                [trajectory.messages for trajectory in trajectories],
                row,
                trace_id=group.trace_id,
                call_id=f"grade_{digest(run_id, 'group', self._index, number)[:24]}",
            )
        for trajectory, used in zip(trajectories, scored.usages, strict=True):
            self.outcomes[trajectory.key].usage += [
                (model, _counted(used)) for model, used in used.items()
            ]
        return scored.answers

    def _digest(self, key: SampleKey, *more: object) -> str:
        position = self._index * self._context.source.samples + key.sample_index
        return digest(self._context.run.id, position, *more)

    def _verdict(
        self, key: SampleKey, answers: Sequence[ScoreResult | ScoreFault]
    ) -> GradeOrFailure:
        names, criteria = result_names(self._context.of), self._context.of.testing_criteria
        outcome = self.outcomes[key]
        for name, criterion, answer in zip(names, criteria, answers, strict=True):
            if isinstance(answer, ScoreFault):
                fault = {"code": f"grader_{answer.kind}", "message": answer.details}
                outcome.faults.append(fault)
            else:
                outcome.results.append(_result(name, criterion, answer))
        for name, answer in zip(names, answers, strict=True):
            if isinstance(answer, ScoreFault):
                return to_failure(answer, name)
        passed = sum(result["passed"] for result in outcome.results)
        scores = {result["name"]: result["score"] for result in outcome.results}
        return Grade(passed / len(outcome.results), scores)


def _counted(used: TokenUsage) -> dict[str, int]:
    tokens = token_usage(used.prompt_tokens, used.completion_tokens, used.cached_tokens)
    return {INVOCATIONS: used.calls, **tokens}


def _result(name: str, criterion: Json, answer: ScoreResult) -> Json:
    details: Json = {}
    if answer.sub_scores:
        details["sub_scores"] = answer.sub_scores
    if answer.errors.raised:
        details["errors"] = list(answer.errors.raised)
    if answer.errors.details is not None:
        details["details"] = answer.errors.details
    if answer.reasons:
        details["reasons"] = answer.reasons
    if answer.sampled_model_name is not None:
        details["model"] = answer.sampled_model_name
    return {
        "name": name,
        "type": criterion.get("type"),
        "score": answer.score,
        "passed": passes_criterion(answer.score, criterion),
        "sample": details or None,
    }


def digest(*parts: object) -> str:
    return hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).hexdigest()


log = structlog.get_logger()
_Result = TypeVar("_Result")
INTERNAL_ERROR: Final = {
    "code": "internal_error",
    "message": "This service met an internal error with this item. The operator's log describes it "
    "under the id of the run.",
}
WorkedItem = tuple[OutputItem, TokensByModel]


@dataclass(slots=True)
class _ItemSample:
    sample: Json
    output: Json
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
    source = context.source
    if isinstance(source, JsonlSource):
        return {key: await _given(context, row) for key in keys}
    drawn = await together(_drawn(context, source, key, row, slots) for key in keys)
    return dict(zip(keys, drawn, strict=True))


async def _score(
    context: EvalContext,
    row: EvalRow,
    samples: Mapping[SampleKey, _ItemSample],
    scorer: CriteriaScorer,
) -> dict[SampleKey, ItemStatus]:
    first = next(iter(samples))
    trajectories = [
        Trajectory(key, messages=[*sampled.output["input"], *sampled.output["output"]])
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
    output = {**_no_output(None), "finish_reason": "stop"}

    async def read() -> _ItemSample:
        fault = given_fault(row, context.needs)
        if fault is not None:
            message = f"The row cannot be graded: {fault[1]}."
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
        asked = prompt_of(source.input_messages, row.item)
        output["input"] = instructed(asked, source.instructions)
        async with slots:
            messages = engine_messages(output["input"])
            answer = await ask(context, source.model, messages, settings)
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


def prompt_of(spec: MessageTemplate | ItemReference, item: Json) -> list[Json]:
    try:
        match spec:
            case ItemReference():
                return messages_at(spec.item_reference, item)
            case MessageTemplate():
                return Prompt(spec.template).fill(sample={}, item=item)
    except (MissingVariable, RenderedTooLong) as error:
        raise UnusableItem(str(error)) from error


def sample_of(choices: list[Any], model: str | None, *, tokens: int | None = None) -> Json:
    choice = choices[0] if choices and isinstance(choices[0], dict) else {}
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    text = message.get("content")
    text = text if isinstance(text, str) else ""
    return {
        "model": model,
        "choices": choices,
        "output_text": text,
        "output_json": object_or_list(text),
        "output_tools": message.get("tool_calls") or [],
        "output_reasoning_summary": message.get("reasoning") or message.get("reasoning_content"),
        **one_turn_keys(message, choice.get("finish_reason"), tokens=tokens),
    }


def given_sample(sample: Json) -> Json:
    """Completed by derived fields. A null counts as absent, as in templates."""
    sent = {key: value for key, value in sample.items() if value is not None}
    choices = sent.get("choices", [_choice_of(sent)] if "output_text" in sent else [])
    read = sample_of(choices if isinstance(choices, list) else [], None)
    if "output_text" in sent and "output_json" not in sent:
        read["output_json"] = object_or_list(str(sent["output_text"]))
    if "choices" not in sent:
        read |= one_turn_keys(_choice_of(sent)["message"], "stop")
    return {**read, **sent}


def _choice_of(sample: Json) -> Json:
    calls = sample.get("output_tools") or []
    message = {"role": "assistant", "content": sample.get("output_text"), "tool_calls": calls}
    return {"index": 0, "message": message, "finish_reason": "stop"}


PATIENCE_S: Final = 300.0
_FIRST_DELAY_S: Final = 0.2
_MAX_DELAY_S: Final = 5.0


class SamplingRefused(Exception):
    """The engine cannot answer this item; users read the text."""


@dataclass(frozen=True, slots=True)
class SampledAnswer:
    choices: list[Any]
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int


async def ask(
    context: EvalContext, name: str, messages: list[dict[str, Any]], settings: dict[str, Any]
) -> SampledAnswer:
    """Raises `SamplingRefused`, `RunFailed` for a forbidden model, and `Unavailable`."""
    give_up_at, delay_s = time.monotonic() + PATIENCE_S, _FIRST_DELAY_S
    while True:
        model = await find_model(context.clients, context.lease, name)
        if model is None:
            raise RunFailed(f"The model '{name}' does not exist any more.", code="model_not_found")
        body = {**settings, "model": model.engine_name, "messages": messages}
        body = with_trained_effort(body, model.reasoning_effort)
        try:
            return _read(await _chat(context.clients, model, body))
        except Unavailable:
            if time.monotonic() + delay_s > give_up_at:
                raise
        except RequestError as error:
            message = error.message.replace(model.engine_name, model.name)
            raise SamplingRefused(message) from error
        await asyncio.sleep(delay_s)
        delay_s = min(2 * delay_s, _MAX_DELAY_S)


async def _chat(clients: Clients, model: EngineModel, body: dict[str, Any]) -> dict[str, Any]:
    inference = clients.inference
    try:
        return await inference.chat(body)
    except AdapterMissing:
        await clients.adapters.load(inference, model.engine_name, object_key=model.object_key)
    try:
        return await inference.chat(body)
    except AdapterMissing as error:
        raise Unavailable("The model cannot be served at the moment.") from error


def _read(reply: dict[str, Any]) -> SampledAnswer:
    choices, usage = reply.get("choices"), reply.get("usage")
    if not isinstance(choices, list) or not choices:
        raise SamplingRefused("The engine's reply contains no choice.")
    usage = usage if isinstance(usage, dict) else {}
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return SampledAnswer(
        choices,
        int(usage.get("prompt_tokens") or 0),
        int(usage.get("completion_tokens") or 0),
        int(cached or 0),
    )
