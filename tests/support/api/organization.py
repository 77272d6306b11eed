"""Calls of an organization's administration over HTTP, and the rows behind them."""

from typing import Any

from tests.support.api.application import Api
from tests.support.stack import Database

ROOT = "/v1/organization"
PROJECTS = f"{ROOT}/projects"
ADMIN_KEYS = f"{ROOT}/admin_api_keys"


class Admin:
    """Calls with an admin key; `refused` makes calls that must fail."""

    def __init__(self, api: Api, key: str) -> None:
        self.api, self.key = api, key

    async def __call__(self, method: str, path: str, **kwargs: Any) -> Any:
        reply = await self.api.call(method, path, key=self.key, **kwargs)
        assert reply.status_code == 200, reply.text
        return reply.json()

    async def refused(self, status: int, method: str, path: str, **kwargs: Any) -> Any:
        reply = await self.api.call(method, path, key=self.key, **kwargs)
        assert reply.status_code == status, reply.text
        error = reply.json()["error"]
        assert set(error) == {"message", "type", "param", "code"}
        return error

    async def project(self, name: str) -> str:
        return str((await self("POST", PROJECTS, json={"name": name}))["id"])

    async def account(self, project: str, **body: Any) -> Any:
        path = f"{PROJECTS}/{project}/service_accounts"
        return await self("POST", path, json={"name": "ci"} | body)


async def status(api: Api, key: str) -> int:
    return int((await api.call("GET", "/v1/models", key=key)).status_code)


async def opens(api: Api, value: str) -> bool:
    return bool((await api.call("GET", ADMIN_KEYS, key=value)).status_code == 200)


def execute(database: Database, query: str, *values: Any) -> list[tuple[Any, ...]]:
    cursor = database.connection.execute(query.encode(), values)
    return cursor.fetchall() if cursor.description else []
