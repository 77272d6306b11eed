"""Builds models of at most 0.1 million random parameters, and trainers on them."""

from pathlib import Path
from typing import Any

import torch
from transformers import Gemma2Config, Gemma2ForCausalLM, Qwen3Config, Qwen3ForCausalLM

from tests.support.learning.samples import VOCAB
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import TrainerOptions

SMALL: dict[str, Any] = {
    "vocab_size": VOCAB,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "initializer_range": 0.2,
}
"""Sizes of a model of any family whose weights no test compares with another run's."""


def windowed_model(*, window: int, cap: float | None = None) -> Gemma2ForCausalLM:
    """Builds a model with sliding windows; `cap` bounds its logits."""
    torch.manual_seed(0)
    config = Gemma2Config(**SMALL, final_logit_softcapping=cap, sliding_window=window)
    return Gemma2ForCausalLM(config)


def save_random_model(directory: Path) -> Path:
    """Saves the model; the same weights each time."""
    torch.manual_seed(7)
    config = Qwen3Config(
        vocab_size=VOCAB,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=128,
        tie_word_embeddings=True,
        initializer_range=0.1,
    )
    Qwen3ForCausalLM(config).save_pretrained(directory)
    return directory


def trainer_on(
    model_dir: Path, *, options: dict[str, Any] | None = None, **settings: Any
) -> LoraTrainer:
    """Builds a trainer on the CPU, unless the options name another device."""
    values: dict[str, Any] = {
        "base_name": "public-model-2026-01-01",
        "rank": 4,
        "alpha": 8.0,
        "learning_rate": 1e-2,
        "seed": 0,
    }
    return LoraTrainer(
        str(model_dir),
        **(values | settings),
        options=TrainerOptions(**({"device": "cpu"} | (options or {}))),
    )
