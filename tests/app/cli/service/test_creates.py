"""A create call whose answer is lost is sent again under its key, and makes one object."""

import json
import re
from pathlib import Path

import pytest

from app.cli import client as service_client
from app.cli.evals import run_eval
from app.cli.jobs import create
from app.cli.output import Output
from app.cli.profiles import AddressSources
from app.cli.remote import Remote
from app.cli.terminal import CreationUnknown, ServiceError
from tests.support.cli.scripted_service import ScriptedService, cut, reply, scripted_service

JOB = json.dumps({"id": "ftjob-1", "status": "queued", "model": "m", "created_at": 1})
IN_USE = json.dumps({"error": {"message": "running", "code": "idempotency_key_in_use"}})
LOST = (reply("<html>", status="504 Gateway Timeout"), cut('{"id"'))


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_client, "_CREATE_WAITS_S", (0.0,) * 3)
    monkeypatch.setattr(service_client, "_FIRST_WAIT_S", 0.0)


@pytest.fixture
def call(tmp_path: Path) -> Path:
    path = tmp_path / "body.json"
    path.write_text("{}")
    return path


def remote_of(found: ScriptedService, command: str = "jobs create") -> Remote:
    return Remote(AddressSources(found.base_url, "k", None), Output(command, as_json=False))


def keys(found: ScriptedService) -> list[str]:
    return [re.findall(r"(?i)idempotency-key: (\S+)", one)[0] for one in found.requests]


def test_a_lost_answer_is_requested_again_under_the_same_key(
    call: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = [LOST[0], reply(IN_USE, status="409 X"), LOST[1], reply(JOB)]
    with scripted_service(replies) as found:
        assert create(remote_of(found), call=call) == 0
    assert capsys.readouterr().out == "ftjob-1\n"
    assert len(keys(found)) == 4
    assert len(set(keys(found))) == 1


def test_an_answer_that_stays_lost_reports_that_the_job_may_exist(call: Path) -> None:
    rows = call.with_name("rows.jsonl")
    rows.write_text("{}")
    file = {"id": "file-1", "filename": "f", "bytes": 2, "created_at": 1, "purpose": "p"}
    with (
        scripted_service([reply(json.dumps(file)), *[LOST[0]] * 4]) as found,
        pytest.raises(CreationUnknown, match="list the jobs before you try again") as failure,
    ):
        create(remote_of(found), call=call, training_file=rows)
    assert failure.value.exit_code == 19
    assert [one.split()[0] for one in found.requests] == ["POST"] * 5, "the job needs its file"


@pytest.mark.parametrize(
    "answer", [reply('{"error": {"message": "no"}}', status="400 X"), reply(IN_USE, status="409 X")]
)
def test_a_refusal_is_final(call: Path, answer: bytes) -> None:
    with scripted_service([answer, reply(JOB)]) as found, pytest.raises(ServiceError) as failure:
        create(remote_of(found), call=call)
    assert len(found.requests) == 1
    assert not isinstance(failure.value, CreationUnknown)


def test_an_eval_run_is_followed_over_faults(
    call: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = {"id": "evalrun_1", "eval_id": "eval_1", "status": "queued", "created_at": 1}
    replies = [
        *(LOST[0], reply(json.dumps(run)), reply("busy", status="503 X"), LOST[1]),
        reply(json.dumps({**run, "status": "failed"})),
    ]
    with scripted_service(replies) as found:
        remote = remote_of(found, "evals run")
        assert run_eval(remote, eval_id="eval_1", body=call) == 20
    assert capsys.readouterr().err.count("the service is unavailable (") == 2
    assert [one.split()[0] for one in found.requests] == ["POST", "POST", "GET", "GET", "GET"]
