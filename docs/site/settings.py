"""Lists the settings of the service by the variables that set them.

The texts stand under the fields in the code.
"""

from collections.abc import Iterator
from types import UnionType
from typing import Any, Final, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic.json_schema import models_json_schema

from app.kit.fields import field_text
from app.kit.settings_sources import CONFIG_VARIABLE, PREFIX, Sources
from app.settings import HostSettings, Settings
from docs.site.tables import Schema, cell, shown_default, shown_type

TREES: Final[tuple[type[Sources], ...]] = (Settings, HostSettings)
_COMPUTED: Final = "computed"
_EMPTY: Final = "empty"
_LEVEL: Final = "__"
_BEGINNING: Final = f"""\
The service and its workers read variables of the environment, and where one is missing the TOML
file that `{CONFIG_VARIABLE}` names, whose keys are the parts of a variable in lower case:
`{PREFIX}LEASE__LEASE_S` is `lease_s` in the table `[lease]`. Lists and objects are JSON in a
variable. `None` stands for a setting that is absent. Times are in seconds and sizes in bytes,
where nothing else is said."""


def settings_part() -> Iterator[str]:
    """Yields the lines of all tables: the trees with their sections, then the objects of lists."""
    _, document = models_json_schema([(tree, "validation") for tree in TREES])
    schemas: dict[str, Schema] = document["$defs"]
    yield _BEGINNING
    yield ""
    items = dict[str, type[BaseModel]]()
    for tree in TREES:
        for model, prefix in _sections(tree, PREFIX):
            yield from _table(model, schemas, prefix)
            items |= {one.__name__: one for one in _items(model)}
    for name in sorted(items):
        yield from _table(items[name], schemas, None)


def _sections(model: type[BaseModel], prefix: str) -> Iterator[tuple[type[BaseModel], str]]:
    """Yields a model of settings and its sections, with the beginning of their variables."""
    yield model, prefix
    for name, field in model.model_fields.items():
        if (section := _section(field)) is not None:
            yield from _sections(section, f"{prefix}{name.upper()}{_LEVEL}")


def _section(field: FieldInfo) -> type[BaseModel] | None:
    """Returns the model of a field that is a section; `None` for any other field."""
    return next((one for one in _parts(field.annotation) if _is_model(one)), None)


def _items(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yields the models of the objects in lists."""
    for field in model.model_fields.values():
        for part in _parts(field.annotation):
            if get_origin(part) is tuple:
                yield from filter(_is_model, get_args(part))


def _parts(annotation: Any) -> tuple[Any, ...]:
    """Returns the members of a union, or else the type itself."""
    is_union = get_origin(annotation) in {Union, UnionType}
    return get_args(annotation) if is_union else (annotation,)


def _is_model(part: Any) -> bool:
    return isinstance(part, type) and issubclass(part, BaseModel)


def _table(model: type[BaseModel], schemas: dict[str, Schema], prefix: str | None) -> Iterator[str]:
    """Yields the table of a model: of variables with this prefix, or of the keys of an object."""
    schema = schemas[model.__name__]
    yield f"### {model.__name__}"
    yield ""
    yield cell(model.__doc__ or "")
    yield ""
    yield f"| {'key' if prefix is None else 'variable'} | type | default | meaning |"
    yield "|---|---|---|---|"
    for name, field in model.model_fields.items():
        if _section(field) is not None:
            continue
        described = schema["properties"][name]
        default = "" if field.is_required() else shown_default(described)
        if field.default_factory is not None:
            default = _EMPTY if field.default_factory is dict else _COMPUTED
        shown = name if prefix is None else prefix + name.upper()
        kind = shown_type(described, schemas)
        yield f"| `{shown}` | {kind} | {default} | {cell(_meaning(model, name))} |"
    yield ""


def _meaning(model: type[BaseModel], name: str) -> str:
    """Returns the text under a field, which a variable of the supervisor shares with the service.
    Raises `LookupError` for a field without one.
    """
    text = field_text(model, name) or field_text(Settings, name)
    if text is None:
        raise LookupError(f"{model.__name__}.{name} has no text under it")
    return text
