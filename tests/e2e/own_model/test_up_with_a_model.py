"""`agent-rft up --model` from a hub id to a tuned model, and a second start of its directory."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from app.local.state import free_port
from tests.support.embedded.installation import Installation, cli, opened, wait_until_final
from tests.support.embedded.jobs import upload
from tests.support.models.hub_server import Hub, hub_server
from tests.support.models.tiny_model import save_tiny_model
from tests.support.supervised.runs import chat_row

pytestmark = pytest.mark.long

HUB_ID = "Somebody/Tiny-Model"
WEIGHTS = "model.safetensors"


class Started(NamedTuple):
    live: Installation
    said: str
    commit: str
    """The newest commit of the model when it was fetched."""
    fetched: tuple[str, ...]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with hub_server(HUB_ID, save_tiny_model(tmp_path_factory.mktemp("tiny"))) as hub:
        yield hub


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("place")


@pytest.fixture(scope="module")
def started(hub: Hub, workspace: Path) -> Iterator[Started]:
    hub.breaks_off.add(WEIGHTS)
    done = _up(hub, workspace, "--context-length", "256")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    data = workspace / "data"
    try:
        with opened(data, answer) as live:
            yield Started(live, done.stderr, hub.main, tuple(hub.fetched))
    finally:
        subprocess.run(cli("down", "--data-dir", str(data)), check=True)


def _up(
    hub: Hub, workspace: Path, *options: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    command = cli("up", "--data-dir", str(workspace / "data"), "--port", str(free_port()))
    caches = {"HF_HUB_CACHE": str(workspace / "hub"), "XDG_CACHE_HOME": str(workspace / "cache")}
    return subprocess.run(
        [*command, "--model", HUB_ID, "--detach", *options],
        env={**os.environ, "HF_ENDPOINT": hub.url, **caches, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def job(started: Started, tmp_path_factory: pytest.TempPathFactory) -> Any:
    client = started.live.client()
    rows = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    rows.write_text("".join(json.dumps(chat_row(n)) + "\n" for n in range(12)))
    file = upload(client, rows)
    hyper = {"n_epochs": 1, "batch_size": 6, "learning_rate_multiplier": 10}
    method: Any = {"type": "supervised", "supervised": {"hyperparameters": hyper}}
    created = client.fine_tuning.jobs.create(
        model=HUB_ID, training_file=file, validation_file=file, method=method
    )
    return wait_until_final(client, created.id)


def test_the_start_prints_abilities_memory_and_speed_of_the_model(started: Started) -> None:
    lines = started.said.splitlines()
    assert "Tiny-Model: works" in lines
    assert "  tool calls: hermes" in lines
    for part in ("engine: KV cache", "trainer: weights", "memory, free now"):
        assert any(line.startswith(part) for line in lines), part
    assert any(line.startswith("a step of 8 prompts × 8 rollouts") for line in lines)


def test_weights_that_broke_off_are_whole_in_the_end(started: Started, hub: Hub) -> None:
    assert started.fetched.count(WEIGHTS) == 2, "the half and the rest"
    (served,) = json.loads((started.live.data_dir / "models.json").read_text())
    stored = Path(served["path"]) / WEIGHTS
    files = hub.files_of(started.commit)
    assert files is not None
    assert stored.read_bytes() == files[WEIGHTS]
    assert Path(served["path"]).name == started.commit, "the snapshot of a commit"


def test_a_job_trains_it_and_the_result_is_served(started: Started, job: Any) -> None:
    assert (job.status, job.model) == ("succeeded", "Tiny-Model")
    client = started.live.client()
    assert {model.id for model in client.models.list()} >= {"Tiny-Model", job.fine_tuned_model}
    reply = client.chat.completions.create(
        model=job.fine_tuned_model,
        messages=[{"role": "user", "content": "What is 3 + 4?"}],
        max_completion_tokens=8,
    )
    assert reply.model == job.fine_tuned_model
    assert reply.usage is not None
    assert reply.usage.completion_tokens > 0


def test_the_speed_that_was_measured_is_what_estimates_go_by(started: Started) -> None:
    (served,) = json.loads((started.live.data_dir / "models.json").read_text())
    assert served["tokens_per_s"] > 0
    assert served["context_length"] == 256


def test_a_later_start_keeps_the_commit_and_fetches_nothing(
    started: Started, job: Any, hub: Hub, workspace: Path, tmp_path: Path
) -> None:
    """The service is there again at its old address for whichever test comes next."""
    subprocess.run(cli("down", "--data-dir", str(started.live.data_dir)), check=True)
    hub.commit(save_tiny_model(tmp_path / "newer", seed=5))
    assert hub.main != started.commit
    hub.fetched.clear()
    no_vllm = ("--engine", "vllm", "--cpu")
    refused = _up(hub, workspace, *no_vllm, AGENT_RFT_VLLM_PYTHON="/absent")
    assert refused.returncode == 11, "after the model was found and planned"
    assert f"{HUB_ID} at commit {started.commit[:12]}" in refused.stderr
    assert hub.fetched == []
    address = ("--port", str(urlsplit(started.live.base_url).port))
    command = cli("up", "--data-dir", str(started.live.data_dir), *address, "--detach")
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    answer = json.loads(done.stdout)
    assert (answer["models"], answer["base_url"]) == (["Tiny-Model"], started.live.base_url)
    assert job.fine_tuned_model in {model.id for model in started.live.client().models.list()}
