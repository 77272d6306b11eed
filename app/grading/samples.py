"""Builds the hosted `sample` object of a trial from a text."""

import json
import math
from typing import Any, NoReturn

from app.domain.graders.samples import one_turn_keys


def text_sample(text: str, more: dict[str, Any] | None = None) -> dict[str, Any]:
    """Returns the sample; its `output_json` is the parsed text, `None` if it is not JSON.

    Keys of `more` take the place of the derived ones.
    """
    message = {"role": "assistant", "content": text, "tool_calls": []}
    return {
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "output_text": text,
        "output_json": _as_json(text),
        "output_tools": [],
        "output_reasoning_summary": None,
        **one_turn_keys(message, "stop"),
        **(more or {}),
    }


def _as_json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is out of range")
    return number
