"""The embedded Valkey: accepted messages survive a kill, clients without password are refused."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from app.local.probes import stop_in_order, wait_ready
from app.local.processes import Child
from app.local.servers import ValkeyServer, find_valkey
from app.local.state import BinaryMissing, free_port


@pytest.fixture
def server(tmp_path: Path) -> ValkeyServer:
    return ValkeyServer(find_valkey(), tmp_path / "with space", free_port(), "broker-password")


@pytest.fixture
def child(server: ValkeyServer, tmp_path: Path) -> Iterator[Child]:
    child = Child(server.child(tmp_path / "valkey.log"))
    wait_ready([child])
    yield child
    stop_in_order([[child]])


def test_messages_survive_a_kill_on_the_same_port_and_password(
    server: ValkeyServer, child: Child
) -> None:
    with redis.Redis.from_url(server.url) as broker:
        broker.rpush("queue", *(f"message {number}" for number in range(1000)))
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        first = child.pid
        while child.pid == first:
            child.tick()
        wait_ready([child])
        assert broker.llen("queue") == 1000
        assert broker.lindex("queue", -1) == b"message 999"


def test_strangers_are_refused(server: ValkeyServer, child: Child) -> None:
    assert child.state == "ready"
    with (
        redis.Redis(port=server.port, retry=Retry(NoBackoff(), 0)) as stranger,
        pytest.raises(redis.exceptions.AuthenticationError),
    ):
        stranger.ping()


def test_the_password_is_no_argument(child: Child) -> None:
    assert "broker-password" not in " ".join(child.spec.command)
    configuration = Path(child.spec.command[1])
    assert "requirepass broker-password" in configuration.read_text()
    assert configuration.stat().st_mode & 0o777 == 0o600


def test_nothing_is_evicted(server: ValkeyServer, child: Child) -> None:
    assert child.state == "ready"
    with redis.Redis.from_url(server.url, decode_responses=True) as broker:
        assert broker.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        assert broker.config_get("bind") == {"bind": "127.0.0.1"}


def test_a_wrong_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BinaryMissing, match="nowhere"):
        find_valkey(tmp_path / "nowhere")
