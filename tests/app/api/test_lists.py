"""Lists alike on every route: their ends are named, and a query is read or refused."""

from datetime import UTC, datetime
from typing import Any

from tests.support.api.application import ENDPOINT, Api
from tests.support.cases import cases

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
    made = datetime(2026, 11, 23, tzinfo=UTC).timestamp()
    assert [(model["id"], model["created"]) for model in models] == [
        ("tiny-agent-2026-11-23", made)
    ]


@cases(
    ("path", "missing"),
    [
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


@cases(
    ("path", "status", "meant"),
    [
        ("/v1/graders/run", 404, "/v1/fine_tuning/alpha/graders/run"),
        ("/v1/fine_tuning/graders/run", 404, "/v1/fine_tuning/alpha/graders/run"),
        ("/v1/jobs", 404, "/v1/fine_tuning/jobs"),
    ],
)
async def test_a_path_that_is_too_short_names_the_whole_one(
    api: Api, path: str, status: int, meant: str
) -> None:
    reply = await api.call("POST", path, json={})
    assert reply.status_code == status
    assert reply.json()["error"]["message"].endswith(f". Did you mean POST {meant}?")


async def test_only_a_wrong_path_gets_a_hint(api: Api) -> None:
    reply = await api.http.post("/v1/graders/run", json={})
    assert reply.status_code == 401
    assert "Did you mean" not in reply.json()["error"]["message"]
    for path in ("/v1/files/file-1", "/v1/graders/grader_1"):
        reply = await api.call("GET", path)
        assert reply.status_code == 404
        assert "Did you mean" not in reply.json()["error"]["message"]


async def test_an_unknown_path_names_no_other(api: Api) -> None:
    for path in ("/v1/assistants", "/responses", "/v1", "/v1/{name}"):
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


async def test_head_answers_wherever_get_does_with_its_headers(api: Api) -> None:
    document = (await api.http.get("/openapi.json")).json()
    stored = (await api.upload(b"content", purpose="user_data")).json()["id"]
    documented = [path.format_map(_AnyId()) for path, methods in document["paths"].items()
                  if "get" in methods]  # fmt: skip
    outside = ["/", "/docs", "/docs/swagger-ui.css", "/openapi.json", "/v1/openapi.json"]
    for path in (*documented, *outside, "/v1/models/a/b/adapter", f"/v1/files/{stored}/content"):
        key = api.admin_key if path.startswith("/v1/organization") else api.key
        asked = await api.call("GET", path, key=key)
        probed = await api.call("HEAD", path, key=key)
        assert (probed.status_code, probed.content) == (asked.status_code, b""), path
        for name in ("content-type", "content-length"):
            assert probed.headers.get(name) == asked.headers.get(name), path
    assert (await api.call("HEAD", f"{JOBS}/x/cancel")).status_code == 405
    assert (await api.http.head(JOBS)).status_code == 401


async def test_an_empty_value_of_a_query_is_no_value(api: Api, body: dict[str, Any]) -> None:
    document = (await api.http.get("/openapi.json")).json()
    job = (await api.call("POST", JOBS, json=body)).json()["id"]
    documented = [
        (path, parameter["name"])
        for path, methods in document["paths"].items()
        for parameter in methods.get("get", {}).get("parameters", ())
        if parameter["in"] == "query" and not path.endswith("/stream")  # it ends with its job
    ]
    assert len(documented) > 60
    plain = dict[str, Any]()
    for template, name in documented:
        path = template.replace("{job_id}", job).format_map(_AnyId())
        key = api.admin_key if path.startswith("/v1/organization") else api.key
        if path not in plain:
            plain[path] = await api.call("GET", path, key=key)
        expected = (plain[path].status_code, plain[path].text)
        empty = await api.call("GET", f"{path}?{name}=", key=key)
        assert (empty.status_code, empty.text) == expected, (path, name)
    both = await api.call("GET", f"{JOBS}?limit=&after&metadata=")
    assert [row["id"] for row in both.json()["data"]] == [job]
    unknown = await api.call("GET", f"{JOBS}?foo=")
    assert unknown.json()["error"]["message"] == "Unknown query parameter: 'foo'."


async def test_a_query_parameter_has_one_value(api: Api, body: dict[str, Any]) -> None:
    job = (await api.call("POST", JOBS, json=body)).json()["id"]
    for query in ("limit=1&limit=2", "limit=1&limit=1", "metadata[a]=1&metadata[a]=2"):
        error = (await api.call("GET", f"{JOBS}?{query}")).json()["error"]
        name = query.partition("=")[0]
        assert (error["code"], error["param"]) == ("invalid_value", name)
        assert error["message"] == f"Invalid value for '{name}': it was sent more than once."
    curves = await api.call("GET", f"{JOBS}/{job}/metrics?names=reward/mean&names=train/loss")
    assert (curves.status_code, curves.json()["data"]) == (200, [])
    error = (await api.call("GET", f"{JOBS}?metadata=null&metadata[a]=1")).json()["error"]
    assert (error["code"], error["param"]) == ("invalid_value", "metadata")
    error = (await api.call("GET", f"{JOBS}?metadata=zzz")).json()["error"]
    assert error["message"] == (
        "Invalid value for 'metadata': it must be 'null'; pairs are sent as 'metadata[key]=value'."
    )
    error = (await api.call("GET", "/v1/chat/completions?metadata=zzz")).json()["error"]
    assert error["message"] == (
        "Invalid value for 'metadata': pairs are sent as 'metadata[key]=value'."
    )


async def test_no_call_ignores_a_parameter_of_its_query(api: Api) -> None:
    for method, path in (("POST", "/v1/files"), ("POST", JOBS), ("DELETE", "/v1/files/x")):
        reply = await api.call(method, f"{path}?purpose=fine-tune", json={})
        error = reply.json()["error"]
        assert (error["code"], error["param"]) == ("unknown_parameter", "purpose"), path
