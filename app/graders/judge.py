"""How every judge is asked and read. It reasons, and ends with `{"result_<code>": …}`: no judged
text can know the code, an HMAC of the question's id. An unreadable judge is asked once more, for
the object alone.
"""

import json
import string
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Generic, Protocol, TypeVar

from app.graders.grader_model import JudgedGrader, JudgeSampling
from app.graders.scorer import (
    GradeRequest,
    GraderErrors,
    ScoreFault,
    ScoreResult,
    TokenUsage,
    finite,
    run_on_scoring_thread,
    server_fault,
)
from app.graders.templates import Unrenderable
from app.kit.endpoints import FaultKind
from app.kit.texts import storable

CUT_OFF: Final = "the judge's answer was cut off, at its limit of tokens or by its server"
REFUSED: Final = "the judge refused"
MISSING: Final = "the judge's answer does not end with the requested JSON object"
DIFFERENT: Final = "the judge's answer has several verdicts that differ"
SHOWN_CHARACTERS: Final = 200
"""Number of characters of a judge's words that a reason or an error keeps."""
_FENCES: Final = ("```json", "```")
_EDGES: Final = f"{string.whitespace}`*.\u200b\ufeff"
_LONGEST_TOKEN: Final = 32
_MOST_MENTIONS: Final = 100
_LONGEST_GAP: Final = 64
"""Characters between the opening bracket and the key."""
_NUMBER: Final = {"type": "number"}
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class JudgeQuestion:
    model: str
    messages: list[dict[str, Any]]
    call_id: str
    trace_id: str
    response_format: dict[str, Any] | None = None
    """The format that a server enforces, left out for one that refuses it."""
    sampling: dict[str, Any] = field(default_factory=dict)
    base_url: str | None = None
    """The customer's own server, called with `headers`; `None` routes by the model's name."""
    headers: dict[str, str] = field(default_factory=dict)

    def body(self, model: str) -> dict[str, Any]:
        body = {**self.sampling, "model": model, "messages": self.messages}
        wanted = self.response_format
        return body if wanted is None else {**body, "response_format": wanted}


@dataclass(frozen=True, slots=True)
class JudgeReply:
    text: str
    refusal: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    latency_s: float = 0.0
    is_cut_off: bool = False


class JudgeFault(Exception):
    def __init__(self, kind: FaultKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class Judges(Protocol):
    async def knows(self, model: str) -> bool:
        """Returns true if a server is configured for the name."""

    async def ask(self, question: JudgeQuestion) -> JudgeReply:
        """Sends a question and returns the judge's reply. Raises `JudgeFault`."""

    def code(self, call_id: str) -> str:
        """Returns the code of a question, the same at every call, which no judged text can have."""


class UnreadableAnswer(Exception):
    """An answer without a verdict. The text is for the judge and the user, and quotes nobody."""


@dataclass(frozen=True, slots=True)
class Verdict(Generic[_Value]):
    shown: str
    """The value in the prompt, which must not be JSON: a judge may repeat it."""
    schema: dict[str, Any]
    """The JSON schema of the value, without any free text."""
    read: Callable[[Any], _Value]

    def alone(self, key: str) -> dict[str, Any]:
        schema = _object_schema({key: self.schema})
        json_schema = {"name": "verdict", "strict": True, "schema": schema}
        return {"type": "json_schema", "json_schema": json_schema}


def number_verdict(lowest: float, highest: float) -> Verdict[float]:
    shown = f"number from {lowest:g} to {highest:g}"
    return Verdict(shown, _NUMBER, lambda value: _number(value, lowest, highest))


def label_verdict(labels: Sequence[str]) -> Verdict[str]:
    apart = list(dict.fromkeys(labels))
    shown = ", ".join(json.dumps(label, ensure_ascii=False) for label in apart)
    schema = {"type": "string", "enum": apart}
    return Verdict(f"one of {shown}", schema, lambda value: _label(value, apart))


def shares_verdict(count: int) -> Verdict[tuple[float, ...]]:
    ids = [str(number) for number in range(1, count + 1)]
    shown = ", ".join(f'"{identifier}": number from 0 to 1' for identifier in ids)
    schema = _object_schema(dict.fromkeys(ids, _NUMBER))
    return Verdict(f"{{{shown}}}", schema, lambda value: _shares(value, ids))


def _object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _number(value: Any, lowest: float, highest: float, *, of: str = "") -> float:
    number = finite(_unquoted(value))
    if number is None:
        raise UnreadableAnswer(f"the judge's score{of} is no number")
    if not lowest <= number <= highest:
        raise UnreadableAnswer(
            f"the judge's score {number:g}{of} is not between {lowest:g} and {highest:g}"
        )
    return number


def _unquoted(value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def _label(value: Any, labels: Sequence[str]) -> str:
    said = value if isinstance(value, str) else ""
    for spelled in (str, str.strip, lambda text: text.strip().casefold()):
        found = [label for label in labels if spelled(label) == spelled(said)]
        if len(found) == 1:
            return found[0]
    raise UnreadableAnswer("the judge's verdict is none of the labels")


def _shares(value: Any, ids: Sequence[str]) -> tuple[float, ...]:
    if not isinstance(value, dict):
        raise UnreadableAnswer("the judge's verdict is no object with a score for each id")
    missing = [identifier for identifier in ids if identifier not in value]
    if missing:
        raise UnreadableAnswer(f"these ids have no score: {', '.join(missing[:10])}")
    if len(value) > len(ids):
        raise UnreadableAnswer(f"there are scores beside those of the ids {', '.join(ids[:10])}")
    return tuple(_number(value[one], 0, 1, of=f" of the id {one}") for one in ids)


@dataclass(frozen=True, slots=True)
class JudgeAnswer(Generic[_Value]):
    value: _Value
    reasons: str


def _apart(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key is repeated")
    return made


_DECODER: Final = json.JSONDecoder(strict=False, object_pairs_hook=_apart)


def read_answer(text: str, key: str, verdict: Verdict[_Value]) -> JudgeAnswer[_Value]:
    """Reads every `{"<key>": …}` of an answer: all must agree, and one must end it."""
    quoted, found, start, end = f'"{key}"', list[Any](), 0, 0
    if text.count(key) > _MOST_MENTIONS:
        raise UnreadableAnswer(DIFFERENT)
    at = text.find(quoted)
    while at >= 0:
        one = _object_at(text, at)
        if one is None:
            at = text.find(quoted, at + 1)
        else:
            value, start, end = one
            found.append(value[key])
            at = text.find(quoted, end)
    if not found or not _is_end(text[end:]):
        raise UnreadableAnswer(MISSING)
    first, *others = map(verdict.read, found)
    if any(other != first for other in others):
        raise UnreadableAnswer(DIFFERENT)
    return JudgeAnswer(first, text[:start])


def _object_at(text: str, at: int) -> tuple[Any, int, int] | None:
    if not text[max(0, at - _LONGEST_GAP) : at].rstrip().endswith("{"):
        return None
    start = text.rindex("{", 0, at)
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return (value, start, end) if len(value) == 1 else None


def _is_end(text: str) -> bool:
    """Returns whether a text is blank, the end of a fence, or a token that a server left there."""
    left = text.strip(_EDGES)
    return not left or (left[0] == "<" and left[-1] == ">" and len(left) <= _LONGEST_TOKEN)


def last_words(reasons: str) -> str | None:
    said = reasons.rstrip()
    for fence in _FENCES:
        said = said.removesuffix(fence).rstrip()
    if len(said) > SHOWN_CHARACTERS:
        said = f"…{said[1 - SHOWN_CHARACTERS :]}"
    return storable(said) or None


@dataclass(slots=True)
class QuestionCost:
    usage: TokenUsage = field(default_factory=TokenUsage)
    elapsed_s: float = 0.0

    def add(self, reply: JudgeReply) -> None:
        self.usage += TokenUsage(
            reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens, calls=1
        )
        self.elapsed_s += reply.latency_s

    @contextmanager
    def charging(self, model: str) -> Iterator[None]:
        try:
            yield
        except ScoreFault as fault:
            total = fault.token_usage.get(model, TokenUsage()) + self.usage
            if total != TokenUsage():
                fault.spent = {"": {model: total}}
                fault.sampled_model_name = model
            raise


async def ask_judge(
    judges: Judges,
    question: JudgeQuestion,
    verdict: Verdict[_Value],
    *,
    cost: QuestionCost,
    source: str,
) -> JudgeAnswer[_Value]:
    """Asks for reasons and a verdict, then once more for the verdict alone. The first request
    enforces no format: a server would write the code after a quotation that ends the string. Raises
    `ScoreFault`.
    """
    key = f"result_{judges.code(question.call_id)}"
    shown = f'{{"{key}": {verdict.shown}}}'
    wanted = (
        f"Give your reasons in a few sentences. Then end your answer with one JSON object: {shown}."
    )
    asked = _instructed(question, wanted)
    reply = await _reply(judges, asked, cost=cost, source=source)
    try:
        return await run_on_scoring_thread(partial(read_answer, reply.text, key, verdict))
    except UnreadableAnswer as fault:
        # Without the answer, whose quotations the judge would take for its own words.
        wanted = (
            f"An earlier answer could not be used: {fault}. Answer with this JSON object alone, "
            f"without reasons or other keys: {shown}."
        )
    asked = replace(
        _instructed(question, wanted),
        response_format=verdict.alone(key),
        call_id=f"{question.call_id}_again",
    )
    reply = await _reply(judges, asked, cost=cost, source=source)
    try:
        return await run_on_scoring_thread(partial(read_answer, reply.text, key, verdict))
    except UnreadableAnswer as fault:
        raise _no_score(str(fault), reply.text, source=source) from fault


async def _reply(
    judges: Judges, question: JudgeQuestion, *, cost: QuestionCost, source: str
) -> JudgeReply:
    """Returns a whole answer. A refusal or a cut answer is not asked again."""
    try:
        reply = await judges.ask(question)
    except JudgeFault as fault:
        raise server_fault(fault.kind, fault.message, source=source) from fault
    cost.add(reply)
    if reply.refusal is not None:
        raise _no_score(REFUSED, reply.refusal, source=source, refused=True)
    if reply.is_cut_off:
        raise _no_score(CUT_OFF, reply.text, source=source)
    return reply


def _no_score(message: str, said: str, *, source: str, refused: bool = False) -> ScoreFault:
    errors = GraderErrors(
        model_grader_parse_error=not refused,
        model_grader_refusal_error=refused,
        details=f"{message}: {said[:SHOWN_CHARACTERS]!r}",
    )
    return ScoreFault(FaultKind.BAD_REPLY.value, message, source=source, errors=errors)


def _instructed(question: JudgeQuestion, wanted: str) -> JudgeQuestion:
    """Adds an instruction to the system message: many templates do not accept a second one."""
    first, *rest = question.messages
    if first["role"] in {"system", "developer"}:
        first = {**first, "content": f"{first['content']}\n\n{wanted}"}
    else:
        first, rest = {"role": "system", "content": wanted}, question.messages
    return replace(question, messages=[first, *rest])


def question_of(
    spec: JudgedGrader, messages: list[dict[str, Any]], *, call_id: str, trace_id: str
) -> JudgeQuestion:
    return JudgeQuestion(
        model=spec.model,
        messages=messages,
        call_id=call_id,
        trace_id=trace_id,
        sampling=sampling_of(spec.sampling_params),
        base_url=spec.base_url,
        headers=spec.headers or {},
    )


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


class JudgedScorer(Generic[_Value]):
    def __init__(
        self,
        spec: JudgedGrader,
        judges: Judges,
        verdict: Verdict[_Value],
        *,
        messages: Callable[[GradeRequest], list[dict[str, Any]]],
        score: Callable[[_Value], float],
        source: str,
    ) -> None:
        """`messages` makes the prompt, or raises `Unrenderable` or `ScoreFault`."""
        self._spec = spec
        self._judges = judges
        self._verdict = verdict
        self._messages = messages
        self._score = score
        self._source = source

    async def score(self, request: GradeRequest) -> ScoreResult:
        spec = self._spec
        try:
            messages = await run_on_scoring_thread(partial(self._messages, request))
        except Unrenderable as fault:
            return replace(fault.result, sampled_model_name=spec.model)
        question = question_of(spec, messages, call_id=request.call_id, trace_id=request.trace_id)
        cost = QuestionCost()
        with cost.charging(spec.model):
            answer = await ask_judge(
                self._judges, question, self._verdict, cost=cost, source=self._source
            )
        return ScoreResult(
            self._score(answer.value),
            reason=last_words(answer.reasons),
            execution_time_s=cost.elapsed_s,
            token_usage={spec.model: cost.usage},
            sampled_model_name=spec.model,
        )
