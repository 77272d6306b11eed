"""Curves of tools, graders and components that the job does not have are refused, not empty."""

import re
from typing import Any

import psycopg
import pytest

from app.jobs.findings import check_parts
from app.jobs.methods import stored_method
from app.kit.errors import InvalidRequest
from tests.support.api.application import ENDPOINT, Api
from tests.support.cases import cases
from tests.support.stack import Database

JOBS = "/v1/fine_tuning/jobs"
CHECK = {
    "type": "string_check",
    "input": "{{sample.output_text}}",
    "reference": "yes",
    "operation": "eq",
}
MULTI = {
    "type": "multi",
    "name": "both",
    "graders": {"accuracy": CHECK, "style": CHECK},
    "calculate_output": "accuracy + style",
}


async def job_with(api: Api, body: dict[str, Any], **options: Any) -> str:
    reinforcement = {**body["method"]["reinforcement"], **options}
    sent = {**body, "method": {"type": "reinforcement", "reinforcement": reinforcement}}
    made = await api.call("POST", JOBS, json=sent)
    assert made.status_code == 200, made.text
    return str(made.json()["id"])


def put_points(database: Database, job: str, *names: str) -> None:
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        for name in names:
            connection.execute(
                "INSERT INTO job_metrics (project_id, job_id, name, split, step, value) "
                "SELECT project_id, id, %s, 'train', 1, 0.25 FROM fine_tuning_jobs WHERE id = %s",
                (name, job),
            )


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ("tool/serch/calls_mean",
         ("the job has no tool 'serch'. Did you mean 'tool/search/calls_mean'? The job has the "
          "tools 'search', 'tool'.")),
        ("tool/zzz/errors/http_404", "the job has no tool 'zzz'. The job has the tools"),
        ("grader/acuracy/errors/other_error",
         "Did you mean 'grader/accuracy/errors/other_error'?"),
        ("reward/component/acc", "Did you mean 'reward/component/accuracy'?"),
    ],
)  # fmt: skip
async def test_a_part_that_the_job_does_not_have_is_refused_with_the_nearest(
    api: Api, body: dict[str, Any], database: Database, sent: str, said: str
) -> None:
    tools = [{"name": name, "server_url": ENDPOINT} for name in ("search", "tool")]
    job = await job_with(api, body, tools=tools, grader=MULTI)
    put_points(database, job, "reward/mean", "reward/component/accuracy")
    reply = await api.call("GET", f"{JOBS}/{job}/metrics", params={"names": f"reward/mean,{sent}"})
    error = reply.json()["error"]
    assert (reply.status_code, error["param"], error["code"]) == (400, "names", "invalid_value")
    assert said in error["message"]


async def test_parts_that_the_job_has_may_be_empty(
    api: Api, body: dict[str, Any], database: Database
) -> None:
    job = await job_with(api, body, grader=MULTI)
    put_points(database, job, "tool/earlier/errors")
    names = [
        "tool/search/errors",
        "tool/(unknown)/errors",
        "tool/(unparsable)/errors/parse_error",
        "tool/earlier/calls_mean",
        "grader/style/errors/other_error",
        "grader/errors/other_error",
        "reward/component/anything",
        "discarded/tool_timeout",
    ]
    for name in names:
        reply = await api.call("GET", f"{JOBS}/{job}/metrics", params={"names": name})
        assert (reply.status_code, reply.json()["data"]) == (200, []), name


async def test_a_job_without_tools_and_children_reports_it(api: Api, body: dict[str, Any]) -> None:
    job = await job_with(api, body, tools=[])
    for name, said in (
        ("tool/search/errors", "The job has no tools."),
        ("grader/style/measured", "The job has no children of a 'multi' grader."),
    ):
        reply = await api.call("GET", f"{JOBS}/{job}/metrics", params={"names": name})
        assert reply.status_code == 400
        assert reply.json()["error"]["message"].endswith(said)


LISTED = {"server_label": "a", "listing": {"tools": [{"name": "lookup"}]}}


@cases(
    ("options", "refused"),
    [
        ({"mcp_servers": [LISTED]}, "The job has the tools 'lookup'."),
        ({"mcp_servers": [LISTED, {"server_label": "b"}]}, None),
        ({"environment": {"type": "http"}}, None),
        ({"environment": {"type": "arithmetic"}}, "The job has no tools."),
    ],
)
def test_tools_that_a_server_or_environment_may_still_offer_are_not_refused(
    options: dict[str, Any], refused: str | None
) -> None:
    method = stored_method({"type": "reinforcement", "reinforcement": {"grader": CHECK, **options}})
    check_parts(["tool/lookup/errors"] if "mcp_servers" in options else [], method, ())
    if refused is None:
        check_parts(["tool/other/errors"], method, ())
        return
    with pytest.raises(InvalidRequest, match=re.escape(refused)):
        check_parts(["tool/other/errors"], method, ())
