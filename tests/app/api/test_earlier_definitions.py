"""Registered tools, graders and jobs that an earlier version took and this one refuses: they can be
read, and using them says why not.
"""

from typing import Any

import psycopg

from tests.support.api.application import ENDPOINT, Api
from tests.support.stack import Database

JOBS = "/v1/fine_tuning/jobs"
REGEX = {"type": "regex", "name": "r", "pattern": "a"}


def store(database: Database, change: str) -> None:
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        assert connection.execute(change.encode()).rowcount == 1


async def refusal(api: Api, path: str, **content: Any) -> tuple[int, str, str]:
    reply = await api.call("POST", path, json=content)
    return reply.status_code, reply.json()["error"]["param"], reply.json()["error"]["message"]


async def test_a_grader_of_earlier_rules(api: Api, database: Database, body: Any) -> None:
    sent = {"name": "g", "grader": REGEX}
    grader = (await api.call("POST", "/v1/graders", json=sent)).json()
    store(
        database,
        "UPDATE registered_versions"
        """ SET definition = jsonb_set(definition, '{pattern}', '"{{x}}"')""",
    )
    one = f"/v1/graders/{grader['id']}"
    for path in (one, f"{one}?version=1"):
        assert (await api.call("GET", path)).json()["grader"]["pattern"] == "{{x}}"
    for path in ("/v1/graders", f"{one}/versions"):
        [listed] = (await api.call("GET", path)).json()["data"]
        assert listed["grader"]["pattern"] == "{{x}}"
    status, param, reported = await refusal(api, f"{one}/test", model_sample="x")
    assert (status, param) == (400, "id")
    assert reported.startswith(
        f"The grader {grader['id']}, version 1, was registered under earlier rules and is refused "
        "today. Invalid value for 'grader.pattern': "
    )
    assert reported.endswith(" Send an update, which makes a new version.")
    body["method"]["reinforcement"]["grader"] = {"id": grader["id"]}
    param = "method.reinforcement.grader.id"
    assert await refusal(api, JOBS, **body) == (400, param, reported)
    report = (await api.call("POST", f"{JOBS}/validate", json=body)).json()
    assert (param, reported) in [(fault["param"], fault["message"]) for fault in report["errors"]]
    status, param, reported = await refusal(api, one, name="h")
    assert (status, param) == (400, "grader")
    assert "was registered under earlier rules" in reported
    assert reported.endswith("Send a 'grader' that is accepted with the update.")
    assert (await api.call("POST", one, json={"grader": REGEX})).json()["version"] == 2
    assert (await api.call("POST", JOBS, json=body)).status_code == 200
    assert (await api.call("DELETE", one)).status_code == 200


async def test_a_tool_of_earlier_rules(api: Api, database: Database, body: Any) -> None:
    sent = {"name": "search", "server_url": ENDPOINT}
    tool = (await api.call("POST", "/v1/tools", json=sent)).json()
    store(
        database,
        "UPDATE registered_versions SET definition = jsonb_set(definition, '{name}', '\"a b\"')",
    )
    one = f"/v1/tools/{tool['id']}"
    assert (await api.call("GET", one)).status_code == 200
    status, param, reported = await refusal(api, f"{one}/test", requests=1)
    assert (status, param) == (400, "id")
    assert (
        "was registered under earlier rules and is refused today. Invalid value for 'name'"
        in reported
    )
    body["method"]["reinforcement"]["tools"] = [{"id": tool["id"]}]
    assert await refusal(api, JOBS, **body) == (400, "method.reinforcement.tools[0].id", reported)


async def test_a_tool_whose_rate_limits_nothing(api: Api, database: Database, body: Any) -> None:
    """Such a limit was ignored without a word, in a job's own tool too."""
    tool = (await api.call("POST", "/v1/tools", json={"name": "t", "server_url": ENDPOINT})).json()
    store(
        database, "UPDATE registered_versions SET definition = definition || '{\"rate_limit\": -3}'"
    )
    status, param, reported = await refusal(api, f"/v1/tools/{tool['id']}/test", requests=1)
    assert (status, param) == (400, "id")
    assert "'rate_limit': it must be a number above 0, the calls per second" in reported
    inner = body["method"]["reinforcement"]
    inner["tools"] = [{"id": tool["id"]}]
    assert await refusal(api, JOBS, **body) == (400, "method.reinforcement.tools[0].id", reported)
    param = "method.reinforcement.tools[0].rate_limit"
    for rate in (-3, 0, "5", True):
        inner["tools"] = [{"name": "t", "server_url": ENDPOINT, "rate_limit": rate}]
        assert (await refusal(api, JOBS, **body))[:2] == (400, param), rate
    inner["tools"][0]["rate_limit"] = 0.5
    assert (await api.call("POST", JOBS, json=body)).status_code == 200


async def test_a_job_of_earlier_rules_is_shown(api: Api, database: Database, body: Any) -> None:
    made = (await api.call("POST", JOBS, json=body)).json()["id"]
    store(
        database,
        "UPDATE fine_tuning_jobs SET method = jsonb_set(method, '{reinforcement,grader}', "
        """'{"type": "gone", "pattern": "("}')""",
    )
    shown = (await api.call("GET", f"{JOBS}/{made}")).json()
    assert shown["method"]["reinforcement"]["grader"]["type"] == "gone"
    assert [job["id"] for job in (await api.call("GET", JOBS)).json()["data"]] == [made]
    for path in ("events", "checkpoints", "metrics", "rollouts"):
        assert (await api.call("GET", f"{JOBS}/{made}/{path}")).status_code == 200, path
    assert (await api.call("POST", f"{JOBS}/{made}/cancel")).status_code == 200
