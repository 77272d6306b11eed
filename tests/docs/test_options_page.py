"""The page of options: it has every field of a job, and every setting by its variable."""

import re
from collections.abc import Iterator
from typing import Any, Final, get_args, get_origin

import pytest
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from pydantic_settings import EnvSettingsSource

from app import settings as room
from app.graders.definitions import GRADER_MODELS
from app.jobs.integrations import INTEGRATION_MODELS
from app.jobs.methods import METHOD_MODELS
from app.kit.settings_sources import SettingsSection, Sources
from app.tools.environments import ENVIRONMENTS
from docs.site.default_reasons import REASONS
from docs.site.options import page
from docs.site.settings import TREES

WRITTEN: Final = page()
ROW: Final = re.compile(r"^\| `(AGENT_RFT_[A-Z0-9_]+)` \|", re.MULTILINE)
VARIABLES: Final = sorted(set(ROW.findall(WRITTEN)))


def section(name: str) -> str:
    return WRITTEN.partition(f"\n### {name}\n")[2].partition("\n### ")[0]


def variables_of(model: type[BaseModel], prefix: str) -> Iterator[str]:
    """Yields the variables of the settings of a tree, and those of its groups."""
    for name, field in model.model_fields.items():
        variable = prefix + name.upper()
        is_list = get_origin(field.annotation) in {tuple, dict}
        members = () if is_list else (field.annotation, *get_args(field.annotation))
        groups = [one for one in members if isinstance(one, type) and issubclass(one, BaseModel)]
        if not groups:
            yield variable
        for group in groups:
            yield from variables_of(group, f"{variable}__")


def subclasses(base: type[Any]) -> set[type[Any]]:
    """Returns the classes of the room of settings that are made of a base."""
    direct = set(base.__subclasses__())
    every = direct | {one for each in direct for one in subclasses(each)}
    return {one for one in every if one.__module__.startswith(room.__name__)}


@pytest.mark.parametrize("model", [*GRADER_MODELS, *METHOD_MODELS.values(), *INTEGRATION_MODELS])
def test_the_page_has_every_field_of_a_job(model: type[BaseModel]) -> None:
    for field in model.model_fields.keys() - {"type"}:
        assert f"| `{field}` |" in section(model.__name__), field


def test_each_numeric_default_of_a_method_has_its_reason_on_the_page() -> None:
    """Graders and tasks of environments are no part of it: their numbers are of the task."""

    def parts(*models: type[BaseModel]) -> dict[str, Any]:
        _, document = models_json_schema([(model, "validation") for model in models])
        found: dict[str, Any] = document["$defs"]
        return found

    apart = parts(*GRADER_MODELS, *ENVIRONMENTS.values())
    numeric = {
        (name, field)
        for name, schema in parts(*METHOD_MODELS.values()).items()
        if name not in apart
        for field, described in schema.get("properties", {}).items()
        if type(described.get("default")) in {int, float}
    }
    assert len(numeric) > 40
    assert numeric == {(name, field) for name, fields in REASONS.items() for field in fields}
    for name, field in numeric:
        (row,) = re.findall(rf"^\| `{field}` \|.*$", section(name), re.MULTILINE)
        assert f" *The default: {REASONS[name][field]}.* |" in row


def test_the_page_has_every_setting_of_every_tree_and_no_other() -> None:
    trees = subclasses(Sources)
    assert trees >= set(TREES)
    known = {name for tree in trees for name in variables_of(tree, "AGENT_RFT_")}
    assert known == set(VARIABLES)
    for settings in subclasses(SettingsSection):
        for name in settings.model_fields:
            text = section(settings.__name__)
            assert f"`{name}` |" in text or f"__{name.upper()}` |" in text, (settings, name)


@pytest.mark.parametrize("variable", VARIABLES)
def test_a_variable_of_the_page_is_read(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "7")
    found = [EnvSettingsSource(tree)() for tree in TREES]
    for part in variable.removeprefix("AGENT_RFT_").lower().split("__"):
        found = [one[part] for one in found if part in one]
    assert {str(one) for one in found} == {"7"}
