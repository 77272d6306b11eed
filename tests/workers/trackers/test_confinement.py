"""The process of a tracker's library: what it may dial, write and know, and its end."""

import asyncio
import json
import subprocess
from asyncio.subprocess import Process
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from app.kit.processes import interpreter
from app.settings import WandbSettings
from tests.support.endpoints import ReceivedRequest, Reply, endpoint
from tests.support.patience import until
from tests.support.runs.world import World
from tests.support.trackers.tracked_steps import commit_steps
from workers.sandbox import kernel as landlock
from workers.trackers.child import TrackerSync
from workers.trackers.libraries.guarded_sockets import _is_checked
from workers.trackers.tracker import Assignment, TrackerFault
from workers.trackers.tracker_factory import WriterProcess, _environment

OPERATORS_KEY = "0123456789" * 4
CANARY = "canary-of-the-environment"
TRIES = """
import ftplib, http.client, json, os, socket, subprocess, sys, urllib.request
import urllib3
from workers.trackers.tracker import Assignment
from workers.trackers.libraries.__main__ import confine

sent, host, allowed, other, outside = json.loads(sys.argv[1])
confine(Assignment.from_json(sent))
tries = {
    "ftp": lambda: ftplib.FTP().connect(host, other),
    "http": lambda: http.client.HTTPConnection(host, other).request("GET", "/"),
    "name": lambda: socket.create_connection(("localhost", other)),
    "url": lambda: urllib.request.urlopen(f"http://{host}:{other}/"),
    "datagram": lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", (host, other)),
    "unix": lambda: socket.socket(socket.AF_UNIX).connect("/run/x"),
    "program": lambda: subprocess.run(["true"]),
    "urllib3": lambda: urllib3.PoolManager().request("GET", f"http://{host}:{other}/"),
    "allowed": lambda: urllib3.PoolManager().request("GET", f"http://{host}:{allowed}/"),
    "write": lambda: open(outside, "w"),
    "directory": lambda: os.mkdir(outside),
    "own": lambda: open("own", "w"),
}
found = {}
for name, attempt in tries.items():
    try:
        attempt()
        found[name] = "done"
    except Exception as error:
        found[name] = type(error.__cause__ or error.__context__ or error).__name__
print(json.dumps(found))
"""
PARENT = """
import asyncio, json, sys
from workers.trackers import tracker_factory
from workers.trackers.tracker import Assignment

start = asyncio.create_subprocess_exec
async def printing(*command, **options):
    process = await start(*command, **options)
    print(process.pid, flush=True)
    return process
asyncio.create_subprocess_exec = printing
asyncio.run(tracker_factory.WriterProcess.start(Assignment.from_json(json.loads(sys.argv[1]))))
"""
REFUSED = dict.fromkeys(
    ("ftp", "http", "name", "url", "datagram", "unix", "program"), "PermissionError"
)


def assignment(directory: Path, **fields: Any) -> Assignment:
    known: dict[str, Any] = {
        "kind": "mlflow",
        "directory": str(directory),
        "run_id": "r",
        "name": "n",
        "options": {},
        "is_local": False,
        "allow_endpoints": (),
        "allow_plain_http": True,
    }
    return Assignment(**known | fields)


async def python(code: str, *arguments: str) -> Process:
    command = (*interpreter("-c", code), *arguments)
    return await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)


def has_landlock() -> bool:
    try:
        return landlock.version() > 0
    except OSError:
        return False


async def test_a_writer_dials_checked_addresses_and_writes_its_own_directory_alone(
    tmp_path: Path,
) -> None:
    async with (
        endpoint(lambda _: Reply(json={})) as allowed,
        endpoint(lambda _: Reply(json={})) as other,
    ):
        sent = assignment(tmp_path / "own", allow_endpoints=(allowed.host_port,)).to_json()
        arguments = [sent, "127.0.0.1", allowed.port, other.port, str(tmp_path / "outside")]
        process = await python(TRIES, json.dumps(arguments))
        printed, _ = await process.communicate()
        found = json.loads(printed)
        assert (allowed.connections, other.connections) == (1, 0)
    written = "PermissionError" if has_landlock() else "done"
    assert found.pop("urllib3") == "EndpointRefused"
    assert (found.pop("write"), found.pop("own"), found.pop("allowed")) == (written, "done", "done")
    if has_landlock():
        assert found.pop("directory") == "PermissionError"
        assert not (tmp_path / "outside").exists()
    else:
        del found["directory"]
    assert found == REFUSED


async def test_a_writer_that_waits_for_a_server_ends_with_its_parent(tmp_path: Path) -> None:
    release = asyncio.Event()

    async def answer(_: ReceivedRequest) -> Reply:
        await release.wait()
        return Reply(json={})

    async with endpoint(answer) as server:
        options = {"tracking_uri": server.url(""), "experiment": "e"}
        sent = assignment(tmp_path / "own", allow_endpoints=(server.host_port,), options=options)
        parent = await python(PARENT, json.dumps(sent.to_json()))
        assert parent.stdout is not None
        writer = int(await parent.stdout.readline())
        await until(lambda: server.connections > 0, what="the call of the library")
        parent.kill()
        await parent.wait()
        await until(lambda: not is_running(writer), what="the end of the writer")
        release.set()


def test_an_address_was_checked_in_any_spelling_and_at_its_port_alone() -> None:
    checked = {(ip_address("2001:db8::1"), 443)}
    assert _is_checked(("2001:0DB8::0001", 443, 0, 0), checked)
    assert not _is_checked(("2001:db8::1", 80, 0, 0), checked)
    assert not _is_checked(("example.com", 443), checked)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def test_a_writer_gets_the_credentials_of_its_own_kind_alone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = dict[str, str]()

    async def start(sent: Assignment) -> WriterProcess:
        known = {"assignment": sent.to_json(), "environment": _environment(sent)}
        started[sent.kind] = json.dumps(known)
        raise TrackerFault("not started")

    monkeypatch.setattr(WriterProcess, "start", start)
    monkeypatch.setenv("AGENT_RFT_CANARY", CANARY)
    monkeypatch.setenv("HTTPS_PROXY", f"http://{CANARY}@proxy.example")
    account = WandbSettings.model_validate({"api_key": OPERATORS_KEY})
    integrations = [
        {"type": "wandb", "wandb": {"project": "p"}},
        {"type": "mlflow", "mlflow": {"experiment": "e"}},
        {"type": "trackio", "trackio": {"project": "p"}},
    ]
    await commit_steps(world, await world.job(integrations=integrations), 1)
    followed = TrackerSync(world.worker, world.settings.model_copy(update={"wandb": account}))
    await followed.follow()
    await followed.close()
    assert {kind: OPERATORS_KEY in known for kind, known in started.items()} == {
        "wandb": True,
        "mlflow": False,
        "trackio": False,
    }
    assert {kind: CANARY in known for kind, known in started.items()} == {
        "wandb": True,  # the operator's proxy, which leads to the operator's server
        "mlflow": False,
        "trackio": False,
    }
