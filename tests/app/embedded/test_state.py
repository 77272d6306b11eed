"""The persistent state of a data directory, and its exclusive ownership."""

import json
import os
import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from app.local.processes import fingerprint, record, stop_recorded, wait_gone
from app.local.state import (
    DataDir,
    DataDirUnusable,
    free_port,
    is_free,
    load_state,
    owner_pid,
    ownership,
    save_state,
)
from tests.support.patience import PATIENCE_S


@pytest.fixture
def data_dir(tmp_path: Path) -> DataDir:
    return DataDir.at(tmp_path / "data")


def test_a_second_start_sees_the_same_values(data_dir: DataDir) -> None:
    first = load_state(data_dir)
    assert load_state(data_dir) == first
    secrets = {
        first.superuser_password,
        first.owner_password,
        first.app_password,
        first.worker_password,
        first.valkey_password,
        first.engine_api_key,
        first.secret_key,
    }
    assert len(secrets) == 7
    assert min(len(secret) for secret in secrets) >= 43  # 32 random bytes in base 64


def test_secrets_are_for_the_owners_eyes_only(data_dir: DataDir) -> None:
    state = load_state(data_dir)
    assert data_dir.state_file.stat().st_mode & 0o777 == 0o600
    assert data_dir.root.stat().st_mode & 0o777 == 0o700
    assert state.secret_key not in repr(state)


def test_a_state_of_a_newer_version_is_read(data_dir: DataDir) -> None:
    state = load_state(data_dir)
    values = json.loads(data_dir.state_file.read_text())
    data_dir.state_file.write_text(json.dumps({**values, "from_the_future": 1}))
    assert load_state(data_dir) == state


def test_a_broken_state_is_not_replaced(data_dir: DataDir) -> None:
    data_dir.state_file.write_text("{half")
    with pytest.raises(DataDirUnusable, match=r"state\.json"):
        load_state(data_dir)
    assert data_dir.state_file.read_text() == "{half"


@pytest.mark.parametrize("content", ["[]", '{"postgres_port": "x"}'])
def test_a_file_that_is_no_state_gives_one_line(data_dir: DataDir, content: str) -> None:
    data_dir.state_file.write_text(content)
    with pytest.raises(DataDirUnusable, match="is not a state file: restore it"):
        load_state(data_dir)
    assert data_dir.state_file.read_text() == content


def test_a_state_that_cannot_be_written_gives_one_line(data_dir: DataDir) -> None:
    state = load_state(data_dir)
    (data_dir.root / "state.new").mkdir()  # unlinking a directory fails as a full disk does
    with pytest.raises(DataDirUnusable, match=r"state\.json"):
        save_state(data_dir, state)
    assert load_state(data_dir) == state


def test_only_the_port_that_somebody_took_changes(data_dir: DataDir) -> None:
    state = load_state(data_dir)
    with socket.socket() as squatter:
        squatter.bind(("127.0.0.1", state.valkey_port))
        squatter.listen()
        moved = state.with_free_ports()
    assert moved.valkey_port != state.valkey_port
    assert (moved.postgres_port, moved.engine_port) == (state.postgres_port, state.engine_port)
    assert moved.valkey_password == state.valkey_password
    assert state.with_free_ports() == state


def test_ports_lie_outside_the_kernels_range_for_outgoing_connections() -> None:
    first_outgoing = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    ports = [free_port() for _ in range(20)]
    assert max(ports) < first_outgoing
    assert all(is_free("127.0.0.1", port) for port in ports)


def test_a_lock_file_of_a_killed_supervisor_blocks_no_start(data_dir: DataDir) -> None:
    data_dir.lock_file.write_text("1\n")
    assert owner_pid(data_dir) is None
    with ownership(data_dir):
        assert owner_pid(data_dir) == os.getpid()
    assert owner_pid(data_dir) is None


def test_recorded_leftovers_are_stopped_and_strangers_are_not(data_dir: DataDir) -> None:
    with subprocess.Popen(["/bin/sleep", "300"], start_new_session=True) as ours:
        record(data_dir.children_file, {"engine": ours.pid})
        assert stop_recorded(data_dir.children_file) == ["engine"]
        assert ours.wait() != 0
    with subprocess.Popen(["/bin/sleep", "300"], start_new_session=True) as stranger:
        entry = {"engine": [stranger.pid, f"{fingerprint(stranger.pid)}0"]}
        data_dir.children_file.write_text(json.dumps(entry))
        assert stop_recorded(data_dir.children_file) == []
        assert stranger.poll() is None
        stranger.kill()


def test_the_group_of_a_leader_that_is_gone_is_stopped_too(data_dir: DataDir) -> None:
    line = "sleep 300 & echo $!; read line"
    with subprocess.Popen(
        ["/bin/sh", "-c", line],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as leader:
        assert leader.stdout is not None
        member = int(leader.stdout.readline())
        record(data_dir.children_file, {"control": leader.pid})
        leader.kill()
    mark = fingerprint(member)
    assert mark is not None
    assert stop_recorded(data_dir.children_file) == ["control"]
    assert wait_gone(member, mark, timeout_s=PATIENCE_S)


def test_keys_are_kept_with_the_rest(data_dir: DataDir) -> None:
    state = load_state(data_dir)
    assert (state.api_key, state.admin_key) == (None, None)
    kept = replace(state, api_key="a", admin_key="b")
    save_state(data_dir, kept)
    assert load_state(data_dir) == kept
