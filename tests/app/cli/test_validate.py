"""`agent-rft validate` tells the faults of a call and its files on this machine."""

import json
from pathlib import Path
from typing import Any

from tests.support.command_line import agent_rft

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
    assert all(line.endswith("(16 rows: lines 1, 2, 3, 4, 5, …)") for line in faults)
    told = "\n".join(lines)
    assert "Did you mean 'n_epochs'?" in told
    assert "Nothing reads 'epochs', so it changes nothing." in told
    assert "Did you mean 'max_episode_steps'?" in told
    assert lines[-1] == "not valid"
