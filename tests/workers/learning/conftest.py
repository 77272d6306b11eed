"""A random-weight Qwen3 of 0.1 M parameters on disk, and trainers over it."""

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from tests.support.learning.samples import VOCAB, MakeTrainer, random_samples
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer_options import TrainerOptions
from workers.learning.training_samples import TrainingSample


@pytest.fixture(scope="session")
def model_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
    directory = tmp_path_factory.mktemp("model")
    Qwen3ForCausalLM(config).save_pretrained(directory)
    return directory


@pytest.fixture
def make_trainer(model_dir: Path) -> MakeTrainer:
    def make(*, options: dict[str, Any] | None = None, **settings: Any) -> LoraTrainer:
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

    return make


@pytest.fixture
def samples() -> list[TrainingSample]:
    return random_samples(0, count=12)
