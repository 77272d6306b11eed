"""Scores with a judge model that answers with a number.

Owns the fixed answer format `{steps: [{description, conclusion}], result: number}` (source: the
hosted graders guide), the rendering of the prompt and the parser of the answer. Promises: an
unavailable judge is a fault, never a 0; a refusal and an answer without a number score 0 with a
flag. Must not know the servers of judges.
"""

import json
from dataclasses import replace
from typing import Any, Final

from app.domain.graders.graders import ScoreModelGrader
from app.domain.graders.judge_prompts import Prompt
from app.gateways.endpoints.pool import FaultKind
from app.gateways.inference.judges import JudgeFault, JudgeQuestion, JudgeReply, Judges
from app.grading.endpoint import finite
from app.grading.scorer import GradeRequest, GraderErrors, ScoreFault, ScoreResult, TokenUsage
from app.grading.templating import Unrenderable, fill

_QUOTED_CHARACTERS: Final = 200


class ScoreModelScorer:
    """Implements `Scorer`."""

    def __init__(self, spec: ScoreModelGrader, judges: Judges, *, source: str) -> None:
        self._spec = spec
        self._judges = judges
        self._source = source
        self._low, self._high = spec.range
        self._prompt = Prompt(spec.input)

    async def score(self, request: GradeRequest) -> ScoreResult:
        try:
            question = self.question(request)
        except Unrenderable as fault:
            return replace(fault.result, sampled_model_name=self._spec.model)
        try:
            reply = await self._judges.ask(question)
        except JudgeFault as fault:
            raise self._fault(fault) from fault
        score, errors = self._read(reply)
        usage = TokenUsage(reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)
        return ScoreResult(
            score,
            errors,
            execution_time_s=reply.latency_s,
            token_usage={self._spec.model: usage},
            sampled_model_name=self._spec.model,
        )

    def question(self, request: GradeRequest) -> JudgeQuestion:
        """Renders the judge's prompt for this sample. Raises `Unrenderable` or `ScoreFault`."""
        return JudgeQuestion(
            model=self._spec.model,
            messages=with_instruction(
                fill(self._prompt, request, source=self._source), self._low, self._high
            ),
            response_format=response_format(self._low, self._high),
            call_id=request.call_id,
            trace_id=request.trace_id,
            sampling=_sampling(self._spec),
            base_url=self._spec.base_url,
            headers=self._spec.headers or {},
        )

    def _read(self, reply: JudgeReply) -> tuple[float, GraderErrors]:
        if reply.refusal is not None:
            details = f"the judge refused: {reply.refusal[:_QUOTED_CHARACTERS]!r}"
            return 0.0, GraderErrors(model_grader_refusal_error=True, details=details)
        result = read_result(reply.text)
        if result is None:
            excerpt = reply.text[:_QUOTED_CHARACTERS]
            details = f"the judge's answer contains no number `result`: {excerpt!r}"
            return 0.0, GraderErrors(model_grader_parse_error=True, details=details)
        return min(self._high, max(self._low, result)), GraderErrors()

    def _fault(self, fault: JudgeFault) -> ScoreFault:
        kind = FaultKind.BAD_REPLY if fault.kind is FaultKind.TOO_LARGE else fault.kind
        errors = GraderErrors(
            model_grader_server_error=True,
            model_grader_server_error_details=fault.message,
            details=fault.message,
        )
        return ScoreFault(kind.value, fault.message, source=self._source, errors=errors)


def _sampling(spec: ScoreModelGrader) -> dict[str, Any]:
    params = spec.sampling_params
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


def response_format(low: float, high: float) -> dict[str, Any]:
    """Returns the hosted answer format as a strict JSON schema."""
    text = {"type": "string"}
    step = {
        "type": "object",
        "properties": {"description": text, "conclusion": text},
        "required": ["description", "conclusion"],
        "additionalProperties": False,
    }
    result = {"type": "number", "description": f"The score, from {low:g} to {high:g}."}
    schema = {
        "type": "object",
        "properties": {"steps": {"type": "array", "items": step}, "result": result},
        "required": ["steps", "result"],
        "additionalProperties": False,
    }
    return {
        "type": "json_schema",
        "json_schema": {"name": "score", "strict": True, "schema": schema},
    }


def with_instruction(
    messages: list[dict[str, Any]], low: float, high: float
) -> list[dict[str, Any]]:
    """Returns the prompt with a description of the answer format, since few servers include the
    schema in the model's prompt.

    The description extends the first system message, or is a new one before all others: many
    templates do not accept a second system message.
    """
    instruction = (
        'Answer with one JSON object: {"steps": [{"description": …, "conclusion": …}], '
        f'"result": number}}. "result" is the score, from {low:g} to {high:g}.'
    )
    first, *rest = messages
    if first["role"] in {"system", "developer"}:
        return [{**first, "content": f"{first['content']}\n\n{instruction}"}, *rest]
    return [{"role": "system", "content": instruction}, *messages]


def read_result(text: str) -> float | None:
    """Returns the number `result` of an answer, `None` if it has none."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return finite(answer.get("result")) if isinstance(answer, dict) else None
