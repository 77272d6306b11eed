"""The attempts of one question to a judge, and the tokens of all their answers.

A judge that answers in more than JSON, or without a readable score, is asked again, for a key with
a code and then for this key alone: words may quote the judged answer, and a fault would be a way
for an answer to lose its bad scores. Must not know servers or the content of answers.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from app.gateways.endpoints.calls import FaultKind
from app.gateways.inference.judges import JudgeFault, JudgeQuestion, JudgeReply, Judges
from app.grading.answer_formats import VerdictFormat
from app.grading.computing import run_on_scoring_thread
from app.grading.judge_texts.coded_verdicts import CodedKey
from app.grading.judge_texts.judge_answers import QUOTED_CHARACTERS, UnreadableAnswer
from app.grading.scorer import GraderErrors, ScoreFault, TokenUsage, server_fault

CUT_OFF: Final = "the judge's answer was cut off, at its limit of tokens or by its server"
"""The fault of an answer that may have a quotation alone, and the judge's verdict behind it."""
REFUSED: Final = "the judge refused"
_Read_co = TypeVar("_Read_co", covariant=True)
_Read = TypeVar("_Read")


class EndedAnswer(UnreadableAnswer):
    """A refusal, or an answer that was cut off."""


class AnswerReader(Protocol[_Read_co]):
    def __call__(self, text: str, *, key: CodedKey | None) -> _Read_co:
        """Reads an answer; `key` is that of a repeated request. Raises `UnreadableAnswer`."""
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


@dataclass(frozen=True, slots=True)
class JudgeAttempt:
    """A request of a question, and the key of the verdict in its answer."""

    first: JudgeQuestion
    question: JudgeQuestion
    key: CodedKey | None = None
    """`None` for the first request."""

    def repeated(
        self, fault: UnreadableAnswer, verdict: VerdictFormat, code: Callable[[], str]
    ) -> "JudgeAttempt | None":
        """Returns the request behind an answer without a readable verdict, `None` if there is none.

        The second one enforces no format: the judge has room to reason, and no server writes the
        code behind a quotation. If its answer is not JSON alone, the third one enforces the
        format of a verdict alone, in which nothing can be a quotation.
        """
        if self.key is None and isinstance(fault, EndedAnswer):
            return None
        if self.key is None:
            key = CodedKey(verdict.key, code(), needs_json=True)
            return self._again(key, f"{fault}. {key.instruction}", None)
        if not self.key.needs_json:
            return None
        key = replace(self.key, needs_json=False)
        wanted = verdict.instruction(key.coded)
        return self._again(key, f"{fault}. {wanted}", verdict.response_format(key.coded))

    def _again(
        self, key: CodedKey, demand: str, response_format: dict[str, Any] | None
    ) -> "JudgeAttempt":
        """Returns a request with the fault of the earlier answer in its first message. The answer
        is not repeated: a judge would take the quotations in it for its own words.
        """
        first, *others = self.first.messages
        content = f"{first['content']}\n\nAn earlier answer could not be used: {demand}"
        number = 1 if self.key is None else 2
        question = replace(
            self.first,
            messages=[{**first, "content": content}, *others],
            response_format=response_format,
            drops_format_at_any_refusal=response_format is not None,
            call_id=f"{self.first.call_id}_again{number}",
        )
        return replace(self, question=question, key=key)


async def asked_judge(
    judges: Judges,
    question: JudgeQuestion,
    read: AnswerReader[_Read],
    *,
    verdict: VerdictFormat,
    cost: QuestionCost,
    source: str,
) -> _Read:
    """Returns what `read` finds in the first answer that it can read. `verdict` is the format of a
    verdict alone. Adds the answers to `cost`. Raises `ScoreFault`, at once for a first answer that
    is a refusal or was cut off: a larger limit helps, and verdicts without reasons would hide that.
    """
    attempt = JudgeAttempt(question, question)
    while True:
        try:
            reply = await judges.ask(attempt.question)
        except JudgeFault as fault:
            raise server_fault(fault.kind, fault.message, source=source) from fault
        cost.add(reply)
        try:
            return await _found(reply, read, attempt.key)
        except UnreadableAnswer as unreadable:
            repeated = attempt.repeated(unreadable, verdict, partial(judges.code, question.call_id))
            if repeated is None:
                raise _no_score(unreadable, reply, source=source) from unreadable
            attempt = repeated


async def _found(reply: JudgeReply, read: AnswerReader[_Read], key: CodedKey | None) -> _Read:
    if reply.refusal is not None:
        raise EndedAnswer(REFUSED)
    if reply.is_cut_off:
        raise EndedAnswer(CUT_OFF)
    return await run_on_scoring_thread(partial(read, reply.text, key=key))


def _no_score(fault: UnreadableAnswer, reply: JudgeReply, *, source: str) -> ScoreFault:
    said = reply.text if reply.refusal is None else reply.refusal
    errors = GraderErrors(
        model_grader_parse_error=reply.refusal is None,
        model_grader_refusal_error=reply.refusal is not None,
        details=f"{fault}: {said[:QUOTED_CHARACTERS]!r}",
    )
    return ScoreFault(FaultKind.BAD_REPLY.value, str(fault), source=source, errors=errors)


def usage_of(reply: JudgeReply) -> TokenUsage:
    return TokenUsage(reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens, calls=1)
