"""A recipe that was registered under earlier rules is read as it is, and refused in use."""

from typing import Any

import pytest

from tests.support.api.application import Api
from tests.support.api.organization import execute
from tests.support.cases import cases
from tests.support.registry.recipes import OWN
from tests.support.stack import Database

RECIPES = "/v1/recipes"
STALE = [
    ("{knobs,effort}", '"mighty"'),
    ("{options,mode}", '"no"'),
    ("{note}", "1"),
]


async def recipe(api: Api) -> dict[str, Any]:
    made: dict[str, Any] = (await api.call("POST", RECIPES, json=OWN)).json()
    return made


@pytest.mark.parametrize(("path", "value"), STALE)
async def test_it_is_listed_and_makes_no_job(
    api: Api, database: Database, path: str, value: str
) -> None:
    made = await recipe(api)
    query = "UPDATE registered_versions SET definition = jsonb_set(definition, %s, %s::jsonb)"
    execute(database, f"{query} RETURNING object_id", path, value)
    own = f"{RECIPES}/{made['id']}"
    for where in (RECIPES, own, f"{own}/versions"):
        assert (await api.call("GET", where)).status_code == 200, where
    assert (await api.call("GET", own)).json()["purpose"] == OWN["purpose"]
    body = {"model": "tiny-agent", "recipe": made["name"]}
    refused = await api.call("POST", "/v1/improvement_plans/compile", json=body)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "recipe")
    assert "under earlier rules" in refused.json()["error"]["message"]
    assert (await api.call("DELETE", own)).status_code == 200


async def test_a_name_and_an_id_are_one_recipe_for_each_call(api: Api) -> None:
    made = await recipe(api)
    path = f"{RECIPES}/{made['name']}"
    changed = await api.call("POST", path, json={"purpose": "other"})
    assert (changed.json()["id"], changed.json()["version"]) == (made["id"], 2)
    versions = (await api.call("GET", f"{path}/versions")).json()["data"]
    assert [each["version"] for each in versions] == [2, 1]
    assert (await api.call("GET", path, params={"version": 1})).json() == made
    assert (await api.call("DELETE", path)).json()["deleted"]
    assert (await api.call("GET", path)).status_code == 404


@cases("name", ["reasoning", OWN["name"]])
async def test_a_version_that_is_missing_is_named(api: Api, name: str) -> None:
    await recipe(api)
    error = (await api.call("GET", f"{RECIPES}/{name}", params={"version": 9})).json()["error"]
    assert (error["param"], error["message"]) == (
        "version",
        f"The recipe '{name}' has no version 9.",
    )
