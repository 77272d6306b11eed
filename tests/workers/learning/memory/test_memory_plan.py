"""Planned memory against tensors that are really allocated, on small models of several families."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from tests.support.cases import cases
from tests.support.learning.architectures import ARCHITECTURES
from tests.support.learning.random_model import trainer_on
from workers.compute import attends
from workers.learning.head import LogProbHead
from workers.learning.memory.__main__ import lines, main
from workers.learning.memory.plan import GIB, Counts, PlanInputs, count, peak_bytes, plan_memory
from workers.learning.trainer import TrainingSample

TOKENS = 600
SHAPE: dict[str, Any] = {
    "vocab_size": 64,
    "hidden_size": 64,
    "intermediate_size": 192,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 1024,
}


def small(family: str) -> PreTrainedModel:
    torch.manual_seed(0)
    if family == "llama":
        return LlamaForCausalLM(LlamaConfig(**SHAPE, tie_word_embeddings=False))
    return Qwen3ForCausalLM(Qwen3Config(**SHAPE, tie_word_embeddings=True))


@pytest.mark.parametrize(
    ("family", "dtype", "checkpointing"),
    [
        ("llama", torch.float32, False),
        ("qwen3", torch.bfloat16, True),
        pytest.param("llama", torch.bfloat16, True, marks=pytest.mark.long),
        pytest.param("llama", torch.bfloat16, False, marks=pytest.mark.long),
        pytest.param("qwen3", torch.float32, True, marks=pytest.mark.long),
        pytest.param("qwen3", torch.float32, False, marks=pytest.mark.long),
    ],
)
def test_the_counts_are_the_bytes_of_a_real_update(
    tmp_path: Path, family: str, dtype: torch.dtype, *, checkpointing: bool
) -> None:
    if not attends(dtype):
        pytest.skip(f"torch's attention cannot compute {dtype} as it may use this processor")
    small(family).save_pretrained(tmp_path)
    precision = str(dtype).removeprefix("torch.")
    options = {"dtype": precision, "checkpointing": checkpointing, "max_batch_tokens": TOKENS}
    trainer = trainer_on(tmp_path, options=options, rank=8)
    counts = count(
        AutoConfig.from_pretrained(tmp_path), dtype=dtype, rank=8, checkpointing=checkpointing
    )

    model = trainer._adapted.peft
    of_base = {
        tensor.data_ptr(): tensor.nbytes
        for name, tensor in (*model.named_parameters(), *model.named_buffers())
        if "lora_" not in name
    }
    assert counts.weights == sum(of_base.values())
    assert counts.adapter == sum(p.nbytes for p in trainer.parameters.values())

    batch = [TrainingSample([1] * (TOKENS + 1), [0] + [1] * TOKENS, [-6.0] * (TOKENS + 1), 1.0)]
    trainer.update(batch)  # makes the moments
    moments = sum(
        value.nbytes for state in trainer._optimizer.state.values() for value in state.values()
    )
    assert moments == pytest.approx(2 * counts.adapter, rel=0.01)

    needed = peak_bytes(lambda: trainer.accumulate(batch))
    planned = counts.a_batch + counts.a_token * TOKENS + counts.adapter
    assert planned == pytest.approx(needed, rel=0.15)


@pytest.mark.parametrize(
    ("family", "checkpointing"),
    [
        ("Mistral", False),
        ("Gemma 2", False),
        ("gpt-oss", True),
        pytest.param("Gemma 3", True, marks=pytest.mark.long),
        pytest.param("OLMo 3", True, marks=pytest.mark.long),
        pytest.param("Gemma 2", True, marks=pytest.mark.long),
    ],
)
def test_scores_and_masks_of_all_pairs_are_counted(
    tmp_path: Path, family: str, *, checkpointing: bool
) -> None:
    """Sliding windows have masks, soft caps and sinks whole matrices of scores."""
    kind, own = ARCHITECTURES[family]
    sizes = {"num_hidden_layers": 2, "sliding_window": 100, "max_position_embeddings": 2048}
    config = AutoConfig.for_model(kind, **{**SHAPE, "pad_token_id": 0, **own, **sizes})
    torch.manual_seed(0)
    AutoModelForCausalLM.from_config(config).save_pretrained(tmp_path)  # type: ignore[no-untyped-call]  # transformers leaves it untyped
    options = {"checkpointing": checkpointing, "max_batch_tokens": 4096}
    trainer = trainer_on(tmp_path, options=options, rank=8)
    counts = count(
        AutoConfig.from_pretrained(tmp_path),
        dtype=torch.float32,
        rank=8,
        checkpointing=checkpointing,
    )
    assert counts.a_pair > 0
    for tokens in (300, 1200):
        row = [TrainingSample([1] * (tokens + 1), [0] + [1] * tokens, [-6.0] * (tokens + 1), 1.0)]
        trainer.update(row)
        needed = peak_bytes(lambda row=row: trainer.accumulate(row))  # type: ignore[misc]  # mypy cannot infer a bound default
        planned = counts.batch_bytes(tokens, longest=tokens) + counts.adapter
        assert planned == pytest.approx(needed, rel=0.15), tokens


def test_rows_within_the_window_have_no_masks() -> None:
    kind, own = ARCHITECTURES["Mistral"]
    config = AutoConfig.for_model(kind, **{**SHAPE, **own, "sliding_window": 4096})
    within, beyond = (
        count(config, dtype=torch.float32, rank=8, checkpointing=False, longest=longest)
        for longest in (4096, 16_384)
    )
    assert within.a_pair == 0
    assert beyond.a_pair > 0


def test_what_grows_with_pairs_is_planned_for_the_longest_row() -> None:
    pairs = replace(COUNTS, a_pair=100.0)
    assert pairs.batch_bytes(1000, longest=4000) == 1000 * 300_000 + 100 * 1000**2
    assert pairs.batch_bytes(8000, longest=4000) == 8000 * 300_000 + 100 * 8000 * 4000
    for longest in (100, 2000, 50_000):
        tokens = pairs.batch_tokens(10 * GIB, longest=longest)
        used = pairs.batch_bytes(tokens, longest=longest)
        assert used == pytest.approx(0.85 * 10 * GIB, rel=0.01) or tokens == 65_536
        more = pairs.batch_bytes(tokens + 100, longest=longest)
        assert more > used


@cases("dtype", [torch.float32, torch.bfloat16])
def test_a_chunk_of_logits_needs_what_is_counted(dtype: torch.dtype) -> None:
    counted, needed = (
        peak_bytes(LogProbHead(layer, chunk=200).rehearse)
        for layer in (
            torch.nn.Linear(64, 4096, bias=False, device=device, dtype=dtype).requires_grad_(
                requires_grad=False
            )
            for device in ("meta", "cpu")
        )
    )
    assert counted == pytest.approx(needed, rel=0.15)
    assert needed > 2 * 200 * 4096 * 4, "logits and softmax, in fp32"


COUNTS = Counts(
    weights=8 * GIB,
    engine_weights=8 * GIB,
    adapter=GIB // 8,
    a_token=300e3,
    a_batch=0,
    head=GIB,
    kv_a_token=147_456,
)
PLAIN = Counts(
    weights=8 * GIB,
    engine_weights=8 * GIB,
    adapter=GIB // 8,
    a_token=5.4e6,
    a_batch=0,
    head=GIB,
    kv_a_token=147_456,
)


def test_a_model_beside_its_engine_by_hand() -> None:
    given = PlanInputs(gpu_bytes=80 * GIB, context_length=16_384, engine_share=0.5)
    plan = plan_memory(given, COUNTS)
    assert plan.fits
    parts = {f"{part.owner}: {part.name}": part.bytes for part in plan.parts}
    cache = parts["engine: KV cache"]
    assert cache == 40 * GIB - 8 * GIB - 2 * GIB - 600 * 2**20
    assert plan.kv_tokens == cache // 147_456
    assert parts["trainer: adapter, gradients, moments"] == 5 * GIB // 8
    room = 40 * GIB - 600 * 2**20 - 8 * GIB - 5 * GIB // 8 - GIB
    assert plan.micro_batch_tokens == min(65_536, int(0.85 * room / 300e3))
    assert sum(parts.values()) + plan.free_bytes == 80 * GIB
    assert "DOES NOT FIT" not in "\n".join(lines(plan, given.gpu_bytes, memory="GPU"))


@cases(
    ("given", "counts", "says"),
    [
        (PlanInputs(10 * GIB, 4096), COUNTS, "take a smaller model"),
        (PlanInputs(80 * GIB, 16_384, engine_share=0.15), COUNTS, "raise --engine-share"),
        (PlanInputs(80 * GIB, 16_384, engine_share=0.8), PLAIN, "turn on checkpointing"),
        (PlanInputs(24 * GIB, 120_000), COUNTS, "lower --context-length to"),
        (PlanInputs(24 * GIB, 4096, micro_batch_tokens=90_000), COUNTS, "lower --micro-batch to"),
    ],
)
def test_what_does_not_fit_is_reported_with_the_setting_that_helps(
    given: PlanInputs, counts: Counts, says: str
) -> None:
    checkpointed = COUNTS if counts is PLAIN else None
    plan = plan_memory(given, counts, checkpointed=checkpointed)
    assert not plan.fits
    assert any(says in problem for problem in plan.problems), plan.problems


def test_the_plan_of_smollm2_135m_by_hand() -> None:
    """The README's model, as its published configuration has it."""
    config = LlamaConfig(
        vocab_size=49_152,
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        tie_word_embeddings=True,
    )
    counts = count(config, dtype=torch.float32, rank=16, checkpointing=False)
    embedding, norms = 49_152 * 576, 61 * 576
    attention, feed_forward = 2 * 576 * 576 + 2 * 576 * 192, 3 * 576 * 1536
    parameters = embedding + norms + 30 * (attention + feed_forward)
    assert parameters == 134_515_008, "as published"
    # Frequencies of positions are no parameters.
    assert counts.weights == pytest.approx(4 * parameters, abs=4096)
    assert counts.engine_weights == pytest.approx(2 * parameters, abs=4096)
    widths = 2 * (576 + 576) + 2 * (576 + 192) + 3 * (576 + 1536)
    assert counts.adapter == 4 * 16 * 30 * widths
    assert counts.kv_a_token == 30 * 2 * 3 * 64 * 2
    plan = plan_memory(PlanInputs(8 * GIB, 2048, micro_batch_tokens=4096), counts)
    assert plan.fits


def test_the_trainers_precision_leaves_the_engine_alone() -> None:
    config = Qwen3Config(**SHAPE)
    halves, wholes = (
        count(config, dtype=dtype, rank=8, checkpointing=True)
        for dtype in (torch.bfloat16, torch.float32)
    )
    # Frequencies of positions stay in 32 bits.
    assert wholes.weights == pytest.approx(2 * halves.weights, rel=1e-3)
    assert wholes.engine_weights == pytest.approx(halves.engine_weights, rel=1e-3)


def test_advice_that_is_followed_makes_the_plan_fit() -> None:
    given = PlanInputs(24 * GIB, 120_000)
    (problem,) = plan_memory(given, COUNTS).problems
    advised = int(problem.split("--context-length to ")[1].rstrip(".").replace(",", ""))
    assert plan_memory(PlanInputs(24 * GIB, advised), COUNTS).fits


def test_the_command_prints_the_plan_of_a_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small("qwen3").config.save_pretrained(tmp_path)
    arguments = ["--model", str(tmp_path), "--gpu-memory"]
    assert main([*arguments, "8GiB", "--engine-share", "0.5"]) == 0
    out = capsys.readouterr().out
    assert "trainer: weights" in out
    assert "GPU" in out
    assert main([*arguments, "600MB"]) == 10
    assert "take a smaller model" in capsys.readouterr().out
    assert main(["--model", str(tmp_path / "absent"), "--gpu-memory", "8GB"]) == 8
    with pytest.raises(SystemExit):
        main([*arguments, "much"])
    assert "is not a size such as 80GB" in capsys.readouterr().err
