"""`agent-rft up --engine vllm --cpu --model DIR`, from an empty directory to a tuned model."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.local.state import free_port
from app.settings import ModelSettings
from examples.first_job import chat_with_tools
from examples.records_agent.dataset import make_rows
from examples.records_agent.records import build_catalogue
from tests.support.e2e.main_job import BATCH, Endpoints
from tests.support.e2e.random_weights import (
    SMALL,
    assert_trained_on_its_samples,
    random_weights_behind_vllm,
    short_job,
)
from tests.support.embedded.installation import Installation, cli, opened, wait_until_final
from tests.support.embedded.jobs import create_job, upload_dataset
from tests.support.engines.vllm_server import VLLM_PYTHON
from tests.support.patience import PATIENCE_S
from tests.support.web.specification import EVENTS, Specification

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(3600)]
MODEL = "records"
TRAIN_ROWS = 3 * BATCH
LOADING_S = 1500.0
"""Three processes import vLLM and torch, after a kill once more: a minute on two idle cores, many
on busy ones.
"""


@pytest.fixture(scope="module")
def live(endpoints: Endpoints, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    if not VLLM_PYTHON.exists():
        pytest.skip("vLLM's environment is absent: make vllm-env")
    workspace = tmp_path_factory.mktemp("place")
    shutil.copytree(ModelSettings().base_models[0].path, workspace / MODEL)
    data = workspace / "data"
    command = cli("up", "--data-dir", str(data), "--port", str(free_port()), "--detach")
    command += ["--engine", "vllm", "--cpu", "--model", str(workspace / MODEL)]
    command += ["--allow-endpoint", endpoints.good.removeprefix("http://")]
    environment = {**os.environ, "AGENT_RFT_VLLM_PYTHON": str(VLLM_PYTHON)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    try:
        with opened(data, json.loads(done.stdout)) as live:
            yield live
    finally:
        subprocess.run(cli("down", "--data-dir", str(data)), check=True)


@pytest.fixture(scope="module")
def files(live: Installation, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    directory = tmp_path_factory.mktemp("rows")
    return upload_dataset(live.client(), directory, train=TRAIN_ROWS, valid=2 * BATCH)


@pytest.fixture(scope="module")
def job(live: Installation, endpoints: Endpoints, files: tuple[str, str]) -> Any:
    client = live.client()
    settings = {"learning_rate_multiplier": 3}
    created = create_job(client, endpoints.good, files, model=MODEL, **settings)
    done = wait_until_final(client, created.id, timeout_s=LOADING_S)
    assert done.status == "succeeded", done.error
    return done


def test_a_job_trains_beside_vllm_on_what_vllm_sampled(live: Installation, job: Any) -> None:
    command = Path(f"/proc/{live.pids()['engine']}/cmdline").read_text().split("\0")
    assert "vllm.entrypoints.openai.api_server" in command
    for name in ("publish/probe_max_abs_logprob_diff", "train/sampler_max_abs_log_ratio"):
        points = live.curve(job.id, name)
        assert len(points) == TRAIN_ROWS // BATCH
        assert max(points.values()) < 1e-3, name
    assert live.curve(job.id, "tool_calls/mean")


@pytest.mark.parametrize("tuned", [False, True])
def test_replies_fit_the_specification(live: Installation, job: Any, tuned: bool) -> None:
    specification = Specification(live.base_url)
    row = make_rows(build_catalogue(), "validation", 1, seed=7)[0]
    body = {
        "model": job.fine_tuned_model if tuned else MODEL,
        "messages": row["messages"],
        "tools": row["tools"],
        "temperature": 0,
        "logprobs": True,
        "top_logprobs": 2,
    }
    whole = _ask(live, body).json()
    assert whole["model"] == body["model"]
    specification.check("createChatCompletion", whole)
    streamed = _ask(live, {**body, "stream": True, "stream_options": {"include_usage": True}})
    *events, done = [line for line in streamed.text.split("\n\n") if line]
    assert done == "data: [DONE]"
    chunks = [json.loads(event.removeprefix("data: ")) for event in events]
    assert {chunk["model"] for chunk in chunks} == {body["model"]}
    for chunk in chunks:
        specification.check("createChatCompletion", chunk, kind=EVENTS)
    text = "".join(c["choices"][0]["delta"].get("content") or "" for c in chunks[:-1])
    assert text == (whole["choices"][0]["message"]["content"] or "")


def _ask(live: Installation, body: dict[str, Any]) -> httpx.Response:
    reply = httpx.post(
        f"{live.base_url}/chat/completions",
        json=body,
        headers={"Authorization": f"Bearer {live.api_key}"},
        timeout=PATIENCE_S,
    )
    assert reply.status_code == httpx.codes.OK, reply.text
    return reply


def test_a_job_continues_after_its_engine_was_killed(
    live: Installation, endpoints: Endpoints, files: tuple[str, str]
) -> None:
    """Kills the process that computes, not the server in front of it, in the second step."""
    client = live.client()
    created = create_job(client, endpoints.good, files, model=MODEL)
    live.wait_for_step(created.id, 1)
    before = live.pids()["engine"]
    os.kill(_computing(before), signal.SIGKILL)
    done = wait_until_final(client, created.id, timeout_s=LOADING_S)
    assert done.status == "succeeded", done.error
    assert live.pids()["engine"] != before
    assert len(live.curve(created.id, "reward/mean")) == TRAIN_ROWS // BATCH


def _computing(server: int) -> int:
    """Returns the child of vLLM's server that holds the model."""
    found = subprocess.run(
        ["pgrep", "-P", str(server), "-f", "EngineCore"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return int(found.stdout.split()[0])


def test_the_tuned_model_answers_in_a_tool_loop(
    live: Installation, endpoints: Endpoints, job: Any
) -> None:
    """Last, so that the restarted engine loads the adapter anew."""
    (row,) = make_rows(build_catalogue(), "validation", 1, seed=99)
    assert chat_with_tools(live.client(), job.fine_tuned_model, endpoints.good, row)


def test_the_job_of_the_gpu_tests_trains_on_the_cpu_too(tmp_path: Path) -> None:
    """The same test with a small shape and vLLM's CPU build: `tests/gpu/test_vllm_job.py`."""
    if not VLLM_PYTHON.exists():
        pytest.skip("vLLM's environment is absent: make vllm-env")
    with random_weights_behind_vllm(tmp_path, SMALL, "--cpu") as running:
        done = short_job(running, tmp_path)
        assert_trained_on_its_samples(running, done, tolerance=0.05)
