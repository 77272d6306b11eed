"""Builds trainers that have taken a step and reads the gradient of the next one."""

from typing import cast

import torch
from torch import Tensor

from app.domain.rollouts import metrics as names
from tests.support.learning.samples import MakeTrainer
from workers.learning.training.lora_trainer import LoraTrainer
from workers.learning.training_samples import TrainingSample


def gradients(trainer: LoraTrainer, samples: list[TrainingSample]) -> dict[str, Tensor]:
    """Returns the unclipped gradient that the optimizer gets, read from a step of SGD at rate 1."""
    seen: dict[str, Tensor] = {}
    before = {name: p.detach().clone() for name, p in trainer.parameters.items()}
    sgd = torch.optim.SGD(trainer.parameters.values(), lr=1.0)
    trainer._optimizer = cast("torch.optim.AdamW", sgd)
    stats = trainer.update(samples)
    scale = max(1.0, stats[names.GRAD_NORM])
    for name, parameter in trainer.parameters.items():
        seen[name] = (before[name] - parameter.detach()) * scale
        parameter.data.copy_(before[name])
    return seen


def warmed(make_trainer: MakeTrainer, **settings: object) -> LoraTrainer:
    """Builds a trainer whose B matrices are not 0, so that A has a gradient too."""
    trainer = make_trainer(**settings)
    perturb(trainer)
    return trainer


def perturb(trainer: LoraTrainer) -> None:
    """Adds the same noise to an adapter on any device."""
    generator = torch.Generator().manual_seed(4)
    for parameter in trainer.parameters.values():
        noise = torch.randn(parameter.shape, generator=generator) * 0.05
        parameter.data.add_(noise.to(parameter.device))
