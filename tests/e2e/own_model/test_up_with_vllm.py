"""`agent-rft up --engine vllm --cpu --model DIR`, from an empty directory to a tuned model."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.installation import Installation, cli, free_port, opened, wait_until_final
from tests.support.jobs import upload
from tests.support.supervised.runs import chat_row
from tests.support.tiny_model import save_tiny_model
from tests.support.vllm_server import VLLM_PYTHON

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(700)]


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    if not VLLM_PYTHON.exists():
        pytest.skip("vLLM's environment is absent: make vllm-env")
    place = tmp_path_factory.mktemp("place")
    save_tiny_model(place / "tiny")
    data = place / "data"
    command = cli("up", "--data-dir", str(data), "--port", str(free_port()), "--detach")
    command += ["--engine", "vllm", "--cpu", "--model", str(place / "tiny")]
    environment = {**os.environ, "AGENT_RFT_VLLM_PYTHON": str(VLLM_PYTHON)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    answer = json.loads(done.stdout)
    try:
        with opened(data, answer) as live:
            yield live
    finally:
        subprocess.run(cli("down", "--data-dir", str(data)), check=True)


def test_a_job_trains_beside_vllm_and_its_result_is_served_by_it(
    live: Installation, tmp_path: Path
) -> None:
    command = Path(f"/proc/{live.pids()['engine']}/cmdline").read_text().split("\0")
    assert "vllm.entrypoints.openai.api_server" in command
    client, rows = live.client(), tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps(chat_row(n)) + "\n" for n in range(12)))
    file = upload(client, rows)
    hyper = {"n_epochs": 1, "batch_size": 6, "learning_rate_multiplier": 10}
    method: Any = {"type": "supervised", "supervised": {"hyperparameters": hyper}}
    created = client.fine_tuning.jobs.create(
        model="tiny", training_file=file, validation_file=file, method=method
    )
    job = wait_until_final(client, created.id, timeout_s=600)
    assert job.status == "succeeded", job.error
    assert job.fine_tuned_model is not None
    asked: Any = [{"role": "user", "content": "What is 3 + 4?"}]
    for model in ("tiny", job.fine_tuned_model):
        reply = client.chat.completions.create(model=model, messages=asked, max_completion_tokens=8)
        assert reply.usage is not None
        assert reply.usage.completion_tokens > 0
