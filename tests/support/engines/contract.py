"""Starts an engine of either kind on the shipped model and samples from it over HTTP."""

import random
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.models.engine import Completion
from app.models.engine_http import HttpInference
from app.models.models import BaseModelSpec
from tests.support.engines.engine_server import running_engine
from tests.support.engines.vllm_server import running_vllm
from workers.engines.cpu.batching.scheduler import Limits
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import TrainerOptions, TrainingSample

KEY = "sk-engine"


VLLM = "vllm"


ENGINES = ["cpu", pytest.param(VLLM, marks=pytest.mark.vllm)]


TOLERANCE = 1e-4
"""Largest |Δ log-prob| of any one token between an fp32 engine and the trainer."""


def running(kind: str, spec: BaseModelSpec, directory: Path) -> AbstractContextManager[str]:
    if kind == VLLM:
        return running_vllm(spec, directory, api_key=KEY)
    return running_engine([spec], api_key=KEY, limits=Limits(threads=2, max_rows=48))


@dataclass(frozen=True, slots=True)
class TunedAdapter:
    """An adapter, and the trainer that an engine must agree with under it."""

    trainer: LoraTrainer
    path: Path

    def logprobs(self, prompt: list[int], sampled: tuple[int, ...]) -> list[float]:
        """Returns the log-probs of the sampled tokens at the trainer's temperature."""
        return self.trainer.logprobs([*prompt, *sampled])[len(prompt) - 1 :]


@dataclass(frozen=True, slots=True)
class World:
    """An engine that serves the shipped model."""

    kind: str
    url: str
    spec: BaseModelSpec

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {KEY}"}

    @property
    def vocabulary(self) -> int:
        return 600

    def prompts(self, count: int, *, seed: int, low: int = 2, high: int = 60) -> list[list[int]]:
        """Random token ids: text the model never saw spreads its log-probs out."""
        rng = random.Random(seed)
        return [
            [rng.randrange(self.vocabulary) for _ in range(rng.randint(low, high))]
            for _ in range(count)
        ]

    def trainer(self, *, seed: int = 0, temperature: float = 1.0) -> LoraTrainer:
        """Returns a job's trainer, with an adapter that changes nothing yet."""
        return LoraTrainer(
            self.spec.path,
            base_name=self.spec.name,
            rank=self.spec.lora_rank,
            alpha=self.spec.lora_alpha,
            learning_rate=1e-2,
            seed=seed,
            temperature=temperature,
            options=TrainerOptions(device="cpu"),
        )

    def tuned(self, directory: Path, *, seed: int, temperature: float = 1.0) -> TunedAdapter:
        """Trains a few steps away from the base, and saves as a job saves it."""
        trainer = self.trainer(seed=seed, temperature=temperature)
        rng = random.Random(seed)
        for _ in range(4):
            trainer.update([self._sample(rng) for _ in range(4)])
        trainer.save_adapter(directory)
        return TunedAdapter(trainer, directory)

    def _sample(self, rng: random.Random) -> TrainingSample:
        length = 24
        return TrainingSample(
            tokens=[rng.randrange(self.vocabulary) for _ in range(length)],
            mask=[0, *[1] * (length - 1)],
            logprobs=[-6.0] * length,
            advantage=1.0,
        )


async def complete(
    inference: HttpInference, model: str, prompt: list[int], **changes: Any
) -> Completion:
    wanted = {"max_tokens": 24, "temperature": 1.0, "seed": 0, "stop_token_ids": ()}
    return await inference.complete(model, prompt, **{**wanted, **changes})


def worst(found: Sequence[float], expected: Sequence[float]) -> float:
    """Largest absolute difference; both have the same length."""
    return max(abs(a - b) for a, b in zip(found, expected, strict=True))
