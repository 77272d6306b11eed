"""The processes of an installation: announcement, restarts, logs, readiness, second start.

The fixture `live` checks at its end that the stop leaves no process.
"""

import io
import json
import os
import re
import signal
import stat
import sys
import urllib.request
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from app.local.processes import LOG_BYTES
from app.settings import DEFAULT_MODEL
from tests.support.embedded.installation import Installation
from tests.support.patience import PATIENCE_S, wait_for
from tests.support.priorities import session_niceness


def _upload(live: Installation) -> str:
    row = json.dumps({"messages": [{"role": "user", "content": "What is 2 + 2?"}]}) + "\n"
    content = io.BytesIO(row.encode() * 12)
    return live.client().files.create(file=("rows.jsonl", content), purpose="fine-tune").id


def test_the_announcement_leads_to_a_working_service(live: Installation) -> None:
    announced = json.loads((live.data_dir / "services.json").read_text())
    assert announced["base_url"] == live.base_url
    assert live.base_url.endswith("/v1")
    assert announced["models"] == [DEFAULT_MODEL]
    assert len({live.api_key, live.admin_key, ""}) == 3
    assert DEFAULT_MODEL in {model.id for model in live.client().models.list()}


def test_the_announced_link_signs_in_to_the_dashboard_once(live: Installation) -> None:
    announced = json.loads((live.data_dir / "services.json").read_text())
    page, _, link = announced["sign_in_url"].partition("#link=")
    assert page == f"{announced['dashboard_url']}sign-in"
    headers = {"origin": live.base_url.removesuffix("/v1"), "accept": "text/html"}
    with httpx.Client(headers=headers, timeout=PATIENCE_S) as browser:
        assert browser.get(announced["dashboard_url"]).status_code == 303
        assert browser.post(page, data={"link": link}).status_code == 303
        home = browser.get(announced["dashboard_url"])
        assert (home.status_code, "<h1>Jobs</h1>" in home.text) == (200, True)
        assert browser.post(page, data={"link": link}).status_code == 401


def test_files_with_secrets_are_for_their_owner_only(live: Installation) -> None:
    _upload(live)
    modes = {}
    for path in live.data_dir.rglob("*"):
        with suppress(FileNotFoundError):  # an earlier job's scratch that is removed right now
            modes[str(path.relative_to(live.data_dir))] = path.lstat().st_mode
    assert {"state.json", "models.json", "supervisor.lock", "reserve", "objects"} <= modes.keys()
    open_to_others = [
        name for name, mode in modes.items() if mode & 0o077 and not stat.S_ISLNK(mode)
    ]
    assert open_to_others == []


def test_no_child_is_handed_the_superusers_or_owners_password(live: Installation) -> None:
    state = json.loads((live.data_dir / "state.json").read_text())
    children = live.pids()
    assert children.keys() >= {"postgres", "valkey", "engine", "sandbox", "api", "runs", "control"}
    for child, pid in children.items():
        environment = Path(f"/proc/{pid}/environ").read_text()
        assert state["superuser_password"] not in environment, child
        assert state["owner_password"] not in environment, child
        if child in {"postgres", "valkey", "engine", "sandbox"}:
            assert state["app_password"] not in environment, child
            assert state["secret_key"] not in environment, child
        assert (state["worker_password"] in environment) == (child in {"runs", "control"}), child


@pytest.mark.skipif(sys.platform != "linux", reason="priorities of sessions are Linux's")
def test_workers_yield_the_processor_to_all_that_answers_requests(live: Installation) -> None:
    before, expected = os.getpriority(os.PRIO_PROCESS, 0), {}
    for child, pid in live.pids().items():
        is_work = child in {"sandbox", "runs", "control"}
        expected[child] = max(10, before) if is_work else before
        assert os.getpriority(os.PRIO_PROCESS, pid) == expected[child], child
        assert session_niceness(pid) in (None, expected[child]), child
    assert {"api", "postgres", "valkey", "engine", "runs", "control"} <= expected.keys()


def test_the_clock_needs_no_file_and_writes_no_line_per_tick(live: Installation) -> None:
    assert list(live.data_dir.glob("beat*")) == []
    log = (live.data_dir / "logs" / "control.log").read_text()
    assert " ready." in log
    assert "Scheduler: Sending due task" not in log
    assert re.findall(r"Task \S+ (?:received|succeeded)", log) == []


def test_a_log_stays_bounded_while_its_child_writes(live: Installation) -> None:
    log, before = live.data_dir / "logs" / "api.log", live.pids()["api"]
    with log.open("a") as file:
        file.write("x" * LOG_BYTES)

    def bounded() -> bool:
        return log.stat().st_size < LOG_BYTES

    wait_for(bounded, what="the bound of the log")
    assert log.with_name("api.log.1").stat().st_size >= LOG_BYTES
    urllib.request.urlopen(live.base_url.removesuffix("/v1") + "/healthz?api_key=canary").close()  # noqa: S310 - our own address
    wait_for(lambda: "/healthz " in log.read_text(), what="the next line")
    assert "\0" not in log.read_text()
    assert "canary" not in log.read_text()
    assert live.pids()["api"] == before


def test_readiness_has_a_part_for_each_server(live: Installation) -> None:
    url = live.base_url.removesuffix("/v1") + "/readyz"

    def parts() -> dict[str, str]:
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as reply:  # noqa: S310 - our own address
            body = json.load(reply)
        return {name: part["status"] for name, part in body["parts"].items()}

    names = ["database", "disk", "broker", "worker", "engine"]
    if "sandbox" in live.pids():
        names.append("sandbox")
    wait_for(lambda: parts() == dict.fromkeys(names, "ok"), what="all parts")
    os.kill(live.pids()["control"], signal.SIGSTOP)
    os.kill(live.pids()["engine"], signal.SIGSTOP)
    try:
        wait_for(
            lambda: (
                [name for name, state in parts().items() if state != "ok"] == ["worker", "engine"]
            ),
            what="the two that do not answer",
        )
    finally:
        os.kill(live.pids()["control"], signal.SIGCONT)
        os.kill(live.pids()["engine"], signal.SIGCONT)
    wait_for(lambda: parts() == dict.fromkeys(names, "ok"), what="all parts again")
