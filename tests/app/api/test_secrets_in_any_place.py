"""A secret at any place of a call is nowhere in clear: row, event, reply, log.

One property draws calls that every route accepts, each with secrets in all places that keep them;
the other puts a secret anywhere, where most routes refuse it.
"""

import copy
import itertools
import json
from collections.abc import AsyncIterator
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support.api.application import Api, running
from tests.support.api.canary import CANARY, stored
from tests.support.api.job_calls import JOBS, changed
from tests.support.endpoints import EndpointServer, ReceivedRequest, Reply, endpoint
from tests.support.grading.judges import judged_reply
from tests.support.stack import Database

ALPHA: Final = "/v1/fine_tuning/alpha"
NUMBERS: Final = itertools.count()
PROMPT: Final = [{"role": "user", "content": "{{ sample.output_text }}"}]
SCHEMA: Final = {"type": "custom", "item_schema": {"type": "object"}}
ROWS: Final = {
    "type": "jsonl",
    "source": {
        "type": "file_content",
        "content": [{"item": {"a": 1}, "sample": {"output_text": "x"}}],
    },
}
NAMES: Final = st.sampled_from(
    ["headers", "Headers", "AUTHORIZATION", "api_key", "apiKey", "X-Api-Key", "token", "authToken",
     "client_secret", "Password", "set-cookie", "privateKey", "credentials", "bearer", "auth"]
)  # fmt: skip
PLAIN: Final = st.sampled_from(["mcp_servers", "extra", "x", "config", "env"])
KEYS: Final = st.one_of(NAMES, PLAIN)
HEADER_NAMES: Final = st.sampled_from(["Authorization", "X-Api-Key", "x-note", "Private-Token"])
UNKNOWN: Final = st.sampled_from(["note_token", "X-Api-Key", "authToken", "client_secret", "my_pw"])
"""Keys that nothing reads and that are like no known one, so that a text is accepted there."""
TEXTS: Final = st.sampled_from(
    [CANARY, f"Bearer {CANARY}", json.dumps({"password": CANARY}), f"https://u:{CANARY}@h.example/"]
)
SETTINGS: Final = settings(
    max_examples=12,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # each draw costs 20 requests
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


class _Script:
    """Answers as tool, grader and judge at once, with the drawn status."""

    status = 200

    def __call__(self, request: ReceivedRequest) -> Reply:
        if request.path.partition("?")[0].endswith("/chat/completions"):
            return judged_reply(request, '{"KEY": 1}', self.status)
        return Reply(self.status, json={"score": 1.0, "output": "fine"})


@pytest.fixture
async def server() -> AsyncIterator[EndpointServer]:
    async with endpoint(_Script()) as serving:
        yield serving


@pytest.fixture
async def api(database: Database, server: EndpointServer) -> AsyncIterator[Api]:
    async with running(database, "127.0.0.1:9", server.host_port) as api:
        yield api


def nested(name: str, leaf: Any) -> st.SearchStrategy[Any]:
    """JSON that holds the leaf below a key of this name."""
    return st.recursive(
        st.just({name: leaf}),
        lambda inner: st.one_of(
            st.dictionaries(KEYS, inner, min_size=1, max_size=2), st.lists(inner, min_size=1)
        ),
        max_leaves=4,
    )


LEAF: Final = st.sampled_from([CANARY, [CANARY], {"a": CANARY}, {"deep": [{"value": CANARY}]}])
SECRETS: Final = st.tuples(NAMES, LEAF).flatmap(lambda pair: nested(*pair))
PATHS: Final = st.sampled_from(
    [(), ("tools", 0), ("mcp_servers", 0), ("grader",), ("grader", "graders", "x"),
     ("hyperparameters",), ("grader", "graders", "j", "input", 0)]
)  # fmt: skip


def definitions(url: str, draw: st.DrawFn) -> tuple[dict[str, Any], ...]:
    """Draws a tool, a grader and an MCP server with a secret in each place that keeps one."""

    def holder(**own: Any) -> dict[str, Any]:
        return {**own, draw(UNKNOWN): draw(TEXTS), "headers": {draw(HEADER_NAMES): draw(TEXTS)}}

    called = f"{url}?{draw(NAMES)}={CANARY}"
    tool = holder(name="search", server_url=called, parameters={"type": "object"})
    hook = holder(type="endpoint", name="x", url=called)
    judge = holder(type="score_model", name="j", model="m", input=PROMPT, base_url=url)
    graders = {"x": hook, "j": judge}
    grader = {"type": "multi", "graders": graders, "calculate_output": "x + j"}
    mcp_server = holder(server_label="m", server_url=called)
    if "Authorization" not in mcp_server["headers"]:
        mcp_server["authorization"] = CANARY
    return tool, grader, mcp_server


async def replies_to(
    api: Api,
    sent: dict[str, Any],
    tool: dict[str, Any],
    grader: dict[str, Any],
    mcp_server: dict[str, Any],
) -> list[tuple[str, int, str]]:
    """Sends a tool, a grader and an MCP server through every route that takes them, and reads them
    back.
    """
    number = next(NUMBERS)
    calls: list[tuple[str, Any]] = [
        (JOBS, sent),
        (f"{JOBS}/validate", sent),
        ("/v1/tools", {**tool, "name": f"t{number}"}),
        ("/v1/graders", {"name": f"g{number}", "grader": grader}),
        (f"{ALPHA}/graders/validate", {"grader": grader}),
        (f"{ALPHA}/graders/run", {"grader": grader, "model_sample": "x", "item": {"a": 1}}),
        (f"{ALPHA}/tool/run", {**tool, "arguments": "{}"}),
        (f"{ALPHA}/mcp_servers/test", {"server": mcp_server}),
        ("/v1/evals", {"data_source_config": SCHEMA, "testing_criteria": [grader]}),
    ]
    found = []
    for path, content in calls:
        reply = await api.call("POST", path, json=content)
        found.append((path, reply.status_code, reply.text))
        made = reply.json().get("id") if reply.status_code in (200, 201) else None
        if made is not None and not path.startswith(ALPHA):
            found += await read_back(api, path, f"{path}/{made}")
    return found


async def read_back(api: Api, path: str, one: str) -> list[tuple[str, int, str]]:
    """Reads what was made, changes what can be changed, and runs what can be run."""
    calls: list[tuple[str, str, Any]] = [("GET", one, None), ("GET", path, None)]
    match path:
        case "/v1/tools" | "/v1/graders":
            calls += [("POST", one, {"description": "edited"}), ("GET", f"{one}/versions", None)]
        case "/v1/evals":
            calls += [("POST", f"{one}/runs", {"data_source": ROWS}), ("GET", f"{one}/runs", None)]
        case _:
            calls.append(("GET", f"{one}/events", None))
    replies = [await api.call(method, url, json=content) for method, url, content in calls]
    return [
        (url, reply.status_code, reply.text)
        for (_, url, _), reply in zip(calls, replies, strict=True)
    ]


@given(data=st.data(), status=st.sampled_from([200, 400]))
@SETTINGS
async def test_a_secret_in_an_accepted_call_is_nowhere_in_clear(
    api: Api,
    body: dict[str, Any],
    database: Database,
    server: EndpointServer,
    capfd: pytest.CaptureFixture[str],
    *,
    data: st.DataObject,
    status: int,
) -> None:
    assert isinstance(server.script, _Script)
    server.script.status = status
    tool, grader, mcp_server = data.draw(
        st.composite(lambda draw: definitions(server.url("/v1"), draw))()
    )
    sent = changed(body, ("grader",), grader)
    sent["method"]["reinforcement"]["tools"] = [tool]
    sent["method"]["reinforcement"]["mcp_servers"] = [mcp_server]
    server.received.clear()
    replies = await replies_to(api, sent, tool, grader, mcp_server)
    assert [each for each in replies if each[1] not in (200, 201)] == []
    assert [each for each in replies if CANARY in each[2]] == []
    assert CANARY not in stored(database)
    # The endpoints get the secrets: the routes have called them and not only refused.
    assert sum(CANARY in str(request.headers) for request in server.received) > 1
    assert CANARY not in await logged(api, capfd)


async def logged(api: Api, capfd: pytest.CaptureFixture[str]) -> str:
    """Returns the log so far. Raises when a line that was written is not in it."""
    path = "/v1/organization/admin_api_keys"
    made = await api.call("POST", path, key=api.admin_key, json={"name": "n"})
    assert made.status_code == 200, made.text
    log = "".join(capfd.readouterr())
    assert made.json()["id"] in log
    return log


@given(path=PATHS, secret=SECRETS, name=NAMES, query=NAMES)
@SETTINGS
async def test_a_secret_at_any_path_is_nowhere_in_clear(
    api: Api,
    body: dict[str, Any],
    database: Database,
    server: EndpointServer,
    capfd: pytest.CaptureFixture[str],
    *,
    path: tuple[str | int, ...],
    secret: Any,
    name: str,
    query: str,
) -> None:
    """A call that is accepted is stored and echoed without the canary; any other gets a 400."""
    url = server.url("/v1")
    judge = {"type": "score_model", "model": "m", "input": copy.deepcopy(PROMPT),
             "base_url": url, "headers": {"Authorization": CANARY}}  # fmt: skip
    hook = {"type": "endpoint", "url": f"{url}?{query}={CANARY}"}
    grader = {"type": "multi", "graders": {"x": hook, "j": judge}, "calculate_output": "x + j"}
    sent = changed(body, ("grader",), grader)
    inner = sent["method"]["reinforcement"]
    inner["response_format"] = {"type": "json_object"}
    inner["tools"] = [{"name": "search", "server_url": url, "parameters": {"type": "object"}}]
    inner["mcp_servers"] = [{"server_label": "m", "server_url": url}]
    holder: Any = inner
    for part in path:
        holder = holder[part]
    for key, value in (secret if isinstance(secret, dict) else {"list": secret}).items():
        holder.setdefault(key, value)
    holder.setdefault(name, CANARY)
    replies = await replies_to(
        api, sent, inner["tools"][0], inner["grader"], inner["mcp_servers"][0]
    )
    assert [each for each in replies if each[1] not in (200, 201, 400)] == []
    assert [each for each in replies if CANARY in each[2]] == []
    assert CANARY not in stored(database)
    assert CANARY not in await logged(api, capfd)
