"""Other names for the tools of the records agent and their arguments, as a base model sees them."""

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Tool:
    """One tool as the model sees it; `stands_for` is the records agent's own, if any."""

    name: str
    parameters: tuple[str, ...]
    description: str
    stands_for: str = ""
    usual: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        properties = {p: {"type": "string"} for p in self.parameters}
        parameters = {"type": "object", "properties": properties, "required": [*self.parameters]}
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": parameters | {"additionalProperties": False},
            "strict": True,
        }
        return {"type": "function", "function": function}


READ = "Read one field of a record."
COUNT = "Evaluate an arithmetic expression."


def reader(name: str, record: str, field_: str, description: str = READ) -> Tool:
    return Tool(name, (record, field_), description, "lookup", ("record", "field"))


def counter(name: str, expression: str, description: str = COUNT) -> Tool:
    return Tool(name, (expression,), description, "calculator", ("expression",))


@dataclass(frozen=True)
class Naming:
    title: str
    tools: tuple[Tool, ...]
    system: str = ""


LOOKUP, CALCULATOR = reader("lookup", "record", "field"), counter("calculator", "expression")
WEATHER = Tool("get_weather", ("city", "day"), "Tell the weather of a city.")
MAIL = Tool("send_email", ("to", "subject", "body"), "Send an email to a customer.")
PARAPHRASE = (
    reader("find_item", "code", "attribute", "Find the value of an item's property."),
    counter("compute", "formula", "Compute the result of a formula."),
)
SWAPPED = replace(LOOKUP, parameters=("field", "record"), usual=("field", "record"))
PROMPT = "You are the assistant of a hardware shop. Use the tools and reply with the value alone."

NAMINGS = (
    Naming("original", (LOOKUP, CALCULATOR)),
    Naming(
        "tools: paraphrase",
        (
            reader("find_item", "record", "field", "Find the value of an item's property."),
            counter("compute", "expression", "Compute the result of a formula."),
        ),
    ),
    Naming(
        "tools: unheard words",
        (reader("zebra_lamp", "record", "field"), counter("mango", "expression")),
    ),
    Naming(
        "tools: camel case",
        (reader("catalogApiRead", "record", "field"), counter("mathEngine", "expression")),
    ),
    Naming(
        "tools: snake case",
        (reader("fetch_part_value", "record", "field"), counter("solve_sum", "expression")),
    ),
    Naming(
        "arguments: paraphrase",
        (reader("lookup", "code", "attribute"), counter("calculator", "formula")),
    ),
    Naming(
        "arguments: unheard words",
        (reader("lookup", "quill", "thorn"), counter("calculator", "violet")),
    ),
    Naming(
        "both: paraphrase",
        PARAPHRASE,
    ),
    Naming(
        "both: unheard words",
        (reader("zebra_lamp", "quill", "thorn"), counter("mango", "violet")),
    ),
    Naming("both: single letters", (reader("q", "a", "b"), counter("w", "x"))),
    Naming("arguments swapped", (SWAPPED, CALCULATOR)),
    Naming("tools swapped", (CALCULATOR, LOOKUP)),
    Naming("one further tool", (LOOKUP, WEATHER, CALCULATOR)),
    Naming("four tools", (MAIL, LOOKUP, CALCULATOR, WEATHER)),
    Naming("system prompt", (LOOKUP, CALCULATOR), PROMPT),
    Naming(
        "all at once",
        (
            WEATHER,
            *reversed(PARAPHRASE),
        ),
        PROMPT,
    ),
)
