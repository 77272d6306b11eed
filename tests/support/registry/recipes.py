"""A recipe of a project's own."""

from typing import Any

CHECK: dict[str, Any] = {
    "type": "string_check",
    "name": "same",
    "input": "{{sample.output_text}}",
    "reference": "{{item.answer}}",
    "operation": "eq",
}


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {"messages": [{"role": "user", "content": f"Repeat {number}."}], "answer": str(number)}
        for number in range(count)
    ]


OWN: dict[str, Any] = {
    "name": "repeat-after-me",
    "purpose": "Repeat a number.",
    "method": "reinforcement",
    "options": {"grader": CHECK, "mode": {"type": "streaming"}},
    "knobs": {"practice_mode": "quick", "drift_guard": 30},
    "risks": ["It may repeat too much."],
    "sample_curriculum": {"training": rows(12), "validation": rows(24)[12:]},
}
