"""A short job on a model of random weights, from `agent-rft up --engine vllm` to its last step."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from app.local.state import free_port
from tests.support.embedded.installation import Installation, cli, opened, wait_until_final
from tests.support.embedded.jobs import upload
from tests.support.engines.vllm_server import VLLM_PYTHON
from tests.support.models.tiny_model import CONTEXT_LENGTH, VOCAB_SIZE, build_tokenizer

SMALL: dict[str, Any] = {
    "hidden_size": 128,
    "intermediate_size": 384,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
}
QWEN3_0_6B: dict[str, Any] = {
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
}
"""The layers of Qwen3-0.6B, as its published configuration has them."""
MODEL = "random-weights"
BATCH, STEPS = 4, 3
SLOW_S = 1500.0
"""Three processes import vLLM and torch: a minute on two idle cores, many on busy ones."""
GRADER = {
    "type": "text_similarity",
    "name": "similar",
    "evaluation_metric": "fuzzy_match",
    "input": "{{sample.output_text}}",
    "reference": "{{item.answer}}",
}


def save_random_weights(directory: Path, shape: dict[str, Any]) -> Path:
    """Saves a Qwen3 of this shape in bfloat16 with a small tokenizer."""
    torch.manual_seed(11)
    config = Qwen3Config(
        vocab_size=VOCAB_SIZE,
        max_position_embeddings=CONTEXT_LENGTH,
        tie_word_embeddings=True,
        initializer_range=0.02,
        bos_token_id=None,
        eos_token_id=2,
        pad_token_id=0,
        **shape,
    )
    model = Qwen3ForCausalLM(config).bfloat16()
    model.save_pretrained(directory)
    build_tokenizer().save_pretrained(directory)
    return directory


@contextmanager
def random_weights_behind_vllm(
    workspace: Path, shape: dict[str, Any], *options: str
) -> Iterator[Installation]:
    """`agent-rft up --engine vllm` on such a model until the end of the block."""
    model = save_random_weights(workspace / MODEL, shape)
    data = workspace / "data"
    command = cli("up", "--data-dir", str(data), "--port", str(free_port()), "--detach")
    command += ["--engine", "vllm", "--model", str(model), *options]
    command += ["--context-length", "192"]
    environment = {**os.environ, "AGENT_RFT_VLLM_PYTHON": str(VLLM_PYTHON)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    try:
        with opened(data, json.loads(done.stdout)) as live:
            yield live
    finally:
        subprocess.run(cli("down", "--data-dir", str(data)), check=True)


def short_job(live: Installation, workspace: Path) -> Any:
    """Runs a job of a few steps whose rewards differ with each answer; returns it as it ended."""
    client = live.client()
    files = []
    for name, count in (("train", BATCH * STEPS), ("valid", 10)):
        rows = [
            {
                "messages": [
                    {"role": "user", "content": f"What is the weight of part {name} {n}?"}
                ],
                "answer": f"The answer is {n}, says the record of the part.",
            }
            for n in range(count)
        ]
        path = workspace / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        files.append(upload(client, path))
    hyper = {"n_epochs": 1, "batch_size": BATCH}
    method: Any = {
        "type": "reinforcement",
        "reinforcement": {"grader": GRADER, "hyperparameters": hyper},
    }
    created = client.fine_tuning.jobs.create(
        model=MODEL, training_file=files[0], validation_file=files[1], seed=3, method=method
    )
    return wait_until_final(client, created.id, timeout_s=SLOW_S)


def _row(name: str) -> dict[str, Any]:
    question = {"role": "user", "content": f"What is the weight of part {name}?"}
    return {"messages": [question], "answer": f"The record of part {name} says 42."}


def assert_trained_on_its_samples(live: Installation, job: Any, *, tolerance: float) -> None:
    """Checks that each step trained, on log-probs that trainer and engine agree on: `tolerance`
    limits the largest difference of a sampled token.
    """
    assert job.status == "succeeded", job.error
    for name in ("train/sampler_max_abs_log_ratio", "publish/probe_max_abs_logprob_diff"):
        points = live.curve(job.id, name)
        assert len(points) == STEPS, name
        assert max(points.values()) < tolerance, name
    assert min(live.curve(job.id, "train/grad_norm").values()) > 0
    assert min(live.curve(job.id, "train/computed_tokens").values()) > 0
