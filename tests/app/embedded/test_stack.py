"""The complete product on one machine: announcement, restarts, stop, second start."""

import io
import json
import os
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app.embedded.leftovers import command_line
from app.embedded.log_files import LOG_BYTES
from app.embedded.ports import free_port
from app.settings.models import DEFAULT_MODEL
from tests.support.installation import Installation, cli, installation
from tests.support.patience import PATIENCE_S, wait_for

_HEALED = ("postgres", "api")
"""Children that one test each kills. `tests/e2e/test_kills.py` kills all of them during a job."""


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
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as reply:  # noqa: S310 - our own address
            return int(reply.status) == 200
    except OSError:
        return False


def _upload(stack: Installation) -> str:
    row = json.dumps({"messages": [{"role": "user", "content": "What is 2 + 2?"}]}) + "\n"
    content = io.BytesIO(row.encode() * 12)
    return stack.client().files.create(file=("rows.jsonl", content), purpose="fine-tune").id


def _processes_below(directory: Path) -> list[str]:
    """Command lines that name the directory, or that were started in it."""
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    lines = {pid: command_line(pid) for pid in pids}
    return [
        line
        for pid, line in lines.items()
        if str(directory) in line or _working_directory(pid) == str(directory)
    ]


def _working_directory(pid: int) -> str | None:
    try:
        return str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        return None


def test_the_announcement_leads_to_a_working_service(stack: Installation) -> None:
    announced = json.loads((stack.data_dir / "services.json").read_text())
    assert announced["base_url"] == stack.base_url
    assert stack.base_url.endswith("/v1")
    assert announced["models"] == [DEFAULT_MODEL]
    assert len({stack.api_key, stack.admin_key, ""}) == 3
    assert DEFAULT_MODEL in {model.id for model in stack.client().models.list()}


def test_the_announced_link_signs_in_to_the_dashboard_once(stack: Installation) -> None:
    announced = json.loads((stack.data_dir / "services.json").read_text())
    page, _, link = announced["sign_in_url"].partition("#link=")
    assert page == f"{announced['dashboard_url']}sign-in"
    headers = {"origin": stack.base_url.removesuffix("/v1")}
    with httpx.Client(headers=headers, timeout=PATIENCE_S) as browser:
        assert browser.get(announced["dashboard_url"]).status_code == 303
        assert browser.post(page, data={"link": link}).status_code == 303
        home = browser.get(announced["dashboard_url"])
        assert (home.status_code, "<h1>Jobs</h1>" in home.text) == (200, True)
        assert browser.post(page, data={"link": link}).status_code == 401


def test_files_with_secrets_are_for_their_owner_only(stack: Installation) -> None:
    _upload(stack)
    files = [path for path in stack.data_dir.rglob("*") if not path.is_symlink()]
    names = {str(path.relative_to(stack.data_dir)) for path in files}
    assert {"state.json", "models.json", "supervisor.lock", "reserve", "objects"} <= names
    open_to_others = [path for path in files if path.stat().st_mode & 0o077]
    assert open_to_others == []


def test_no_child_is_handed_the_superusers_or_owners_password(stack: Installation) -> None:
    state = json.loads((stack.data_dir / "state.json").read_text())
    for child, pid in stack.pids().items():
        environment = Path(f"/proc/{pid}/environ").read_text()
        assert state["superuser_password"] not in environment, child
        assert state["owner_password"] not in environment, child
        if child in {"postgres", "valkey", "engine", "sandbox"}:
            assert state["app_password"] not in environment, child
            assert state["secret_key"] not in environment, child
        assert (state["worker_password"] in environment) == (child in {"runs", "control"}), child


def test_a_second_up_on_the_directory_is_refused(stack: Installation) -> None:
    command = cli("up", "--data-dir", str(stack.data_dir), "--port", str(free_port()), "--detach")
    second = subprocess.run(command, capture_output=True, text=True, check=False)
    assert second.returncode == 5
    assert "belongs to a running supervisor" in second.stderr
    assert _answers(stack)


@pytest.mark.parametrize("child", _HEALED)
def test_a_killed_child_heals(stack: Installation, child: str) -> None:
    file_id = _upload(stack)
    ready_before, killed = _times_ready(stack, child), stack.pids()[child]
    stack.kill(child)
    wait_for(lambda: _times_ready(stack, child) > ready_before, what=child)
    assert stack.pids()[child] != killed
    wait_for(lambda: _answers(stack), what="the API")
    assert stack.client().files.retrieve(file_id).filename == "rows.jsonl"


def test_a_killed_supervisor_takes_its_children_along_and_the_next_finds_everything(
    stack: Installation,
) -> None:
    file_id, children = _upload(stack), stack.pids()
    os.kill(stack.supervisor(), signal.SIGKILL)
    address = ("--data-dir", str(stack.data_dir), "--port", stack.base_url.split(":")[2][:-3])
    again = subprocess.run(
        cli("up", *address, "--detach"), capture_output=True, text=True, check=True
    )
    announced = json.loads(again.stdout)
    assert (announced["api_key"], announced["admin_key"]) == (stack.api_key, stack.admin_key)
    assert stack.pids().keys() == children.keys()
    assert not set(stack.pids().values()) & set(children.values())
    workers = [line for line in _processes_below(stack.data_dir) if "-Q control" in line]
    assert 1 <= len(workers) <= 3  # with its pool and its clock
    assert stack.client().files.retrieve(file_id).filename == "rows.jsonl"


def test_the_clock_needs_no_file_and_writes_no_line_per_tick(stack: Installation) -> None:
    assert list(stack.data_dir.glob("beat*")) == []
    log = (stack.data_dir / "logs" / "control.log").read_text()
    assert " ready." in log
    assert "Scheduler: Sending due task" not in log
    assert "received" not in log
    assert "succeeded" not in log


def test_a_log_stays_bounded_while_its_child_writes(stack: Installation) -> None:
    log, before = stack.data_dir / "logs" / "api.log", stack.pids()["api"]
    with log.open("a") as file:
        file.write("x" * LOG_BYTES)

    def bounded() -> bool:
        return log.stat().st_size < LOG_BYTES

    wait_for(bounded, what="the bound of the log")
    assert log.with_name("api.log.1").stat().st_size >= LOG_BYTES
    urllib.request.urlopen(stack.base_url.removesuffix("/v1") + "/healthz?api_key=canary").close()  # noqa: S310 - our own address
    wait_for(lambda: "/healthz " in log.read_text(), what="the next line")
    assert "\0" not in log.read_text()
    assert "canary" not in log.read_text()
    assert stack.pids()["api"] == before


def test_readiness_has_a_part_for_each_server(stack: Installation) -> None:
    url = stack.base_url.removesuffix("/v1") + "/readyz"

    def parts() -> dict[str, str]:
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as reply:  # noqa: S310 - our own address
            body = json.load(reply)
        return {name: part["status"] for name, part in body["parts"].items()}

    names = ["database", "disk", "broker", "worker", "engine"]
    if "sandbox" in stack.pids():
        names.append("sandbox")
    wait_for(lambda: parts() == dict.fromkeys(names, "ok"), what="all parts")
    os.kill(stack.pids()["control"], signal.SIGSTOP)
    os.kill(stack.pids()["engine"], signal.SIGSTOP)
    try:
        wait_for(
            lambda: (
                [name for name, state in parts().items() if state != "ok"] == ["worker", "engine"]
            ),
            what="the two that do not answer",
        )
    finally:
        os.kill(stack.pids()["control"], signal.SIGCONT)
        os.kill(stack.pids()["engine"], signal.SIGCONT)
    wait_for(lambda: parts() == dict.fromkeys(names, "ok"), what="all parts again")
