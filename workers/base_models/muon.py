"""Muon in fp32: the optimizer of the tiny base model's matrices.

Owns the orthogonalised momentum update. `torch.optim.Muon` computes it in bfloat16, which takes
three quarters of a training step on a processor without bfloat16 units. Must not know the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import torch
from torch import Tensor
from typing_extensions import override

# Coefficients of the quintic Newton-Schulz iteration, as in torch.optim.Muon.
QUINTIC: Final = (3.4445, -4.7750, 2.0315)
ITERATIONS: Final = 5


def orthogonalise(batch_BMN: Tensor) -> Tensor:
    """Returns matrices with the same singular vectors and singular values near 1."""
    a, b, c = QUINTIC
    tall = batch_BMN.shape[-2] > batch_BMN.shape[-1]
    x: Tensor = batch_BMN.mT if tall else batch_BMN
    x = x / x.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-7)
    for _ in range(ITERATIONS):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """Nesterov momentum, orthogonalised for all matrices of one shape at once."""

    def __init__(
        self, params: Iterable[Tensor], *, lr: float, weight_decay: float, momentum: float = 0.95
    ) -> None:
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum})

    @override
    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]  # no closure is ever given
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[Tensor]] = {}
            for parameter in group["params"]:
                by_shape.setdefault(parameter.shape, []).append(parameter)
            for shape, parameters in by_shape.items():
                self._step_shape(group, parameters, scale=max(1.0, shape[0] / shape[1]) ** 0.5)

    def _step_shape(self, group: dict[str, Any], parameters: list[Tensor], *, scale: float) -> None:
        updates = []
        for parameter in parameters:
            gradient = parameter.grad
            if gradient is None:
                raise ValueError("every parameter needs a gradient")
            momentum = self.state[parameter].setdefault("momentum", torch.zeros_like(parameter))
            momentum.lerp_(gradient, 1 - group["momentum"])
            updates.append(gradient.lerp(momentum, group["momentum"]))
        for parameter, update in zip(parameters, orthogonalise(torch.stack(updates)), strict=True):
            parameter.mul_(1 - group["lr"] * group["weight_decay"])
            parameter.add_(update, alpha=-group["lr"] * scale)
