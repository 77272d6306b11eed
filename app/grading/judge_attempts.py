"""The attempts of one question to a judge: the second request, and the tokens of all answers.

A judge that answers in more than JSON, or without a readable score, is asked once more, for a key
with a code: words may quote the judged answer, and a fault would be a way for an answer to lose its
bad scores. Must not know servers or the content of answers.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Protocol, TypeVar

from app.gateways.endpoints.calls import FaultKind
from app.gateways.inference.judges import JudgeFault, JudgeQuestion, JudgeReply, Judges
from app.grading.computing import run_on_scoring_thread
from app.grading.judge_texts.coded_verdicts import CodedKey
from app.grading.judge_texts.judge_answers import QUOTED_CHARACTERS, UnreadableAnswer
from app.grading.scorer import GraderErrors, ScoreFault, TokenUsage, server_fault

ATTEMPTS: Final = 2
"""Largest number of requests of one question."""
CUT_OFF: Final = "the judge's answer was cut off, at its limit of tokens or by its server"
"""The fault of an answer that may have a quotation alone, and the judge's verdict behind it."""
_Read_co = TypeVar("_Read_co", covariant=True)
_Read = TypeVar("_Read")


class AnswerReader(Protocol[_Read_co]):
    def __call__(self, text: str, *, key: CodedKey | None) -> _Read_co:
        """Reads a judge's answer; `key` is that of the second one. Raises `UnreadableAnswer`."""
        ...


@dataclass(slots=True)
class QuestionCost:
    """The tokens and the time of the answers to a question."""

    usage: TokenUsage = field(default_factory=TokenUsage)
    elapsed_s: float = 0.0

    def add(self, reply: JudgeReply) -> None:
        self.usage += usage_of(reply)
        self.elapsed_s += reply.latency_s

    @contextmanager
    def charging(self, model: str) -> Iterator[None]:
        """Adds the tokens of these answers to a fault."""
        try:
            yield
        except ScoreFault as fault:
            total = fault.token_usage.get(model, TokenUsage()) + self.usage
            if total != TokenUsage():
                fault.spent = {"": {model: total}}
                fault.sampled_model_name = model
            raise


async def asked_judge(
    judges: Judges,
    question: JudgeQuestion,
    read: AnswerReader[_Read],
    *,
    verdict: str,
    cost: QuestionCost,
    source: str,
) -> _Read:
    """Returns what `read` finds in the judge's answer, the second one where it finds nothing in the
    first. `verdict` is the key of the verdict. Adds the answers to `cost`. Raises `ScoreFault`.
    """
    no_score = partial(_no_score, source=source)
    key: CodedKey | None = None
    for attempt in range(1, ATTEMPTS + 1):
        try:
            reply = await judges.ask(question)
        except JudgeFault as fault:
            raise server_fault(fault.kind, fault.message, source=source) from fault
        cost.add(reply)
        if reply.refusal is not None:
            quoted = f"the judge refused: {reply.refusal[:QUOTED_CHARACTERS]!r}"
            raise no_score("the judge refused", quoted, is_refusal=True)
        if reply.is_cut_off:
            raise no_score(CUT_OFF, CUT_OFF)
        try:
            return await run_on_scoring_thread(partial(read, reply.text, key=key))
        except UnreadableAnswer as unreadable:
            if attempt == ATTEMPTS:
                quoted = f"{unreadable}: {reply.text[:QUOTED_CHARACTERS]!r}"
                raise no_score(str(unreadable), quoted) from unreadable
            key = CodedKey(verdict, judges.code(question.call_id))
            question = repeated_question(question, str(unreadable), key)
    raise AssertionError("every attempt returns or raises")


def _no_score(message: str, details: str, *, source: str, is_refusal: bool = False) -> ScoreFault:
    errors = GraderErrors(
        model_grader_parse_error=not is_refusal,
        model_grader_refusal_error=is_refusal,
        details=details,
    )
    return ScoreFault(FaultKind.BAD_REPLY.value, message, source=source, errors=errors)


def usage_of(reply: JudgeReply) -> TokenUsage:
    return TokenUsage(reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens, calls=1)


def repeated_question(question: JudgeQuestion, fault: str, key: CodedKey) -> JudgeQuestion:
    """Returns the question with the fault of the earlier answer, and the coded key, in its first
    message. The answer is not repeated: a judge would take the quotations in it for its own words.
    No format is enforced: a server would write the code itself, behind a quotation.
    """
    first, *others = question.messages
    again = f"An earlier answer could not be used: {fault}. {key.instruction}"
    return replace(
        question,
        messages=[{**first, "content": f"{first['content']}\n\n{again}"}, *others],
        response_format=None,
        call_id=f"{question.call_id}_again1",
    )
