"""Failed starts of `agent-rft`: error messages and cleanup; the small commands."""

import socket
import subprocess
from importlib import metadata
from pathlib import Path

from pydantic import TypeAdapter

from app.local.processes import command_line
from app.local.state import DataDir, free_port, ownership
from app.models.compute import ComputeChoice, ComputeScore, MeasuredChoice, write_choice
from app.models.models import BaseModelSpec
from app.settings import shipped_model_dir
from tests.support.cli.command_line import agent_rft


def _refused(
    directory: Path, *, port: int | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    address = ("--data-dir", str(directory), "--port", str(port or free_port()))
    refusal = agent_rft("up", *address, "--detach", **environment)
    assert refusal.stdout == ""
    return refusal


def _processes_below(directory: Path) -> list[str]:
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [line for line in map(command_line, pids) if str(directory) in line]


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as squatter:
        port = squatter.getsockname()[1]
        refusal = _refused(tmp_path, port=port)
    assert refusal.returncode == 4
    assert refusal.stderr == f"agent-rft: 127.0.0.1:{port} is in use: choose another --port\n"
    assert _processes_below(tmp_path) == []


def test_a_data_directory_in_use_is_refused_and_left_alone(tmp_path: Path) -> None:
    with ownership(DataDir.at(tmp_path)):
        refusal = _refused(tmp_path)
    assert refusal.returncode == 5
    assert "belongs to a running supervisor" in refusal.stderr
    assert not (tmp_path / "state.json").exists()


def test_a_child_that_cannot_work_is_named_with_the_end_of_its_log(tmp_path: Path) -> None:
    broken = tmp_path / "valkey-server"
    broken.write_text("#!/bin/sh\necho my disk is on fire >&2\nexit 1\n")
    broken.chmod(0o755)
    refusal = _refused(tmp_path / "data", AGENT_RFT_VALKEY_BIN=str(broken))
    assert refusal.returncode == 6
    assert "valkey did not become ready" in refusal.stderr
    assert "my disk is on fire" in refusal.stderr
    assert _processes_below(tmp_path) == []
    assert not (tmp_path / "data" / "services.json").exists()


def test_a_missing_binary_is_named(tmp_path: Path) -> None:
    refusal = _refused(tmp_path / "data", AGENT_RFT_PG_BIN=str(tmp_path))
    assert refusal.returncode == 3
    assert str(tmp_path) in refusal.stderr


def test_a_wrong_variable_is_named(tmp_path: Path) -> None:
    refusal = _refused(tmp_path, AGENT_RFT_LEASE__LEASE_S="never")
    assert refusal.returncode == 2
    assert "AGENT_RFT_LEASE__LEASE_S: Input should be a valid number" in refusal.stderr


def test_a_wrong_endpoint_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    refusal = agent_rft("up", "--data-dir", str(tmp_path / "data"), "--allow-endpoint", "http://x")
    assert refusal.returncode == 2
    assert "HOST:PORT" in refusal.stderr
    assert not (tmp_path / "data").exists()


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refusal = _refused(tmp_path / "file" / "data")
    assert refusal.returncode == 7
    assert str(tmp_path / "file" / "data") in refusal.stderr


def test_down_twice_is_fine(tmp_path: Path) -> None:
    for _ in range(2):
        done = agent_rft("down", "--data-dir", str(tmp_path))
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr == f"nothing was running in {tmp_path}\n"
    mistyped = agent_rft("down", "--data-dir", str(tmp_path / "dta"))
    assert mistyped.stderr == f"nothing was running: there is no directory {tmp_path / 'dta'}\n"


def test_the_doctor_finds_what_is_missing(tmp_path: Path) -> None:
    missing = str(tmp_path / "nothing")
    address = ("--data-dir", str(tmp_path), "--port", str(free_port()))
    done = agent_rft("doctor", *address, AGENT_RFT_VALKEY_BIN=missing)
    assert done.returncode == 1
    problems = [line for line in done.stdout.splitlines() if line.startswith("PROBLEM")]
    assert [line.split(":")[0].split()[1] for line in problems] == ["Valkey"]
    assert missing in problems[0]


def test_the_doctor_shows_how_a_directory_computes(tmp_path: Path) -> None:
    def said(**settings: str) -> str:
        done = agent_rft("doctor", "--data-dir", str(tmp_path), **settings)
        (line,) = [line for line in done.stdout.splitlines() if " computation: " in line]
        return line.removeprefix("ok       computation: ")

    assert said() == "as assumed, not measured"
    ways = (ComputeChoice(products=name, threads=1) for name in ("onednn", "torch"))
    scores = tuple(
        ComputeScore(choice=way, alone_s=n / 100, beside_s=n / 50, won=1)
        for n, way in enumerate(ways, start=1)
    )
    kept = MeasuredChoice(
        role="engine", machine="m", widths=(128, 384), choice=scores[1].choice, scores=scores
    )
    write_choice(tmp_path / "compute" / "engine-1.json", kept)
    assert said(AGENT_RFT_COMPUTE='{"measure": true, "engine_threads": 3}') == (
        "engine_threads=3; engine of width 128: torch products, 1 thread (measured: "
        "onednn products, 1 thread 10.0 ms alone and 20.0 ms beside others, "
        "torch products, 1 thread 20.0 ms alone and 40.0 ms beside others)"
    )


def test_the_configured_base_models_are_what_an_engine_reads() -> None:
    spec = '{"name": "m-2026-01-01", "path": "/models/m", "context_length": 4096}'
    done = agent_rft("base-models", AGENT_RFT_BASE_MODELS=f"[{spec}]")
    (read,) = TypeAdapter(list[BaseModelSpec]).validate_json(done.stdout)
    assert read == BaseModelSpec(name="m-2026-01-01", path="/models/m", context_length=4096)


def test_a_verb_that_cannot_reach_the_database_reports_it_in_a_line() -> None:
    url = f"postgresql+psycopg://nobody:canary-password@127.0.0.1:{free_port()}/none"
    failed = agent_rft(
        "keys", "bootstrap", AGENT_RFT_DATABASE_URL=url, AGENT_RFT_SECRET_KEY="x" * 32
    )
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr == "agent-rft: The database is not available at the moment.\n"


def test_the_memory_of_a_model_is_planned_from_its_directory() -> None:
    planned = agent_rft("plan", "--model", str(shipped_model_dir()), "--gpu-memory", "1MB")
    assert planned.returncode == 10, planned.stderr
    assert "trainer: weights" in planned.stdout
    assert "DOES NOT FIT" in planned.stdout


def test_the_command_alone_prints_its_commands_and_its_version() -> None:
    alone = agent_rft()
    assert (alone.returncode, alone.stderr) == (0, ""), alone.stdout
    assert alone.stdout == agent_rft("--help").stdout
    assert "doctor" in alone.stdout
    shown = agent_rft("--version")
    assert (shown.returncode, shown.stdout) == (0, f"{metadata.version('agent-rft')}\n")
    wrong = agent_rft("--versions")
    assert (wrong.returncode, wrong.stdout) == (2, "")
