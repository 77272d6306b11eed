"""A service that answers garbage, refuses, hangs up or never answers: one sentence and a code."""

import gzip
import json
from pathlib import Path

import httpx
import pytest

from app.cli import client as service_client
from app.cli.client import service
from app.cli.files import download_file
from app.cli.models import download
from app.cli.output import Output
from app.cli.profiles import AddressSources
from app.cli.remote import Remote
from app.cli.terminal import ServiceError, printable
from app.cli.watching import FollowedJob
from app.local.state import free_port
from tests.support.cases import cases
from tests.support.cli.command_line import agent_rft
from tests.support.cli.scripted_service import cut, raw, reply, scripted_service

BOMB = raw(
    "HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Encoding: gzip\nConnection: close",
    gzip.compress(bytes(1 << 20)),
)


def _error(message: str) -> str:
    return json.dumps({"error": {"message": message, "type": "t", "param": None, "code": "c"}})


@cases(
    ("answer", "code", "reported"),
    [
        (reply("hello"), 15, "did not answer as an agent-rft service does"),
        (reply('{"data": {}}'), 15, "reply cannot be read (data)"),
        (reply("[" * 100_000), 15, "did not answer as an agent-rft service does"),
        (cut('{"data": ['), 15, "no answer from"),
        (reply(_error("no"), status="401 X"), 16, "answered 401: no Check --api-key"),
        (reply(_error("no"), status="404 X"), 17, "answered 404: no"),
        (reply(_error("no"), status="429 X"), 19, "answered 429: no Try again later."),
        (reply(_error("\x1b[2J\u202e"), status="400 X"), 18, r"answered 400: \x1b[2J\u202e"),
        (BOMB, 15, "127.0.0.1 answered in the content encoding 'gzip', which was not asked for"),
        (raw("HTTP/1.1 302 Found\nLocation: http://[\xe9"), 15, "answered 302: Found"),
        (reply('{"data": [{"id": "\\ud800"}], "has_more": true}'), 15, "reply cannot be read (id)"),
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
    ("verb", "answer", "code", "reported"),
    [
        ("export", reply('{"data": [{"id": 1}]}'), 15, "reply cannot be read (status)"),
        ("download", reply("hello"), 15, "is not the archive of a model"),
        ("download", b"SSH-2.0-OpenSSH\r\n", 1, "interrupted after 0 bytes"),
        ("download", reply(_error("\x1b[2J"), status="401 X"), 16, r"answered 401: \x1b[2J Check"),
    ],
)
def test_a_download_fails_as_every_command(
    tmp_path: Path, verb: str, answer: bytes, code: int, reported: str
) -> None:
    out = tmp_path / "out"
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


def test_a_service_that_is_unavailable_or_hangs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"http://127.0.0.1:{free_port()}/v1"
    unavailable = agent_rft("jobs", "list", "--base-url", url, "--api-key", "k")
    assert unavailable.returncode == 15
    assert unavailable.stderr.startswith(f"agent-rft: no answer from {url}: ")
    monkeypatch.setattr(service_client, "TIMEOUT", httpx.Timeout(0.2))
    with (
        scripted_service([b""]) as hung,
        pytest.raises(ServiceError, match=r"no answer from .*: timed out") as failure,
        service(hung.base_url, "k") as running,
    ):
        running.get("fine_tuning/jobs")
    assert failure.value.exit_code == 15


def test_a_reply_without_an_end_is_left() -> None:
    endless = raw("HTTP/1.1 200 OK\nContent-Type: application/json", b" " * (65 << 20))
    with scripted_service([endless]) as found:
        done = agent_rft("jobs", "list", "--base-url", found.base_url, "--api-key", "k")
    assert (done.returncode, done.stdout) == (15, "")
    assert "127.0.0.1 sent more than 64 MB in one reply" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("verb", ["files", "models"])
def test_a_download_without_an_end_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.setattr(service_client, "DOWNLOAD_BYTES", 2 << 20)
    head = f"HTTP/1.1 200 OK\nX-Manifest-Sha256: {'0' * 64}"
    with scripted_service([raw(head, bytes(3 << 20))]) as found:
        remote = Remote(AddressSources(found.base_url, "k", None), Output(verb, as_json=True))
        with pytest.raises(ServiceError, match="sent more than 2 MB in one reply"):
            if verb == "files":
                download_file(remote, file="file-1", out=tmp_path / "out")
            else:
                download(remote, name="ft:x", out=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_a_named_length_may_be_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for bound in ("REPLY_BYTES", "DOWNLOAD_BYTES"):
        monkeypatch.setattr(service_client, bound, 1000)
    with scripted_service([reply("x" * 5000, kind="text/plain")]) as found:
        named = AddressSources(found.base_url, "k", None)
        remote = Remote(named, Output("files", as_json=True))
        download_file(remote, file="file-1", out=tmp_path / "out")
    assert (tmp_path / "out").read_text() == "x" * 5000


def test_a_cookie_of_the_service_is_neither_kept_nor_a_fault_of_the_user() -> None:
    first = '{"data": [{"id": "ftjob-1"}], "has_more": true}'
    head = f"HTTP/1.1 200 OK\nSet-Cookie: a=\xe9\nConnection: close\nContent-Length: {len(first)}"
    with scripted_service([raw(head, first.encode()), reply('{"data": []}')]) as found:
        with service(found.base_url, "k") as running:
            rows = running.rows("fine_tuning/jobs", limit=200)
        asked = found.requests[1]
    assert [row["id"] for row in rows.data] == ["ftjob-1"]
    assert "cookie" not in asked.lower()
    assert "after=ftjob-1" in asked


@cases("event_id", ["\xe9", "x" * 300])
def test_an_event_id_that_no_header_can_repeat_is_a_fault_of_the_service(event_id: str) -> None:
    event = json.dumps({"id": "e", "created_at": 1, "level": "info", "message": "m", "type": "x"})
    stream = f"id: {event_id}\ndata: {event}\n\n"
    with (
        scripted_service([reply(stream, kind="text/event-stream")]) as found,
        pytest.raises(ServiceError, match="did not answer as an agent-rft service") as failure,
        service(found.base_url, "k") as running,
    ):
        list(FollowedJob(running, "ftjob-1").items())
    assert failure.value.exit_code == 15


@cases(
    "arguments",
    [
        ("jobs", "curves", "ftjob-1", "--name", ""),
        ("files", "list", "--purpose", ""),
    ],
)
def test_an_empty_value_is_refused_not_left_out(arguments: tuple[str, ...]) -> None:
    with scripted_service([]) as found:
        done = agent_rft(*arguments, "--base-url", found.base_url, "--api-key", "k")
        assert not found.requests
    assert (done.returncode, done.stdout) == (2, "")
    assert "an empty text for '" in done.stderr


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
