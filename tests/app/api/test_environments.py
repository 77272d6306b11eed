"""Jobs and checks whose tasks come from a built-in environment."""

import json
import re
from pathlib import Path
from typing import Any

import psycopg
import pytest

from app.tools.environments import ENVIRONMENTS, training_numbers, validation_numbers
from tests.support.api.application import ENDPOINT, Api
from tests.support.api.job_calls import JOBS
from tests.support.api.refused_jobs import refused_job
from tests.support.cases import cases
from tests.support.environments.built_in import read_built_in
from tests.support.registry.built_in_environments import COUNTS, PARAM, call, created, rows_of
from tests.support.stack import Database

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "environments.md"
EXAMPLES = ROOT / "examples" / "environments"
CANARY = "canary-environment-5d"


def documented() -> list[dict[str, Any]]:
    """Returns the indented blocks of the page of environments, which are create calls."""
    blocks = re.findall(r"(?:^    .*\n)+", PAGE.read_text(), re.MULTILINE)
    return [json.loads(block) for block in blocks]


def kind_of(sent: dict[str, Any]) -> str:
    kind: str = sent["method"]["reinforcement"]["environment"]["type"]
    return kind


async def file_count(api: Api) -> int:
    return len((await api.call("GET", "/v1/files")).json()["data"])


@pytest.mark.parametrize("kind", ["arithmetic", "gsm8k", "code_execution"])
async def test_a_job_has_the_tasks_of_its_environment_as_files(api: Api, kind: str) -> None:
    environment = {"type": kind, "seed": 4, **COUNTS}
    job = await created(api, call(environment))
    own = read_built_in(environment)
    for name, order in (("training", training_numbers), ("validation", validation_numbers)):
        rows = await rows_of(api, job[f"{name}_file"])
        assert rows == [own.row(number) for number in order(own, own.problems)]
    shown = job["method"]["reinforcement"]
    assert environment.items() <= shown["environment"].items()
    assert own.grader().items() <= shown["grader"].items()
    files = (await api.call("GET", "/v1/files")).json()["data"]
    assert {file["filename"] for file in files} == {
        f"{kind}-training.jsonl",
        f"{kind}-validation.jsonl",
    }


async def test_a_built_in_environment_is_named_by_a_text(api: Api) -> None:
    shown = []
    for environment in ("arithmetic", {"type": "arithmetic"}):
        job = await created(api, call(environment))
        method = job["method"]["reinforcement"]
        rows = await rows_of(api, job["training_file"])
        shown.append((method["environment"], method["grader"], rows))
    assert shown[0] == shown[1]
    checked = await api.call("POST", f"{JOBS}/validate", json=call("arithmetic"))
    assert checked.json()["training_file"]["rows"] == len(shown[0][2])
    error = await refused_job(api, call("llm_judge"))
    assert error[:2] == (f"{PARAM}.model", "missing_required_parameter")


@cases("sent", documented(), ids=kind_of)
async def test_the_calls_of_the_page_are_accepted_as_they_stand(
    api: Api, sent: dict[str, Any]
) -> None:
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    assert (report["valid"], report["errors"]) == (True, [])
    # No sandbox runs beside these tests.
    assert {one["code"] for one in report["warnings"]} <= {"grader_not_tried"}
    environment = read_built_in(sent["method"]["reinforcement"]["environment"])
    assert report["training_file"]["rows"] == environment.training_tasks


def test_the_page_has_every_environment_and_option() -> None:
    assert [kind_of(sent) for sent in documented()] == list(ENVIRONMENTS)
    page = PAGE.read_text()
    for model in ENVIRONMENTS.values():
        assert [name for name in model.model_fields if f"`{name}`" not in page] == []
    examples = {path.stem for path in EXAMPLES.glob("*.json")}
    assert examples == set(ENVIRONMENTS)


async def test_a_grader_of_the_call_replaces_the_environments(api: Api) -> None:
    own = {"type": "contains", "needles": ["{{item.answer}}"]}
    job = await created(api, call({"type": "arithmetic", **COUNTS}, grader=own))
    assert job["method"]["reinforcement"]["grader"]["type"] == "contains"


async def test_a_check_counts_the_tasks_and_keeps_no_file(api: Api) -> None:
    body = call({"type": "gsm8k", **COUNTS})
    report = (await api.call("POST", f"{JOBS}/validate", json=body)).json()
    assert (report["valid"], report["errors"]) == (True, [])
    assert report["training_file"]["rows"] == 20
    assert report["validation_file"]["rows"] == 10
    assert report["estimate"]["train_rollouts"] >= 20 * 8
    assert await file_count(api) == 0


@cases("name", ["training_file", "curriculum"])
async def test_files_beside_an_environment_are_refused(
    api: Api, files: tuple[str, str], name: str
) -> None:
    body = {**call({"type": "arithmetic"}), name: files[0]}
    param, code, message = await refused_job(api, body)
    assert (param, code) == (name, "invalid_value")
    assert PARAM in message


async def test_a_job_without_files_and_environment_is_refused(
    api: Api, body: dict[str, Any]
) -> None:
    grader = body["method"]["reinforcement"]["grader"]
    sent = call(None, grader=grader)
    assert (await refused_job(api, sent))[:2] == ("training_file", "missing_required_parameter")
    method = {"type": "reinforcement", "reinforcement": {}}
    sent = {**body, "method": method}
    param, code, _ = await refused_job(api, sent)
    assert (param, code) == ("method.reinforcement.grader", "missing_required_parameter")


@cases(
    ("environment", "path", "code", "part"),
    [
        ({"type": "htpp"}, "type", "invalid_value", "did you mean 'http'? There are"),
        ("http", "", "environment_not_found", "of type 'http' is an object with a 'url'."),
        ({"type": "arithmetic", "validation_tasks": 0}, "validation_tasks", "invalid_value",
         "is validated on held-out tasks and cannot go without: it must be at least 10."),
        (["arithmetic"], "", "invalid_value", "an object or a name"),
        (
            {"type": "arithmetic", "max_operand": 1, "training_tasks": 20},
            "training_tasks",
            "too_few_problems",
            "8 different problems",
        ),
        ({"type": "gsm8k", "file": "file-none"}, "file", "file_not_found", "file-none"),
        (
            {"type": "llm_judge", "model": "m", "base_url": "http://169.254.169.254/v1"},
            "base_url",
            "endpoint_not_allowed",
            "",
        ),
    ],
)  # fmt: skip
async def test_a_wrong_environment_is_refused_with_its_path(
    api: Api, environment: Any, path: str, code: str, part: str
) -> None:
    param, found, message = await refused_job(api, call(environment))
    assert (param, found) == (f"{PARAM}.{path}" if path else PARAM, code)
    assert part in message
    report = (await api.call("POST", f"{JOBS}/validate", json=call(environment))).json()
    assert [fault["message"] for fault in report["errors"]] == [message]
    assert await file_count(api) == 0


async def test_headers_for_a_judge_are_sealed(api: Api, database: Database) -> None:
    environment = {
        "type": "llm_judge",
        "model": "m",
        "base_url": f"{ENDPOINT}/v1",
        "headers": {"Authorization": f"Bearer {CANARY}"},
        **COUNTS,
    }
    job = await created(api, call(environment))
    assert CANARY not in json.dumps(job)
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        stored = connection.execute("SELECT j::text FROM fine_tuning_jobs j").fetchall()
    assert len(stored) == 1
    assert CANARY not in stored[0][0]
    inner = job["method"]["reinforcement"]
    for part in ("environment", "grader"):
        assert inner[part]["headers"] == {"Authorization": "[redacted]"}
    rows = await rows_of(api, job["training_file"])
    assert all(row["question"] == row["messages"][0]["content"] for row in rows)
    assert inner["grader"]["question"] == "{{item.question}}"


LONG = {"description": "b"}


def judged(*rubric: dict[str, Any]) -> dict[str, Any]:
    return {"type": "llm_judge", "model": "tiny-agent", "rubric": rubric}


@cases(
    ("environment", "path", "part"),
    [
        ({"type": "arithmetic", "operations": ["divide"]}, "operations[0]", "it must be 'add'"),
        (judged({"name": "a", "description": "is {item.x} in it?"}), "rubric[0].description",
         "'{item.x}' would not be filled in"),
        (judged({"name": "a", "description": " \n"}), "rubric[0].description", "it is blank"),
        (judged({"name": "a", **LONG}, {"name": "b", **LONG}, {"name": "A ", **LONG}),
         "rubric[2].name", "join the two, or name them apart"),
        (judged({"nme": "a", **LONG}), "rubric[0].nme", "Did you mean 'name'?"),
        ({"type": "llm_judge", "model": "tiny-agent", "prompts": [" ", *map(str, range(20))]},
         "prompts[0]", "send a question, or leave it out"),
    ],
)  # fmt: skip
async def test_one_mistake_is_one_error(
    api: Api, *, environment: dict[str, Any], path: str, part: str
) -> None:
    report = (await api.call("POST", f"{JOBS}/validate", json=call(environment))).json()
    (fault,) = report["errors"]
    assert (fault["param"], part in fault["message"]) == (f"{PARAM}.{path}", True), fault
    assert (await refused_job(api, call(environment)))[0] == fault["param"]


async def test_every_unknown_option_is_named_and_nulls_are_spared(api: Api) -> None:
    environment = {"type": "arithmetic", "operand": 3, "max": 9, "level": None, "seed": None}
    report = (await api.call("POST", f"{JOBS}/validate", json=call(environment))).json()
    assert [(one["param"], one["code"]) for one in report["errors"]] == [
        (f"{PARAM}.operand", "unknown_parameter"),
        (f"{PARAM}.max", "unknown_parameter"),
    ]
    spared = {"type": "arithmetic", "level": None, "seed": None}
    report = (await api.call("POST", f"{JOBS}/validate", json=call(spared))).json()
    assert report["errors"] == []
