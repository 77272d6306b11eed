"""Random training samples for the model of the learning tests."""

from collections.abc import Callable

import torch

from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import TrainingSample

VOCAB = 128


MakeTrainer = Callable[..., LoraTrainer]


def random_samples(seed: int, *, count: int) -> list[TrainingSample]:
    """Rollouts of mixed lengths with scattered trained tokens and log-probs near uniform."""
    generator = torch.Generator().manual_seed(seed)
    made = []
    for _ in range(count):
        length = int(torch.randint(6, 60, (1,), generator=generator))
        tokens = torch.randint(0, VOCAB, (length,), generator=generator).tolist()
        mask = [0, 0, *torch.randint(0, 2, (length - 2,), generator=generator).tolist()]
        advantage = float(torch.randn((), generator=generator))
        made.append(TrainingSample(tokens, mask, [-4.8 * m for m in mask], advantage))
    return made
