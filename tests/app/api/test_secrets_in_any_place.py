"""A secret at any place of a call is nowhere in clear: row, event, reply, log."""

import copy
import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.api.application import ENDPOINT, Api
from tests.support.api.canary import CANARY, HEADERS, stored
from tests.support.api.job_calls import JOBS, changed
from tests.support.stack import Database

PROMPT = [{"role": "user", "content": "{{ sample.output_text }}"}]
MULTI = {
    "type": "multi",
    "graders": {"x": {"type": "endpoint", "url": ENDPOINT}},
    "calculate_output": "x",
}
NAMES = st.sampled_from(
    ["headers", "Headers", "AUTHORIZATION", "api_key", "apiKey", "X-Api-Key", "token", "authToken",
     "client_secret", "Password", "set-cookie", "privateKey", "credentials", "bearer", "auth"]
)  # fmt: skip
PLAIN = st.sampled_from(["mcp_servers", "extra", "x", "parameters", "config", "metadata", "env"])
KEYS = st.one_of(NAMES, PLAIN)


def nested(name: str, leaf: Any) -> st.SearchStrategy[Any]:
    """JSON that holds the leaf below a key of this name."""
    return st.recursive(
        st.just({name: leaf}),
        lambda inner: st.one_of(
            st.dictionaries(KEYS, inner, min_size=1, max_size=2), st.lists(inner, min_size=1)
        ),
        max_leaves=4,
    )


LEAF = st.sampled_from([CANARY, [CANARY], {"a": CANARY}, {"deep": [{"value": CANARY}]}])
SECRETS = st.tuples(NAMES, LEAF).flatmap(lambda pair: nested(*pair))
PLACES = st.sampled_from(
    [(), ("tools", 0), ("grader",), ("grader", "graders", "x"), ("hyperparameters",),
     ("response_format",), ("tools", 0, "parameters"), ("grader", "graders", "j", "input", 0)]
)  # fmt: skip


@given(place=PLACES, secret=SECRETS, name=NAMES, query=NAMES)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
async def test_a_canary_is_nowhere_in_clear(
    api: Api,
    body: dict[str, Any],
    database: Database,
    *,
    place: tuple[str | int, ...],
    secret: Any,
    name: str,
    query: str,
) -> None:
    """Whatever is accepted is stored and echoed without the canary; the rest is a plain 400."""
    judge = {"type": "score_model", "model": "m", "input": copy.deepcopy(PROMPT),
             "base_url": ENDPOINT, "headers": HEADERS}  # fmt: skip
    hook = {"type": "endpoint", "url": f"{ENDPOINT}?{query}={CANARY}"}
    grader = {**MULTI, "graders": {"x": hook, "j": judge}, "calculate_output": "x + j"}
    sent = changed(body, ("grader",), grader)
    inner = sent["method"]["reinforcement"]
    inner["response_format"] = {"type": "json_object"}
    inner["tools"][0]["parameters"] = {"type": "object"}
    holder: Any = inner
    for part in place:
        holder = holder[part]
    for key, value in (secret if isinstance(secret, dict) else {"list": secret}).items():
        holder.setdefault(key, value)
    holder.setdefault(name, CANARY)
    requests = [
        (JOBS, sent),
        ("/v1/tools", {**inner["tools"][0], "name": f"t{abs(hash(json.dumps(sent)))}"}),
        ("/v1/graders", {"name": f"g{abs(hash(json.dumps(sent)))}", "grader": inner["grader"]}),
        ("/v1/fine_tuning/alpha/graders/validate", {"grader": inner["grader"]}),
    ]
    for path, content in requests:
        reply = await api.call("POST", path, json=content)
        assert reply.status_code in (200, 400), reply.text
        assert CANARY not in reply.text, (path, reply.text)
    assert CANARY not in stored(database)
