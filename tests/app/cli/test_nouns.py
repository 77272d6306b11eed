"""Files, registered objects, chats and evals from the command line, against a running service."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.cli import files as uploading
from app.cli.models import chat
from app.cli.output import Output
from app.cli.profiles import AddressSources
from app.cli.remote import Remote
from app.cli.terminal import ServiceError
from tests.support.cli.command_line import running_agent_rft
from tests.support.cli.remote_commands import Commands, address_of
from tests.support.contract.service import BASE, ENDPOINT, HOOK_PORT, ROW, Service
from tests.support.patience import wait_for
from tests.support.registry.recipes import OWN

GRADER = {
    "type": "string_check",
    "name": "exact",
    "operation": "eq",
    "input": "{{sample.output_text}}",
    "reference": "yes",
}


def written(path: Path, body: Any) -> str:
    path.write_text(json.dumps(body))
    return str(path)


def test_a_file_is_uploaded_listed_downloaded_and_deleted(
    commands: Commands, tmp_path: Path
) -> None:
    local = tmp_path / "rows.jsonl"
    local.write_bytes(ROW * 12)
    file = commands.text("files", "upload", str(local)).strip()
    newest = commands.envelope("files", "list", "--limit", "1")["data"]
    assert [(one["id"], one["bytes"]) for one in newest] == [(file, len(ROW) * 12)]
    shown = commands.text("files", "show", file).splitlines()
    assert [line.split() for line in shown[:3]] == [
        ["id", file],
        ["name", "rows.jsonl"],
        ["bytes", str(len(ROW) * 12)],
    ]
    out = tmp_path / "copy.jsonl"
    download = ("files", "download", file, "--out", str(out))
    assert commands.text(*download) == f"{out}\n"
    assert out.read_bytes() == ROW * 12
    again = commands.run(*download)
    assert (again.returncode, again.stdout) == (2, "")
    assert "exists: pass --force" in again.stderr
    assert commands.run("files", "delete", file).returncode == 0
    assert commands.run(*download, "--force").returncode == 17
    assert out.read_bytes() == ROW * 12
    assert sorted(tmp_path.iterdir()) == [out, local]


def test_a_file_too_large_for_one_request_is_sent_in_parts(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploading, "MAX_FILE_BYTES", 100)
    monkeypatch.setattr(uploading, "MAX_PART_BYTES", 64)
    local = tmp_path / "large.jsonl"
    local.write_bytes(ROW * 12)
    remote = Remote(
        AddressSources(service.api.base_url, service.api.key, None),
        Output("files upload", as_json=False),
    )
    with remote.service() as running:
        file = uploading.upload(running, local, purpose="fine-tune")
        assert (file.data["filename"], file.data["bytes"]) == ("large.jsonl", len(ROW) * 12)
        with running.stream("GET", f"files/{file.id()}/content") as content:
            assert b"".join(content.chunks) == ROW * 12
        local.write_bytes(b"no rows\n" * 30)
        with pytest.raises(ServiceError, match="JSONL"):
            uploading.upload(running, local, purpose="fine-tune")
    assert service.value("SELECT count(*) FROM uploads WHERE status = 'pending'") == 0


def test_a_grader_is_added_listed_shown_and_tested(commands: Commands, tmp_path: Path) -> None:
    definition = written(tmp_path / "grader.json", {"name": "exact", "grader": GRADER})
    grader = commands.text("graders", "add", definition).strip()
    rows = commands.text("graders", "list").splitlines()
    assert rows[1].split()[:3] == [grader, "exact", "1"]
    shown = commands.envelope("graders", "show", grader)["data"]
    assert shown["grader"]["reference"] == "yes"
    assert commands.text("graders", "show", grader).splitlines()[0].split() == ["id", grader]
    for sample, reward in (("yes", "1"), ("no", "0")):
        body = json.dumps({"model_sample": sample})
        text = commands.text("graders", "test", grader, "--body", "-", stdin=body)
        assert [line.split() for line in text.splitlines()] == [["reward", reward], ["errors", "-"]]
    mistaken = {"name": "lower", "grader": {**GRADER, "reference": "{{item.answer}}"}}
    other = commands.text("graders", "add", written(tmp_path / "other.json", mistaken)).strip()
    body = json.dumps({"model_sample": "yes", "item": {"anser": "yes"}})
    failed = commands.run("graders", "test", other, "--body", "-", stdin=body)
    assert failed.returncode == 24
    assert "details  'item.answer' is not there" in failed.stdout
    unasked = commands.run("graders", "test", grader)
    assert (unasked.returncode, unasked.stdout) == (2, "")
    assert "a grader is tested on an answer" in " ".join(unasked.stderr.split())
    taken = commands.run("graders", "add", definition)
    assert (taken.returncode, taken.stdout) == (18, "")


def test_a_tool_that_does_not_answer_fails_its_test(commands: Commands, tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{HOOK_PORT}/search"  # nothing listens there
    definition = written(tmp_path / "tool.json", {"name": "search", "server_url": address})
    tool = commands.text("tools", "add", definition).strip()
    body = written(tmp_path / "body.json", {"arguments": {}, "requests": 1})
    failed = commands.run("tools", "test", tool, "--body", body)
    assert failed.returncode == 24, failed.stderr
    assert failed.stdout.endswith("not passed\n")
    assert failed.stdout.startswith("failed ")
    report = commands.envelope("tools", "test", tool, "--body", body, code=24)
    assert report["data"]["passed"] is False


def test_curricula_and_environments_are_added_and_listed(
    commands: Commands, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_bytes(
        b"".join(b'{"messages": [{"role": "user", "content": "%d"}]}\n' % n for n in range(12))
    )
    file = commands.text("files", "upload", str(rows)).strip()
    body = json.dumps({"name": "first", "training_file": file})
    curriculum = commands.text("curricula", "add", "-", stdin=body).strip()
    assert commands.text("curricula", "test", curriculum).splitlines()[-1] == "passed"
    body = json.dumps({"name": "room", "url": f"{ENDPOINT}/environment"})
    environment = commands.text("environments", "add", "-", stdin=body).strip()
    assert commands.envelope("environments", "list")["data"][0]["id"] == environment


def test_recipes_of_a_project_are_listed_behind_those_that_ship(commands: Commands) -> None:
    recipe = commands.text("recipes", "add", "-", stdin=json.dumps(OWN)).strip()
    listed = commands.envelope("recipes", "list")["data"]
    assert [each["owner"] for each in listed] == [*["service"] * 5, "project"]
    table = commands.text("recipes", "list").splitlines()
    assert table[1].split()[-1] == "ships"
    assert table[-1].startswith(recipe)
    assert OWN["purpose"] in commands.text("recipes", "show", recipe)


def test_an_answer_is_printed_as_it_is_sampled_without_control_characters(
    commands: Commands, service: Service
) -> None:
    service.engine.answer = "fine \x1b[2J\u202e\nsecond"
    try:
        answer = commands.text("models", "chat", BASE, "-m", "hi", "--system", "be kind")
        assert answer == "fine \\x1b[2J\\u202e\nsecond\n"
        sent = service.engine.bodies[-1]
        assert [message["content"] for message in sent["messages"]] == ["be kind", "hi"]
        piped = commands.envelope("models", "chat", BASE, stdin="from a pipe")
    finally:
        service.engine.answer = "hello"
    assert piped["data"]["choices"][0]["message"]["content"] == "fine \x1b[2J\u202e\nsecond"
    assert service.engine.bodies[-1]["messages"][-1]["content"] == "from a pipe"
    unknown = commands.run("models", "chat", "ft:never", "-m", "hi")
    assert (unknown.returncode, unknown.stdout) == (17, "")


def test_an_answer_that_breaks_off_is_a_failure(commands: Commands, service: Service) -> None:
    service.engine.break_off = True
    try:
        done = commands.run("models", "chat", BASE, "-m", "hi")
    finally:
        service.engine.break_off = False
    assert done.returncode in (15, 19)
    assert done.stderr.count("\n") == 1


def test_an_eval_run_is_followed_to_its_end(
    commands: Commands, service: Service, tmp_path: Path
) -> None:
    create: Any = service.client().evals.create
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}}
    made = create(
        name="exact",
        data_source_config={"type": "custom", "item_schema": schema},
        testing_criteria=[{**GRADER, "input": "{{item.answer}}"}],
    )
    items = [{"item": {"answer": answer}} for answer in ("yes", "no")]
    source = {"type": "jsonl", "source": {"type": "file_content", "content": items}}
    body = written(tmp_path / "run.json", {"name": "first", "data_source": source})
    detached = commands.envelope("evals", "run", made.id, body, "--detach")["data"]
    assert detached["status"] == "queued"
    with running_agent_rft("evals", "run", made.id, body, **address_of(service)) as following:
        runs = "SELECT count(*) FROM eval_runs WHERE eval_id = %s"
        wait_for(lambda: service.value(runs, made.id) == 2, what="the second run")
        service.execute(
            "UPDATE eval_runs SET status = 'failed', error = %s WHERE eval_id = %s AND id <> %s",
            json.dumps({"code": "x", "message": "no \x07"}),
            *(made.id, detached["id"]),
        )
        done = following.ended()
    assert done.returncode == 20
    assert r"x: no \x07" in done.stdout
    rows = commands.text("evals", "runs", made.id).splitlines()
    assert [row.split()[1] for row in rows[1:]] == ["failed", "queued"]
    assert commands.envelope("evals", "list", "--limit", "1")["data"][0]["id"] == made.id
    lines = commands.text("evals", "show", made.id, detached["id"]).splitlines()
    shown = [line.split() for line in lines]
    assert shown[:2] == [["id", detached["id"]], ["status", "queued"]]


def test_a_conversation_keeps_its_messages_and_continues_after_a_failure(
    service: Service, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = iter(["first", "", "refused", "second"])

    def typed(_prompt: str) -> str:
        line = next(lines, None)
        if line is None:
            raise EOFError
        if line == "refused":
            service.engine.refusals.append((400, "too long"))
        return line

    monkeypatch.setattr("builtins.input", typed)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    named = AddressSources(service.api.base_url, service.api.key, None)
    remote = Remote(named, Output("models chat", as_json=False))
    chat(remote, name=BASE, system="be kind", max_tokens=8)
    printed = capsys.readouterr()
    assert printed.out == "hello\nhello\n\n"
    assert "too long" in printed.err
    messages = service.engine.bodies[-1]["messages"]
    assert [message["content"] for message in messages] == ["be kind", "first", "hello", "second"]
