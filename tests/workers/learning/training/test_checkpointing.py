"""Checkpointing through a whole trainer: layers run twice, and nothing else changes."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from transformers import OPTConfig, OPTForCausalLM
from transformers.modeling_layers import GradientCheckpointingLayer

from tests.support.learning.gradients import gradients, warmed
from tests.support.learning.random_model import trainer_on
from tests.support.learning.samples import VOCAB, MakeTrainer
from workers.learning.memory.live_bytes import peak_bytes
from workers.learning.training.lora_trainer import LoraTrainer
from workers.learning.training_samples import TrainingSample


def layer_runs(trainer: LoraTrainer, samples: list[TrainingSample]) -> int:
    """Returns how often a layer begins to compute in one update of one micro-batch."""
    runs = 0

    def count(_module: nn.Module, _args: Any) -> None:
        nonlocal runs
        runs += 1

    layers = [
        m for m in trainer._adapted.peft.modules() if isinstance(m, GradientCheckpointingLayer)
    ]
    assert len(layers) == 2
    for layer in layers:
        # Recomputation enters `forward` below the layer's own hooks.
        layer.get_submodule("self_attn").register_forward_pre_hook(count)
    trainer.update(samples)
    return runs


@pytest.mark.parametrize(("checkpointing", "runs"), [(False, 2), (True, 4), (None, 2)])
def test_each_layer_runs_again_in_backward(
    make_trainer: MakeTrainer,
    samples: list[TrainingSample],
    checkpointing: bool | None,
    runs: int,
) -> None:
    """On a CPU, where memory is plenty and time is not, it is off unless it is asked for."""
    trainer = make_trainer(options={"checkpointing": checkpointing})
    assert layer_runs(trainer, samples) == runs


def test_the_gradient_is_the_same_to_the_bit(
    make_trainer: MakeTrainer, samples: list[TrainingSample]
) -> None:
    plain = warmed(make_trainer, options={"checkpointing": False})
    checkpointed = warmed(make_trainer, options={"checkpointing": True})
    expected, found = gradients(plain, samples), gradients(checkpointed, samples)
    assert all(torch.equal(found[name], gradient) for name, gradient in expected.items())


def test_an_update_needs_a_fraction_of_the_memory(
    make_trainer: MakeTrainer, samples: list[TrainingSample]
) -> None:
    peaks = {}
    for checkpointing in (False, True):
        trainer = make_trainer(options={"checkpointing": checkpointing})
        trainer.update(samples)  # makes the moments

        def update(trainer: LoraTrainer = trainer) -> None:
            trainer.update(samples)

        peaks[checkpointing] = peak_bytes(update)
    assert peaks[True] < 0.7 * peaks[False]


def test_dropout_stays_off_in_a_layer_that_has_its_own(
    tmp_path: Path, samples: list[TrainingSample]
) -> None:
    """Transformers' own switch puts the layer into training mode, which draws this dropout."""
    torch.manual_seed(0)
    config = OPTConfig(
        vocab_size=VOCAB,
        hidden_size=32,
        ffn_dim=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        word_embed_proj_dim=32,
        dropout=0.5,
    )
    OPTForCausalLM(config).save_pretrained(tmp_path)
    plain, checkpointed = (
        trainer_on(tmp_path, options={"checkpointing": wanted}) for wanted in (False, True)
    )
    tokens = samples[0].tokens
    assert checkpointed.logprobs(tokens) == plain.logprobs(tokens)
    expected, found = gradients(plain, samples), gradients(checkpointed, samples)
    assert all(torch.equal(found[name], gradient) for name, gradient in expected.items())
