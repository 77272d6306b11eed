"""A service that answers garbage, refuses, hangs up or never answers: one sentence and a code."""

import json
from pathlib import Path

import httpx
import pytest

from app.cli import service_client
from app.cli.printable import printable
from app.cli.service_client import service
from app.cli.service_errors import ServiceError
from tests.support.command_line import agent_rft
from tests.support.installation import free_port
from tests.support.remote_commands import Commands
from tests.support.scripted_service import cut, reply, scripted_service


def _error(message: str) -> str:
    return json.dumps({"error": {"message": message, "type": "t", "param": None, "code": "c"}})


@pytest.mark.parametrize(
    ("answer", "code", "reported"),
    [
        (reply("hello"), 15, "did not answer as an agent-rft service does"),
        (reply("[1]"), 15, "did not answer as an agent-rft service does"),
        (reply('{"data": {}}'), 15, "reply cannot be read (data)"),
        (reply('{"data": [{"id": 1}]}'), 15, "reply cannot be read (id, status, model)"),
        (reply('{"data": [], "has_more": true}'), 15, "did not answer as"),
        (reply("[" * 100_000), 15, "did not answer as an agent-rft service does"),
        (cut('{"data": ['), 15, "no answer from"),
        (b"SSH-2.0-OpenSSH\r\n", 15, "no answer from"),
        (reply("", status="302 Found"), 18, "answered 302: Found. Is 127.0.0.1 an agent-rft"),
        (reply(_error("no"), status="401 X"), 16, "answered 401: no Check --api-key"),
        (reply(_error("no"), status="403 X"), 16, "answered 403: no"),
        (reply(_error("no"), status="404 X"), 17, "answered 404: no"),
        (reply(_error("no"), status="409 X"), 18, "answered 409: no"),
        (reply(_error("no"), status="429 X"), 19, "answered 429: no Try again later."),
        (reply("<html>", status="502 Bad Gateway"), 19, "answered 502: Bad Gateway."),
        (reply(_error("\x1b[2J\u202e"), status="400 X"), 18, r"answered 400: \x1b[2J\u202e"),
    ],
)
def test_each_failure_is_a_sentence_and_a_code(answer: bytes, code: int, reported: str) -> None:
    with scripted_service([answer, answer]) as found:
        named = ("--base-url", found.base_url, "--api-key", "art_project_secret")
        done = agent_rft("jobs", "list", *named)
        as_json = agent_rft("jobs", "list", *named, "--json")
        assert found.requests[0].count("art_project_secret") == 1
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("agent-rft: ")
    assert reported in done.stderr
    assert done.stderr.count("\n") == 1
    assert "art_project" not in done.stderr
    envelope = json.loads(as_json.stdout)
    assert (as_json.returncode, envelope["data"]) == (code, None)
    assert list(envelope["error"]) == ["message", "type", "param", "code", "status"]
    assert printable(envelope["error"]["message"]) in as_json.stderr
    assert as_json.stdout.isascii()


@pytest.mark.parametrize(
    ("answer", "code", "reported"),
    [
        (reply("hello"), 15, "did not answer as an agent-rft service does"),
        (reply("[1]"), 15, "did not answer as an agent-rft service does"),
        (reply('{"data": {}}'), 15, "reply cannot be read (data)"),
        (reply('{"data": [{"id": 1}]}'), 15, "reply cannot be read (id, status)"),
        (cut('{"data": ['), 15, "no answer from"),
        (b"SSH-2.0-OpenSSH\r\n", 15, "no answer from"),
        (reply(_error("no"), status="401 X"), 16, "answered 401: no Check --api-key"),
        (reply("<html>", status="502 Bad Gateway"), 19, "answered 502: Bad Gateway."),
        (reply(_error("\x1b[2J\u202e"), status="400 X"), 18, r"answered 400: \x1b[2J\u202e"),
    ],
)
def test_an_export_fails_as_every_command(
    tmp_path: Path, answer: bytes, code: int, reported: str
) -> None:
    _fails("export", answer, tmp_path / "out", code=code, reported=reported)


@pytest.mark.parametrize(
    ("answer", "code", "reported"),
    [
        (reply("hello"), 15, "is not the archive of a model"),
        (b"HTTP/1.1 200 OK\r\nX-Manifest-Sha256: \xe9\r\nContent-Length: 0\r\n\r\n", 15, "is not"),
        (b"SSH-2.0-OpenSSH\r\n", 1, "interrupted after 0 bytes"),
        (reply(_error("no"), status="401 X"), 16, "answered 401: no Check --api-key"),
        (reply("<html>", status="502 Bad Gateway"), 19, "answered 502: Bad Gateway."),
        (reply(_error("\x1b[2J\u202e"), status="400 X"), 18, r"answered 400: \x1b[2J\u202e"),
    ],
)
def test_a_download_fails_as_every_command(
    tmp_path: Path, answer: bytes, code: int, reported: str
) -> None:
    _fails("download", answer, tmp_path / "out", code=code, reported=reported)


def _fails(verb: str, answer: bytes, out: Path, *, code: int, reported: str) -> None:
    with scripted_service([answer]) as found:
        named = ("--base-url", found.base_url, "--api-key", "art_project_secret")
        done = agent_rft("models", verb, "ft:x", "--out", str(out), *named, "--json")
    assert done.returncode == code, done.stderr
    assert reported in done.stderr
    assert done.stderr.count("\n") == 1
    assert "art_project" not in done.stderr
    envelope = json.loads(done.stdout)
    assert (envelope["command"], envelope["data"]) == (f"models {verb}", None)
    assert list(envelope["error"]) == ["message", "type", "param", "code", "status"]
    assert not out.exists()


def test_the_error_object_of_the_service_is_in_the_envelope(commands: Commands) -> None:
    refused = commands.envelope("jobs", "show", "ftjob-never", code=17)
    assert refused["error"]["status"] == 404
    assert refused["error"]["type"] == "invalid_request_error"


def test_a_service_that_is_away_or_hangs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"http://127.0.0.1:{free_port()}/v1"
    away = agent_rft("jobs", "list", "--base-url", url, "--api-key", "k")
    assert away.returncode == 15
    assert away.stderr.startswith(f"agent-rft: no answer from {url}: ")
    monkeypatch.setattr(service_client, "TIMEOUT", httpx.Timeout(0.2))
    with (
        scripted_service([b""]) as hung,
        pytest.raises(ServiceError, match=r"no answer from .*: timed out") as failure,
        service(hung.base_url, "k") as running,
    ):
        running.get("fine_tuning/jobs")
    assert failure.value.exit_code == 15


def test_no_id_leads_to_another_path(tmp_path: Path) -> None:
    with scripted_service([reply("{}")] * 4) as found:
        for job in ("../../models", ".."):
            agent_rft("jobs", "show", job, "--base-url", found.base_url, "--api-key", "k")
        for verb in ("download", "export"):
            named = ("--out", str(tmp_path / verb), "--base-url", found.base_url, "--api-key", "k")
            agent_rft("models", verb, "..", *named)
        paths = [request.split()[1] for request in found.requests]
    assert paths == [
        "/v1/fine_tuning/jobs/%2E%2E%2F%2E%2E%2Fmodels",
        "/v1/fine_tuning/jobs/%2E%2E",
        "/v1/models/%2E%2E/adapter",
        "/v1/models/%2E%2E/exports?limit=1",
    ]
