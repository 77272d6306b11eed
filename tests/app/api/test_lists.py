"""Lists alike on every route: their ends are named, and a query is read or refused."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.api.application import ENDPOINT, Api

JOBS = "/v1/fine_tuning/jobs"


def _reads(specification: dict[str, Any]) -> list[str]:
    """The paths of all documented GET calls that need a key."""
    return [
        path
        for path, methods in specification["paths"].items()
        if path.startswith("/v1/") and "get" in methods
    ]


async def test_no_get_ignores_a_parameter(api: Api) -> None:
    paths = _reads((await api.http.get("/openapi.json")).json())
    assert len(paths) > 30
    for path in paths:
        asked = path.format_map(_AnyId())
        reply = await api.call("GET", asked, params={"limitt": "3"})
        if reply.status_code == 403:
            reply = await api.call("GET", asked, params={"limitt": "3"}, key=api.admin_key)
        assert reply.status_code == 400, (path, reply.text)
        error = reply.json()["error"]
        assert (error["code"], error["param"]) == ("unknown_parameter", "limitt"), path
        assert error["message"] == "Unknown query parameter: 'limitt'."


class _AnyId(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "x"


async def test_the_filter_by_metadata_is_known_to_the_list_of_jobs_alone(api: Api) -> None:
    reply = await api.call("GET", f"{JOBS}?metadata[team]=a")
    assert (reply.status_code, reply.json()["data"]) == (200, [])
    for query in ("meta[team]=a", "metadata[team=a", "limit[a]=1"):
        reply = await api.call("GET", f"{JOBS}?{query}")
        assert reply.json()["error"]["code"] == "unknown_parameter", query
    reply = await api.call("GET", "/v1/files?metadata[team]=a")
    assert reply.json()["error"]["param"] == "metadata[team]"


async def test_a_key_is_checked_before_the_query(api: Api) -> None:
    reply = await api.http.get(f"{JOBS}?zzz=1")
    assert (reply.status_code, reply.json()["error"]["code"]) == (401, "missing_api_key")


async def test_a_list_names_its_ends_and_an_empty_cursor_is_its_first_page(
    api: Api, body: dict[str, Any]
) -> None:
    jobs = [(await api.call("POST", JOBS, json=body)).json()["id"] for _ in range(3)]
    tools = []
    for name in ("search", "find"):
        tool = {"name": name, "server_url": ENDPOINT}
        tools.append((await api.call("POST", "/v1/tools", json=tool)).json()["id"])
    lists = {
        JOBS: 3,
        f"{JOBS}/{jobs[0]}/events": 1,
        f"{JOBS}/{jobs[0]}/rollouts": 0,
        f"{JOBS}/{jobs[0]}/checkpoints": 0,
        f"{JOBS}/{jobs[0]}/metrics": 0,
        "/v1/files": 2,
        "/v1/tools": 2,
        "/v1/evals": 3,
        "/v1/webhook_endpoints": 0,
    }
    for path, least in lists.items():
        page = (await api.call("GET", path)).json()
        ids = [row["id"] for row in page["data"]]
        assert len(ids) >= least, path
        assert page["first_id"] == (ids[0] if ids else None), path
        assert page["last_id"] == (ids[-1] if ids else None), path
        if not path.endswith("/metrics"):
            empty = await api.call("GET", path, params={"after": ""})
            assert (empty.status_code, empty.json()) == (200, page), path
    versions = await api.call("GET", f"/v1/tools/{tools[0]}/versions", params={"after": ""})
    assert (versions.status_code, versions.json()["first_id"]) == (200, "1")


async def test_a_base_models_creation_is_the_date_in_its_name(api: Api) -> None:
    models = (await api.call("GET", "/v1/models")).json()["data"]
    made = datetime(2026, 11, 21, tzinfo=UTC).timestamp()
    assert [(model["id"], model["created"]) for model in models] == [
        ("tiny-agent-2026-11-21", made)
    ]


@pytest.mark.parametrize(
    ("path", "missing"),
    [
        ("/v1/responses", "Responses API"),
        ("/v1/responses/resp_1/input_items", "Responses API"),
        ("/v1/completions", "legacy Completions API"),
    ],
)
async def test_a_missing_api_names_the_one_to_use(api: Api, path: str, missing: str) -> None:
    reply = await api.call("POST", path, json={"model": "tiny-agent", "input": "hi"})
    assert (reply.status_code, reply.json()["error"]["message"]) == (
        404,
        f"Invalid URL (POST {path}): this service has no {missing}; use POST /v1/chat/completions.",
    )


async def test_an_unknown_path_names_no_other(api: Api) -> None:
    for path in ("/v1/assistants", "/responses", "/v1"):
        reply = await api.call("GET", path)
        assert reply.json()["error"]["message"] == f"Invalid URL (GET {path})"


async def test_the_version_that_clients_of_other_servers_send_is_ignored(api: Api) -> None:
    for path in (JOBS, "/v1/models", "/v1/files"):
        reply = await api.call("GET", path, params={"api-version": "preview"})
        assert reply.status_code == 200, path


async def test_a_short_key_is_not_repeated(api: Api) -> None:
    reply = await api.call("GET", JOBS, key="nonsense")
    assert reply.json()["error"]["message"].startswith(
        "Incorrect API key provided. You can find your API key"
    )
    reply = await api.call("GET", JOBS, key="sk-0123456789abcdef")
    assert reply.json()["error"]["message"].startswith(
        "Incorrect API key provided: sk-01234…cdef. You can"
    )


async def test_probes_may_ask_with_head(api: Api) -> None:
    for path in ("/healthz", "/readyz", "/"):
        asked, probed = await api.http.get(path), await api.http.head(path)
        assert (probed.status_code, asked.status_code) == (200, 200), path
