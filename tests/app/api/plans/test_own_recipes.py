"""Recipes of a project's own: made, changed, listed behind those that ship, used in plans."""

import json
from typing import Any

from app.teaching.recipes.service import shipped_ids
from tests.support.api.application import ENDPOINT, Api
from tests.support.api.preflight import validate_call
from tests.support.cases import cases
from tests.support.registry.recipes import CHECK, OWN, rows

RECIPES = "/v1/recipes"
COMPILE = "/v1/improvement_plans/compile"


async def made(api: Api, **changes: Any) -> dict[str, Any]:
    reply = await api.call("POST", RECIPES, json={**OWN, **changes})
    assert reply.status_code == 200, reply.text
    recipe: dict[str, Any] = reply.json()
    return recipe


async def refused(api: Api, **changes: Any) -> dict[str, Any]:
    reply = await api.call("POST", RECIPES, json={**OWN, **changes})
    assert reply.status_code == 400, reply.text
    assert (await api.call("GET", RECIPES)).json()["last_id"] in shipped_ids()
    error: dict[str, Any] = reply.json()["error"]
    return error


async def test_a_recipe_is_shown_as_it_was_sent(api: Api) -> None:
    recipe = await made(api, metadata={"team": "support"})
    assert recipe["id"].startswith("recipe_")
    assert (recipe["owner"], recipe["version"]) == ("project", 1)
    assert recipe["metadata"] == {"team": "support"}
    assert recipe["created_at"] > 0
    for key in ("name", "purpose", "method", "risks", "sample_curriculum"):
        assert recipe[key] == OWN[key]
    assert (recipe["knobs"]["drift_guard"], recipe["knobs"]["effort"]) == (30, "standard")
    assert (recipe["options"], recipe["sources"]) == (OWN["options"], [])
    shown = await api.call("GET", f"{RECIPES}/{recipe['id']}")
    assert shown.json() == recipe
    assert (await api.call("GET", f"{RECIPES}/{OWN['name']}")).json() == recipe


@cases("limit", [1, 5, 20])
async def test_every_page_size_lists_each_recipe_once(api: Api, limit: int) -> None:
    own = [(await made(api, name=f"own-{number}"))["id"] for number in range(3)]
    listed, after = list[str](), dict[str, str]()
    while True:
        page = (await api.call("GET", RECIPES, params={"limit": limit, **after})).json()
        listed += [each["id"] for each in page["data"]]
        assert all("sample_curriculum" not in each for each in page["data"])
        if not page["has_more"]:
            break
        assert len(page["data"]) == limit
        after = {"after": page["last_id"]}
    assert listed == [*shipped_ids(), *reversed(own)]


@cases("by", ["id", "name"])
async def test_a_plan_starts_from_a_recipe_of_the_project(api: Api, by: str) -> None:
    recipe = await made(api)
    body = {"model": "tiny-agent", "recipe": recipe[by]}
    plan = (await api.call("POST", COMPILE, json=body)).json()
    assert (plan["recipe"], plan["method"]) == (recipe["id"], "reinforcement")
    assert (plan["knobs"]["practice_mode"], plan["knobs"]["drift_guard"]) == ("quick", 30)
    assert plan["job"]["curriculum"] == OWN["sample_curriculum"]
    own = plan["job"]["method"]["reinforcement"]
    assert (own["mode"], own["grader"]) == ({"type": "streaming"}, CHECK)
    assert (await validate_call(api, plan["job"]))["errors"] == []
    job = await api.call("POST", "/v1/fine_tuning/jobs", json=plan["job"])
    assert job.status_code == 200, job.text


async def test_a_student_and_the_coach_practise_by_a_recipe_of_the_project(api: Api) -> None:
    recipe = await made(api)
    await api.call("POST", "/v1/students", json={"name": "clerk", "base_model": "tiny-agent"})
    improve = "/v1/students/clerk/improve"
    reply = await api.call("POST", improve, json={"recipe": recipe["name"]})
    assert reply.status_code == 201, reply.text
    assert reply.json()["plan"]["recipe"] == recipe["id"]
    assert reply.json()["job"]["method"]["reinforcement"]["grader"]["name"] == CHECK["name"]
    await api.call("POST", f"/v1/fine_tuning/jobs/{reply.json()['job']['id']}/cancel")
    lines = "\n".join(map(json.dumps, rows(30)))
    file = (await api.upload(lines.encode())).json()["id"]
    session = {"student": "clerk", "recipe": recipe["id"], "training_file": file}
    reply = await api.call("POST", "/v1/coach_sessions", json={**session, "validation_file": file})
    assert reply.status_code == 201, reply.text
    await api.call("DELETE", f"/v1/recipes/{recipe['id']}")
    kept = await api.call("GET", f"/v1/coach_sessions/{reply.json()['id']}")
    assert kept.status_code == 200


async def test_a_recipe_without_rows_needs_data_of_the_plan(api: Api) -> None:
    recipe = await made(api, sample_curriculum=None)
    assert recipe["sample_curriculum"] is None
    body: dict[str, Any] = {"model": "tiny-agent", "recipe": recipe["id"]}
    error = (await api.call("POST", COMPILE, json=body)).json()["error"]
    assert error["param"] == "training_file"
    plan = await api.call("POST", COMPILE, json={**body, "curriculum": OWN["sample_curriculum"]})
    assert plan.status_code == 200, plan.text


async def test_a_recipe_names_a_registered_grader(api: Api) -> None:
    grader = (await api.call("POST", "/v1/graders", json={"name": "g", "grader": CHECK})).json()
    recipe = await made(api, options={"grader": {"id": grader["id"]}})
    body = {"model": "tiny-agent", "recipe": recipe["id"]}
    plan = (await api.call("POST", COMPILE, json=body)).json()
    assert plan["job"]["method"]["reinforcement"]["grader"] == {"id": grader["id"]}
    await api.call("DELETE", f"/v1/graders/{grader['id']}")
    gone = await api.call("POST", COMPILE, json=body)
    assert (gone.status_code, gone.json()["error"]["param"]) == (404, "grader.id")


async def test_an_update_makes_a_version_and_keeps_what_is_not_sent(api: Api) -> None:
    recipe = await made(api, metadata={"a": "b"})
    path = f"{RECIPES}/{recipe['id']}"
    sent = {"knobs": {"effort": "strong"}, "sample_curriculum": None, "method": None}
    changed = (await api.call("POST", path, json=sent)).json()
    assert (changed["version"], changed["knobs"]["effort"]) == (2, "strong")
    assert (changed["knobs"]["drift_guard"], changed["sample_curriculum"]) == (50, None)
    kept = ("name", "purpose", "method", "options", "risks", "metadata", "created_at")
    assert {key: changed[key] for key in kept} == {key: recipe[key] for key in kept}
    first = await api.call("GET", path, params={"version": 1})
    assert first.json() == recipe
    versions = (await api.call("GET", f"{path}/versions")).json()
    assert [each["version"] for each in versions["data"]] == [2, 1]
    renamed = (await api.call("POST", path, json={"name": "again"})).json()
    assert (renamed["version"], renamed["name"]) == (3, "again")
    assert (await api.call("GET", f"{RECIPES}/{OWN['name']}")).status_code == 404
    bad = await api.call("POST", path, json={"options": {"grader": CHECK, "mod": "sync"}})
    assert (bad.status_code, bad.json()["error"]["param"]) == (400, "options.mod")
    assert (await api.call("GET", path)).json()["version"] == 3


async def test_a_deleted_recipe_starts_no_plan(api: Api) -> None:
    recipe = await made(api)
    path = f"{RECIPES}/{recipe['id']}"
    gone = await api.call("DELETE", path)
    assert gone.json() == {"id": recipe["id"], "object": "recipe", "deleted": True}
    assert (await api.call("GET", path)).status_code == 404
    body = {"model": "tiny-agent", "recipe": recipe["id"]}
    error = (await api.call("POST", COMPILE, json=body)).json()["error"]
    assert (error["code"], error["param"]) == ("recipe_not_found", "recipe")
    assert (await made(api))["id"] != recipe["id"]


@cases(
    ("changes", "param"),
    [
        ({"name": "reasoning"}, "name"),
        ({"name": "REASONING"}, "name"),
        ({"name": "recipe_x"}, "name"),
        ({"method": "grpo"}, "method"),
        ({"extra": 1}, "extra"),
        ({"knobs": {"effort": "mighty"}}, "knobs.effort"),
        ({"method": "dpo", "options": {}, "knobs": {"creativity": 3}}, "knobs.creativity"),
        ({"options": {}}, "options.grader"),
        ({"options": {"grader": CHECK, "mod": "sync"}}, "options.mod"),
        ({"sample_curriculum": {"training": rows(9), "validation": rows(12)}}, "sample_curriculum"),
        ({"purpose": "p" * 300_000}, None),
    ],
)
async def test_a_bad_recipe_is_refused_at_its_parameter(
    api: Api, changes: dict[str, Any], param: str | None
) -> None:
    error = await refused(api, **changes)
    assert error["type"] == "invalid_request_error"
    assert error["param"] is None if param is None else error["param"].startswith(param)


@cases(
    ("options", "param"),
    [
        (
            {"grader": {"type": "endpoint", "url": ENDPOINT, "headers": {"X-Key": "canary"}}},
            "options.grader.headers",
        ),
        ({"grader": {"type": "endpoint", "url": f"{ENDPOINT}?key=canary"}}, "options.grader.url"),
        (
            {
                "grader": CHECK,
                "tools": [{"name": "t", "server_url": ENDPOINT, "headers": {"K": "canary"}}],
            },
            "options.tools",
        ),
    ],
)
async def test_a_secret_belongs_into_a_registered_object(
    api: Api, options: dict[str, Any], param: str
) -> None:
    error = await refused(api, options=options)
    assert error["param"].startswith(param)
    assert "canary" not in error["message"]
    assert "Register" in error["message"]


async def test_a_name_is_one_recipe(api: Api) -> None:
    recipe = await made(api)
    taken = await api.call("POST", RECIPES, json=OWN)
    assert (taken.status_code, taken.json()["error"]["code"]) == (400, "name_taken")
    other = await made(api, name="other")
    for name in (OWN["name"], "reasoning"):
        reply = await api.call("POST", f"{RECIPES}/{other['id']}", json={"name": name})
        assert (reply.status_code, reply.json()["error"]["code"]) == (400, "name_taken")
    assert (await api.call("GET", f"{RECIPES}/{recipe['id']}")).json() == recipe


@cases("method", ["POST", "DELETE"])
async def test_a_recipe_of_the_service_does_not_change(api: Api, method: str) -> None:
    body: dict[str, Any] = {"json": {"purpose": "other"}} if method == "POST" else {}
    reply = await api.call(method, f"{RECIPES}/reasoning", **body)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, "recipe")
    shown = (await api.call("GET", f"{RECIPES}/reasoning")).json()
    assert (shown["owner"], shown["version"], shown["created_at"]) == ("service", 1, None)


async def test_another_project_neither_sees_nor_uses_a_recipe(api: Api) -> None:
    recipe = await made(api)
    key: dict[str, Any] = {"key": api.other_key}
    listed = (await api.call("GET", RECIPES, **key)).json()["data"]
    assert [each["id"] for each in listed] == [*shipped_ids()]
    for name in (recipe["id"], recipe["name"], "recipe_never"):
        for call in (
            api.call("GET", f"{RECIPES}/{name}", **key),
            api.call("POST", COMPILE, json={"model": "tiny-agent", "recipe": name}, **key),
        ):
            reply = await call
            assert (reply.status_code, reply.json()["error"]["code"]) == (404, "recipe_not_found")
    for call in (
        api.call("POST", f"{RECIPES}/{recipe['id']}", json={"purpose": "x"}, **key),
        api.call("DELETE", f"{RECIPES}/{recipe['id']}", **key),
        api.call("GET", f"{RECIPES}/{recipe['id']}/versions", **key),
        api.call("GET", RECIPES, params={"after": recipe["id"]}, **key),
    ):
        assert (await call).status_code in {400, 404}
    assert (await api.call("GET", f"{RECIPES}/{recipe['id']}")).json() == recipe
    assert (await api.call("POST", RECIPES, json=OWN, **key)).status_code == 200
