"""Makes webhook endpoints over HTTP, and reads and writes their rows."""

from typing import Any

from tests.support.api.application import ENDPOINT, Api
from tests.support.stack import Database

PATH = "/v1/webhook_endpoints"
DONE = "fine_tuning.job.succeeded"
NEW = {"name": "ci", "url": f"{ENDPOINT}/hook", "event_types": [DONE]}


async def made_endpoint(api: Api, **changes: Any) -> Any:
    reply = await api.call("POST", PATH, json={**NEW, **changes})
    assert reply.status_code == 200, reply.text
    return reply.json()


def execute(database: Database, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    cursor = database.connection.execute(statement.encode(), values or None)
    return cursor.fetchall() if cursor.description else []
