"""Integrations of jobs that the service writes to, over HTTP."""

import json
import sys
from typing import Any

import psycopg
import pytest

from app.jobs.integrations import LIBRARIES, TrackerKind
from app.jobs.results import restored_integrations
from app.kit.sealing import build_secret_box
from tests.support.api.application import ENDPOINT, Api
from tests.support.cases import cases
from tests.support.stack import Database

JOBS = "/v1/fine_tuning/jobs"
TENSORBOARD = {"type": "tensorboard"}
CANARY = "canary-credential"


def rows(database: Database, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        return connection.execute(query.encode()).fetchall()


async def refused(api: Api, body: dict[str, Any], *integrations: Any) -> tuple[str, str, str]:
    """Returns parameter, code and message of the error, the same of a create call and of
    `validate`.
    """
    sent = {**body, "integrations": list(integrations)}
    reply = await api.call("POST", JOBS, json=sent)
    assert reply.status_code == 400, reply.text
    error = reply.json()["error"]
    checked = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    assert [error["param"], error["code"]] in [
        [issue["param"], issue["code"]] for issue in checked["errors"]
    ], checked
    return error["param"], error["code"], error["message"]


async def test_tensorboard_is_kept_and_its_directory_is_an_event(
    api: Api, body: dict[str, Any]
) -> None:
    for options, traces in ((None, 2), ({}, 2), ({"traces_per_step": 0, "key": "x"}, 0)):
        sent = TENSORBOARD if options is None else {**TENSORBOARD, "tensorboard": options}
        job = (await api.call("POST", JOBS, json={**body, "integrations": [sent]})).json()
        kept = {"type": "tensorboard", "tensorboard": {"traces_per_step": traces}}
        assert job["integrations"] == [kept]
        events = (await api.call("GET", f"{JOBS}/{job['id']}/events")).json()["data"]
        messages = [event["message"] for event in events]
        [written] = [message for message in messages if "TensorBoard" in message]
        assert written.startswith("Writing curves for TensorBoard to tensorboard/proj_")
        assert f"/{job['id']} in the installation's" in written
        assert not any("Weights & Biases" in message for message in messages)


async def test_options_out_of_range_and_a_second_one_are_refused(
    api: Api, body: dict[str, Any]
) -> None:
    for wrong in (-1, 11, "2", 1.5, None):
        sent = {**TENSORBOARD, "tensorboard": {"traces_per_step": wrong}}
        param, code, _ = await refused(api, body, sent)
        assert (param, code) == ("integrations[0].tensorboard.traces_per_step", "invalid_value")
    param, code, _ = await refused(api, body, TENSORBOARD, TENSORBOARD)
    assert (param, code) == ("integrations[1].type", "invalid_value")
    param, _, message = await refused(api, body, {"type": "tensorbord"})
    assert (param, "wandb, tensorboard" in message) == ("integrations[0].type", True)


@cases("project", ["a/b", "a\nb", "p" * 129])
async def test_a_project_that_weights_and_biases_refuses_is_refused_at_once(
    api: Api, body: dict[str, Any], project: str
) -> None:
    sent = {"type": "wandb", "wandb": {"project": project}}
    param, code, message = await refused(api, body, {"type": "tensorboard"}, sent)
    assert (param, code) == ("integrations[1].wandb.project", "invalid_value")
    assert "as Weights & Biases wants it" in message


@cases("project", ["p" * 128, "Ünser Projekt, v1.2 (b)"])
async def test_a_project_that_weights_and_biases_takes_is_kept(
    api: Api, body: dict[str, Any], project: str
) -> None:
    sent = [{"type": "wandb", "wandb": {"project": project}}]
    reply = await api.call("POST", JOBS, json={**body, "integrations": sent})
    assert reply.status_code == 200, reply.text
    assert reply.json()["integrations"] == sent


@pytest.mark.parametrize("kind", LIBRARIES)
async def test_a_missing_library_is_refused_with_the_command_that_installs_it(
    api: Api, body: dict[str, Any], monkeypatch: pytest.MonkeyPatch, kind: TrackerKind
) -> None:
    monkeypatch.setitem(sys.modules, kind, None)
    sent = {"type": kind, kind: {"project": "p"} if kind == "wandb" else {}}
    param, code, message = await refused(api, body, sent)
    assert (param, code) == ("integrations[0].type", "integration_not_installed")
    assert f"pip install 'agent-rft[{kind}]'" in message


async def test_credentials_are_sealed_and_shown_nowhere(
    api: Api, body: dict[str, Any], database: Database
) -> None:
    server = {"tracking_uri": ENDPOINT, "username": "me", "password": f"{CANARY}-1"}
    sent = [
        {"type": "wandb", "wandb": {"project": "p", "api_key": f"{CANARY}-2"}},
        {"type": "mlflow", "mlflow": {**server, "experiment": "e", "tags": {"team": "a"}}},
        {"type": "trackio"},
        {"type": "mlflow", "mlflow": {"tracking_uri": ENDPOINT, "token": f"{CANARY}-3"}},
    ]
    reply = await api.call("POST", JOBS, json={**body, "integrations": sent})
    assert reply.status_code == 200, reply.text
    job = reply.json()
    hidden = {"tracking_uri": ENDPOINT, "traces_per_step": 2}
    assert job["integrations"] == [
        {"type": "wandb", "wandb": {"project": "p", "api_key": "[redacted]"}},
        {
            "type": "mlflow",
            "mlflow": hidden
            | {
                "username": "me",
                "password": "[redacted]",
                "experiment": "e",
                "tags": {"team": "a"},
            },
        },
        {"type": "trackio", "trackio": {"project": "agent-rft", "traces_per_step": 2}},
        {"type": "mlflow", "mlflow": {**hidden, "token": "[redacted]", "experiment": "agent-rft"}},
    ]
    events = await api.call("GET", f"{JOBS}/{job['id']}/events")
    assert CANARY not in reply.text + events.text
    written = [
        one["message"] for one in events.json()["data"] if "Writing curves" in one["message"]
    ]
    assert [message.split(" to ")[0] for message in written] == ["Writing curves for Trackio"]
    [stored] = rows(
        database,
        f"SELECT integrations, secrets, project_id FROM fine_tuning_jobs WHERE id = '{job['id']}'",
    )
    assert CANARY not in json.dumps(stored[0])
    box = build_secret_box(database.settings)
    opened = box.open(stored[1], project_id=stored[2], row_id=job["id"])
    whole = restored_integrations(stored[0], opened)
    assert [whole[0]["wandb"]["api_key"], whole[1]["mlflow"]["password"]] == [
        f"{CANARY}-2",
        f"{CANARY}-1",
    ]
    assert whole[3]["mlflow"]["token"] == f"{CANARY}-3"


@cases(
    ("options", "field", "code"),
    [
        ({"tracking_uri": "https://10.0.0.1/"}, ".tracking_uri", "endpoint_not_allowed"),
        ({"tracking_uri": "sqlite:////etc/x.db"}, ".tracking_uri", "endpoint_not_allowed"),
        ({"tracking_uri": f"{ENDPOINT}?key=x"}, ".tracking_uri", "invalid_value"),
        ({"tracking_uri": ENDPOINT, "username": "a"}, "", "invalid_value"),
        ({"tracking_uri": ENDPOINT, "token": "[redacted]"}, ".token", "invalid_value"),
        ({"tracking_uri": ENDPOINT, "token": "a\r\nb"}, ".token", "invalid_value"),
        ({"tags": {"a{b": "c"}}, ".tags.a{b", "invalid_value"),
    ],
)
async def test_options_of_mlflow_that_cannot_work_are_refused(
    api: Api, body: dict[str, Any], options: dict[str, Any], field: str, code: str
) -> None:
    param, found, _ = await refused(api, body, {"type": "mlflow", "mlflow": options})
    assert (param, found) == (f"integrations[0].mlflow{field}", code)
