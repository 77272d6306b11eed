"""The whole product on one machine: announced, healed, stopped, found again."""

import io
import json
import os
import signal
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import openai
import pytest

from app.embedded.leftovers import command_line
from tests.support.stack import CommandFailed, Stack

_CHILDREN = ("postgres", "valkey", "engine", "api", "runs", "control")


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with Stack(tmp_path_factory.mktemp("stack")) as running:
        yield running


def _wait(condition: Callable[[], bool], *, limit_s: float = 60.0) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.05)


def _times_ready(stack: Stack, child: str) -> int:
    lines = (stack.directory / "logs" / "supervisor.log").read_text().splitlines()
    return sum("child_ready" in line and f"child={child}" in line.split() for line in lines)


def _answers(stack: Stack) -> bool:
    url = stack.base_url.removesuffix("/v1") + "/readyz"
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:  # noqa: S310 - our own address
            return int(reply.status) == 200
    except OSError:
        return False


def _client(stack: Stack) -> openai.OpenAI:
    return openai.OpenAI(base_url=stack.base_url, api_key=stack.api_key)


def _upload(stack: Stack) -> str:
    row = json.dumps({"messages": [{"role": "user", "content": "What is 2 + 2?"}]}) + "\n"
    content = io.BytesIO(row.encode() * 12)
    with _client(stack) as client:
        return client.files.create(file=("rows.jsonl", content), purpose="fine-tune").id


def _processes_below(directory: Path) -> list[str]:
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [line for line in map(command_line, pids) if str(directory) in line]


def test_the_announcement_leads_to_a_working_service(stack: Stack) -> None:
    assert stack.announced.keys() == {
        "base_url",
        "api_key",
        "admin_key",
        "dashboard_url",
        "models",
    }
    assert stack.base_url == f"http://127.0.0.1:{stack.port}/v1"
    assert stack.api_key != stack.announced["admin_key"]
    with _client(stack) as client:
        served = {model.id for model in client.models.list()}
    assert set(stack.announced["models"]) <= served


def test_files_with_secrets_are_for_their_owner_only(stack: Stack) -> None:
    for name in ("state.json", "services.json", "valkey/valkey.conf", "logs/supervisor.log"):
        assert (stack.directory / name).stat().st_mode & 0o077 == 0, name


def test_no_child_is_handed_the_superusers_or_owners_password(stack: Stack) -> None:
    state = json.loads((stack.directory / "state.json").read_text())
    for child, pid in stack.pids().items():
        environment = Path(f"/proc/{pid}/environ").read_text()
        assert state["superuser_password"] not in environment, child
        assert state["owner_password"] not in environment, child
        if child in {"postgres", "valkey", "engine"}:
            assert state["app_password"] not in environment, child
            assert state["secret_key"] not in environment, child
        assert (state["worker_password"] in environment) == (child in {"runs", "control"}), child


def test_a_second_up_on_the_directory_is_refused(stack: Stack) -> None:
    second = Stack(stack.directory)
    with pytest.raises(CommandFailed) as caught:
        second.start()
    assert caught.value.status == 5
    assert _answers(stack)


@pytest.mark.parametrize("child", _CHILDREN)
def test_a_killed_child_heals(stack: Stack, child: str) -> None:
    file_id = _upload(stack)
    ready_before = _times_ready(stack, child)
    killed = stack.kill(child)
    stack.wait_restarted(child, killed)
    _wait(lambda: _times_ready(stack, child) > ready_before)
    _wait(lambda: _answers(stack))
    with _client(stack) as client:
        assert client.files.retrieve(file_id).filename == "rows.jsonl"


def test_a_killed_supervisor_takes_its_children_along_and_the_next_finds_everything(
    tmp_path: Path,
) -> None:
    stack = Stack(tmp_path)
    stack.start()
    try:
        announced, file_id = stack.announced, _upload(stack)
        supervisor = json.loads((tmp_path / "services.json").read_text())["supervisor"]
        os.kill(supervisor, signal.SIGKILL)
        stack.start()
        assert stack.announced == announced
        with _client(stack) as client:
            assert [file.id for file in client.files.list()] == [file_id]
    finally:
        stack.stop()
    assert _processes_below(tmp_path) == []
    assert not (tmp_path / "services.json").exists()
    stack.stop()
