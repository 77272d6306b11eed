"""Scores with a judge model that answers with a number.

An answer without a number is a fault.
"""

from typing_extensions import override

from app.graders.judge import AnswerFormat, JudgedScorer, number_alone, steps_format
from app.graders.judge_answers import JudgeAnswer
from app.graders.judge_calls import Judges
from app.graders.judge_replies import number_in
from app.graders.model_definitions import ScoreModelGrader
from app.graders.scales import NumberScale


class ScoreModelScorer(JudgedScorer):
    def __init__(self, spec: ScoreModelGrader, judges: Judges, *, source: str) -> None:
        self._low, self._high = spec.range
        scale = NumberScale(self._low, self._high)
        super().__init__(spec, spec.input, judges, scale=scale, source=source)

    @override
    def answer_format(self) -> AnswerFormat:
        bounds = f"from {self._low:g} to {self._high:g}."
        return AnswerFormat(
            'Answer with one JSON object: {"steps": [{"description": …, "conclusion": …}], '
            f'"result": number}}. "result" is the score, {bounds}',
            steps_format("score", {"type": "number", "description": f"The score, {bounds}"}),
            number_alone("result", self._low, self._high),
        )

    @override
    def read(self, answer: JudgeAnswer) -> float:
        result = number_in(answer.content.get("result"))
        if result is None:
            raise answer.without_verdict("no number `result`")
        return min(self._high, max(self._low, result))
