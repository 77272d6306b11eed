"""Improvement plans: compiled to a job, refused with the parameter, and read from a job."""

import json
from typing import Any

import psycopg
import pytest

from tests.support.api.application import Api
from tests.support.api.preflight import job_count, rows, validate_call
from tests.support.cases import cases
from tests.support.stack import Database

COMPILE = "/v1/improvement_plans/compile"
EXPLAIN = "/v1/improvement_plans/explain"
JOBS = "/v1/fine_tuning/jobs"


@pytest.fixture
def plan(call: dict[str, Any]) -> dict[str, Any]:
    """Returns a plan on 32 training rows and 10 held-out ones."""
    files = {name: call[name] for name in ("model", "training_file", "validation_file")}
    return {**files, "grader": call["method"]["reinforcement"]["grader"]}


async def compiled(api: Api, plan: dict[str, Any], **knobs: Any) -> dict[str, Any]:
    reply = await api.call("POST", COMPILE, json={**plan, "knobs": knobs})
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


async def refused(api: Api, path: str, body: Any, *, key: str | None = None) -> tuple[Any, ...]:
    reply = await api.call("POST", path, json=body, key=key)
    error = reply.json()["error"]
    return reply.status_code, error["code"], error["param"]


async def test_a_target_above_every_score_is_a_warning_of_the_plan(
    api: Api, plan: dict[str, Any]
) -> None:
    exact = {"type": "exact_match", "reference": "Rome"}
    found = await compiled(api, {**plan, "grader": exact}, target=7)
    target = "method.reinforcement.stop.target.value"
    [warning] = [one for one in found["warnings"] if one["param"] == target]
    assert warning["code"] == "unused_option"
    assert "the scores of the grader are from 0 to 1" in warning["message"]


async def test_a_plan_is_a_whole_job_with_its_cost(api: Api, plan: dict[str, Any]) -> None:
    found = await compiled(
        api, plan, drift_guard=60, effort="strong", creativity=70, auto_stop="pause", target=0.9
    )
    rules = ("plateau", "gap", "nothing_trained", "entropy_rise")
    assert found["job"] == {
        **{name: plan[name] for name in ("model", "training_file", "validation_file")},
        "method": {
            "type": "reinforcement",
            "reinforcement": {
                "grader": plan["grader"],
                "hyperparameters": {
                    "n_epochs": 5,
                    "learning_rate_multiplier": 0.8706,
                    "compute_multiplier": 2.0,
                    "eval_samples": 2,
                    "eval_temperature": 1.2,
                },
                "objective": {"kl_coefficient": 0.036},
                "stop": {
                    **{rule: {"action": "pause"} for rule in rules},
                    "entropy_collapse": {"action": "pause", "share": 0.17411},
                    "target": {"value": 0.9},
                },
            },
        },
    }
    report = await validate_call(api, found["job"])
    assert report["errors"] == []
    # 32 rows, batches of 4, 5 passes: 40 steps. 16 rollouts for each row and pass.
    estimate = found["estimate"]
    held_out = report["estimate"]["validation_rollouts"]
    assert (estimate["training_rows"], estimate["validation_rows"]) == (32, 10)
    assert (estimate["total_steps"], estimate["rollouts"]) == (40, 32 * 5 * 16 + held_out)
    assert estimate["training_seconds"] is None
    assert estimate["explanation"].endswith("no pace has been measured.")
    assert await job_count(api) == 0


async def test_every_setting_of_the_job_is_explained(api: Api, plan: dict[str, Any]) -> None:
    found = await compiled(api, plan, drift_guard=0, practice_mode="custom", n_epochs=7)
    explained = {each["knob"]: each for each in found["explanation"]}
    assert [each["position"] for each in explained.values()] == [
        *("custom", 0, "standard", 50, "stop", None)
    ]
    for knob in explained.values():
        for setting in knob["settings"]:
            value: Any = found["job"]
            for name in setting["parameter"].split("."):
                value = value[name]
            assert value == setting["value"]
            assert f"to {value} because {setting['reason']}" in knob["sentence"]
    own = found["job"]["method"]["reinforcement"]
    assert own["hyperparameters"]["n_epochs"] == 7
    assert own["objective"]["kl_coefficient"] == 0


async def test_time_is_that_of_finished_jobs(
    api: Api, plan: dict[str, Any], database: Database
) -> None:
    job = (await compiled(api, plan))["job"]
    made = (await api.call("POST", JOBS, json=job)).json()["id"]
    usage = {"rollouts": 100, "completion_tokens": 2500, "training_time_s": 50.0}
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute(
            "UPDATE fine_tuning_jobs SET status = 'succeeded', usage = %s WHERE id = %s",
            (json.dumps(usage), made),
        )
    estimate = (await compiled(api, plan))["estimate"]
    assert estimate["training_seconds"] == 0.5 * estimate["rollouts"]
    assert estimate["completion_tokens"] == 25 * estimate["rollouts"]


@cases(
    ("knobs", "param", "code"),
    [
        ({"drift_guard": 101}, "knobs.drift_guard", "invalid_value"),
        ({"creativity": True}, "knobs.creativity", "invalid_value"),
        ({"effort": "huge"}, "knobs.effort", "invalid_value"),
        ({"practice_mode": "custom"}, "knobs.n_epochs", "missing_required_parameter"),
        ({"n_epochs": 4}, "knobs.n_epochs", "invalid_value"),
        ({"drift": 4}, "knobs.drift", "unknown_parameter"),
    ],
)
async def test_a_bad_knob_is_refused_with_its_parameter(
    api: Api, plan: dict[str, Any], knobs: dict[str, Any], param: str, code: str
) -> None:
    assert await refused(api, COMPILE, {**plan, "knobs": knobs}) == (400, code, param)


@cases(
    ("change", "param", "code"),
    [
        ({"model": "gpt-9"}, "model", "model_not_available"),
        ({"grader": None}, "grader", "missing_required_parameter"),
        ({"grader": {"type": "ai_judge", "model": "x"}}, "grader.model", "model_not_found"),
        ({"method": "dpo"}, "grader", "invalid_value"),
        ({"recipe": "reasoning", "method": "dpo"}, "method", "invalid_value"),
        ({"rubric": "x"}, "rubric", "unknown_parameter"),
    ],
)
async def test_a_plan_that_makes_no_job_is_refused(
    api: Api, plan: dict[str, Any], change: dict[str, Any], param: str, code: str | None
) -> None:
    body = {name: value for name, value in {**plan, **change}.items() if value is not None}
    assert await refused(api, COMPILE, body) == (400, code or "invalid_value", param)


async def test_a_faulty_row_is_named_by_its_line(api: Api, plan: dict[str, Any]) -> None:
    content = rows(*(f"c{number}" for number in range(11))) + b'{"messages": 3}\n'
    bad = (await api.upload(content)).json()["id"]
    reply = await api.call("POST", COMPILE, json={**plan, "training_file": bad})
    error = reply.json()["error"]
    assert (reply.status_code, error["param"]) == (400, "training_file")
    assert error["message"].startswith("Line 12")
    assert error["message"].count("Line 12") == 1


async def test_a_recipe_takes_rows_and_knobs_of_ones_own(api: Api, plan: dict[str, Any]) -> None:
    found = await compiled(api, {**plan, "recipe": "reasoning"}, drift_guard=20)
    assert (found["knobs"]["drift_guard"], found["knobs"]["effort"]) == (20, "strong")
    own = found["job"]["method"]["reinforcement"]
    assert (own["grader"], own["loss"]) == (plan["grader"], {"type": "ppo"})
    assert "curriculum" not in found["job"]


async def test_another_projects_files_curriculum_and_job_are_not_found(
    api: Api, plan: dict[str, Any]
) -> None:
    files = {name: plan[name] for name in ("training_file", "validation_file")}
    made = (await api.call("POST", "/v1/curricula", json={"name": "c", **files})).json()["id"]
    stored = {"model": "tiny-agent", "grader": {"type": "json_valid"}, "curriculum": made}
    job = (await compiled(api, stored))["job"]
    assert job["curriculum"] == made
    job_id = (await api.call("POST", JOBS, json=job)).json()["id"]
    own = await api.call("POST", EXPLAIN, json={"job_id": job_id})
    assert (own.status_code, own.json()["exact"]) == (200, True)
    other = api.other_key
    assert (await refused(api, COMPILE, plan, key=other))[::2] == (404, "training_file")
    assert (await refused(api, COMPILE, stored, key=other))[::2] == (404, "curriculum")
    assert (await refused(api, EXPLAIN, {"job_id": job_id}, key=other))[0] == 404


@cases("noun", ["grader", "tool"])
async def test_another_projects_registered_object_is_not_found(
    api: Api, plan: dict[str, Any], noun: str
) -> None:
    address = plan["grader"]["url"]
    own = {"grader": plan["grader"]} if noun == "grader" else {"server_url": address}
    made = await api.call("POST", f"/v1/{noun}s", json={"name": "mine", **own})
    named = {"id": made.json()["id"]}
    part = {"grader": named} if noun == "grader" else {"tools": [named]}
    body = {"model": "tiny-agent", "recipe": "reasoning", **part}
    assert (await api.call("POST", COMPILE, json=body)).status_code == 200
    param = "grader.id" if noun == "grader" else "tools[0].id"
    assert (await refused(api, COMPILE, body, key=api.other_key))[::2] == (404, param)


async def test_a_job_of_the_service_is_read_as_its_nearest_knobs(
    api: Api, call: dict[str, Any]
) -> None:
    own = call["method"]["reinforcement"]
    own |= {"loss": {"type": "cispo"}, "objective": {"kl_coefficient": 0.04}}
    own["objective"]["call_budget"] = 3
    own["stop"] = {"plateau": {"action": "stop"}, "target": {"value": 0.5}}
    own["hyperparameters"] |= {"learning_rate_multiplier": 3, "compute_multiplier": 0.6}
    found = (await api.call("POST", EXPLAIN, json={"job": call})).json()
    assert found["knobs"] == {
        "practice_mode": "custom",
        "n_epochs": 2,
        "drift_guard": 63,
        "effort": "light",
        "creativity": 50,
        "auto_stop": "stop",
        "target": 0.5,
    }
    root = "method.reinforcement"
    assert found["exact"] is False
    assert [(each["parameter"], each["value"], each["nearest"]) for each in found["outside"]] == [
        (f"{root}.objective.kl_coefficient", 0.04, 0.03969),
        (f"{root}.hyperparameters.learning_rate_multiplier", 3.0, 0.8351),
        (f"{root}.hyperparameters.compute_multiplier", 0.6, 0.5),
        (f"{root}.hyperparameters.eval_samples", 2, 1),
        *(
            (f"{root}.stop.{rule}.action", "warn", "stop")
            for rule in ("gap", "nothing_trained", "entropy_collapse", "entropy_rise")
        ),
        (f"{root}.loss.type", "cispo", None),
        (f"{root}.objective.call_budget", 3, None),
        (f"{root}.hyperparameters.batch_size", 8, None),
        (f"{root}.hyperparameters.eval_interval", 4, None),
    ]


@cases(
    ("body", "expected"),
    [
        ({}, (400, "missing_required_parameter", "job")),
        ({"job": {"model": "m"}, "job_id": "x"}, (400, "invalid_value", "job_id")),
        ({"job_id": "ftjob-nowhere"}, (404, "fine_tune_not_found", None)),
    ],
)
async def test_a_body_that_names_no_job_is_refused(
    api: Api, body: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    assert await refused(api, EXPLAIN, body) == expected


@pytest.mark.parametrize("kind", ["reference", "auto"])
async def test_a_job_whose_grader_is_no_definition_is_read_too(
    api: Api, call: dict[str, Any], kind: str
) -> None:
    own = call["method"]["reinforcement"]
    secret = {"name": "search", "server_url": own["grader"]["url"], "headers": {"X": "canary-9"}}
    registered = await api.call("POST", "/v1/graders", json={"name": "g", "grader": own["grader"]})
    own["grader"] = {"id": registered.json()["id"]} if kind == "reference" else {"type": "auto"}
    own["tools"] = [secret]
    reply = await api.call("POST", EXPLAIN, json={"job": call})
    assert (reply.status_code, reply.json()["knobs"]["drift_guard"]) == (200, 0)
    assert "canary-9" not in reply.text


async def test_preference_pairs_make_a_plan_without_rollouts(api: Api) -> None:
    found = await compiled(
        api, {"model": "tiny-agent", "recipe": "safety_alignment"}, effort="maximum"
    )
    # 66 pairs in batches of 8, 3 passes.
    estimate = found["estimate"]
    assert (estimate["total_steps"], estimate["rollouts"]) == (27, 0)
    assert (estimate["prompt_tokens"], estimate["training_seconds"]) == (None, None)
    assert found["knobs"]["creativity"] is None
    assert found["job"]["method"]["dpo"]["hyperparameters"] == {
        "n_epochs": 3,
        "beta": 0.1,
        "learning_rate_multiplier": 1.0,
        "batch_size": 8,
    }
