"""Keys under a wrong name or in a wrong object: the refusal names the key and its place, not what
is missing because of it.
"""

from typing import Any

from app.jobs.methods import CALL_PARAMETERS
from app.jobs.schemas import CreateFineTuningJob
from app.tools.environments import ENVIRONMENTS
from tests.support.api.application import Api
from tests.support.api.job_calls import JOBS
from tests.support.cases import cases

ROOT = "method.reinforcement"
TASKS = {"type": "arithmetic", "training_tasks": 20, "validation_tasks": 10}
CHECK = {
    "type": "string_check",
    "input": "{{sample.output_text}}",
    "reference": "{{item.answer}}",
    "operation": "eq",
}


def call(**inner: Any) -> dict[str, Any]:
    return {"model": "tiny-agent", "method": {"type": "reinforcement", "reinforcement": inner}}


OWN_JUDGE = {"type": "llm_judge", "model": "tiny-agent"}
JUDGED = {"type": "llm_judge", "modell": "tiny-agent"}
CASES: list[tuple[dict[str, Any], str, str]] = [
    ({"model": "tiny-agent", "environment": TASKS}, "environment", f"{ROOT}.environment"),
    (call(enviroment=TASKS), f"{ROOT}.enviroment", "environment"),
    ({"model": "tiny-agent", "method": {"type": "reinforcement", "environment": TASKS,
      "reinforcement": {"grader": CHECK}}}, "method.environment", f"{ROOT}.environment"),
    (call(environment=JUDGED), f"{ROOT}.environment.modell", "model"),
    ({**call(graders=CHECK), "training_file": "file-1", "validation_file": "file-2"},
     f"{ROOT}.graders", "grader"),
    ({**call(grader=CHECK), "trainig_file": "file-1"}, "trainig_file", "training_file"),
    (call(environment=TASKS, tools=[{"nme": "a", "server_url": "https://a.example"}]),
     f"{ROOT}.tools[0].nme", "name"),
]  # fmt: skip


@cases(("body", "param", "meant"), CASES)
async def test_a_key_is_named_before_what_is_missing_because_of_it(
    api: Api, body: dict[str, Any], *, param: str, meant: str
) -> None:
    error = (await api.call("POST", JOBS, json=body)).json()["error"]
    assert (error["code"], error["param"]) == ("unknown_parameter", param)
    assert f"Did you mean '{meant}'?" in error["message"]
    report = (await api.call("POST", f"{JOBS}/validate", json=body)).json()
    assert param in [fault["param"] for fault in report["errors"]]
    assert param not in [fault["param"] for fault in report["warnings"]]
    missing = [one for one in report["errors"] if one["code"] == "missing_required_parameter"]
    assert missing == []


ENDPOINT = {"type": "endpoint", "url": "https://a.example/grade"}
FILES = {"training_file": "file-1", "validation_file": "file-2"}
WORLD = {"type": "http", "url": "https://a.example/world"}
SERVER = {"server_label": "a", "server_url": "https://a.example/mcp"}


def played(keys: dict[str, Any]) -> dict[str, Any]:
    """Returns a call with an HTTP environment that has more keys."""
    return {**call(environment={**WORLD, **keys}), **FILES}


LEARNING_RATE = f"{ROOT}.hyperparameters.learning_rate_multiplier"
HINTS: list[tuple[dict[str, Any], str, str | None]] = [
    (call(environment=TASKS, training_file="file-1"), f"{ROOT}.training_file", "training_file"),
    (call(environment=TASKS, type="x"), f"{ROOT}.type", None),
    (call(environment=TASKS, training_tasks=20), f"{ROOT}.training_tasks",
     f"{ROOT}.environment.training_tasks"),
    (call(environment=TASKS, max_steps=20), f"{ROOT}.max_steps", "max_episode_steps"),
    ({"model": "tiny-agent", "method": {"type": "supervised", "supervised":
      {"environment": TASKS}}}, "method.supervised.environment", f"{ROOT}.environment"),
    (call(environment=TASKS, lr_multiplier=1), f"{ROOT}.lr_multiplier", LEARNING_RATE),
    (played({"grader": CHECK}), f"{ROOT}.environment.grader", f"{ROOT}.grader"),
    (played({"heders": {"a": "b"}}), f"{ROOT}.environment.heders", "headers"),
    (played({"trials": {"a": "b"}}), f"{ROOT}.environment.trials", None),
    (call(mcp_servers=[SERVER | {"max_episode_steps": 3}]),
     f"{ROOT}.mcp_servers[0].max_episode_steps", f"{ROOT}.max_episode_steps"),
    (call(environment=TASKS, grader={**CHECK, "seed": 1, "loss": "x"}), f"{ROOT}.grader.seed",
     None),
]  # fmt: skip


@cases(("body", "param", "hint"), HINTS)
async def test_a_key_in_a_wrong_object_comes_with_its_path(
    api: Api, body: dict[str, Any], *, param: str, hint: str | None
) -> None:
    report = (await api.call("POST", f"{JOBS}/validate", json=body)).json()
    (said,) = [
        fault["message"]
        for fault in (*report["errors"], *report["warnings"])
        if fault["param"] == param
    ]
    assert ("Did you mean" in said) == (hint is not None), said
    assert hint is None or f"Did you mean '{hint}'?" in said, said


def test_the_table_of_hints_has_every_parameter_of_a_call() -> None:
    deprecated = {"hyperparameters"}
    assert CreateFineTuningJob.model_fields.keys() - deprecated == set(CALL_PARAMETERS)


async def test_what_is_missing_is_named_where_no_key_was_meant_for_it(api: Api) -> None:
    for body, param in (
        ({**call(grader=CHECK), "zzz": "file-1", "environment": None}, "training_file"),
        (call(environment={"type": "llm_judge"}), f"{ROOT}.environment.model"),
        (call(grader={**ENDPOINT, "environment": "staging"}), "training_file"),
        ({**call(grader=CHECK), "training_steps": 100}, "training_file"),
        ({**call(), **FILES, "header": "x"}, f"{ROOT}.grader"),
    ):
        error = (await api.call("POST", JOBS, json=body)).json()["error"]
        assert (error["code"], error["param"]) == ("missing_required_parameter", param)


async def test_a_report_has_the_other_faults_of_a_call_with_a_misplaced_key(api: Api) -> None:
    body = call(enviroment=TASKS, max_episode_steps="ten", grader=CHECK)
    body["training_file"] = "file-none"
    report = (await api.call("POST", f"{JOBS}/validate", json=body)).json()
    named = {fault["param"] for fault in report["errors"]}
    assert {f"{ROOT}.enviroment", f"{ROOT}.max_episode_steps", "training_file"} <= named


UNUSED: list[tuple[dict[str, Any], list[str]]] = [
    (TASKS | {"format_penalty": 0.5, "operands": 3}, ["format_penalty"]),
    (TASKS | {"format_penalty": 0.0}, []),
    ({**OWN_JUDGE, "model": "nobody", "sampling_params": {"temperature": 0},
      "base_url": "http://169.254.169.254/v1", "headers": {"X-Key": "k"},
      "rubric": [{"name": "a", "description": "b"}]},
     ["base_url", "headers", "model", "rubric", "sampling_params"]),
]  # fmt: skip


@cases(("environment", "unused"), UNUSED)
async def test_options_of_a_replaced_grader_are_named_and_its_judge_is_not_called(
    api: Api, *, environment: dict[str, Any], unused: list[str]
) -> None:
    body = call(environment=environment, grader={"type": "contains", "needles": ["a"]})
    report = (await api.call("POST", f"{JOBS}/validate", json=body)).json()
    assert (report["errors"], report["endpoints"]) == ([], [])
    named = [one["param"] for one in report["warnings"] if one["code"] == "unused_option"]
    assert sorted(named) == [f"{ROOT}.environment.{name}" for name in unused]
    job = await api.call("POST", JOBS, json=body)
    assert job.status_code == 200, job.text
    page = (await api.call("GET", f"{JOBS}/{job.json()['id']}/events")).json()["data"]
    warned = " ".join(event["message"] for event in page if event["level"] == "warn")
    assert [name for name in unused if f"environment.{name}' changes nothing" not in warned] == []
    assert warned.count("changes nothing") == len(unused)


async def test_options_of_the_environments_own_grader_are_not_warned_about(api: Api) -> None:
    for environment in (TASKS | {"format_penalty": 0.5}, {**OWN_JUDGE, "training_tasks": 20}):
        body = call(environment=environment)
        report = (await api.call("POST", f"{JOBS}/validate", json=body)).json()
        codes = {one["code"] for one in report["warnings"]}
        assert (report["errors"], "unused_option" in codes) == ([], False)


async def test_a_judge_of_the_jobs_own_grader_is_checked_beside_an_environment(api: Api) -> None:
    sent = {**OWN_JUDGE, "model": "nobody"}
    body = call(environment={**sent, "training_tasks": 20}, grader={**sent, "scale": 5})
    error = (await api.call("POST", JOBS, json=body)).json()["error"]
    assert (error["code"], error["param"]) == ("model_not_found", f"{ROOT}.grader.model")


CHANGED: dict[str, Any] = {
    "format_penalty": 0.5,
    "model": "another",
    "base_url": "https://judge.example/v1",
    "sampling_params": {"temperature": 0},
    "rubric": [{"name": "a", "description": "b"}],
    "operands": 5,
    "min_operand": 7,
    "max_operand": 55,
    "operations": ["multiply"],
    "level": 3,
    "max_steps": 1,
    "prompts": [f"question {number}" for number in range(20)],
}


@cases("kind", list(ENVIRONMENTS))
def test_options_of_the_grader_are_those_that_change_it_and_no_task(kind: str) -> None:
    model = ENVIRONMENTS[kind]
    sent = {"type": kind} | ({"model": "judge"} if "model" in model.model_fields else {})
    plain = model.model_validate(sent)
    grading = set[str]()
    for name in model.model_fields.keys() & CHANGED.keys():
        other = model.model_validate(sent | {name: CHANGED[name]})
        numbers = [41 * n % min(plain.problems, other.problems) for n in range(20)]
        same_tasks = [other.row(n) for n in numbers] == [plain.row(n) for n in numbers]
        assert same_tasks != (other.grader() == plain.grader())
        if same_tasks:
            grading.add(name)
    # Headers are sent to an address alone.
    assert model.grader_options - {"headers"} == grading
    untried = set(model.model_fields) - CHANGED.keys()
    assert untried <= {"type", "seed", "training_tasks", "validation_tasks", "file", "headers"}
