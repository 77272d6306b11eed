"""Reference formulas for a trainer's gradient, written out on the model's full logits, one row at a
time in float64.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tests.support.learning.gradients import gradients, warmed
from tests.support.learning.samples import MakeTrainer, random_samples
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import TrainingSample

TEMPERATURE = 0.8


@dataclass(frozen=True, slots=True)
class WrittenRow:
    """One sample's trained tokens, with gradient."""

    lp: Tensor
    mean_lp: Tensor
    q: Tensor
    a: Tensor

    @property
    def d(self) -> Tensor:
        """The log-ratio, without gradient."""
        return self.lp.detach() - self.q

    @property
    def r(self) -> Tensor:
        return self.d.exp()


Value = Callable[[Sequence[WrittenRow]], Tensor]
"""The loss of a step before it is divided."""


def made_trainer(make_trainer: MakeTrainer, loss: str, **options: Any) -> LoraTrainer:
    return warmed(
        make_trainer, temperature=TEMPERATURE, options={"dtype": "float64", "loss": loss, **options}
    )


def near(trainer: LoraTrainer, *, noise: float = 0.5, count: int = 8) -> list[TrainingSample]:
    """Samples whose sampler was near the policy; the last one has no advantage."""
    generator = torch.Generator().manual_seed(9)
    samples = []
    for number, sample in enumerate(random_samples(5, count=count)):
        lp = [0.0, *trainer.logprobs(sample.tokens)]
        shifts = (torch.randn(len(lp), generator=generator) * noise).tolist()
        q = [(v + s) * m for v, s, m in zip(lp, shifts, sample.mask, strict=True)]
        advantage = 0.0 if number == count - 1 else sample.advantage
        samples.append(TrainingSample(sample.tokens, sample.mask, q, advantage, group=number // 4))
    return samples


def rows_of(trainer: LoraTrainer, samples: Sequence[TrainingSample]) -> list[WrittenRow]:
    rows = []
    for sample in samples:
        ids_1T = torch.tensor([list(sample.tokens)])
        logits_TV = trainer._adapted.peft(input_ids=ids_1T).logits[0, :-1] / TEMPERATURE
        logp_TV = logits_TV.log_softmax(-1)
        trained = [index for index, m in enumerate(sample.mask) if m]
        picked_TV = logp_TV[[index - 1 for index in trained]]
        targets_T1 = torch.tensor([[sample.tokens[index]] for index in trained])
        rows.append(
            WrittenRow(
                lp=picked_TV.gather(1, targets_T1)[:, 0],
                mean_lp=picked_TV.mean(-1),
                q=torch.tensor([sample.logprobs[index] for index in trained]).double(),
                a=torch.tensor([sample.advantage_of(index) for index in trained]).double(),
            )
        )
    return rows


def compare(
    trainer: LoraTrainer,
    samples: Sequence[TrainingSample],
    value: Value,
    *,
    denominator: int | None = None,
) -> None:
    """The reduction is part of it: a sum over all samples, divided once by one number."""
    got = gradients(trainer, list(samples))
    for parameter in trainer.parameters.values():
        parameter.grad = None
    tokens = sum(sample.trained_tokens for sample in samples)
    (value(rows_of(trainer, samples)) / (denominator or tokens)).backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    largest = max(float(g.abs().max()) for g in got.values())
    assert largest > 1e-3
    for name, parameter in trainer.parameters.items():
        assert parameter.grad is not None
        torch.testing.assert_close(got[name], parameter.grad, rtol=1e-5, atol=2e-6 * largest)


def weighted(slope: Callable[[WrittenRow], Tensor]) -> Value:
    """Returns the loss whose gradient by a token's log-prob is `slope`."""
    return lambda rows: torch.stack([(slope(row).detach() * row.lp).sum() for row in rows]).sum()
