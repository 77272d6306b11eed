"""`agent-rft curricula generate`: a server plays the model that writes the tasks."""

import json
from pathlib import Path
from typing import Any

from tests.support.cli.remote_commands import Commands
from tests.support.contract.service import HOOK_PORT
from tests.support.endpoints import ReceivedRequest, Reply, endpoint_in_thread

TOOL = {"type": "function", "function": {"name": "lookup", "parameters": {"type": "object"}}}
BODY = {
    "tools": [TOOL],
    "generator": {"model": "writer", "base_url": f"http://127.0.0.1:{HOOK_PORT}/v1"},
    "training_tasks": 10,
    "validation_tasks": 10,
}


def write(received: ReceivedRequest) -> Reply:
    tasks = [{"task": f"Look up record {n}.", "difficulty": 1 + n % 5} for n in range(20)]
    is_second = "<written>" in received.json["messages"][1]["content"]
    content = json.dumps({"scenarios": tasks[19:] if is_second else [*tasks[:19], tasks[0]]})
    return Reply(json={"choices": [{"message": {"role": "assistant", "content": content}}]})


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_generated_tasks_become_files_and_replace_none(commands: Commands, tmp_path: Path) -> None:
    body = tmp_path / "scenarios.json"
    body.write_text(json.dumps(BODY))
    out = tmp_path / "made"
    call = ("curricula", "generate", str(body), "--out", str(out))
    with endpoint_in_thread(write, port=HOOK_PORT) as server:
        ran = commands.run(*call)
        assert ran.returncode == 0, ran.stderr
        paths = [out / "training.jsonl", out / "validation.jsonl"]
        assert ran.stdout.splitlines() == list(map(str, paths))
        assert "left out: 1 repeats, 0 unusable entries" in ran.stderr
        again = commands.run(*call)
        asked = len(server.received)
    assert (again.returncode, asked) == (2, 2), "no model is asked for files that cannot be written"
    assert "exists already" in again.stderr
    training, validation = map(rows_of, paths)
    assert (len(training), len(validation)) == (10, 10)
    tasks = {row["messages"][0]["content"] for row in training + validation}
    assert tasks == {f"Look up record {n}." for n in range(20)}
    assert all(row["tools"] == [TOOL] for row in training)


def test_a_model_that_fails_is_reported_with_its_reason(commands: Commands, tmp_path: Path) -> None:
    body = tmp_path / "scenarios.json"
    body.write_text(json.dumps(BODY))
    with endpoint_in_thread(lambda _: Reply(400, json={"error": {}}), port=HOOK_PORT):
        ran = commands.run("curricula", "generate", str(body), "--out", str(tmp_path))
    assert ran.returncode != 0
    assert "wrote no scenario" in ran.stderr
    assert list(tmp_path.iterdir()) == [body]
