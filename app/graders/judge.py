"""The formats in which a judge answers, as texts for its prompt and as servers enforce them."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from app.graders.coded_verdicts import CodedKey
from app.graders.judge_answers import (
    QUOTED_CHARACTERS,
    JudgeAnswer,
    UnreadableAnswer,
    WithheldAnswer,
    quoted_text,
    read_answer,
)
from app.graders.judge_calls import JudgeFault, JudgeQuestion, JudgeReply, Judges
from app.graders.judge_prompts import JudgeMessage, JudgeSampling, Prompt
from app.graders.model_definitions import JudgedGrader
from app.graders.scales import VerdictScale
from app.graders.scorer import (
    GradeRequest,
    GraderErrors,
    ScoreFault,
    ScoreResult,
    TokenUsage,
    run_on_scoring_thread,
    server_fault,
)
from app.graders.templating import Unrenderable, fill
from app.kit.endpoints import FaultKind

NUMBER: Final = {"type": "number"}


@dataclass(frozen=True, slots=True)
class VerdictFormat:
    """The format of a verdict alone."""

    key: str
    """The key of the verdict in the JSON of an answer."""
    schema: dict[str, Any]
    """The JSON schema of its value, without any free text."""
    shown: str
    """The value in the prompt."""

    def instruction(self, coded: str) -> str:
        return (
            "Answer with this JSON object alone, without steps, reasons or other keys: "
            f'{{"{coded}": {self.shown}}}.'
        )

    def response_format(self, coded: str) -> dict[str, Any]:
        return strict_format("verdict", {coded: self.schema})


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """The format in which a judge answers."""

    instruction: str
    """Description for the prompt, since few servers include the schema in it."""
    response_format: dict[str, Any]
    """The hosted answer format, for servers that enforce one."""
    verdict: VerdictFormat
    """The format of a last answer."""


def number_alone(key: str, lowest: float, highest: float) -> VerdictFormat:
    """Returns the format of one number."""
    return VerdictFormat(key, NUMBER, f"number from {lowest:g} to {highest:g}")


def label_alone(key: str, labels: list[str]) -> VerdictFormat:
    """Returns the format of one of the labels."""
    return VerdictFormat(key, {"type": "string", "enum": labels}, "label")


def shares_alone(key: str, count: int) -> VerdictFormat:
    """Returns the format of one number for each of the ids "1" to `count`."""
    ids = [str(number) for number in range(1, count + 1)]
    shown = ", ".join(f"{json.dumps(identifier)}: number from 0 to 1" for identifier in ids)
    return VerdictFormat(key, object_schema(dict.fromkeys(ids, NUMBER)), f"{{{shown}}}")


def steps_format(name: str, result: dict[str, Any]) -> dict[str, Any]:
    """Returns the hosted answer format `{steps, result}` as a strict JSON schema."""
    text = {"type": "string"}
    step = object_schema({"description": text, "conclusion": text})
    return strict_format(name, {"steps": {"type": "array", "items": step}, "result": result})


def strict_format(name: str, properties: dict[str, Any]) -> dict[str, Any]:
    schema = object_schema(properties)
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "strict": True, "schema": schema},
    }


def object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """Returns the schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def with_instruction(messages: list[dict[str, Any]], instruction: str) -> list[dict[str, Any]]:
    """Returns the prompt with a description of the answer format.

    The description extends the first system message, or is a new one before all others: many
    templates do not accept a second system message.
    """
    first, *rest = messages
    if first["role"] in {"system", "developer"}:
        return [{**first, "content": f"{first['content']}\n\n{instruction}"}, *rest]
    return [{"role": "system", "content": instruction}, *messages]


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


class JudgedScorer(ABC):
    """Implements `Scorer`."""

    def __init__(
        self,
        spec: JudgedGrader,
        messages: Sequence[JudgeMessage],
        judges: Judges,
        *,
        scale: VerdictScale,
        source: str,
    ) -> None:
        self._judge = spec
        self._scale = scale
        self._judges = judges
        self._source = source
        self._prompt = Prompt(messages)
        self._format = self.answer_format()

    @abstractmethod
    def answer_format(self) -> AnswerFormat:
        """Returns the requested format of the judge's answer."""

    @abstractmethod
    def read(self, answer: JudgeAnswer) -> float:
        """Returns the score of an answer. Raises `UnreadableAnswer`."""

    def reason(self, content: dict[str, Any]) -> str | None:
        """Returns the judge's reason, if the JSON of the answer has one."""
        return _last_conclusion(content)

    async def score(self, request: GradeRequest) -> ScoreResult:
        try:
            question = await run_on_scoring_thread(partial(self.question, request))
        except Unrenderable as fault:
            return replace(fault.result, sampled_model_name=self._judge.model)
        cost = QuestionCost()
        with cost.charging(self._judge.model):
            score, reason = await asked_judge(
                self._judges,
                question,
                partial(self._read, request=request),
                verdict=self._format.verdict,
                cost=cost,
                source=self._source,
            )
        return ScoreResult(
            score,
            GraderErrors(),
            reason=reason,
            execution_time_s=cost.elapsed_s,
            token_usage={self._judge.model: cost.usage},
            sampled_model_name=self._judge.model,
        )

    def question(self, request: GradeRequest) -> JudgeQuestion:
        """Renders the judge's prompt for this sample. Raises `Unrenderable` or `ScoreFault`."""
        spec = self._judge
        return JudgeQuestion(
            model=spec.model,
            messages=with_instruction(self.messages(request), self._format.instruction),
            response_format=self._format.response_format,
            call_id=request.call_id,
            trace_id=request.trace_id,
            sampling=sampling_of(spec.sampling_params),
            base_url=spec.base_url,
            headers=spec.headers or {},
        )

    def messages(self, request: GradeRequest) -> list[dict[str, Any]]:
        """Returns the prompt about this sample. Raises `Unrenderable` or `ScoreFault`."""
        return fill(self._prompt, request, source=self._source)

    def shown_texts(self, request: GradeRequest) -> list[str]:
        """Returns the values that the prompt shows: a judge may quote any of them."""
        return self._prompt.shown_texts(sample=request.sample, item=request.item)

    def answer_texts(self, request: GradeRequest) -> list[str]:
        """Returns those of the shown values that may be the judged answer."""
        return self.shown_texts(request)

    def read_words(self, text: str, judged: list[Any]) -> float | None:
        """Returns the score of a repeated answer without the coded key, for a judge that may answer
        in words. Raises `UnreadableAnswer`.
        """
        del text, judged
        return None

    def _read(
        self, text: str, *, request: GradeRequest, key: CodedKey | None
    ) -> tuple[float, str | None]:
        """Returns score and reason of an answer. Raises `UnreadableAnswer`."""
        texts = self.shown_texts if key is None else self.answer_texts
        judged = [request.sample, *texts(request)]
        try:
            answer = read_answer(text, judged, key=key, scale=self._scale)
        except WithheldAnswer:
            raise
        except UnreadableAnswer:
            score = None if key is None or key.needs_json else self.read_words(text, judged)
            if score is None:
                raise
            return score, None
        return self.read(answer), self.reason(answer.content)


def sampling_of(params: JudgeSampling | None) -> dict[str, Any]:
    if params is None:
        return {}
    settings = {
        "seed": params.seed,
        "temperature": params.temperature,
        "top_p": params.top_p,
        "max_completion_tokens": params.max_completions_tokens or params.max_completion_tokens,
        "reasoning_effort": params.reasoning_effort,
    }
    return {key: value for key, value in settings.items() if value is not None}


def _last_conclusion(content: dict[str, Any]) -> str | None:
    steps = content.get("steps")
    last = steps[-1] if isinstance(steps, list) and steps else None
    conclusion = last.get("conclusion") if isinstance(last, dict) else None
    return quoted_text(conclusion)
