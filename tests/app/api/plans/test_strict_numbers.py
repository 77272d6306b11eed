"""Numbers of bodies are numbers: a boolean or a text in place of one is refused."""

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel

import app
from tests.support.api.application import Api
from tests.support.api.preflight import validate_call
from tests.support.cases import cases

ROWS = [{"type": "rows", "rows": [{"prompt": "a"}]}]
COACH = {"student": "tina", "recipe": "reasoning"}
PREVIEW = "/v1/curricula/preview"
SESSIONS = "/v1/coach_sessions"


@cases(
    ("path", "body", "param"),
    [
        (
            PREVIEW,
            {"sources": ROWS, "split": {"validation_share": "0.1"}},
            "split.validation_share",
        ),
        (SESSIONS, {**COACH, "min_gain": True}, "min_gain"),
    ],
)
async def test_a_text_or_a_boolean_is_no_number(
    api: Api, path: str, body: dict[str, Any], param: str
) -> None:
    reply = await api.call("POST", path, json=body)
    error = reply.json()["error"]
    assert (reply.status_code, error["param"]) == (400, param), reply.text


@pytest.mark.parametrize(("name", "value"), [("pass_reward", True), ("measured_share", "0.5")])
async def test_numbers_of_an_ordering_are_numbers(
    api: Api, call: dict[str, Any], name: str, value: Any
) -> None:
    call["method"]["reinforcement"]["ordering"] = {"type": "focus", name: value}
    errors = (await validate_call(api, call))["errors"]
    assert [each["param"] for each in errors] == [f"method.reinforcement.ordering.{name}"]


@pytest.mark.parametrize(
    ("span", "reward", "refused"),
    [
        ([0, 1], 0, True),
        ([0, 1], 0.01, False),
        ([0, 1], 1.01, True),
        ([1, 5], 80, True),
    ],
)  # fmt: skip
async def test_a_pass_reward_that_all_or_no_rollouts_reach_is_refused(
    api: Api, call: dict[str, Any], span: list[int], reward: float, refused: bool
) -> None:
    own = call["method"]["reinforcement"]
    judge = {"type": "score_model", "name": "judge", "model": "tiny-agent", "range": span}
    own["grader"] = judge | {"input": [{"role": "user", "content": "Rate {{sample.output_text}}"}]}
    own["ordering"] = {"type": "focus", "pass_reward": reward}
    errors = (await validate_call(api, call))["errors"]
    found = [each for each in errors if "ordering" in (each["param"] or "")]
    assert [each["param"] for each in found] == (
        ["method.reinforcement.ordering.pass_reward"] if refused else []
    )
    for each in found:
        assert f"the scores of the grader are from {span[0]} to {span[1]}" in each["message"]


def test_no_closed_model_of_a_body_converts_to_a_fraction() -> None:
    for package in PACKAGES:
        _import_all(package)
    closed = [
        model
        for model in _below(BaseModel)
        if model.__module__.startswith(BODIES)
        and not model.__module__.startswith(SETTINGS)
        and model.model_config.get("extra") == "forbid"
    ]
    assert len(closed) > 60
    loose = {f"{model.__name__}.{name}" for model in closed for name in _loose_fields(model)}
    assert loose == QUERIES


PACKAGES = (app,)
BODIES = tuple(f"{package.__name__}." for package in PACKAGES)
SETTINGS = ("app.settings", "app.models.models", "app.models.compute", "app.local.", "app.cli.")
"""Settings of the operator and records of the machine: no caller sends them."""
QUERIES = {
    f"{model}.{name}"
    for model in ("_Conditions", "Filter", "RolloutQuery", "RolloutExportQuery")
    for name in ("min_reward", "max_reward")
}
"""Values of an address are texts."""


def _import_all(package: ModuleType) -> None:
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)


def _below(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for each in model.__subclasses__():
        yield each
        yield from _below(each)


def _loose_fields(model: type[BaseModel]) -> Iterator[str]:
    for name, field in _fields(model.__pydantic_core_schema__):
        if _is_loose(field["schema"]):
            yield name


def _fields(schema: Any) -> Iterator[tuple[str, Any]]:
    if schema["type"] == "model-fields":
        yield from schema["fields"].items()
    elif "schema" in schema:
        yield from _fields(schema["schema"])


def _is_loose(node: Any) -> bool:
    """Returns whether a schema converts to a number with no validator of the service before it."""
    if isinstance(node, list | tuple):
        return any(map(_is_loose, node))
    if not isinstance(node, dict):
        return False
    if node["type"] == "float":
        return not node.get("strict")
    if node["type"] in {"function-before", "function-wrap", "function-plain", "model"}:
        return False
    inner = ("schema", "choices", "items_schema", "values_schema")
    return any(_is_loose(node[key]) for key in inner if key in node)
