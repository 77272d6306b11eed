"""Methods, hyperparameters, integrations, caps and queue positions of jobs, over HTTP."""

from copy import deepcopy
from typing import Any

import psycopg

from tests.support.api.application import Api
from tests.support.cases import cases
from tests.support.stack import Database

JOBS = "/v1/fine_tuning/jobs"
AUTO = {"batch_size": "auto", "learning_rate_multiplier": "auto", "n_epochs": "auto"}


def _plain(files: tuple[str, str], **body: Any) -> dict[str, Any]:
    return {"model": "tiny-agent", "training_file": files[0], **body}


async def _fault(api: Api, body: dict[str, Any]) -> tuple[int, str, str]:
    reply = await api.call("POST", JOBS, json=body)
    error = reply.json().get("error", {})
    return reply.status_code, error.get("param"), error.get("code")


@cases(
    ("sent", "method", "hyperparameters"),
    [
        ({}, {"type": "supervised", "supervised": {"hyperparameters": AUTO}}, AUTO),
        (
            {"hyperparameters": {"n_epochs": 2, "batch_size": None}},
            {"type": "supervised", "supervised": {"hyperparameters": {**AUTO, "n_epochs": 2}}},
            {**AUTO, "n_epochs": 2},
        ),
        (
            {
                "hyperparameters": {"n_epochs": 2, "batch_size": 4},
                "method": {
                    "type": "supervised",
                    "supervised": {"hyperparameters": {"n_epochs": 3, "beta": 1}, "k": "v"},
                },
            },
            {
                "type": "supervised",
                "supervised": {"hyperparameters": {**AUTO, "n_epochs": 3, "batch_size": 4}},
            },
            {**AUTO, "n_epochs": 3, "batch_size": 4},
        ),
        (
            {"method": {"type": "dpo", "dpo": {"hyperparameters": {"beta": 0.2}}}},
            {"type": "dpo", "dpo": {"hyperparameters": {**AUTO, "beta": 0.2}}},
            None,
        ),
    ],
)
async def test_other_methods_are_echoed_whole(
    api: Api, files: tuple[str, str], sent: Any, method: Any, hyperparameters: Any
) -> None:
    reply = await api.call("POST", JOBS, json=_plain(files, **sent))
    job = reply.json()
    assert reply.status_code == 200, reply.text
    assert job["method"] == method
    assert job["hyperparameters"] == hyperparameters
    assert (job["status"], job["error"], job["validation_file"]) == ("validating_files", {}, None)
    assert job["eval_id"] is None
    assert (await api.call("GET", f"{JOBS}/{job['id']}")).json() == job


async def test_a_reinforcement_job_has_no_hyperparameters_of_its_own(
    api: Api, body: dict[str, Any]
) -> None:
    assert (await api.call("POST", JOBS, json=body)).json()["hyperparameters"] is None
    assert await _fault(api, {**body, "hyperparameters": {"n_epochs": 1}}) == (
        400,
        "hyperparameters",
        "invalid_value",
    )


RANGES: list[tuple[str, list[Any], list[Any]]] = [
    ("batch_size", [1, 256, "auto", None], [0, 257, 1.5, "16", 10**400]),
    ("learning_rate_multiplier", [1e-9, 2, 1000, "auto", None], [0, 1000.5, False]),
    ("n_epochs", [1, 50, "auto", None], [0, 51, 2.5]),
]
OF_METHOD: dict[str, list[tuple[str, list[Any], list[Any]]]] = {
    "supervised": RANGES,
    "dpo": [*RANGES, ("beta", [0.001, 2, "auto", None], [0, 2.001])],
    "reinforcement": [
        *RANGES,
        ("compute_multiplier", [0.0000101, 10, "auto", None], [0.00001, 10.1]),
        ("minibatches", [1, 64, None], [0, 65, "auto"]),
        ("eval_interval", [1, 2**31 - 1, "auto", None], [0, 2**31]),
        ("eval_samples", [1, 64, "auto", None], [0, 65]),
        ("eval_temperature", [0, 0.7, 2, "auto", None], [-0.1, 2.1]),
        ("eval_greedy", [True, False, None], ["auto", 1]),
        ("reasoning_effort", ["default", "low", "medium", "high", None], ["none", 1]),
    ],
}


@cases("kind", list(OF_METHOD))
async def test_hyperparameters_at_their_bounds_and_just_outside(
    api: Api, body: dict[str, Any], kind: str
) -> None:
    for name, good, bad in OF_METHOD[kind]:
        whole = deepcopy(body)
        inner = whole["method"]["reinforcement"] if kind == "reinforcement" else {}
        whole["method"] = {"type": kind, kind: inner}
        for value in good:
            inner["hyperparameters"] = {name: value}
            reply = await api.call("POST", JOBS, json=whole)
            assert reply.status_code == 200, (name, value, reply.text)
            defaults = {"reasoning_effort": "default", "eval_greedy": True, "minibatches": 1}
            default = defaults.get(name, "auto")
            shown = reply.json()["method"][kind]["hyperparameters"][name]
            assert shown == (default if value is None else value)
        for value in bad:
            inner["hyperparameters"] = {name: value}
            param = f"method.{kind}.hyperparameters.{name}"
            assert await _fault(api, whole) == (400, param, "invalid_value"), (name, value)


async def test_deprecated_hyperparameters_are_checked_where_they_stand(
    api: Api, files: tuple[str, str]
) -> None:
    for name, _, bad in RANGES:
        for value in bad:
            sent = _plain(files, hyperparameters={name: value})
            assert await _fault(api, sent) == (400, f"hyperparameters.{name}", "invalid_value")
    assert (await api.call("GET", JOBS)).json()["data"] == []


async def test_wandb_is_kept_and_other_integrations_are_refused(
    api: Api, body: dict[str, Any]
) -> None:
    known = {"project": "p", "name": None, "tags": ["a"]}
    wandb = {"type": "wandb", "wandb": known}
    sent = {**wandb, "run": 1, "wandb": {**known, "run": 1}}
    reply = await api.call("POST", JOBS, json={**body, "integrations": [sent]})
    assert reply.json()["integrations"] == [wandb]
    empty = await api.call("POST", JOBS, json={**body, "integrations": None})
    assert empty.json()["integrations"] == []
    for wrong, param in (
        ({"type": "other"}, "integrations[0].type"),
        ({"type": "wandb"}, "integrations[0].wandb"),
        ({"type": "wandb", "wandb": {}}, "integrations[0].wandb.project"),
        ({"type": "wandb", "wandb": {"project": ""}}, "integrations[0].wandb.project"),
        (
            {"type": "wandb", "wandb": {"project": "p", "tags": [1]}},
            "integrations[0].wandb.tags[0]",
        ),
    ):
        status, at, _ = await _fault(api, {**body, "integrations": [wrong]})
        assert (status, at) == (400, param)
    status, at, _ = await _fault(api, {**body, "integrations": [wandb] * 6})
    assert (status, at) == (400, "integrations")


async def test_caps_are_read_from_either_key(api: Api, body: dict[str, Any]) -> None:
    job = (await api.call("POST", JOBS, json={**body, "max_rollouts": 64})).json()
    assert (job["max_rollouts"], job["max_training_time_s"]) == (64, None)
    assert "max_rollouts" not in job["method"]["reinforcement"]
    nested = deepcopy(body)
    nested["method"]["reinforcement"] |= {"max_rollouts": 9, "max_training_time_s": 0.5}
    job = (await api.call("POST", JOBS, json=nested)).json()
    assert (job["max_rollouts"], job["max_training_time_s"]) == (9, 0.5)
    assert job["method"]["reinforcement"]["max_rollouts"] == 9
    assert await _fault(api, {**nested, "max_rollouts": 8}) == (
        400,
        "max_rollouts",
        "invalid_value",
    )
    for name, bad in (
        ("max_rollouts", [0, 1.5, True, 10**13]),
        ("max_training_time_s", [0, "9", 1e10]),
    ):
        for value in bad:
            assert await _fault(api, {**body, name: value}) == (400, name, "invalid_value")
            wrong = deepcopy(body)
            wrong["method"]["reinforcement"][name] = value
            param = f"method.reinforcement.{name}"
            assert await _fault(api, wrong) == (400, param, "invalid_value"), value


def _set(database: Database, job_id: str, assignments: str) -> None:
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute(
            f"UPDATE fine_tuning_jobs SET {assignments} WHERE id = %s".encode(), (job_id,)
        )


async def test_a_capped_job_is_resumed_with_a_higher_cap_only(
    api: Api, body: dict[str, Any], database: Database
) -> None:
    nested = deepcopy(body)
    nested["method"]["reinforcement"]["max_rollouts"] = 64
    job_id = (await api.call("POST", JOBS, json=nested)).json()["id"]
    _set(database, job_id, "status = 'paused', usage = '{\"rollouts\": 70}'")
    resume = f"{JOBS}/{job_id}/resume"
    refused: list[dict[str, Any]] = [
        {},
        {"json": {}},
        {"json": {"max_rollouts": 70}},
        {"json": {"max_rollouts": None}},
    ]
    for sent in refused:
        reply = await api.call("POST", resume, **sent)
        error = reply.json()["error"]
        assert (reply.status_code, error["code"]) == (400, "invalid_state"), reply.text
        assert "is reached (70 used). Send a higher max_rollouts to go on." in error["message"]
    bad = await api.call("POST", resume, json={"max_rollouts": 0})
    assert bad.json()["error"]["param"] == "max_rollouts"
    assert (await api.call("GET", f"{JOBS}/{job_id}")).json()["status"] == "paused"
    job = (await api.call("POST", resume, json={"max_rollouts": 71})).json()
    assert (job["status"], job["max_rollouts"], job["queue_position"]) == ("queued", 71, 1)
    assert job["method"]["reinforcement"]["max_rollouts"] == 71
    assert job["usage_metrics"]["rollouts"] == 70


async def test_a_waiting_job_shows_its_queue_position(
    api: Api, body: dict[str, Any], database: Database
) -> None:
    first = (await api.call("POST", JOBS, json=body)).json()
    second = (await api.call("POST", JOBS, json=body)).json()
    assert (first["queue_position"], second["queue_position"]) == (1, 2)
    _set(
        database,
        first["id"],
        "status = 'running', lease_until = now() + interval '1 minute', "
        "estimated_finish = to_timestamp(2000000000)",
    )
    shown = (await api.call("GET", f"{JOBS}/{second['id']}")).json()
    assert (shown["queue_position"], shown["estimated_start"]) == (1, 2_000_000_000)
    page = (await api.call("GET", JOBS)).json()["data"]
    assert [job["queue_position"] for job in page] == [1, None]
    cancelled = (await api.call("POST", f"{JOBS}/{second['id']}/cancel")).json()
    assert (cancelled["queue_position"], cancelled["estimated_start"]) == (None, None)


async def test_list_traps(api: Api, body: dict[str, Any]) -> None:
    tagged = (await api.call("POST", JOBS, json={**body, "metadata": {"a": "1", "b": "2"}})).json()
    empty = (await api.call("POST", JOBS, json={**body, "metadata": {}})).json()
    both = {"metadata[a]": "1", "metadata[b]": "2"}
    for params, wanted in (
        (both, [tagged["id"]]),
        ({**both, "metadata[b]": "3"}, []),
        ({"metadata": "null"}, [empty["id"]]),
    ):
        page = (await api.call("GET", JOBS, params=params)).json()
        assert ([job["id"] for job in page["data"]], page["has_more"]) == (wanted, False)
    unknown = await api.call("GET", JOBS, params={"after": "ftjob-unknown"})
    assert (unknown.status_code, unknown.json()["error"]["param"]) == (400, "after")
    foreign = await api.call("GET", JOBS, params={"after": tagged["id"]}, key=api.other_key)
    expected = unknown.json()["error"]["message"].replace("ftjob-unknown", tagged["id"])
    assert (foreign.status_code, foreign.json()["error"]["message"]) == (400, expected)
    for limit in (0, 101, "x"):
        reply = await api.call("GET", JOBS, params={"limit": limit})
        assert (reply.status_code, reply.json()["error"]["param"]) == (400, "limit")


async def test_a_cancelled_job_keeps_what_it_learned(
    api: Api, body: dict[str, Any], database: Database
) -> None:
    fresh, begun = [(await api.call("POST", JOBS, json=body)).json()["id"] for _ in range(2)]
    _set(database, begun, "status = 'paused', step = 1")
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute(
            "INSERT INTO job_metrics (project_id, job_id, name, split, step, value) "
            "SELECT project_id, id, 'reward/mean', 'train', 1, 0.25 FROM fine_tuning_jobs "
            "WHERE id = %s",
            (begun,),
        )
    assert (await api.call("POST", f"{JOBS}/{fresh}/cancel")).json()["result_files"] == []
    cancelled = (await api.call("POST", f"{JOBS}/{begun}/cancel")).json()
    (file_id,) = cancelled["result_files"]
    assert (await api.call("GET", f"{JOBS}/{begun}")).json()["result_files"] == [file_id]
    content = (await api.call("GET", f"/v1/files/{file_id}/content")).text
    header, row = content.splitlines()
    assert dict(zip(header.split(","), row.split(","), strict=True))["train_mean_reward"] == "0.25"
    foreign = await api.call("GET", f"/v1/files/{file_id}/content", key=api.other_key)
    assert foreign.status_code == 404
