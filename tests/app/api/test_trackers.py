"""Integrations of jobs that the service writes to, over HTTP."""

import sys
from typing import Any

import pytest

from tests.support.api.application import Api

JOBS = "/v1/fine_tuning/jobs"
TENSORBOARD = {"type": "tensorboard"}


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


async def test_a_missing_library_is_refused_with_the_command_that_installs_it(
    api: Api, body: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    param, code, message = await refused(api, body, TENSORBOARD)
    assert (param, code) == ("integrations[0].type", "integration_not_installed")
    assert "pip install 'agent-rft[tensorboard]'" in message
