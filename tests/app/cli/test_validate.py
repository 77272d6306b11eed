"""`agent-rft validate` reports the faults of a call and its files on this machine."""

import json
from pathlib import Path
from typing import Any

from app.local.base_model import ChosenModel, write_chosen
from app.local.state import DataDir
from app.settings import shipped_models
from tests.support.cli.command_line import agent_rft

TOOL = {"type": "function", "function": {"name": "lookup", "parameters": {"type": "object"}}}


def validated(directory: Path, body: dict[str, Any], rows: list[dict[str, Any]]) -> list[str]:
    path = directory / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    call = directory / "job.json"
    call.write_text(json.dumps(body))
    files = ("--training-file", str(path), "--validation-file", str(path))
    done = agent_rft("validate", str(call), *files)
    assert done.returncode == 1, done.stderr
    return done.stdout.splitlines()


def test_equal_faults_of_many_rows_are_one_line(tmp_path: Path) -> None:
    tool = {"name": "other", "server_url": "https://tools.example/other"}
    options = {
        "tools": [tool],
        "grader": {"type": "endpoint", "url": "https://tools.example/grade"},
        "hyperparameters": {"n_epoch": 1},
        "max_steps": 3,
    }
    body = {
        "model": "tiny-agent",
        "epochs": 3,
        "method": {"type": "reinforcement", "reinforcement": options},
    }
    turns = [{"role": "user", "content": "q"}]
    lines = validated(tmp_path, body, [{"messages": turns, "tools": [TOOL]}] * 16)
    faults = [line for line in lines if "tool 'lookup' has no server_url" in line]
    assert [line.split(":")[0] for line in faults] == [
        "ERROR    invalid_training_file [training_file]",
        "ERROR    invalid_validation_file [validation_file]",
    ]
    assert all("Line 1, /tools/0/function/name: " in line for line in faults), faults
    assert all(line.endswith("(16 times, lines 1, 2, 3, 4, 5, …)") for line in faults), faults
    reported = "\n".join(lines)
    assert "Did you mean 'n_epochs'?" in reported
    assert "Nothing reads 'epochs', so it changes nothing." in reported
    assert "Did you mean 'max_episode_steps'?" in reported
    assert lines[-1] == "not valid"


def test_the_tasks_of_an_environment_are_made_and_counted(tmp_path: Path) -> None:
    environment: dict[str, Any] = {"type": "arithmetic", "training_tasks": 20}
    body = {
        "model": "tiny-agent",
        "method": {"type": "reinforcement", "reinforcement": {"environment": environment}},
    }
    call = tmp_path / "job.json"
    call.write_text(json.dumps(body))
    done = agent_rft("validate", str(call), "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["errors"]) == (0, [])
    assert (report["training_file"]["rows"], report["validation_file"]["rows"]) == (20, 32)
    assert report["estimate"]["train_rollouts"] >= 20 * 8
    environment["max_operand"] = 1
    call.write_text(json.dumps(body))
    done = agent_rft("validate", str(call))
    assert done.returncode == 1
    assert "too_few_problems [method.reinforcement.environment.training_tasks]" in done.stdout


def test_problems_of_a_local_file_are_read(tmp_path: Path) -> None:
    problems = tmp_path / "problems.jsonl"
    rows = [{"question": f"{n} + 1?", "answer": f"#### {n + 1}"} for n in range(20)]
    problems.write_text("\n".join(map(json.dumps, rows)))
    environment: dict[str, Any] = {"type": "gsm8k", "training_tasks": 10, "validation_tasks": 10}
    body = {
        "model": "tiny-agent",
        "method": {"type": "reinforcement", "reinforcement": {"environment": environment}},
    }
    call = tmp_path / "job.json"
    files = (
        (str(problems), 0, "10 rows"),
        (str(tmp_path / "none.jsonl"), 1, "none.jsonl is not a file."),
    )
    for file, code, said in files:
        environment["file"] = file
        call.write_text(json.dumps(body))
        done = agent_rft("validate", str(call))
        assert (done.returncode, said in done.stdout) == (code, True), done.stdout


def test_the_rows_of_an_http_environment_are_read_as_those_of_any_job(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    messages = [{"role": "user", "content": "q"}]
    row = json.dumps({"messages": messages, "tools": [TOOL]})
    rows.write_text("\n".join([row] * 12))
    call = tmp_path / "job.json"
    files = ("--training-file", str(rows), "--validation-file", str(rows))
    for environment in ({"type": "http", "url": "https://world.example"}, {"id": "env_1"}):
        inner = {"environment": environment}
        method = {"type": "reinforcement", "reinforcement": inner}
        call.write_text(json.dumps({"model": "tiny-agent", "method": method}))
        done = agent_rft("validate", str(call), *files, "--json")
        report = json.loads(done.stdout)
        assert (done.returncode, report["errors"]) == (0, [])
        assert "tools_not_run" not in {each["code"] for each in report["warnings"]}


def test_the_model_that_a_data_directory_was_started_with_is_known(tmp_path: Path) -> None:
    data = DataDir.at(tmp_path / "data")
    spec = shipped_models()[0].model_copy(update={"name": "own-model", "aliases": ()})
    write_chosen(data, ChosenModel(spec=spec, engine="cpu"))
    call = tmp_path / "job.json"
    call.write_text(json.dumps({"model": "own-model", "training_file": "file-1"}))
    unknown = agent_rft("validate", str(call), "--data-dir", str(tmp_path / "none"))
    assert "Model own-model is not available for fine-tuning" in unknown.stdout
    assert not (tmp_path / "none").exists()
    known = agent_rft("validate", str(call), "--data-dir", str(data.root))
    assert "own-model" not in known.stdout, known.stdout
