"""Create calls whose tasks come from a built-in environment."""

import json
from typing import Any, Final

from tests.support.api.application import Api
from tests.support.api.job_calls import JOBS

PARAM: Final = "method.reinforcement.environment"
COUNTS: Final = {"training_tasks": 20, "validation_tasks": 10}


def call(environment: Any, **method: Any) -> dict[str, Any]:
    inner = {"environment": environment, **method}
    return {"model": "tiny-agent", "method": {"type": "reinforcement", "reinforcement": inner}}


async def created(api: Api, body: dict[str, Any]) -> dict[str, Any]:
    reply = await api.call("POST", JOBS, json=body)
    assert reply.status_code == 200, reply.text
    job: dict[str, Any] = reply.json()
    return job


async def rows_of(api: Api, file_id: str) -> list[dict[str, Any]]:
    content = await api.call("GET", f"/v1/files/{file_id}/content")
    return [json.loads(line) for line in content.text.splitlines()]
