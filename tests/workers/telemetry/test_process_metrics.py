"""Metrics of a worker's processes: added up, kept after a kill, and shown to those with the key."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr, ValidationError

from app.local.state import free_port
from app.rollouts.trajectory import StopReason
from app.settings import TelemetrySettings, inherited_environment, to_environment
from tests.support.patience import PATIENCE_S, wait_for
from tests.support.reinforcement.scored_rollouts import scored, tool_call
from tests.support.stack import Database
from workers.telemetry.__main__ import WorkerMetrics
from workers.telemetry.metrics_server import DIRECTORY, remove_abandoned
from workers.telemetry.process_metrics import WORK, count_rollouts

KEY = "prometheus-reads-with-this"
PROCESS = """
import sys
from workers.telemetry.process_metrics import count_claim, count_step, show_gpu_memory
count_claim("ended")
count_step("supervised", seconds=2.0, trained_tokens=7)
show_gpu_memory("0", {"free": float(sys.argv[1])})
print(flush=True)
sys.stdin.read()
"""
WORKER = """
import sys
from app.settings import load_settings
from workers.telemetry.metrics_server import serve_metrics
assert "prometheus_client" not in sys.modules
serve_metrics(load_settings())
from workers.telemetry.process_metrics import count_claim
count_claim("failed")
print(flush=True)
sys.stdin.read()
"""


@contextmanager
def process(program: str, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    started = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with started:
        assert started.stdout is not None
        started.stdout.readline()
        try:
            yield started
        finally:
            started.kill()


def values(text: str) -> dict[str, float]:
    return {
        f"{sample.name}{sorted(sample.labels.values())}": sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_counts_outlive_a_kill_and_gauges_do_not(tmp_path: Path) -> None:
    metrics = WorkerMetrics(tmp_path, pid=os.getpid())

    def shown() -> dict[str, float]:
        return values(metrics.show().decode())

    with process(PROCESS, "5", **{DIRECTORY: str(tmp_path)}) as first:
        with process(PROCESS, "3", **{DIRECTORY: str(tmp_path)}):
            both = shown()
        one = shown()
        first.kill()
        first.wait()
    none = shown()
    assert both["agent_rft_claims_total['ended']"] == 2
    assert both["agent_rft_trained_tokens_total[]"] == 14
    assert both["agent_rft_gpu_memory_bytes['0', 'free']"] == 5
    assert one["agent_rft_gpu_memory_bytes['0', 'free']"] == 5
    for left in (one, none):
        assert left["agent_rft_claims_total['ended']"] == 2
        assert left["agent_rft_trained_tokens_total[]"] == 14
        assert left["agent_rft_step_duration_seconds_sum['supervised']"] == 4
        assert left["agent_rft_step_duration_seconds_bucket['1.0', 'supervised']"] == 0
        assert left["agent_rft_step_duration_seconds_bucket['5.0', 'supervised']"] == 2
    assert not [name for name in none if name.startswith("agent_rft_gpu")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["counter_0.db", "histogram_0.db"]
    with process(PROCESS, "9", **{DIRECTORY: str(tmp_path)}):
        assert shown()["agent_rft_claims_total['ended']"] == 3


def test_rollouts_and_tool_calls_count_by_their_class() -> None:
    before = values(generate_latest(WORK).decode())
    calls = [
        tool_call(error=error)
        for error in (None, None, "http_404", "http_422", "http_500", "unknown_tool")
    ]
    count_rollouts(
        [
            scored(("train", 1, 0, 0), 1.0, calls=tuple(calls), sampled=5),
            scored(("train", 1, 0, 1), 0.0, stop=StopReason.TOKEN_LIMIT),
            scored(("valid", 1, 0, 0), None),
        ]
    )
    after = values(generate_latest(WORK).decode())
    added = {name: after[name] - before.get(name, 0) for name in after if "_total" in name}
    assert {name: count for name, count in added.items() if count} == {
        "agent_rft_rollouts_total['final_answer', 'train']": 1,
        "agent_rft_rollouts_total['token_limit', 'train']": 1,
        "agent_rft_rollouts_total['tool_error', 'valid']": 1,
        "agent_rft_tool_calls_total['ok']": 2,
        "agent_rft_tool_calls_total['http_4xx']": 2,
        "agent_rft_tool_calls_total['http_5xx']": 1,
        "agent_rft_tool_calls_total['unknown_tool']": 1,
        "agent_rft_sampled_tokens_total['train']": 7,
        "agent_rft_sampled_tokens_total['valid']": 2,
    }


def test_the_processes_of_the_worker_are_counted_with_their_memory(tmp_path: Path) -> None:
    def shown(pid: int) -> dict[str, float]:
        return values(WorkerMetrics(tmp_path, pid=pid).show().decode())

    with process(
        "import subprocess, sys; subprocess.run([sys.executable, '-c', "
        "'print(flush=True); import sys; sys.stdin.read()'])"
    ) as worker:
        found = shown(worker.pid)
        assert found["agent_rft_worker_processes[]"] == 2
        alone = found["process_resident_memory_bytes[]"]
        assert alone < found["agent_rft_worker_resident_memory_bytes[]"]
        worker.communicate("")
    assert "agent_rft_worker_processes[]" not in shown(worker.pid)


@pytest.mark.parametrize("key", [KEY, None])
def test_a_worker_serves_metrics_until_it_is_killed(database: Database, key: str | None) -> None:
    port = free_port()
    settings = database.settings.model_copy(
        update={
            "telemetry": TelemetrySettings(metrics_port=port),
            "monitoring_key": None if key is None else SecretStr(key),
        }
    )
    environment = {**inherited_environment(), **to_environment(settings)}
    url = f"http://127.0.0.1:{port}/metrics"

    def read(credentials: bytes = b"") -> httpx.Response:
        headers = [(b"Authorization", credentials)]
        return httpx.get(url, headers=headers, timeout=PATIENCE_S)

    def answers() -> bool:
        try:
            return read().status_code in {200, 401}
        except httpx.TransportError:
            return False

    with process(WORKER, **environment) as worker:
        wait_for(answers, what="the metrics")
        without = read()
        assert without.status_code == (200 if key is None else 401)
        reply = read(f"Bearer {KEY}".encode())
        assert values(reply.text)["agent_rft_claims_total['failed']"] == 1
        odd = read(b"Bearer \xff")
        assert odd.status_code == without.status_code
        (server,) = _children(worker.pid)
        directory = Path(_environment(server)[DIRECTORY])
        assert directory.is_dir()
        with process(PROCESS, "3", **{DIRECTORY: str(directory)}) as job:
            assert (directory / f"counter_{job.pid}.db").exists()
        wait_for(lambda: not [*directory.glob(f"*_{job.pid}.db")], what="one file for the ended")
        assert (directory / "counter_0.db").exists()
        worker.kill()
        worker.wait()
        wait_for(lambda: not answers(), what="the end of the metrics")
        wait_for(lambda: not directory.exists(), what="the removal of their files")


def test_a_worker_without_a_port_shows_nothing(database: Database) -> None:
    environment = {**inherited_environment(), **to_environment(database.settings)}
    with process(WORKER, **environment) as worker:
        assert _children(worker.pid) == []


def test_only_directories_of_ended_workers_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    worker = subprocess.Popen([sys.executable, "-c", ""])
    worker.wait()
    kept = {f"agent-rft-metrics-{number}-a" for number in (os.getpid(), "x", 10**30)}
    for name in (*kept, f"agent-rft-metrics-{worker.pid}-a"):
        (tmp_path / name).mkdir()
    remove_abandoned()
    assert {path.name for path in tmp_path.iterdir()} == kept


def _children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(each) for each in found]


def _environment(pid: int) -> dict[str, str]:
    pairs = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def test_the_last_port_leaves_none_for_the_second_worker() -> None:
    with pytest.raises(ValidationError, match="choose 65534 at most"):
        TelemetrySettings(metrics_port=65_535)
    assert TelemetrySettings(metrics_port=65_534).metrics_port == 65_534
