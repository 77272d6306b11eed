"""The effect of each option of a job's objective and advantage on a real optimizer step.

One prompt has three rollouts: a good one, an equally good one with the behaviour that the option
penalises, and a bad one.
"""

from dataclasses import replace
from typing import Any

import pytest

from app.models.models import BaseModelSpec
from app.rollouts.trajectory import ScoredRollout, StopReason
from tests.support.learning.gradients import gradients, warmed
from tests.support.learning.options import resolved
from tests.support.learning.samples import MakeTrainer
from tests.support.reinforcement.scored_rollouts import scored, scored_group, tool_call
from workers.learning.lora_trainer import LoraTrainer
from workers.methods.reinforcement.training import shaping_config, trainer_options
from workers.methods.schedulers.mode import GroupConfig, prepare, samples_of, settled_groups

BASE = BaseModelSpec(name="m", path="m", context_length=128, max_turn_tokens=40)
GOOD, AGAINST, BAD = range(3)
STEP = 0.05


def group(prompt: int = 0, *, scores: tuple[float, ...] = (1.0, 1.0, 0.0)) -> list[ScoredRollout]:
    """Three rollouts; the second is longer, has more and repeated calls, and was stopped by a
    limit.
    """
    repeated = tool_call(repeated=True)
    rollouts = [
        scored(("train", 1, prompt, GOOD), scores[0], calls=(tool_call(),), sampled=10),
        scored(
            ("train", 1, prompt, AGAINST),
            scores[1],
            calls=(tool_call(), repeated, repeated),
            sampled=20,
            stop=StopReason.MAX_STEPS,
        ),
        scored(("train", 1, prompt, BAD), scores[2], sampled=10),
    ]
    for number, rollout in enumerate(rollouts):
        tokens = rollout.trajectory.row.tokens
        tokens[3:] = [40 + 25 * number + prompt + index for index in range(len(tokens) - 3)]
    return rollouts


def likelier(
    trainer: LoraTrainer, rollouts: list[list[ScoredRollout]], sent: dict[str, Any]
) -> list[float]:
    """Returns the nats that each rollout of the first prompt gains in one small descent step."""
    learning = resolved(BASE, **sent)
    for rollout in (rollout for its in rollouts for rollout in its):
        tokens, mask = rollout.trajectory.row.tokens, rollout.trajectory.row.mask
        lp = [0.0, *trainer.logprobs(tokens)]
        rollout.trajectory.row.logprobs[:] = [v * m for v, m in zip(lp, mask, strict=True)]
    config = GroupConfig(
        min_group_share=0.75,
        shaping=shaping_config(learning.objective),
        estimator=learning.advantage.type,
    )
    samples = samples_of(
        settled_groups([prepare(scored_group(its), config) for its in rollouts], config)
    )
    before = [sum(trainer.logprobs(rollout.trajectory.row.tokens)[2:]) for rollout in rollouts[0]]
    kept = {name: p.detach().clone() for name, p in trainer.parameters.items()}
    for name, gradient in gradients(trainer, samples).items():
        trainer.parameters[name].data.sub_(STEP * gradient)
    after = [sum(trainer.logprobs(rollout.trajectory.row.tokens)[2:]) for rollout in rollouts[0]]
    for name, value in kept.items():
        trainer.parameters[name].data.copy_(value)
    return [b - a for a, b in zip(before, after, strict=True)]


def trainer_of(make_trainer: MakeTrainer, sent: dict[str, Any]) -> LoraTrainer:
    options = trainer_options(resolved(BASE, **sent))
    return warmed(make_trainer, options={**_fields(options), "device": "cpu"})


def _fields(options: Any) -> dict[str, Any]:
    return {name: getattr(options, name) for name in options.__slots__}


@pytest.mark.parametrize(
    "objective",
    [
        {"token_penalty": 0.5},
        {"call_budget": 1, "call_budget_penalty": 0.4},
        {"repeated_call_penalty": 0.4},
        {"overlong": {"limit": 20, "buffer": 10}},
        {"clamp_limit_stop": True},
    ],
)
def test_what_an_objective_is_against_gains_less(
    make_trainer: MakeTrainer, objective: dict[str, Any]
) -> None:
    off = {"objective": {"token_penalty": 0}}
    on = {"objective": {"token_penalty": 0, **objective}}
    trainer = trainer_of(make_trainer, off)
    plain, shaped = (likelier(trainer, [group()], sent) for sent in (off, on))
    assert plain[GOOD] > 0 > plain[BAD]
    assert shaped[AGAINST] < plain[AGAINST] - 1e-4
    assert shaped[GOOD] > plain[GOOD] + 1e-5


@pytest.mark.parametrize(
    ("kind", "scale"),
    [
        ("leave_one_out", 3 / 2),
        ("std", 1 / (1 / 3) ** 0.5),
        # Rewards 1, 1, 0 and 10, 10, 0: mean 11/3, squared deviations 202 - 484/6 in sum.
        ("batch_std", 1 / ((202 - 484 / 6) / 5) ** 0.5),
    ],
)
def test_an_estimator_scales_a_groups_gradient(
    make_trainer: MakeTrainer, kind: str, scale: float
) -> None:
    """Checks the factor relative to centring, computed by hand, for the first of two prompts."""
    plain = {"objective": {"token_penalty": 0}, "loss": {"type": "importance_sampling"}}
    sent = {**plain, "advantage": {"type": kind}}
    config = GroupConfig(
        min_group_share=0.75, shaping=shaping_config(resolved(BASE, **plain).objective)
    )
    trainer = trainer_of(make_trainer, sent)
    rollouts = [group(), group(1, scores=(10.0, 10.0, 0.0))]
    estimated = replace(config, estimator=kind)
    first: list[dict[str, Any]] = []
    for settings in (config, estimated):
        samples = samples_of(
            settled_groups([prepare(scored_group(its), settings) for its in rollouts], settings)
        )
        first.append(gradients(trainer, [s for s in samples if s.group == samples[0].group]))
    for name, gradient in first[0].items():
        assert (first[1][name] - scale * gradient).abs().max() <= 1e-4 * gradient.abs().max() + 1e-7
