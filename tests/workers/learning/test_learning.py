"""Learning with real sampling, advantages and gradients on a task without text."""

import random

import pytest
import torch

from tests.support.learning.samples import VOCAB, MakeTrainer
from workers.learning.advantages import group_advantages
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import TrainingSample

PROMPTS, GROUP, NEW, STEPS = 8, 16, 4, 40


@torch.no_grad()
def sample_rollouts(trainer: LoraTrainer, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    prompts_P3 = torch.randint(0, VOCAB, (PROMPTS, 3), generator=generator)
    ids_BT = prompts_P3.repeat_interleave(GROUP, dim=0)
    logprobs = []
    for _ in range(NEW):
        logp_BV = trainer._adapted.peft(input_ids=ids_BT).logits[:, -1].log_softmax(-1)
        next_B1 = torch.multinomial(logp_BV.exp(), 1, generator=generator)
        logprobs.append(logp_BV.gather(1, next_B1))
        ids_BT = torch.cat([ids_BT, next_B1], dim=1)
    return ids_BT, torch.cat(logprobs, dim=1)


def step_samples(
    ids_BT: torch.Tensor, logprobs_BN: torch.Tensor, rewards: list[float]
) -> list[TrainingSample]:
    samples = []
    for start in range(0, len(rewards), GROUP):
        outcome = group_advantages(rewards[start : start + GROUP], min_valid=12)
        for row, advantage in enumerate(outcome.advantages, start=start):
            if advantage is not None:
                tokens = ids_BT[row].tolist()
                logprobs = [0.0] * 3 + logprobs_BN[row].tolist()
                samples.append(TrainingSample(tokens, [0] * 3 + [1] * NEW, logprobs, advantage))
    return samples


@pytest.mark.parametrize("honest", [True, False])
def test_reward_rises_and_only_for_the_reward_s_sake(
    make_trainer: MakeTrainer, honest: bool
) -> None:
    """The reward is the share of even tokens among the sampled ones, 0.5 by chance. As a control,
    training on the same rewards in random order does not raise it.
    """
    trainer = make_trainer(learning_rate=2e-2, rank=8, alpha=16)
    generator = torch.Generator().manual_seed(12)
    dealer = random.Random(1)
    curve = []
    for _ in range(STEPS):
        ids_BT, logprobs_BN = sample_rollouts(trainer, generator)
        rewards = (ids_BT[:, 3:] % 2 == 0).float().mean(dim=1).tolist()
        curve.append(sum(rewards) / len(rewards))
        if not honest:
            dealer.shuffle(rewards)
        stats = trainer.update(step_samples(ids_BT, logprobs_BN, rewards))
        assert stats["train/sampler_max_abs_log_ratio"] < 1e-3
    assert 0.4 < curve[0] < 0.6
    last = sum(curve[-5:]) / 5
    assert last > 0.8 if honest else last < 0.65
