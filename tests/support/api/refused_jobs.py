"""Create calls of jobs that are refused."""

from typing import Any

from tests.support.api.application import Api
from tests.support.api.job_calls import JOBS


async def refused_job(api: Api, body: dict[str, Any]) -> tuple[str, str, str]:
    """Returns param, code and message of the refusal."""
    reply = await api.call("POST", JOBS, json=body)
    assert reply.status_code == 400, reply.text
    error = reply.json()["error"]
    return error["param"], error["code"], error["message"]
