"""`loss`, `advantage`, `objective` and `mismatch` of a job over HTTP: echo and refusals."""

from copy import deepcopy
from typing import Any

from tests.support.api.application import Api
from tests.support.api.preflight import validate_call
from tests.support.cases import cases

JOBS = "/v1/fine_tuning/jobs"
STALE = {"type": "async", "max_staleness": 2}
ROOT_LOSS = "method.reinforcement.loss"


def _with(body: dict[str, Any], **parts: Any) -> dict[str, Any]:
    body = deepcopy(body)
    body["method"]["reinforcement"].update(parts)
    return body


async def test_what_was_sent_is_echoed_with_its_defaults(api: Api, body: dict[str, Any]) -> None:
    sent = {
        "loss": {"type": "ppo", "dual_clip": 3},
        "advantage": {"type": "leave_one_out"},
        "objective": {"overlong": {"limit": 100, "buffer": 10}, "kl_coefficient": 0.05},
        "mismatch": {
            "truncation": {"level": "sequence"},
            "sequence_mask": {"type": "geometric_mean", "high": 1.5},
        },
    }
    job = (await api.call("POST", JOBS, json=_with(body, **sent))).json()
    shown = job["method"]["reinforcement"]
    assert shown["loss"] == {"type": "ppo", "epsilon": 0.2, "epsilon_high": None, "dual_clip": 3.0}
    assert shown["advantage"] == {"type": "leave_one_out"}
    assert shown["objective"] == {
        "token_penalty": "auto",
        "token_budget": "auto",
        "call_budget": None,
        "call_budget_penalty": 0.05,
        "repeated_call_penalty": 0.0,
        "overlong": {"limit": 100, "buffer": 10, "penalty": 1.0},
        "clamp_limit_stop": False,
        "kl_coefficient": 0.05,
    }
    assert shown["mismatch"] == {
        "truncation": {"level": "sequence", "cap": 5.0},
        "sequence_mask": {"type": "geometric_mean", "low": "auto", "high": 1.5},
        "max_log_ratio": 20.0,
    }
    assert (await api.call("GET", f"{JOBS}/{job['id']}")).json() == job


async def test_parts_that_are_absent_or_null_are_not_made_up(
    api: Api, body: dict[str, Any]
) -> None:
    """The run sets them once the files are validated, as it sets the hyperparameters."""
    for sent in ({}, dict.fromkeys(("loss", "advantage", "objective", "mismatch"))):
        reply = await api.call("POST", JOBS, json=_with(body, **sent))
        assert reply.status_code == 200, reply.text
        shown = reply.json()["method"]["reinforcement"]
        assert not {"loss", "advantage", "objective", "mismatch"} & shown.keys()


MISSING, WRONG = "missing_required_parameter", "invalid_value"
UNKNOWN = "unknown_parameter"


@cases(
    ("part", "sent", "path", "code"),
    [
        ("loss", "ppo", "", WRONG),
        ("loss", {"type": "cross_entropy"}, ".type", WRONG),
        ("loss", {"type": "ppo", "epsilon": "0.2"}, ".epsilon", WRONG),
        ("loss", {"type": "ppo", "epsilon": 1}, ".epsilon", WRONG),
        ("loss", {"type": "cispo", "high": 0.9}, ".high", WRONG),
        ("objective", {"token_penalty": -0.1}, ".token_penalty", WRONG),
        ("objective", {"overlong": {}}, ".overlong.limit", MISSING),
        ("objective", {"overlong": {"limit": 9, "buffer": 10}}, ".overlong.buffer", WRONG),
        ("mismatch", {"truncation": {"cap": 0.5}}, ".truncation.cap", WRONG),
        ("mismatch", {"sequence_mask": {"type": "product", "low": 2}}, ".sequence_mask.low", WRONG),
        ("mismatch", {"max_log_ratio": 21}, ".max_log_ratio", WRONG),
    ],
)
async def test_a_part_that_states_something_else_is_refused(
    api: Api, body: dict[str, Any], part: str, sent: Any, path: str, code: str
) -> None:
    reply = await api.call("POST", JOBS, json=_with(body, **{part: sent}))
    error = reply.json()["error"]
    assert (reply.status_code, error["param"], error["code"]) == (
        400,
        f"method.reinforcement.{part}{path}",
        code,
    )
    assert (await api.call("GET", JOBS)).json()["data"] == []


@cases(
    ("parts", "path"),
    [
        (
            {
                "mode": STALE,
                "loss": {"type": "importance_sampling"},
                "mismatch": {"sequence_mask": {"type": "product"}, "truncation": None},
            },
            "loss.type",
        ),
        (
            {"mode": {"type": "streaming"}, "hyperparameters": {"minibatches": 2}},
            "hyperparameters.minibatches",
        ),
        ({"mode": STALE, "hyperparameters": {"minibatches": 2}}, "hyperparameters.minibatches"),
        (
            {"mismatch": {"truncation": {}}, "hyperparameters": {"minibatches": 2}},
            "hyperparameters.minibatches",
        ),
        (
            {"loss": {"type": "dro", "beta": 0.1}, "mismatch": {"truncation": {}}},
            "mismatch.truncation",
        ),
        ({"mode": {"type": "streaming"}, "advantage": {"type": "batch_std"}}, "advantage.type"),
    ],
)
async def test_parts_that_do_not_go_together_are_refused(
    api: Api, body: dict[str, Any], parts: dict[str, Any], path: str
) -> None:
    reply = await api.call("POST", JOBS, json=_with(body, **parts))
    error = reply.json()["error"]
    assert (reply.status_code, error["param"], error["code"]) == (
        400,
        f"method.reinforcement.{path}",
        WRONG,
    )


@cases(
    "parts",
    [
        {
            "mode": STALE,
            "loss": {"type": "importance_sampling"},
            "mismatch": {"truncation": {"cap": 4}},
        },
        {
            "mode": STALE,
            "mismatch": {"truncation": None},
            "hyperparameters": {"minibatches": 4},
        },
        {"mode": STALE, "loss": {"type": "dro", "beta": 0.1}},
    ],
)
async def test_parts_that_go_together_are_taken(
    api: Api, body: dict[str, Any], parts: dict[str, Any]
) -> None:
    reply = await api.call("POST", JOBS, json=_with(body, **parts))
    assert reply.status_code == 200, reply.text


@cases(
    ("parts", "changes_nothing"),
    [
        ({"loss": {"type": "ppo", "epsilon_high": 0.28}}, True),
        ({"loss": {"type": "dro", "beta": 0.1}, "mode": {"type": "streaming"}}, True),
        ({"loss": {"type": "ppo", "epsilon": 0.2}}, False),
        ({"loss": {"type": "cispo"}, "hyperparameters": {"minibatches": 2}}, False),
        ({"loss": {"type": "cispo"}, "mode": STALE, "mismatch": {"truncation": None}}, False),
    ],
)
async def test_a_loss_whose_ratio_is_1_changes_nothing_and_is_said_to(
    api: Api, body: dict[str, Any], parts: dict[str, Any], changes_nothing: bool
) -> None:
    report = await validate_call(api, _with(body, **parts))
    found = {one["param"]: one for one in report["warnings"] if one["code"] == "unused_option"}
    assert (ROOT_LOSS in found) is changes_nothing, report
    job = (await api.call("POST", JOBS, json=_with(body, **parts))).json()["id"]
    events = (await api.call("GET", f"{JOBS}/{job}/events")).json()["data"]
    said = [
        event["message"] for event in events if f"'{ROOT_LOSS}' changes nothing" in event["message"]
    ]
    assert len(said) == changes_nothing
    if changes_nothing:
        assert "'hyperparameters.minibatches' above 1" in found[ROOT_LOSS]["message"]


@cases(
    ("kind", "sent", "path", "code"),
    [
        ("supervised", {"type": "ppo"}, ".type", WRONG),
        ("supervised", {"type": "label_smoothing", "smoothing": 1}, ".smoothing", WRONG),
        ("supervised", {"type": "cross_entropy", "gamma": 2}, ".gamma", UNKNOWN),
        (
            "dpo",
            {"type": "dpo", "variant": "ipo", "label_smoothing": 0.1},
            ".label_smoothing",
            WRONG,
        ),
        ("dpo", {"type": "dpo", "beta": 0.1}, ".beta", "unknown_parameter"),
        ("dpo", {"margin": 1}, ".type", MISSING),
    ],
)
async def test_losses_of_the_other_methods_are_refused_alike(
    api: Api, files: tuple[str, str], kind: str, sent: Any, path: str, code: str
) -> None:
    body = {
        "model": "tiny-agent",
        "training_file": files[0],
        "method": {"type": kind, kind: {"loss": sent}},
    }
    error = (await api.call("POST", JOBS, json=body)).json()["error"]
    assert (error["param"], error["code"]) == (f"method.{kind}.loss{path}", code)


@cases(
    ("kind", "sent", "shown"),
    [
        ("supervised", {"type": "focal"}, {"type": "focal", "gamma": 2.0}),
        (
            "dpo",
            {"type": "dpo", "variant": "ipo"},
            {"type": "dpo", "variant": "ipo", "label_smoothing": 0.0, "rpo_alpha": 0.0},
        ),
    ],
)
async def test_losses_of_the_other_methods_are_echoed(
    api: Api, files: tuple[str, str], kind: str, sent: Any, shown: Any
) -> None:
    body = {
        "model": "tiny-agent",
        "training_file": files[0],
        "method": {"type": kind, kind: {"loss": sent}},
    }
    job = (await api.call("POST", JOBS, json=body)).json()
    assert job["method"][kind]["loss"] == shown
