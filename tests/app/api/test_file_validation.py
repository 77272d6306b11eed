"""Files of a new job are validated without a worker: the job is queued or fails within seconds."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from tests.support.api.application import Api, running
from tests.support.cases import cases
from tests.support.patience import PATIENCE_S
from tests.support.stack import Database

JOBS = "/v1/fine_tuning/jobs"
CHECK = {
    "type": "string_check",
    "input": "{{sample.output_text}}",
    "reference": "{{item.answer}}",
    "operation": "eq",
}


@pytest.fixture
async def api(database: Database) -> AsyncIterator[Api]:
    settings = database.settings.model_copy(update={"validate_files_after_s": 0.0})
    async with running(replace(database, settings=settings), "127.0.0.1:9") as api:
        yield api


def rows(count: int, **extra: Any) -> list[dict[str, Any]]:
    return [{"messages": [{"role": "user", "content": f"q{n}"}], **extra} for n in range(count)]


async def job_of(
    api: Api, training: list[dict[str, Any]], validation: list[dict[str, Any]], **more: Any
) -> dict[str, Any]:
    files = [
        (await api.upload("\n".join(json.dumps(row) for row in part).encode())).json()["id"]
        for part in (training, validation)
    ]
    options = {"grader": CHECK, "hyperparameters": {"n_epochs": 2, "batch_size": 4}, **more}
    sent = {
        "model": "tiny-agent",
        "training_file": files[0],
        "validation_file": files[1],
        "method": {"type": "reinforcement", "reinforcement": options},
    }
    made = await api.call("POST", JOBS, json=sent)
    assert (made.status_code, made.json()["status"]) == (200, "validating_files"), made.text
    return await left_validating(api, made.json()["id"])


async def left_validating(api: Api, job_id: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            job: dict[str, Any] = (await api.call("GET", f"{JOBS}/{job_id}")).json()
            if job["status"] != "validating_files":
                return job
            await asyncio.sleep(0.05)


async def messages(api: Api, job_id: str) -> list[tuple[str, str]]:
    page = (await api.call("GET", f"{JOBS}/{job_id}/events")).json()["data"]
    return [(event["level"], event["message"]) for event in reversed(page)]


async def test_a_job_with_good_files_is_queued_and_resolved(api: Api) -> None:
    every = rows(22, answer="x")
    job = await job_of(api, every[:12], every[12:])
    assert (job["status"], job["error"], job["queue_position"]) == ("queued", {}, 1)
    assert job["total_steps"] == 6  # 12 rows in batches of 4, twice
    hyperparameters = job["method"]["reinforcement"]["hyperparameters"]
    assert (hyperparameters["compute_multiplier"], hyperparameters["eval_samples"]) == (1, 1)
    files = (job["training_file"], job["validation_file"])
    assert await messages(api, job["id"]) == [
        ("info", f"Created fine-tuning job: {job['id']}"),
        ("info", f"Validating training file: {files[0]} and validation file: {files[1]}"),
        ("info", "Files validated, moving job to queued state"),
    ]


async def test_a_row_that_the_grader_cannot_read_fails_the_job_by_its_line(api: Api) -> None:
    held_out = [*rows(9, calls=[]), *rows(1, calls=[{"arguments": {}}])]
    grader = {"type": "tool_call", "reference": "{{item.calls}}"}
    job = await job_of(api, rows(12, calls=[]), held_out, grader=grader)
    assert (job["status"], job["error"]["code"]) == ("failed", "unreadable_row")
    assert job["error"]["param"] == "method.reinforcement.grader.reference"
    assert (
        "1 of 10 rows of the validation file have none that can be used (lines 10)"
        in (job["error"]["message"])
    )


async def test_held_out_rows_that_are_trained_on_are_warned_about(api: Api) -> None:
    held_out = [*rows(10, answer="x"), *rows(2, answer="another")]
    job = await job_of(api, rows(3, answer="x") + rows(12, answer="x")[5:], held_out)
    assert job["status"] == "queued"
    level, message = (await messages(api, job["id"]))[-1]
    assert level == "warn"
    assert message.startswith(
        "10 rows of the validation file are in the training file too (line 1 is line 1, line 2 "
        "is line 2, line 3 is line 3, line 6 is line 4, line 7 is line 5, … of the training file)"
    )


async def test_a_job_has_the_warnings_about_its_files_that_validate_gives(api: Api) -> None:
    """Nested parameters are not in the prompts of this model's template. `validate` gives that
    warning with the line of each set of tools, and the job once.
    """
    deep = {"type": "object", "properties": {"more": {"type": "object", "properties": {"x": {}}}}}
    tool = {"type": "function", "function": {"name": "lookup", "parameters": deep}}
    other = {"type": "function", "function": {"name": "other"}}
    same = [*rows(10, answer="x", tools=[tool]), *rows(2, answer="x", tools=[tool, other])]
    job = await job_of(api, same, rows(10, answer="x"), hyperparameters={"batch_size": 50})
    sent = {name: job[name] for name in ("model", "training_file", "validation_file")}
    options = {"grader": CHECK, "hyperparameters": {"batch_size": 50}}
    sent["method"] = {"type": "reinforcement", "reinforcement": options}
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    codes = {found["code"] for found in report["warnings"]}
    expected = {"duplicate_rows", "overlapping_rows", "tools_not_run", "batch_size_over_rows"}
    assert codes - {"tool_schema"} == expected, report["warnings"]
    given = Counter(found["message"] for found in report["warnings"])
    assert max(given.values()) == 2
    warned = [message for level, message in await messages(api, job["id"]) if level == "warn"]
    assert warned == list(given)


async def test_rows_with_tools_need_no_tools_of_the_job(api: Api) -> None:
    properties = {"a": {"type": "string"}, "b": None}  # as a table writes two different tools
    schema = {"type": "object", "properties": properties}
    function = {"name": "lookup", "strict": None, "parameters": schema}
    tool = {"type": "function", "function": function}
    offering = rows(10, answer="x", tools=[tool])
    job = await job_of(api, offering, offering)
    assert (job["status"], job["error"]) == ("queued", {})
    other = {"name": "other", "server_url": "http://127.0.0.1:9/other"}
    named = await job_of(api, offering, offering, tools=[other])
    assert named["status"] == "failed"
    assert "tool 'lookup' has no server_url" in named["error"]["message"]


@cases(
    ("training", "validation", "error"),
    [
        (
            rows(5, answer="x"),
            rows(10, answer="x"),
            ("invalid_n_examples", "training_file",
             "Training file has 5 example(s), but must have at least 10 examples"),
        ),
        (
            rows(10, answer="x"),
            [*rows(9, answer="x"), {"answer": "a"}],
            ("invalid_validation_file", "validation_file",
             ("Invalid file format. Line 10, /messages: must be a list with at least one message"
              "; the row has 'answer'")),
        ),
        (
            rows(10, anser="x"),
            rows(10, answer="x"),
            ("invalid_variable_error", "method.reinforcement.grader.reference",
             "'{{item.answer}}': no row of the training file has it. Did you mean 'item.anser'?"),
        ),
        (
            rows(10, answer="x"),
            [*rows(8, answer="x"), *rows(2)],
            ("invalid_variable_error", "method.reinforcement.grader.reference",
             ("'{{item.answer}}': 2 of 10 rows of the validation file lack it (lines 9, 10). Give "
             "it to every row: null, NaN and a blank are none.")),
        ),
    ],
)  # fmt: skip
async def test_a_job_with_a_faulty_file_fails_with_the_fault(
    api: Api, *, training: Any, validation: Any, error: tuple[str, str, str]
) -> None:
    job = await job_of(api, training, validation)
    reported = job["error"]
    assert (job["status"], reported["code"], reported["param"], reported["message"]) == (
        "failed",
        *error,
    )
    assert job["finished_at"] is not None
    assert (await messages(api, job["id"]))[-1] == ("error", error[2])


async def test_a_job_whose_prompts_fill_the_context_fails_before_a_worker_takes_it(
    api: Api,
) -> None:
    long = [
        {"messages": [{"role": "user", "content": f"{n}" + "b" * 3000}], "answer": "x"}
        for n in range(10)
    ]
    job = await job_of(api, rows(10, answer="x"), long)
    error = job["error"]
    assert (job["status"], error["code"]) == ("failed", "prompt_exceeds_context")
    assert error["param"] == "validation_file"
    assert error["message"].startswith("10 of 10 measured prompts fill the model's context")
    warned = await job_of(api, rows(10, answer="x"), long, nothing_to_learn={"action": "warn"})
    assert warned["status"] == "queued"


async def test_other_methods_are_queued_too(api: Api) -> None:
    turns = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    content = "\n".join(json.dumps({"messages": turns}) for _ in range(10)).encode()
    file_id = (await api.upload(content)).json()["id"]
    sent = {"model": "tiny-agent", "training_file": file_id, "hyperparameters": {"n_epochs": 2}}
    made = await api.call("POST", JOBS, json=sent)
    job = await left_validating(api, made.json()["id"])
    assert (job["status"], job["total_steps"]) == ("queued", 20)
    assert job["hyperparameters"]["batch_size"] == 1


@cases(
    ("asked", "answer", "status", "level", "said"),
    [
        (9000, 1, "failed", "error",
         "Invalid file format. Line 4: its answer begins after the 1024 tokens that the model"),
        (10, 9000, "queued", "warn", "1 of 10 measured training examples are longer than 1024 tok"),
    ],
)  # fmt: skip
async def test_answers_beyond_the_context_are_known_before_a_worker_takes_the_job(
    api: Api, *, asked: int, answer: int, status: str, level: str, said: str
) -> None:
    rows = [[("user", f"q{n}"), ("assistant", "a")] for n in range(10)]
    rows[3] = [("user", "b" * asked), ("assistant", "c" * answer)]
    turns = [[{"role": role, "content": text} for role, text in row] for row in rows]
    content = "\n".join(json.dumps({"messages": row}) for row in turns).encode()
    file_id = (await api.upload(content)).json()["id"]
    sent = {"model": "tiny-agent", "training_file": file_id}
    made = await api.call("POST", JOBS, json=sent)
    job = await left_validating(api, made.json()["id"])
    last = (await messages(api, job["id"]))[-1]
    assert (job["status"], last[0], last[1][: len(said)]) == (status, level, said)
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    assert report["valid"] is (status == "queued")


async def test_a_job_that_a_worker_has_claimed_is_left_to_it(
    api: Api, body: dict[str, Any], database: Database
) -> None:
    """The trigger claims the first job as it is inserted, as a free worker would."""
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute(
            "CREATE FUNCTION claim() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "IF NEW.suffix = 'claimed' THEN NEW.lease_until = now() + interval '1 hour'; END IF; "
            "RETURN NEW; END $$"
        )
        connection.execute(
            "CREATE TRIGGER claim BEFORE INSERT ON fine_tuning_jobs "
            "FOR EACH ROW EXECUTE FUNCTION claim()"
        )
    claimed = (await api.call("POST", JOBS, json={**body, "suffix": "claimed"})).json()["id"]
    free = (await api.call("POST", JOBS, json=body)).json()["id"]
    # Jobs of a project are validated in the order of their creation.
    assert (await left_validating(api, free))["status"] == "queued"
    shown = (await api.call("GET", f"{JOBS}/{claimed}")).json()
    assert (shown["status"], shown["total_steps"]) == ("validating_files", None)
