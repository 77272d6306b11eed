"""Graders whose judges answer from 0 to 10, with a label, or by a rubric."""

from typing import Any, Final

INPUT: Final = [{"role": "user", "content": "{{sample.output_text}}"}]
SCORE: Final[dict[str, Any]] = {
    "type": "score_model",
    "model": "judge",
    "range": [0, 10],
    "input": INPUT,
}
LABEL: Final[dict[str, Any]] = {
    "type": "label_model",
    "model": "judge",
    "labels": ["good", "bad"],
    "passing_labels": ["good"],
    "input": INPUT,
}
RUBRIC: Final[dict[str, Any]] = {"type": "llm_judge", "model": "judge", "question": "Why?"}
