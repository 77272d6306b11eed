"""Builds the hosted `sample` and `item` objects that graders receive. Pure."""

import json
from typing import Any

from app.domain.data.dataset import DatasetRow, grader_item
from app.domain.rollouts.trajectory import Trajectory


def sample_object(trajectory: Trajectory) -> dict[str, Any]:
    """Returns the final turn as the hosted API shows it to graders; empty without a turn.

    `output_json` is the answer as JSON where it is an object or a list.
    """
    message = _last_turn(trajectory)
    text, calls = message.get("content") or "", message.get("tool_calls") or []
    reason = trajectory.turns[-1].finish_reason if trajectory.turns else "length"
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text, "tool_calls": calls},
        "finish_reason": "tool_calls" if calls else reason,
    }
    return {
        "choices": [choice],
        "output_text": text,
        "output_json": _as_json(text),
        "output_tools": calls,
        "output_reasoning_summary": message.get("reasoning_content"),
    }


def item_object(row: DatasetRow) -> dict[str, Any]:
    """Returns the whole row as graders see it."""
    return grader_item(row.item)


def _last_turn(trajectory: Trajectory) -> dict[str, Any]:
    if not trajectory.turns:
        return {}
    return [message for message in trajectory.messages if message["role"] == "assistant"][-1]


def _as_json(text: str) -> Any:
    try:
        value = json.loads(text)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None
