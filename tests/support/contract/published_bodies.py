"""Parts of job bodies in the forms that guides and cookbooks print."""

import json
from typing import Any

from tests.support.contract.service import BASE

TEXT = "{{ sample.output_text }}"
ANSWER = "six"
FIELDS = {"answer": ANSWER, "compliant": "yes", "facts": {"legs": [{"count": 6}]}}
ITEM = {**FIELDS, "messages": [{"role": "user", "content": "How many legs has an ant?"}]}
SAME = {
    "type": "string_check",
    "name": "exact",
    "input": TEXT,
    "reference": "{{ item.answer }}",
    "operation": "eq",
}
LIKE = {**SAME, "name": "contains", "operation": "ilike"}


def rows(first: int, count: int) -> bytes:
    """Returns a JSONL file of different questions with the fields of `ITEM`."""
    questions = [f"How many legs has ant {number}?" for number in range(first, first + count)]
    return "\n".join(
        json.dumps({"messages": [{"role": "user", "content": question}], **FIELDS})
        for question in questions
    ).encode()


def similar(metric: str, reference: str = "{{ item.answer }}") -> dict[str, Any]:
    return {
        "type": "text_similarity",
        "name": "near",
        "input": TEXT,
        "reference": reference,
        "evaluation_metric": metric,
    }


def judge(**changes: Any) -> dict[str, Any]:
    """Returns a model grader whose judge is the base model."""
    return {
        "type": "score_model",
        "name": "judge",
        "model": BASE,
        "input": [{"role": "user", "content": f"Rate this answer from 0 to 1: {TEXT}"}],
        **changes,
    }


def multi(formula: str, **graders: dict[str, Any]) -> dict[str, Any]:
    return {"type": "multi", "name": "all", "graders": graders, "calculate_output": formula}
