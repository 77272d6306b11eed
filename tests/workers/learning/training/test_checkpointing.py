"""Checkpointing through a whole trainer: layers run twice, and nothing else changes."""

from pathlib import Path

import pytest
import torch
from transformers import OPTConfig, OPTForCausalLM

from tests.support.learning.gradients import gradients, layer_runs, warmed
from tests.support.learning.random_model import trainer_on
from tests.support.learning.samples import VOCAB, MakeTrainer
from tests.support.learning.tensors import assert_equal
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.memory.plan import peak_bytes
from workers.learning.trainer import TrainerOptions, TrainingSample


@pytest.mark.parametrize(("checkpointing", "runs"), [(False, 2), (True, 4), (None, 2)])
def test_each_layer_runs_again_in_backward(
    make_trainer: MakeTrainer, samples: list[TrainingSample], checkpointing: bool | None, runs: int
) -> None:
    """On a CPU, where memory is plenty and time is not, it is off unless it is asked for; on a GPU
    it is on (`tests/gpu/test_memory.py` counts there).
    """
    trainer = make_trainer(options={"checkpointing": checkpointing})
    assert layer_runs(trainer, samples) == runs
    options = TrainerOptions(checkpointing=checkpointing)
    assert options.checkpointing_on(cpu=True) == (runs == 4)
    assert options.checkpointing_on(cpu=False) == (checkpointing is not False)


def test_the_gradient_is_the_same_to_the_bit(
    make_trainer: MakeTrainer, samples: list[TrainingSample]
) -> None:
    plain = warmed(make_trainer, options={"checkpointing": False})
    checkpointed = warmed(make_trainer, options={"checkpointing": True})
    expected, found = gradients(plain, samples), gradients(checkpointed, samples)
    assert_equal(found, expected)


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
    assert_equal(found, expected)
