"""The formats in which a judge answers, as texts for its prompt and as servers enforce them.

Owns the hosted format of steps and result, and that of a last answer, which has the coded key and
no text: nothing in it can be a quotation. Must not know servers or the content of answers. Pure.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

NUMBER: Final = {"type": "number"}


@dataclass(frozen=True, slots=True)
class VerdictFormat:
    """The format of a verdict alone."""

    key: str
    """The key of the verdict in the JSON of an answer."""
    schema: dict[str, Any]
    """The JSON schema of its value, without any free text."""
    shown: str
    """The value in the prompt."""

    def instruction(self, coded: str) -> str:
        return (
            "Answer with this JSON object alone, without steps, reasons or other keys: "
            f'{{"{coded}": {self.shown}}}.'
        )

    def response_format(self, coded: str) -> dict[str, Any]:
        return strict_format("verdict", {coded: self.schema})


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """The format in which a judge answers."""

    instruction: str
    """Description for the prompt, since few servers include the schema in it."""
    response_format: dict[str, Any]
    """The hosted answer format, for servers that enforce one."""
    verdict: VerdictFormat
    """The format of a last answer."""


def number_alone(key: str, lowest: float, highest: float) -> VerdictFormat:
    """Returns the format of one number."""
    return VerdictFormat(key, NUMBER, f"number from {lowest:g} to {highest:g}")


def label_alone(key: str, labels: list[str]) -> VerdictFormat:
    """Returns the format of one of the labels."""
    return VerdictFormat(key, {"type": "string", "enum": labels}, "label")


def shares_alone(key: str, count: int) -> VerdictFormat:
    """Returns the format of one number for each of the ids "1" to `count`."""
    ids = [str(number) for number in range(1, count + 1)]
    shown = ", ".join(f"{json.dumps(identifier)}: number from 0 to 1" for identifier in ids)
    return VerdictFormat(key, object_schema(dict.fromkeys(ids, NUMBER)), f"{{{shown}}}")


def steps_format(name: str, result: dict[str, Any]) -> dict[str, Any]:
    """Returns the hosted answer format `{steps, result}` as a strict JSON schema."""
    text = {"type": "string"}
    step = object_schema({"description": text, "conclusion": text})
    return strict_format(name, {"steps": {"type": "array", "items": step}, "result": result})


def strict_format(name: str, properties: dict[str, Any]) -> dict[str, Any]:
    schema = object_schema(properties)
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "strict": True, "schema": schema},
    }


def object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """Returns the schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def with_instruction(messages: list[dict[str, Any]], instruction: str) -> list[dict[str, Any]]:
    """Returns the prompt with a description of the answer format.

    The description extends the first system message, or is a new one before all others: many
    templates do not accept a second system message.
    """
    first, *rest = messages
    if first["role"] in {"system", "developer"}:
        return [{**first, "content": f"{first['content']}\n\n{instruction}"}, *rest]
    return [{"role": "system", "content": instruction}, *messages]
