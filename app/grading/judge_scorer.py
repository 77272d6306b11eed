"""The base of graders that call a judge about one sample.

Owns the rendering of the prompt, the question and the accounting of the replies. Promises: a judge
without a score is a fault and never a 0, whether it is unavailable, refuses or answers something
else; an answer that is more than JSON, or without a score, is requested again; a score and a
fault have the tokens of all answers. Must not know the servers of judges or the content of answers.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from app.domain.graders.judge_grader import JudgedGrader
from app.domain.graders.judge_prompts import JudgeMessage, JudgeSampling, Prompt
from app.gateways.inference.judges import JudgeQuestion, Judges
from app.grading.answer_formats import AnswerFormat, with_instruction
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
