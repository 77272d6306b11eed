"""Scores with a judge model that chooses a label: 1 for a passing one, 0 for another one of the
labels. An answer with none of them is a fault.
"""

import json

from typing_extensions import override

from app.graders.judge import AnswerFormat, JudgedScorer, label_alone, steps_format
from app.graders.judge_answers import JudgeAnswer
from app.graders.judge_calls import Judges
from app.graders.model_definitions import LabelModelGrader
from app.graders.scales import LabelScale


class LabelModelScorer(JudgedScorer):
    def __init__(self, spec: LabelModelGrader, judges: Judges, *, source: str) -> None:
        self._labels = LabelScale(spec.labels)
        self._passing = frozenset(spec.passing_labels)
        super().__init__(spec, spec.input, judges, scale=self._labels, source=source)

    @override
    def answer_format(self) -> AnswerFormat:
        labels = ", ".join(json.dumps(label, ensure_ascii=False) for label in self._labels.labels)
        # A list of labels in the format has a server complete the first letters of a quotation.
        return AnswerFormat(
            'Answer with one JSON object: {"steps": [{"description": …, "conclusion": …}], '
            f'"result": label}}. "result" is one of {labels}.',
            steps_format("label", {"type": "string"}),
            label_alone("result", [*self._labels.labels]),
        )

    @override
    def read(self, answer: JudgeAnswer) -> float:
        said = answer.content.get("result")
        label = self._labels.label(said) if isinstance(said, str) else None
        if label is None:
            raise answer.without_verdict("none of the labels as `result`")
        return float(label in self._passing)
