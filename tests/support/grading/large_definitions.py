"""Graders that are large to read: patterns, templates and many parts."""

from typing import Any

from app.graders.templates import MAX_PLACEHOLDERS

MANY = "{{item.a}}" * MAX_PLACEHOLDERS


def pattern(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "regex", "pattern": text, "whole": True, "ignore_case": True, **more}


def multi(*graders: dict[str, Any]) -> dict[str, Any]:
    parts = {f"g{number}": grader for number, grader in enumerate(graders)}
    return {"type": "multi", "name": "m", "graders": parts, "calculate_output": "+".join(parts)}


def judged(texts: list[Any]) -> dict[str, Any]:
    """Returns a judge with a message for each content."""
    messages = [{"role": "user", "content": text} for text in texts]
    return {"type": "score_model", "name": "s", "model": "judge", "input": messages}
