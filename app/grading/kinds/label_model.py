"""Scores with a judge model that chooses a label: 1 for a passing one, 0 for another one of the
labels. An answer with none of them is a fault.
"""

import json
from typing import Any

from typing_extensions import override

from app.domain.graders.kinds.label_model import LabelModelGrader
from app.gateways.inference.judges import Judges
from app.grading.judge_scorer import AnswerFormat, JudgedScorer, steps_format
from app.grading.judge_texts.judge_answers import JudgeAnswer


class LabelModelScorer(JudgedScorer):
    def __init__(self, spec: LabelModelGrader, judges: Judges, *, source: str) -> None:
        self._labels = list(dict.fromkeys(spec.labels))
        self._passing = frozenset(spec.passing_labels)
        super().__init__(spec, spec.input, judges, source=source)

    @override
    def answer_format(self) -> AnswerFormat:
        labels = ", ".join(json.dumps(label, ensure_ascii=False) for label in self._labels)
        return AnswerFormat(
            'Answer with one JSON object: {"steps": [{"description": …, "conclusion": …}], '
            f'"result": label}}. "result" is one of {labels}.',
            steps_format("label", {"type": "string", "enum": self._labels}),
        )

    @override
    def read(self, answer: JudgeAnswer) -> float:
        label = self._label(answer.content.get("result"))
        if label is None:
            raise answer.without_verdict("none of the labels as `result`")
        return float(label in self._passing)

    @override
    def is_readable(self, value: Any) -> bool:
        return self._label(value) is not None

    def _label(self, said: Any) -> str | None:
        """Returns the label that a judge writes, in any case where only one label is meant."""
        if not isinstance(said, str):
            return None
        if said in self._labels:
            return said
        words = said.strip()
        same = [label for label in self._labels if label.casefold() == words.casefold()]
        return words if words in same else same[0] if len(same) == 1 else None
