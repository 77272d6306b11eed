"""`agent-rft up --model DIR` on a model of the README's size: it is served and trained on the CPU.

The start reads 200 MB of weights twice and measures the speed: minutes on a busy machine. So it is
part of `make test-long`; `tests/workers/learning/memory/test_memory_plan.py` plans the size.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from app.local.state import free_port
from tests.support.embedded.installation import cli, opened, wait_until_final
from tests.support.embedded.jobs import upload
from tests.support.models.tiny_model import VOCAB_SIZE, build_tokenizer
from tests.support.supervised.runs import chat_row

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]
SMOLLM2_135M: dict[str, Any] = {
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
}
"""The layers of SmolLM2-135M, as its published configuration has them; the vocabulary is small."""
SLOW_S = 1500.0


def save_model(directory: Path) -> Path:
    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=VOCAB_SIZE,
        max_position_embeddings=256,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=2,
        pad_token_id=0,
        **SMOLLM2_135M,
    )
    LlamaForCausalLM(config).bfloat16().save_pretrained(directory)
    build_tokenizer().save_pretrained(directory)
    return directory


def test_a_directory_of_the_size_of_smollm2_trains_and_is_served(tmp_path: Path) -> None:
    model, data = save_model(tmp_path / "my-model"), tmp_path / "data"
    command = cli("up", "--data-dir", str(data), "--port", str(free_port()), "--detach")
    done = subprocess.run(
        [*command, "--model", str(model)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "my-model: works" in done.stderr.splitlines()
    try:
        with opened(data, json.loads(done.stdout)) as live:
            client = live.client()
            rows = tmp_path / "rows.jsonl"
            rows.write_text("".join(json.dumps(chat_row(n)) + "\n" for n in range(12)))
            file = upload(client, rows)
            hyper = {"n_epochs": 1, "batch_size": 12, "learning_rate_multiplier": 10}
            method: Any = {"type": "supervised", "supervised": {"hyperparameters": hyper}}
            created = client.fine_tuning.jobs.create(
                model="my-model", training_file=file, validation_file=file, method=method
            )
            job = wait_until_final(client, created.id, timeout_s=SLOW_S)
            assert job.status == "succeeded", job.error
            assert list(live.curve(job.id, "train/grad_norm")) == [1]
            loss = live.get(f"/fine_tuning/jobs/{job.id}/report")["full_valid_loss"]
            assert loss["tuned"] < loss["base"]
            reply = client.chat.completions.create(
                model=job.fine_tuned_model,
                messages=[{"role": "user", "content": "What is 3 + 4?"}],
                max_completion_tokens=4,
            )
            assert reply.model == job.fine_tuned_model
            assert reply.usage is not None
            assert reply.usage.completion_tokens > 0
    finally:
        subprocess.run(cli("down", "--data-dir", str(data)), check=True)
