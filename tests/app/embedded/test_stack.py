"""The complete product on one machine: announcement, restarts, stop, second start."""

import io
import json
import os
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.embedded.leftovers import command_line
from app.embedded.ports import free_port
from app.settings import DEFAULT_MODEL
from tests.support.installation import Installation, cli, installation, wait_for

_CHILDREN = ("postgres", "valkey", "engine", "api", "runs", "control")


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    directory = tmp_path_factory.mktemp("stack")
    with installation(directory, allow=()) as running:
        yield running
    assert _processes_below(directory) == []
    assert not (directory / "services.json").exists()


def _times_ready(stack: Installation, child: str) -> int:
    lines = (stack.data_dir / "logs" / "supervisor.log").read_text().splitlines()
    return sum("child_ready" in line and f"child={child}" in line.split() for line in lines)


def _answers(stack: Installation) -> bool:
    url = stack.base_url.removesuffix("/v1") + "/readyz"
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:  # noqa: S310 - our own address
            return int(reply.status) == 200
    except OSError:
        return False


def _upload(stack: Installation) -> str:
    row = json.dumps({"messages": [{"role": "user", "content": "What is 2 + 2?"}]}) + "\n"
    content = io.BytesIO(row.encode() * 12)
    with stack.client() as client:
        return client.files.create(file=("rows.jsonl", content), purpose="fine-tune").id


def _processes_below(directory: Path) -> list[str]:
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [line for line in map(command_line, pids) if str(directory) in line]


def test_the_announcement_leads_to_a_working_service(stack: Installation) -> None:
    announced = json.loads((stack.data_dir / "services.json").read_text())
    assert announced["base_url"] == stack.base_url
    assert stack.base_url.endswith("/v1")
    assert announced["models"] == [DEFAULT_MODEL]
    assert len({stack.api_key, stack.admin_key, ""}) == 3
    with stack.client() as client:
        assert DEFAULT_MODEL in {model.id for model in client.models.list()}


def test_files_with_secrets_are_for_their_owner_only(stack: Installation) -> None:
    for name in ("state.json", "services.json", "valkey/valkey.conf", "logs/supervisor.log"):
        assert (stack.data_dir / name).stat().st_mode & 0o077 == 0, name


def test_no_child_is_handed_the_superusers_or_owners_password(stack: Installation) -> None:
    state = json.loads((stack.data_dir / "state.json").read_text())
    for child, pid in stack.pids().items():
        environment = Path(f"/proc/{pid}/environ").read_text()
        assert state["superuser_password"] not in environment, child
        assert state["owner_password"] not in environment, child
        if child in {"postgres", "valkey", "engine"}:
            assert state["app_password"] not in environment, child
            assert state["secret_key"] not in environment, child
        assert (state["worker_password"] in environment) == (child in {"runs", "control"}), child


def test_a_second_up_on_the_directory_is_refused(stack: Installation) -> None:
    command = cli("up", "--data-dir", str(stack.data_dir), "--port", str(free_port()), "--detach")
    second = subprocess.run(command, capture_output=True, text=True, check=False)
    assert second.returncode == 5
    assert "belongs to a running supervisor" in second.stderr
    assert _answers(stack)


@pytest.mark.parametrize("child", _CHILDREN)
def test_a_killed_child_heals(stack: Installation, child: str) -> None:
    file_id = _upload(stack)
    ready_before, killed = _times_ready(stack, child), stack.pids()[child]
    stack.kill(child)
    wait_for(lambda: _times_ready(stack, child) > ready_before, timeout_s=60, what=child)
    assert stack.pids()[child] != killed
    wait_for(lambda: _answers(stack), timeout_s=30, what="the API")
    with stack.client() as client:
        assert client.files.retrieve(file_id).filename == "rows.jsonl"


def test_a_killed_supervisor_takes_its_children_along_and_the_next_finds_everything(
    stack: Installation,
) -> None:
    file_id, children = _upload(stack), stack.pids()
    supervisor = json.loads((stack.data_dir / "services.json").read_text())["supervisor"]
    os.kill(supervisor, signal.SIGKILL)
    address = ("--data-dir", str(stack.data_dir), "--port", stack.base_url.split(":")[2][:-3])
    again = subprocess.run(
        cli("up", *address, "--detach"), capture_output=True, text=True, check=True
    )
    announced = json.loads(again.stdout)
    assert (announced["api_key"], announced["admin_key"]) == (stack.api_key, stack.admin_key)
    assert stack.pids().keys() == children.keys()
    assert not set(stack.pids().values()) & set(children.values())
    assert len([line for line in _processes_below(stack.data_dir) if "--schedule" in line]) <= 3
    with stack.client() as client:
        assert client.files.retrieve(file_id).filename == "rows.jsonl"
