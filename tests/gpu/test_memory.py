"""Memory and attention of the trainer on a GPU. Every case carries the mark `gpu`."""

from pathlib import Path

import pytest
import torch
from transformers import AutoConfig, Qwen3Config, Qwen3ForCausalLM

from tests.support.learning.gradients import gradients, layer_runs, perturb
from tests.support.learning.random_model import trainer_on
from tests.support.learning.samples import random_samples
from tests.support.learning.tensors import assert_close
from workers.learning.backbone import attend_by_branch, attend_packed
from workers.learning.batches import Layout, PrefixTree
from workers.learning.memory.plan import PlanInputs, count, plan_memory
from workers.learning.trainer import TrainingSample

pytestmark = pytest.mark.gpu

TOKENS = 8192
BF16 = {"device": "cuda", "dtype": "bfloat16"}


@pytest.fixture(scope="session")
def large_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Qwen3-0.6B's shape, with random weights."""
    directory = tmp_path_factory.mktemp("large")
    config = Qwen3Config(
        vocab_size=151_936,
        hidden_size=1024,
        intermediate_size=3072,
        num_hidden_layers=28,
        num_attention_heads=16,
        num_key_value_heads=8,
        head_dim=128,
        tie_word_embeddings=True,
    )
    with torch.device("cuda"):
        Qwen3ForCausalLM(config).bfloat16().save_pretrained(directory)
    return directory


def one_sequence(tokens: int) -> list[TrainingSample]:
    mask, logprobs = [0, *[1] * tokens], [0.0, *[-12.0] * tokens]
    return [TrainingSample([n % 1000 for n in range(tokens + 1)], mask, logprobs, 1.0)]


def test_checkpointing_is_on_and_changes_no_gradient(model_dir: Path) -> None:
    samples = random_samples(0, count=12)
    found = []
    for checkpointing in (None, False):
        trainer = trainer_on(model_dir, options={**BF16, "checkpointing": checkpointing})
        perturb(trainer)
        found.append(gradients(trainer, samples))
        assert layer_runs(trainer, samples) == (2 if checkpointing is False else 4)
    assert_close(found[1], found[0], rtol=2e-2, atol=1e-4)


@pytest.mark.parametrize("checkpointing", [False, True])
def test_the_plan_is_what_is_allocated(large_model: Path, *, checkpointing: bool) -> None:
    counts = count(
        AutoConfig.from_pretrained(large_model),
        dtype=torch.bfloat16,
        rank=16,
        checkpointing=checkpointing,
    )
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    options = {**BF16, "checkpointing": checkpointing, "max_batch_tokens": TOKENS}
    trainer = trainer_on(large_model, options=options, rank=16)
    trainer.update(one_sequence(TOKENS))
    torch.cuda.reset_peak_memory_stats()
    trainer.update(one_sequence(TOKENS))
    _, total = torch.cuda.mem_get_info()
    plan = plan_memory(PlanInputs(total, TOKENS, micro_batch_tokens=TOKENS), counts)
    assert plan.fits
    # Torch counts tensors, and not the context of the process.
    planned = sum(part.bytes for part in plan.parts if part.name != "process")
    assert torch.cuda.max_memory_allocated() - before == pytest.approx(planned, rel=0.15)


def test_the_measured_micro_batch_fits(large_model: Path) -> None:
    trainer = trainer_on(large_model, options=BF16)
    tokens = trainer._adapted.batches.max_tokens
    assert tokens > TOKENS
    trainer.update(one_sequence(tokens))
    assert trainer._adapted.batches.max_tokens == tokens, "nothing had to be halved"


@pytest.mark.parametrize("key_heads", [2, 4])
def test_packed_attention_agrees_with_each_branch_after_a_copy(key_heads: int) -> None:
    layout = Layout((PrefixTree(300, (70, 0, 33)), PrefixTree(0, (40,)), PrefixTree(65, (129, 1))))
    generator = torch.Generator("cuda").manual_seed(0)
    inputs = [
        torch.randn(
            1, n, layout.tokens, 64, device="cuda", dtype=torch.bfloat16, generator=generator
        ).requires_grad_()
        for n in (4, key_heads, key_heads)
    ]
    mine = attend_packed(inputs[0], inputs[1], inputs[2], layout, 0.125)
    expected = attend_by_branch(inputs[0], inputs[1], inputs[2], layout, 0.125)
    torch.testing.assert_close(mine, expected, rtol=2e-2, atol=2e-2)
    given = torch.randn_like(expected)
    for got, wanted in zip(
        torch.autograd.grad(mine, inputs, given),
        torch.autograd.grad(expected, inputs, given),
        strict=True,
    ):
        torch.testing.assert_close(got, wanted, rtol=5e-2, atol=5e-2)
