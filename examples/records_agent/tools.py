"""The two tools the example agent may call: `lookup` and `calculator`.

Owns their function schemas and their answers. Promises that a mistake of the model is returned as
text that starts with "Error: ", never as an exception. Must not know HTTP.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from examples.records_agent.records import Catalogue

ERROR: Final = "Error: "
# Two operands and no evaluation of code; operands are bounded so that no reply grows large.
EXPRESSION: Final = re.compile(r"\s*(-?\d{1,9})\s*([-+*])\s*(-?\d{1,9})\s*")


def _schema(name: str, description: str, *parameters: str) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": {parameter: {"type": "string"} for parameter in parameters},
                "required": list(parameters),
                "additionalProperties": False,
            },
            "strict": True,
        },
    }


SCHEMAS: Final = (
    _schema("lookup", "Read one field of a record.", "record", "field"),
    _schema("calculator", "Evaluate an arithmetic expression.", "expression"),
)


def call_tool(catalogue: Catalogue, name: str, arguments: str) -> str:
    """Answers a call; `arguments` is the JSON string that the model wrote, valid or not."""
    try:
        given = json.loads(arguments)
    except ValueError:
        return ERROR + "arguments are not JSON"
    if not isinstance(given, dict) or not all(isinstance(v, str) for v in given.values()):
        return ERROR + "arguments are not an object of strings"
    if name == "lookup" and given.keys() == {"record", "field"}:
        return _lookup(catalogue, **given)
    if name == "calculator" and given.keys() == {"expression"}:
        return _calculate(**given)
    known = {schema["function"]["name"] for schema in SCHEMAS}
    return ERROR + ("wrong arguments" if name in known else f"no tool {name}")


def _lookup(catalogue: Catalogue, record: str, field: str) -> str:
    fields = catalogue.records.get(record)
    if fields is None:
        return f"{ERROR}no record {record}"
    return fields.get(field, f"{ERROR}no field {field}")


def _calculate(expression: str) -> str:
    match = EXPRESSION.fullmatch(expression)
    if match is None:
        return ERROR + "not an expression"
    left, right = int(match[1]), int(match[3])
    return str({"+": left + right, "-": left - right, "*": left * right}[match[2]])
