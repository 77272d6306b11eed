"""Reading a job as knobs: every setting that no knob has is outside, and only those."""

from typing import Any

import pytest

from app.jobs.reinforcement import ReinforcementMethod, resolve_hyperparameters, resolved_options
from app.models.models import BaseModelSpec
from app.teaching.plans.knob_readings import reading_of
from tests.support.api.application import Api
from tests.support.cases import cases

COMPILE = "/v1/improvement_plans/compile"
EXPLAIN = "/v1/improvement_plans/explain"
ROOT = "method.reinforcement"


@pytest.fixture
async def job(api: Api, call: dict[str, Any]) -> dict[str, Any]:
    """Returns the job of a plan in the middle of its knobs."""
    files = {name: call[name] for name in ("model", "training_file", "validation_file")}
    plan = {**files, "grader": call["method"]["reinforcement"]["grader"]}
    found: dict[str, Any] = (await api.call("POST", COMPILE, json=plan)).json()["job"]
    return found


async def test_keys_that_nothing_reads_are_warnings(api: Api, job: dict[str, Any]) -> None:
    job["foo"] = 1
    job["method"]["reinforcement"]["zzz"] = 1
    read = (await api.call("POST", EXPLAIN, json={"job": job})).json()
    assert [(each["severity"], each["param"]) for each in read["warnings"]] == [
        ("warning", "foo"),
        ("warning", f"{ROOT}.zzz"),
    ]
    job["method"]["dpo"] = {}
    said = (await api.call("POST", EXPLAIN, json={"job": job})).json()["error"]
    assert said["param"] == "job.method.dpo"


async def test_every_setting_that_no_knob_has_is_outside(api: Api, job: dict[str, Any]) -> None:
    read = (await api.call("POST", EXPLAIN, json={"job": job})).json()
    assert (read["exact"], read["outside"]) == (True, [])
    own = job["method"]["reinforcement"]
    own |= {
        "max_episode_steps": 2,
        "loss": {"type": "ppo", "epsilon": 0.9},
        "mode": {"type": "async", "max_staleness": 3},
        "advantage": {"type": "centred"},
        "ordering": {"type": "focus", "low": 0.1},
        "keep_checkpoints": {"best": 5},
        "nothing_to_learn": {"action": "warn"},
        "max_rollouts": 500,
    }
    own["hyperparameters"] |= {"batch_size": 64, "eval_interval": 1, "eval_greedy": False}
    own["stop"]["plateau"]["evaluations"] = 50
    own["stop"] |= {"limit_stops": {"action": "stop"}, "max_steps": {"steps": 9}}
    read = (await api.call("POST", EXPLAIN, json={"job": job})).json()
    assert {
        each["parameter"].removeprefix(f"{ROOT}."): each["value"] for each in read["outside"]
    } == {
        "max_episode_steps": 2,
        "loss.epsilon": 0.9,
        "mode.type": "async",
        "mode.max_staleness": 3,
        "ordering.type": "focus",
        "ordering.low": 0.1,
        "keep_checkpoints.best": 5,
        "nothing_to_learn.action": "warn",
        "max_rollouts": 500,
        "hyperparameters.batch_size": 64,
        "hyperparameters.eval_interval": 1,
        "hyperparameters.eval_greedy": False,
        "stop.plateau.evaluations": 50,
        "stop.limit_stops.action": "stop",
        "stop.max_steps.steps": 9,
    }


async def test_caps_at_the_top_of_a_job_are_outside(api: Api, job: dict[str, Any]) -> None:
    """The caps of a body and those of the job that it makes."""
    capped = job | {"max_rollouts": 500, "max_training_time_s": 60}
    made = (await api.call("POST", "/v1/fine_tuning/jobs", json=capped)).json()
    for body in ({"job": capped}, {"job_id": made["id"]}):
        read = (await api.call("POST", EXPLAIN, json=body)).json()
        outside = {each["parameter"]: (each["value"], each["message"]) for each in read["outside"]}
        assert outside == {
            "max_rollouts": (
                500, "max_rollouts is 500; no knob sets it: change it in the job's body.",
            ),
            "max_training_time_s": (
                60, "max_training_time_s is 60.0; no knob sets it: change it in the job's body.",
            ),
        }  # fmt: skip
        assert not read["exact"]


async def test_the_service_own_values_are_not_outside(api: Api, job: dict[str, Any]) -> None:
    own = job["method"]["reinforcement"]
    own |= {
        "max_episode_steps": 10,
        "loss": {"type": "ppo", "epsilon_high": 0.2},
        "mode": {"type": "sync"},
        "keep_checkpoints": {"best": 3},
        "mismatch": {},
    }
    own["hyperparameters"] |= {"batch_size": "auto", "eval_greedy": True, "beta": 0.3}
    own["stop"]["limit_stops"] = {"share": 0.5}
    read = (await api.call("POST", EXPLAIN, json={"job": job})).json()
    assert (read["exact"], read["outside"]) == (True, [])


async def test_a_job_that_validate_refuses_is_not_read(api: Api, job: dict[str, Any]) -> None:
    job["method"]["reinforcement"]["lora"] = {"rank": 4}
    reply = await api.call("POST", EXPLAIN, json={"job": job})
    error = reply.json()["error"]
    assert (reply.status_code, error["param"]) == (400, f"job.{ROOT}.lora")
    assert error["code"] == "unknown_parameter"


@cases("rows", [3, 12, 200, 900, 5000])
def test_the_numbers_of_a_started_job_are_those_of_auto(rows: int) -> None:
    base = BaseModelSpec(name="m", path="m", context_length=1024)
    grader = {"type": "json_valid", "name": "g"}
    for size, exact in (("auto", True), (2, False)):
        sent = {"grader": grader, "hyperparameters": {"n_epochs": 3, "batch_size": size}}
        method = ReinforcementMethod.model_validate(sent)
        resolved = resolve_hyperparameters(method, train_rows=rows, base_model=base)
        options = resolved_options(method.model_dump(mode="json"), resolved, base)
        outside = reading_of("reinforcement", options, total_steps=resolved.total_steps).outside
        beyond = [each.parameter for each in outside if each.knob is None]
        assert beyond == ([] if exact else [f"{ROOT}.hyperparameters.batch_size"])
