"""Builds trainers that have taken a step, reads the gradient of the next one, and counts its layers
as they compute.
"""

from typing import Any, cast

import torch
from torch import Tensor, nn
from transformers.modeling_layers import GradientCheckpointingLayer

from app.rollouts import metrics as names
from tests.support.learning.samples import MakeTrainer
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import TrainingSample


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
    assert any(bool(gradient.any()) for gradient in seen.values()), "zeros are equal to anything"
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


def layer_runs(trainer: LoraTrainer, samples: list[TrainingSample]) -> int:
    """Returns how often one of two layers begins to compute in one update of one micro-batch."""
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
