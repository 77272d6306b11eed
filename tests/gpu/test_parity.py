"""The trainer computes the same on every device, within the precision of its base model.

Each case is compared with fp32 on the CPU. The cases on the CPU run in the normal suite and keep
this code alive on machines without a GPU; those on CUDA carry the mark `gpu` (`make test-gpu`).
"""

from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import Tensor
from typing_extensions import override

from app.rollouts.metrics import LOSS
from tests.support.learning.gradients import perturb
from tests.support.learning.random_model import trainer_on
from tests.support.learning.samples import random_samples
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import Precision


@dataclass(frozen=True, slots=True)
class Case:
    device: str
    dtype: Precision
    values: float
    """Largest relative difference of loss and log-probs from fp32 on the CPU."""
    gradient: float
    """The same of the whole gradient, as a vector."""

    @override
    def __str__(self) -> str:
        return f"{self.device}-{self.dtype}"

    def trainer(self, model_dir: Path, *, start: Path | None = None) -> LoraTrainer:
        options = {"device": self.device, "dtype": self.dtype, "start": start}
        return trainer_on(model_dir, options=options)


REFERENCE = Case("cpu", "float32", 0.0, 0.0)
CASES = [
    Case("cpu", "float64", 1e-5, 1e-4),
    Case("cpu", "bfloat16", 1e-2, 6e-2),
    pytest.param(Case("cuda", "float32", 1e-4, 1e-3), marks=pytest.mark.gpu),
    pytest.param(Case("cuda", "bfloat16", 1e-2, 6e-2), marks=pytest.mark.gpu),
]
each_case = pytest.mark.parametrize("case", CASES, ids=str)


def relative(found: Tensor, expected: Tensor) -> float:
    return float((found - expected).norm() / expected.norm())


def gradient(trainer: LoraTrainer) -> Tensor:
    """Returns the summed gradient of a step's samples as one vector on the CPU."""
    # A seed none of whose ratios is so near a clip's edge that rounding decides its side.
    trainer.accumulate(random_samples(2, count=12))
    parts = []
    for parameter in trainer.parameters.values():
        assert parameter.grad is not None
        parts.append(parameter.grad.flatten().double().cpu())
    return torch.cat(parts)


@each_case
def test_loss_and_gradient_agree_with_fp32_on_the_cpu(case: Case, model_dir: Path) -> None:
    trainers = [each.trainer(model_dir) for each in (case, REFERENCE)]
    for trainer in trainers:
        perturb(trainer)
    samples = [random_samples(2, count=8)]
    loss, expected = (trainer.evaluate(samples)[0][LOSS] for trainer in trainers)
    assert loss == pytest.approx(expected, rel=case.values, abs=1e-5)
    found, reference = (gradient(trainer) for trainer in trainers)
    assert relative(found, reference) < case.gradient


@each_case
def test_an_adapter_loads_on_the_cpu_and_gives_the_same_log_probs(
    case: Case, model_dir: Path, tmp_path: Path
) -> None:
    trainer = case.trainer(model_dir)
    base = torch.tensor(trainer.logprobs(range(2, 40)))
    for seed in range(3):
        trainer.update(random_samples(seed, count=12))
    trainer.save_adapter(tmp_path / "adapter")
    loaded = REFERENCE.trainer(model_dir, start=tmp_path / "adapter")
    for name, parameter in trainer.parameters.items():
        assert torch.equal(parameter.detach().cpu().float(), loaded.parameters[name].detach()), name
    found, expected = (torch.tensor(each.logprobs(range(2, 40))) for each in (trainer, loaded))
    assert relative(found, expected) < case.values
    assert relative(base, expected) > 2 * case.values  # training moved them by more than that


@each_case
def test_a_step_counts_on_the_device_that_was_requested(case: Case, model_dir: Path) -> None:
    trainer = case.trainer(model_dir)
    trainer.update(random_samples(0, count=4))
    assert trainer.steps == 1
    assert trainer.accelerators == (1 if case.device == "cuda" else 0)
    assert {parameter.device.type for parameter in trainer.parameters.values()} == {case.device}
