"""`method.reinforcement.mode` over HTTP: echo and refusals with their parameter."""

from copy import deepcopy
from typing import Any

from tests.support.api.application import Api
from tests.support.cases import cases

JOBS = "/v1/fine_tuning/jobs"


def _with(body: dict[str, Any], mode: Any) -> dict[str, Any]:
    body = deepcopy(body)
    body["method"]["reinforcement"]["mode"] = mode
    return body


@cases(
    ("sent", "echoed"),
    [
        ({"type": "streaming"}, {"type": "streaming", "minibatches": 4}),
        ({"type": "async"}, {"type": "async", "max_staleness": 1, "max_requeues": 2}),
        (
            {"type": "async", "max_staleness": 4, "max_requeues": 0},
            {"type": "async", "max_staleness": 4, "max_requeues": 0},
        ),
        (None, None),
    ],
)
async def test_a_mode_is_echoed_with_its_defaults(
    api: Api, body: dict[str, Any], sent: Any, echoed: Any
) -> None:
    reply = await api.call("POST", JOBS, json=_with(body, sent))
    job = reply.json()
    assert reply.status_code == 200, reply.text
    assert job["method"]["reinforcement"].get("mode") == echoed
    assert (await api.call("GET", f"{JOBS}/{job['id']}")).json() == job


@cases(
    ("sent", "suffix", "code"),
    [
        ("async", "", "invalid_value"),
        ({}, ".type", "missing_required_parameter"),
        ({"type": "ASYNC"}, ".type", "invalid_value"),
        ({"type": "sync", "minibatches": 2}, ".minibatches", "unknown_parameter"),
        ({"type": "streaming", "minibatches": 65}, ".minibatches", "invalid_value"),
        ({"type": "async", "max_staleness": 5}, ".max_staleness", "invalid_value"),
        ({"type": "async", "max_staleness": True}, ".max_staleness", "invalid_value"),
        ({"type": "async", "max_stalenes": 1}, ".max_stalenes", "unknown_parameter"),
    ],
)
async def test_a_mode_that_states_something_else_is_refused(
    api: Api, body: dict[str, Any], sent: Any, suffix: str, code: str
) -> None:
    reply = await api.call("POST", JOBS, json=_with(body, sent))
    error = reply.json()["error"]
    assert (reply.status_code, error["param"], error["code"]) == (
        400,
        f"method.reinforcement.mode{suffix}",
        code,
    )
    assert (await api.call("GET", JOBS)).json()["data"] == []
