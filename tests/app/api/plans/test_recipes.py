"""Recipes: what ships, and that each compiles to a job that the service accepts."""

import json
from typing import Any

from app.teaching.recipes.service import shipped_recipe
from tests.support.api.application import Api
from tests.support.api.preflight import validate_call
from tests.support.cases import cases

RECIPES = ("code_assistant", "customer_support", "reasoning", "safety_alignment", "tool_use")
COMPILE = "/v1/improvement_plans/compile"


async def test_recipes_are_listed_in_pages_without_their_rows(api: Api) -> None:
    first = (await api.call("GET", "/v1/recipes", params={"limit": 3})).json()
    assert ([each["id"] for each in first["data"]], first["has_more"]) == ([*RECIPES[:3]], True)
    assert all("sample_curriculum" not in each for each in first["data"])
    rest = (await api.call("GET", "/v1/recipes", params={"after": first["last_id"]})).json()
    assert ([each["id"] for each in rest["data"]], rest["has_more"]) == ([*RECIPES[3:]], False)
    unknown = await api.call("GET", "/v1/recipes", params={"after": "zz"})
    assert (unknown.status_code, unknown.json()["error"]["param"]) == (400, "after")


@cases("name", RECIPES)
async def test_a_recipe_has_its_rows_and_the_evidence_of_its_settings(api: Api, name: str) -> None:
    recipe = (await api.call("GET", f"/v1/recipes/{name}")).json()
    assert (recipe["object"], recipe["id"]) == ("recipe", name)
    rows = recipe["sample_curriculum"]
    both = [json.dumps(row) for row in rows["training"] + rows["validation"]]
    assert len(set(both)) == len(both) >= 28
    named = {source["setting"] for source in recipe["sources"]}
    assert "drift_guard" in named
    assert "loss" in named
    assert named - set(recipe["knobs"]) <= set(recipe["options"])
    assert recipe["risks"]
    assert recipe["rubric"]


async def test_an_unknown_recipe_is_named_with_the_known_ones(api: Api) -> None:
    for reply in (
        await api.call("GET", "/v1/recipes/poetry"),
        await api.call("POST", COMPILE, json={"model": "tiny-agent", "recipe": "poetry"}),
    ):
        assert reply.status_code == 404
        error = reply.json()["error"]
        assert (error["code"], error["param"]) == ("recipe_not_found", "recipe")
        assert error["message"].endswith(f"there are {', '.join(RECIPES)}.")


@cases("name", RECIPES)
async def test_a_recipe_compiles_to_a_job_that_is_accepted(api: Api, name: str) -> None:
    reply = await api.call("POST", COMPILE, json={"model": "tiny-agent", "recipe": name})
    assert reply.status_code == 200, reply.text
    plan = reply.json()
    recipe = shipped_recipe(name)
    assert (plan["recipe"], plan["method"]) == (name, recipe.method)
    assert plan["estimate"]["training_rows"] == len(recipe.sample_curriculum.training)
    assert plan["estimate"]["validation_rows"] == len(recipe.sample_curriculum.validation)
    report = await validate_call(api, plan["job"])
    assert (report["valid"], report["errors"]) == (True, [])
    assert (await api.call("GET", "/v1/files")).json()["data"] == []
    explained = await api.call("POST", "/v1/improvement_plans/explain", json={"job": plan["job"]})
    assert (explained.json()["knobs"], explained.json()["exact"]) == (plan["knobs"], True)
    job = await api.call("POST", "/v1/fine_tuning/jobs", json=plan["job"])
    assert job.status_code == 200, job.text


async def test_an_environment_brings_its_own_tasks_and_grader_to_a_recipe(api: Api) -> None:
    body = {"model": "tiny-agent", "recipe": "reasoning", "environment": "arithmetic"}
    reply = await api.call("POST", COMPILE, json=body)
    assert reply.status_code == 200, reply.text
    job = reply.json()["job"]
    assert "curriculum" not in job
    own = job["method"]["reinforcement"]
    assert (own["environment"], own["loss"]) == ("arithmetic", {"type": "ppo"})
    assert "grader" not in own
    assert (await validate_call(api, job))["errors"] == []


async def test_an_environment_over_http_plays_the_rows_of_a_recipe(
    api: Api, call: dict[str, Any]
) -> None:
    address = call["method"]["reinforcement"]["grader"]["url"].replace("/grade", "/missing")
    environment = {"type": "http", "url": address}
    body = {"model": "tiny-agent", "recipe": "tool_use", "environment": environment}
    reply = await api.call("POST", COMPILE, json=body)
    # No fault of missing rows: the only one is that nothing answers at this address.
    error = reply.json()["error"]
    assert (error["code"], error["param"]) == ("environment_not_found", "environment.url")
