"""`method.<type>.stop` and `keep_checkpoints` over HTTP: echo and refusals."""

from copy import deepcopy
from typing import Any

from app.jobs.stop_options import ReinforcementStopOptions, shown_end
from app.jobs.supervised import resolved_options
from tests.support.api.application import Api
from tests.support.cases import cases

JOBS = "/v1/fine_tuning/jobs"
DEFAULTS: dict[str, Any] = {
    "plateau": {"action": "warn", "evaluations": 3, "min_improvement": 0.01},
    "target": None,
    "max_steps": None,
    "max_time": None,
    "gap": {"action": "warn", "threshold": 0.2, "evaluations": 2},
    "token_growth": {"action": "warn", "ratio": 2.0, "steps": 5},
    "entropy_collapse": {"action": "warn", "share": 0.1, "steps": 5},
    "zero_variance": {"action": "warn", "steps": 5},
    "nothing_trained": {"action": "warn", "steps": 3},
    "entropy_rise": {"action": "warn", "ratio": 3.0, "min_rise": 0.5, "steps": 3},
    "limit_stops": {"action": "warn", "share": 0.5, "steps": 3},
    "tool_call_collapse": {"action": "warn", "share": 0.1, "steps": 3},
    "grader_errors": {"action": "warn", "share": 0.1, "steps": 3},
    "parse_errors": {"action": "warn", "per_rollout": 0.5, "steps": 3},
    "masked_tokens": {"action": "warn", "share": 0.3, "steps": 3},
    "never_earned": {"action": "warn", "steps": 5},
    "solved": {"action": "warn"},
}


def _with(body: dict[str, Any], **fields: Any) -> dict[str, Any]:
    body = deepcopy(body)
    body["method"]["reinforcement"].update(fields)
    return body


async def test_rules_are_echoed_with_their_defaults(api: Api, body: dict[str, Any]) -> None:
    sent = {"target": {"value": 0.9}, "plateau": {"action": "stop"}, "max_time": {"seconds": 60}}
    reply = await api.call("POST", JOBS, json=_with(body, stop=sent, keep_checkpoints={"best": 1}))
    job = reply.json()
    assert reply.status_code == 200, reply.text
    method = job["method"]["reinforcement"]
    assert method["stop"] == {
        **DEFAULTS,
        "plateau": {"action": "stop", "evaluations": 3, "min_improvement": 0.01},
        "target": {"action": "stop", "value": 0.9},
        "max_time": {"action": "stop", "seconds": 60.0},
    }
    assert method["keep_checkpoints"] == {"best": 1, "last": 1}
    again = await api.call("POST", JOBS, json=_with(body, stop=method["stop"]))
    assert again.json()["method"]["reinforcement"]["stop"] == method["stop"]
    absent = (await api.call("POST", JOBS, json=_with(body, stop=None))).json()
    assert "stop" not in absent["method"]["reinforcement"]


def test_a_job_without_stop_options_warns_and_retains_three_checkpoints_and_the_last() -> None:
    shown = shown_end({}, ReinforcementStopOptions)
    assert shown == {"stop": DEFAULTS, "keep_checkpoints": {"best": 3, "last": 1}}
    assert shown_end(shown, ReinforcementStopOptions) == shown
    assert set(shown_end({})["stop"]) == {
        *("plateau", "target", "max_steps", "max_time", "gap", "nothing_trained")
    }


@cases(
    ("field", "sent", "suffix"),
    [
        ("stop", "never", ""),
        ("stop", {"plato": {}}, ".plato"),
        ("stop", {"plateau": {"action": "cancel"}}, ".plateau.action"),
        ("stop", {"plateau": {"evaluations": 0}}, ".plateau.evaluations"),
        ("stop", {"plateau": {"patience": 3}}, ".plateau.patience"),
        ("stop", {"target": {"value": "0.9"}}, ".target.value"),
        ("stop", {"zero_variance": {"steps": "5"}}, ".zero_variance.steps"),
        ("keep_checkpoints", 3, ""),
        ("keep_checkpoints", {"worst": 1}, ".worst"),
    ],
)
async def test_what_means_something_else_is_refused(
    api: Api, body: dict[str, Any], field: str, sent: Any, suffix: str
) -> None:
    reply = await api.call("POST", JOBS, json=_with(body, **{field: sent}))
    assert reply.status_code == 400, reply.text
    assert reply.json()["error"]["param"] == f"method.reinforcement.{field}{suffix}"
    assert (await api.call("GET", JOBS)).json()["data"] == []


async def test_rules_of_rollouts_are_none_of_a_supervised_job(
    api: Api, body: dict[str, Any]
) -> None:
    sent = {**body, "method": {"type": "supervised", "supervised": {"stop": {"plateau": {}}}}}
    reply = await api.call("POST", JOBS, json=sent)
    assert reply.status_code == 200, reply.text
    assert set(reply.json()["method"]["supervised"]["stop"]) == set(shown_end({})["stop"])
    sent["method"] = {"type": "supervised", "supervised": {"stop": {"entropy_collapse": {}}}}
    reply = await api.call("POST", JOBS, json=sent)
    assert reply.json()["error"]["param"] == "method.supervised.stop.entropy_collapse"


async def test_the_rule_of_preferred_answers_needs_a_reference_model(
    api: Api, body: dict[str, Any]
) -> None:
    def dpo(**fields: Any) -> dict[str, Any]:
        return {**body, "method": {"type": "dpo", "dpo": fields}}

    rule = {"chosen_reward": {"action": "stop", "below": -0.5, "steps": 2}}
    reply = await api.call("POST", JOBS, json=dpo(stop=rule))
    assert reply.status_code == 200, reply.text
    assert reply.json()["method"]["dpo"]["stop"]["chosen_reward"] == rule["chosen_reward"]
    without = {"type": "bradley_terry"}
    reply = await api.call("POST", JOBS, json=dpo(stop=rule, loss=without))
    assert reply.status_code == 400, reply.text
    assert reply.json()["error"]["param"] == "method.dpo.stop.chosen_reward"
    off = {"chosen_reward": {"action": "off"}}
    reply = await api.call("POST", JOBS, json=dpo(stop=off, loss=without))
    assert reply.status_code == 200, reply.text


def test_the_rule_of_preferred_answers_is_off_without_a_reference_model() -> None:
    for loss, action in (("dpo", "stop"), ("bradley_terry", "off")):
        shown = resolved_options({"loss": {"type": loss}}, "dpo", 100)
        assert shown["stop"]["chosen_reward"]["action"] == action
        assert resolved_options(shown, "dpo", 100) == shown
