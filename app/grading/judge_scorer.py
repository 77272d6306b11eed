"""The base of graders that call a judge about one sample.

Owns the rendering of the prompt, the question and the accounting of the replies. Promises: a judge
without a score is a fault and never a 0, whether it is unavailable, refuses or answers something
else; an answer that is more than JSON, or without a score, is requested once more; a score and a
fault have the tokens of all answers. Must not know the servers of judges or the content of answers.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from app.domain.graders.judge_grader import JudgedGrader
from app.domain.graders.judge_prompts import JudgeMessage, JudgeSampling, Prompt
from app.gateways.inference.judges import JudgeQuestion, Judges
from app.grading.computing import run_on_scoring_thread
from app.grading.judge_attempts import QuestionCost, asked_judge
from app.grading.judge_texts.coded_verdicts import CodedKey
from app.grading.judge_texts.judge_answers import (
    JudgeAnswer,
    UnreadableAnswer,
    WithheldAnswer,
    quoted_text,
    read_answer,
)
from app.grading.judge_texts.scales import VerdictScale
from app.grading.scorer import (
    GradeRequest,
    GraderErrors,
    ScoreResult,
)
from app.grading.texts.templating import Unrenderable, fill


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """The form in which a judge answers."""

    instruction: str
    """Description for the prompt, since few servers include the schema in it."""
    schema: dict[str, Any]
    """The hosted answer format as a strict response format."""


class JudgedScorer(ABC):
    """Implements `Scorer`."""

    verdict: ClassVar[str] = "result"
    """The key of the verdict in the JSON of an answer."""

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
                partial(self._read, sample=request.sample),
                verdict=self.verdict,
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
            response_format=self._format.schema,
            call_id=request.call_id,
            trace_id=request.trace_id,
            sampling=sampling_of(spec.sampling_params),
            base_url=spec.base_url,
            headers=spec.headers or {},
        )

    def messages(self, request: GradeRequest) -> list[dict[str, Any]]:
        """Returns the prompt about this sample. Raises `Unrenderable` or `ScoreFault`."""
        return fill(self._prompt, request, source=self._source)

    def read_words(self, text: str, sample: dict[str, Any]) -> float | None:
        """Returns the score of a second answer without the coded key, for a judge that may answer
        in words. Raises `UnreadableAnswer`.
        """
        del text, sample
        return None

    def _read(
        self, text: str, *, sample: dict[str, Any], key: CodedKey | None
    ) -> tuple[float, str | None]:
        """Returns score and reason of an answer. Raises `UnreadableAnswer`."""
        try:
            answer = read_answer(text, sample, key=key, scale=self._scale)
        except WithheldAnswer:
            raise
        except UnreadableAnswer:
            score = None if key is None else self.read_words(text, sample)
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


def steps_format(name: str, result: dict[str, Any]) -> dict[str, Any]:
    """Returns the hosted answer format `{steps, result}` as a strict JSON schema."""
    text = {"type": "string"}
    step = {
        "type": "object",
        "properties": {"description": text, "conclusion": text},
        "required": ["description", "conclusion"],
        "additionalProperties": False,
    }
    return strict_format(name, {"steps": {"type": "array", "items": step}, "result": result})


def strict_format(name: str, properties: dict[str, Any]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "strict": True, "schema": schema},
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


def _last_conclusion(content: dict[str, Any]) -> str | None:
    steps = content.get("steps")
    last = steps[-1] if isinstance(steps, list) and steps else None
    conclusion = last.get("conclusion") if isinstance(last, dict) else None
    return quoted_text(conclusion)
