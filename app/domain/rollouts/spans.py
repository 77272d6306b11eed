"""A rollout's stored trace as spans, the form in which the hosted evals show it. Pure.

One GENERATION span for each turn the model wrote and one FUNCTION span for each call it made. The
start of a turn or call is not recorded, so `started_at` and `ended_at` of a span are null; the
duration of a call is recorded as `duration_s` (an extension).
"""

import hashlib
from typing import Any

from app.domain.documents.json_object import Json
from app.domain.rollouts.rollouts import RolloutRow


def trace_of(row: RolloutRow, *, model: str, model_config: Json) -> Json:
    """Returns `{type: "trace", id, started_at, ended_at, spans}`; times are unix seconds."""
    return {
        "type": "trace",
        "id": row.trace_id,
        "started_at": row.started_at,
        "ended_at": row.finished_at,
        "spans": _Spans(row, model=model, model_config=model_config).all(),
    }


def prompt_messages(row: RolloutRow) -> list[Json]:
    """Returns the messages of a trace before the model's first turn."""
    messages: list[Json] = row.trace["messages"]
    return messages[: len(messages) - _written(row)]


def last_turn(row: RolloutRow) -> Json | None:
    """Returns the last message the model wrote, `None` when it wrote none."""
    written = row.trace["messages"][len(prompt_messages(row)) :]
    return next((message for message in reversed(written) if message["role"] == "assistant"), None)


def _written(row: RolloutRow) -> int:
    """Yields the messages that came after the row's own: each turn, and each reply to one of its
    calls.

    Counted from the end, because a row may hold earlier turns of an assistant.
    """
    turns, messages = len(row.trace["turns"]), row.trace["messages"]
    count = 0
    while turns > 0 and count < len(messages):
        count += 1
        turns -= messages[-count]["role"] == "assistant"
    return count


class _Spans:
    def __init__(self, row: RolloutRow, *, model: str, model_config: Json) -> None:
        self._row = row
        self._model = model
        self._model_config = model_config
        self._spans: list[Json] = []

    def all(self) -> list[Json]:
        prompt = prompt_messages(self._row)
        messages: list[Json] = self._row.trace["messages"]
        turns = iter(self._row.trace["turns"])
        for position in range(len(prompt), len(messages)):
            if messages[position]["role"] == "assistant":
                self._generation(messages[:position], messages[position], next(turns))
        return self._spans

    def _generation(self, before: list[Json], message: Json, turn: Json) -> None:
        tokens, reasoning = turn["tokens"], turn["reasoning_tokens"]
        generation = self._add(
            None,
            {
                "type": "GENERATION",
                "input": [_addressed(message) for message in before],
                "output": [_addressed(message)],
                "model": self._model,
                "model_config": self._model_config,
                "usage": {"output_tokens": tokens, "reasoning_tokens": reasoning},
            },
            error=turn["parse_error"],
        )
        for call in turn["tool_calls"]:
            self._add(
                generation,
                {
                    "type": "FUNCTION",
                    "name": f"functions.{call['name']}",
                    "input": call["arguments"],
                    "output": call["output"],
                    "mcp_data": None,
                },
                error=call["error"],
                duration_s=call["latency_s"],
            )

    def _add(self, parent: str | None, data: Json, *, error: str | None, **more: Any) -> str:
        span_name = f"{self._row.trace_id}/{len(self._spans)}"
        span_id = f"span_{hashlib.sha256(span_name.encode()).hexdigest()[:24]}"
        self._spans.append(
            {
                "id": span_id,
                "object": "trace.span",
                "trace_id": self._row.trace_id,
                "parent_id": parent,
                "started_at": None,
                "ended_at": None,
                "span_data": data,
                "error": None if error is None else {"message": error},
                "created_at": int(self._row.finished_at),
                **more,
            }
        )
        return span_id


def _addressed(message: Json) -> Json:
    """Returns the message with its `recipient`: `all`, or the function that a turn calls."""
    calls = message.get("tool_calls") or []
    name = calls[0]["function"]["name"] if calls else None
    return {**message, "recipient": "all" if name is None else f"functions.{name}"}
