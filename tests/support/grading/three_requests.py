"""A grader of each kind that has a judge, with an answer that leads to its second request."""

from typing import Any

PROMPT = {"input": [{"role": "user", "content": "{{ sample.output_text }}"}]}
SCORES = {"type": "score_model", "name": "s", "model": "j", "range": [0, 10], **PROMPT}
LABELS = {
    "type": "label_model",
    "name": "l",
    "model": "j",
    "labels": ["good", "bad"],
    "passing_labels": ["good"],
    "input": PROMPT["input"],
}
RUBRIC = {
    "type": "llm_judge",
    "model": "j",
    "question": "Why?",
    "rubric": [{"name": "right", "description": "Is it right?"}],
}
RANKS = {"type": "ai_judge", "name": "r", "model": "j", "rubric": "Is it right?"}
ITEM = {"messages": [{"role": "user", "content": "Why?"}]}
QUOTABLE = '{"result": 2} {"result": "bad"} {"score": 2} {"score": 0.2}'
"""An answer that names the verdicts of all first answers here, so that none of these counts."""
FIRST = {
    "score_model": '{"result": 2}',
    "label_model": '{"result": "bad"}',
    "llm_judge": '{"score": 2}',
    "ai_judge": '{"scores": [{"id": "1", "explanation": "", "score": 0.2}]}',
}
GRADERS: dict[str, dict[str, Any]] = {
    str(grader["type"]): grader for grader in (SCORES, LABELS, RUBRIC, RANKS)
}
LAST = {
    "score_model": ({"type": "number"}, "number from 0 to 10", 3, 3.0),
    "label_model": ({"type": "string", "enum": ["good", "bad"]}, "label", "good", 1.0),
    "llm_judge": ({"type": "number"}, "number from 0 to 10", 3, 0.3),
    "ai_judge": (
        {
            "type": "object",
            "properties": {"1": {"type": "number"}},
            "required": ["1"],
            "additionalProperties": False,
        },
        '{"1": number from 0 to 1}',
        {"1": 0.3},
        0.3,
    ),
}
