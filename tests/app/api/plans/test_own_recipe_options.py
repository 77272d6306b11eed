"""Options of a project's recipe are checked as the method of a job, and kept as they are used."""

from typing import Any

from tests.support.api.application import Api
from tests.support.cases import cases
from tests.support.registry.recipes import CHECK, OWN

RECIPES = "/v1/recipes"
COMPILE = "/v1/improvement_plans/compile"
PRIVATE = {"type": "endpoint", "url": "http://169.254.169.254/latest"}
JUDGE = {
    "type": "score_model",
    "name": "judge",
    "model": "no-such-judge",
    "input": [{"role": "user", "content": "{{sample.output_text}}"}],
}
REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"grader": PRIVATE}, "options.grader.url", "endpoint_not_allowed"),
    (
        {"grader": CHECK, "tools": [{"name": "t", "server_url": PRIVATE["url"]}]},
        "options.tools[0].server_url",
        "endpoint_not_allowed",
    ),
    ({"grader": JUDGE}, "options.grader.model", "model_not_found"),
    (
        {"grader": CHECK, "hyperparameters": {"n_epochs": 3}},
        "options.hyperparameters.n_epochs",
        "invalid_value",
    ),
]


@cases(("options", "param", "code"), REFUSED)
async def test_an_option_that_a_job_refuses_or_a_knob_replaces_makes_no_recipe(
    api: Api, options: dict[str, Any], param: str, code: str
) -> None:
    made = await api.call("POST", RECIPES, json={**OWN, "name": "kept"})
    for path, body in (
        (RECIPES, {**OWN, "options": options}),
        (f"{RECIPES}/{made.json()['id']}", {"options": options}),
    ):
        reply = await api.call("POST", path, json=body)
        error = reply.json()["error"]
        assert (reply.status_code, error["param"], error["code"]) == (400, param, code), error
    kept = (await api.call("GET", f"{RECIPES}/{made.json()['id']}")).json()
    assert (kept["version"], kept["options"]) == (1, OWN["options"])


async def test_an_option_that_no_knob_sets_reaches_the_job(api: Api) -> None:
    options = {"grader": CHECK, "hyperparameters": {"batch_size": 3}}
    made = await api.call("POST", RECIPES, json={**OWN, "options": options})
    assert made.status_code == 200, made.text
    body = {"model": "tiny-agent", "recipe": made.json()["id"]}
    plan = (await api.call("POST", COMPILE, json=body)).json()
    settings = plan["job"]["method"]["reinforcement"]["hyperparameters"]
    assert (settings["batch_size"], settings["n_epochs"]) == (3, 1)
    same = {"grader": CHECK, "hyperparameters": {"n_epochs": 1}}
    changed = await api.call("POST", f"{RECIPES}/{made.json()['id']}", json={"options": same})
    assert (changed.status_code, changed.json()["version"]) == (200, 2), changed.text


async def test_a_judge_that_no_job_of_the_recipe_calls_is_not_checked(api: Api) -> None:
    world = {"type": "llm_judge", "model": "no-such-judge"}
    both = {"grader": CHECK, "environment": world}
    made = await api.call("POST", RECIPES, json={**OWN, "options": both})
    assert made.status_code == 200, made.text
    alone = await api.call("POST", RECIPES, json={**OWN, "options": {"environment": world}})
    assert alone.status_code == 400, alone.text
    assert alone.json()["error"]["param"].startswith("options.environment")
