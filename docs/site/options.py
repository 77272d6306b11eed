"""Writes the page of all options from the models that check them.

Usage: python -m docs.site.options [--check]

`--check` writes nothing and fails where the page differs from the code. The texts are those of the
API reference: each stands under its field in the code.
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from app.domain.environments.environments import ENVIRONMENTS
from app.domain.graders.auto import AutoGrader
from app.domain.graders.graders import GRADER_MODELS
from app.domain.methods.kinds import METHOD_MODELS
from docs.site.pages import ROOT

PAGE: Final = ROOT / "docs" / "options.md"
_BEGINNING: Final = """# Every option

The fields of a job's method, of its tools and environments, and of every grader, with type, default
and meaning. `python -m docs.site.options` writes this page from the code; a test compares both.
[The options of training](learning.md) explains the choices, and [the page of graders](graders.md)
has an example of each. A field without a default is required.
"""
_ANYTHING: Final = "any JSON"
_BOUNDS: Final = {
    "minimum": "≥ {}",
    "exclusiveMinimum": "> {}",
    "maximum": "≤ {}",
    "exclusiveMaximum": "< {}",
}
Schema = Mapping[str, Any]


def page() -> str:
    """Returns the text of the page."""
    graders: list[type[BaseModel]] = [*GRADER_MODELS, AutoGrader]
    models = [*METHOD_MODELS.values(), *ENVIRONMENTS.values(), *graders]
    _, document = models_json_schema([(model, "validation") for model in models])
    schemas = {name: each for name, each in document["$defs"].items() if each.get("properties")}
    of_methods = [model.__name__ for model in METHOD_MODELS.values()]
    of_graders = [model.__name__ for model in graders]
    others = sorted(schemas.keys() - {*of_methods, *of_graders})
    parts = {"Methods": of_methods, "Parts of methods and graders": others, "Graders": of_graders}
    lines = [_BEGINNING]
    for title, names in parts.items():
        lines += [f"## {title}", ""]
        for name in names:
            lines += [*_section(name, schemas), ""]
    return "\n".join(lines).rstrip() + "\n"


def _section(name: str, schemas: Mapping[str, Schema]) -> Iterator[str]:
    schema = schemas[name]
    kind = schema["properties"].get("type", {}).get("const")
    yield f"### {name.lstrip('_')}"
    yield ""
    if kind:
        yield f"`type` is `{kind}`."
        yield ""
    yield "| field | type | default | meaning |"
    yield "|---|---|---|---|"
    required = schema.get("required", ())
    for field, described in schema["properties"].items():
        if field == "type" and kind:
            continue
        default = "" if field in required else _default(described)
        text = _cell(described.get("description", ""))
        yield f"| `{field}` | {_type(described, schemas)} | {default} | {text} |"


def _default(schema: Schema) -> str:
    value = schema.get("default")
    match value:
        case None:
            return "none"
        case bool():
            return f"`{str(value).lower()}`"
        case dict() | list():
            return "its defaults" if value else "empty"
        case _:
            return f"`{_cell(str(value))}`"


def _type(schema: Schema, schemas: Mapping[str, Schema]) -> str:
    """Returns the type of a field in words, with links to the tables of other models."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        shown = name.lstrip("_")
        return f"[{shown}](#{shown.lower()})" if name in schemas else _ANYTHING
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " or ".join(dict.fromkeys(_type(each, schemas) for each in schema[union]))
    kind = schema.get("type", _ANYTHING)
    if kind == "array" and "items" in schema:
        return f"list of {_type(schema['items'], schemas)}"
    bounds = [text.format(schema[key]) for key, text in _BOUNDS.items() if key in schema]
    return " ".join([kind, *bounds])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main(arguments: list[str]) -> int:
    if arguments == ["--check"]:
        return int(PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
