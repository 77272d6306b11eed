"""Makes the page of all options from the models that check them.

The texts are those of the API reference: each stands under its field in the code.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from app.graders.definitions import GRADER_MODELS, AutoGrader
from app.jobs.integrations import INTEGRATION_MODELS
from app.jobs.methods import METHOD_MODELS
from app.tools.environments import ENVIRONMENTS
from docs.site.default_reasons import REASONS
from docs.site.settings import settings_part
from docs.site.tables import Schema, cell, shown_default, shown_type

_BEGINNING: Final = """# Every option

The fields of a job's method, of its tools, environments and integrations, and of every grader, with
type, default and meaning, and the reason of each numeric default of a method; then the
[settings of the service](#settings-of-the-service).
[The options of training](learning.md) explains the choices, and [the page of graders](graders.md)
has an example of each. A field without a default is required.
"""


def page() -> str:
    """Returns the text of the page."""
    graders: list[type[BaseModel]] = [*GRADER_MODELS, AutoGrader]
    schemas = _schemas([*METHOD_MODELS.values(), *ENVIRONMENTS.values(), *graders])
    of_methods = [model.__name__ for model in METHOD_MODELS.values()]
    of_graders = [model.__name__ for model in graders]
    others = sorted(schemas.keys() - {*of_methods, *of_graders})
    parts = {"Methods": of_methods, "Parts of methods and graders": others, "Graders": of_graders}
    lines = [_BEGINNING]
    for title, names in parts.items():
        lines += [f"## {title}", "", *_sections(names, schemas)]
    integrations = _schemas(INTEGRATION_MODELS)
    lines += ["## Integrations of a job", "", *_sections(sorted(integrations), integrations)]
    lines += ["## Settings of the service", "", *settings_part()]
    return "\n".join(lines).rstrip() + "\n"


def _schemas(models: Sequence[type[BaseModel]]) -> dict[str, Schema]:
    """Returns the schemas of models and of their parts, by name, where they have fields."""
    _, document = models_json_schema([(model, "validation") for model in models])
    return {name: each for name, each in document["$defs"].items() if each.get("properties")}


def _sections(names: Sequence[str], schemas: Mapping[str, Schema]) -> Iterator[str]:
    for name in names:
        yield from _section(name, schemas)
        yield ""


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
        default = "" if field in required else shown_default(described)
        text = cell(described.get("description", ""))
        if (reason := REASONS.get(name, {}).get(field)) is not None:
            text += f" *The default: {cell(reason)}.*"
        yield f"| `{field}` | {shown_type(described, schemas)} | {default} | {text} |"
