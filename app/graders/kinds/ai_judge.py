"""Scores all rollouts of a group by one question to a judge (RULER).

The order of the rollouts in a prompt is drawn from their contents and a seed, so that it does not
depend on the order of the group; the repeats balance the positions of each rollout (`shown_order`).
Scores are cached by content, so that no group is judged twice.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from statistics import fmean
from typing import Any, Final

from app.graders.calibration import mean_agreement
from app.graders.group_judge import (
    GroupGradeRequest,
    canonical,
    explanations,
    group_messages,
    is_conversation,
)
from app.graders.judge import (
    JudgeQuestion,
    Judges,
    QuestionCost,
    ask_judge,
    question_of,
    shares_verdict,
)
from app.graders.model_definitions import AiJudgeGrader
from app.graders.scorer import (
    GradeRequest,
    GraderErrors,
    ScoreFault,
    ScoreResult,
    TokenUsage,
    run_on_scoring_thread,
)
from app.graders.templating import unreadable_item
from app.graders.text_scorer import unreadable
from app.kit.endpoints import FaultKind

MAX_CHARACTERS: Final = 2_097_152
"""Largest number of characters of a group."""
_KEPT: Final = 1_024
"""Largest number of cached answers."""


@dataclass(frozen=True, slots=True)
class _QuestionScores:
    """The scores of one question, by position in the group."""

    scores: tuple[float, ...]
    explanations: tuple[str | None, ...]
    usage: TokenUsage
    elapsed_s: float


class GroupAiJudge:
    """Implements `app.graders.group_judge.GroupJudge`."""

    def __init__(self, spec: AiJudgeGrader, judges: Judges, *, source: str) -> None:
        self._spec = spec
        self._judges = judges
        self._source = source
        self._kept: OrderedDict[str, _QuestionScores] = OrderedDict()

    async def judge(self, request: GroupGradeRequest) -> Sequence[ScoreResult]:
        try:
            return await self._judge(request)
        except RecursionError:
            raise self._fault("the group is nested too deeply to be shown to a judge") from None

    async def _judge(self, request: GroupGradeRequest) -> Sequence[ScoreResult]:
        shown = await run_on_scoring_thread(
            lambda: [canonical(conversation) for conversation in request.conversations]
        )
        group = sorted(set(shown))
        if sum(map(len, group)) > MAX_CHARACTERS:
            raise self._fault(f"the group is longer than {MAX_CHARACTERS} characters")
        judged_repeats, cost = list[_QuestionScores](), QuestionCost()
        with cost.charging(self._spec.model):
            for repeat in range(self._spec.repeats):
                judged_repeats.append(await self._judge_once(request, group, repeat))
                cost.usage += judged_repeats[-1].usage
        agreement = mean_agreement([judged.scores for judged in judged_repeats])
        return [
            ScoreResult(
                fmean(judged.scores[at] for judged in judged_repeats),
                reason=judged_repeats[0].explanations[at],
                sub_scores={} if agreement is None else {"agreement": agreement},
                execution_time_s=sum(judged.elapsed_s for judged in judged_repeats),
                token_usage={self._spec.model: _share(cost.usage, len(shown), number)},
                sampled_model_name=self._spec.model,
            )
            for number, at in enumerate(map(group.index, shown))
        ]

    async def _judge_once(
        self, request: GroupGradeRequest, group: list[str], repeat: int
    ) -> _QuestionScores:
        key = await run_on_scoring_thread(partial(self._key, request, group, repeat))
        if key in self._kept:
            self._kept.move_to_end(key)
            return replace(self._kept[key], usage=TokenUsage(), elapsed_s=0.0)
        order, question = await run_on_scoring_thread(
            partial(self._question, request, group, repeat)
        )
        cost = QuestionCost()
        with cost.charging(self._spec.model):
            answer = await ask_judge(
                self._judges, question, shares_verdict(len(group)), cost=cost, source=self._source
            )
        reasons = explanations(answer.reasons, len(group))
        places = sorted(range(len(order)), key=order.__getitem__)
        judged = _QuestionScores(
            tuple(answer.value[at] for at in places),
            tuple(reasons[at] for at in places),
            cost.usage,
            cost.elapsed_s,
        )
        self._kept[key] = judged
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return judged

    def _key(self, request: GroupGradeRequest, group: list[str], repeat: int) -> str:
        """Returns a digest of everything on which an answer depends."""
        content = [group, request.tools, self._spec.shuffle_seed, repeat]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def _question(
        self, request: GroupGradeRequest, group: list[str], repeat: int
    ) -> tuple[list[int], JudgeQuestion]:
        """Returns the order in which a question shows the rollouts, and the question."""
        spec = self._spec
        seed = self._key(request, group, 0)
        order = shown_order(len(group), seed, repeat, repeats=spec.repeats)
        messages = group_messages(spec.rubric, [group[at] for at in order], request.tools)
        call_id = request.call_id if repeat == 0 else f"{request.call_id}_{repeat}"
        return order, question_of(spec, messages, call_id=call_id, trace_id=request.trace_id)

    def _fault(self, message: str) -> ScoreFault:
        errors = GraderErrors(model_grader_parse_error=True, details=message)
        return ScoreFault(FaultKind.BAD_REPLY.value, message, source=self._source, errors=errors)


def shown_order(count: int, seed: str, repeat: int, *, repeats: int) -> list[int]:
    """Returns the order of one of `repeats` questions: a shuffle, rotated and perhaps reversed.

    As many full rotations as fit show every rollout at each position equally often, which removes
    any bias of positions. The questions that remain are pairs of an order and its reverse, which
    remove a bias that changes evenly from the first position to the last. An odd number of
    questions about an even number of rollouts leaves one question without its pair.
    """
    order = list(range(count))
    Random(seed).shuffle(order)
    rotated = repeats - repeats % count
    if (repeats - rotated) % 2 and count % 2 and rotated:
        rotated -= count
    turns, shift = divmod(repeat, count)
    backwards = turns % 2
    if repeat >= rotated:
        shift, backwards = divmod(repeat - rotated, 2)
    order = order[shift:] + order[:shift]
    return order[::-1] if backwards else order


def _share(usage: TokenUsage, count: int, number: int) -> TokenUsage:
    """Returns one of `count` rollouts' share of a group's tokens and calls, such that all shares
    add up to the total.
    """

    def part(whole: int) -> int:
        return whole // count + (number < whole % count)

    return TokenUsage(
        part(usage.prompt_tokens),
        part(usage.completion_tokens),
        part(usage.cached_tokens),
        part(usage.calls),
    )


class AiJudgeScorer:
    """Implements `Scorer`: one sample is a group of one, after the messages of its row."""

    def __init__(self, spec: AiJudgeGrader, judges: Judges, *, source: str) -> None:
        self._source = source
        self._judge = GroupAiJudge(spec, judges, source=source)

    async def score(self, request: GradeRequest) -> ScoreResult:
        conversation = await run_on_scoring_thread(partial(self._conversation, request))
        if conversation is None:
            return unreadable("'sample.choices' has no message")
        tools = request.item.get("tools")
        group = GroupGradeRequest(
            conversations=(conversation,),
            tools=tools if isinstance(tools, list) else [],
            item=request.item,
            trace_id=request.trace_id,
            call_id=request.call_id,
        )
        (result,) = await self._judge.judge(group)
        return result

    def _conversation(self, request: GradeRequest) -> list[dict[str, Any]] | None:
        """Returns the messages of the row and of the sample, `None` for a sample without one.
        Raises `ScoreFault` for a row without messages.
        """
        sent = request.item.get("messages")
        messages = sent if isinstance(sent, list) else []
        if not is_conversation(messages):
            raise unreadable_item("'messages' is no list of messages", source=self._source)
        answer = _answer(request.sample)
        return [*messages, answer] if is_conversation([answer]) else None


def _answer(sample: Mapping[str, Any]) -> Any:
    """Returns the message of a sample, whose form is not checked."""
    choices = sample.get("choices") or [{}]
    first = choices[0] if isinstance(choices, list) else None
    message = first.get("message") if isinstance(first, dict) else first
    return message or {"role": "assistant", "content": sample.get("output_text")}
