import math
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

from app.rollouts import metrics as names
from tests.support.learning.gradients import gradients, warmed
from tests.support.learning.random_model import SMALL, windowed_model
from tests.support.learning.samples import VOCAB, MakeTrainer, random_samples
from tests.support.learning.tensors import assert_close, assert_equal
from workers.learning.batch_loss import apply_kl_penalty
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import TrainerOptions, TrainingSample


def test_gradients_equal_the_plain_way(
    make_trainer: MakeTrainer, samples: list[TrainingSample]
) -> None:
    """Compares with one row at a time, full logits and the formula exp(lp - q)·A / global count."""
    fp64 = {"dtype": "float64", "loss": "importance_sampling"}
    trainer = warmed(make_trainer, options=fp64, temperature=0.7)
    got = gradients(trainer, samples)
    total = sum(sum(sample.mask) for sample in samples)
    for sample in samples:
        ids_1T = torch.tensor([list(sample.tokens)])
        logits_TV = trainer._adapted.peft(input_ids=ids_1T).logits[0, :-1] / 0.7
        logp_T = logits_TV.log_softmax(-1).gather(1, ids_1T[0, 1:, None])[:, 0]
        ratio_T = (logp_T - torch.tensor(sample.logprobs[1:])).exp()
        loss = -(ratio_T * torch.tensor(sample.mask[1:]) * sample.advantage).sum() / total
        loss.backward()
    largest = max(float(g.abs().max()) for g in got.values())
    assert largest > 1e-3
    for name, parameter in trainer.parameters.items():
        assert parameter.grad is not None
        torch.testing.assert_close(got[name], parameter.grad, rtol=1e-5, atol=1e-6 * largest)


def of_one_prompt(seed: int, *, count: int, prompt: int) -> list[TrainingSample]:
    """Rollouts of a group: one prompt, answers of several lengths with untrained parts."""
    return [
        TrainingSample(
            [*range(prompt), *drawn.tokens],
            [*[0] * prompt, 1, *drawn.mask[1:]],
            [*[0.0] * prompt, -4.8, *drawn.logprobs[1:]],
            drawn.advantage,
        )
        for drawn in random_samples(seed, count=count)
    ]


@pytest.mark.parametrize("prompt", [1, 50])
def test_a_shared_prompt_never_changes_the_gradient(make_trainer: MakeTrainer, prompt: int) -> None:
    """Compares with a trainer that gets one sample at a time, so that no prefix is shared."""
    samples = of_one_prompt(1, count=6, prompt=prompt) + of_one_prompt(
        2, count=3, prompt=prompt + 7
    )
    apart = warmed(make_trainer, options={"max_batch_tokens": 1})
    got, expected = gradients(warmed(make_trainer), samples), gradients(apart, samples)
    largest = max(float(g.abs().max()) for g in expected.values())
    assert_close(got, expected, rtol=0, atol=1e-5 * largest)


@pytest.mark.parametrize("max_tokens", [1, 64, 200, 100_000])
def test_micro_batches_never_change_the_gradient(
    make_trainer: MakeTrainer, samples: list[TrainingSample], max_tokens: int
) -> None:
    reference = gradients(warmed(make_trainer), samples)
    cut = warmed(make_trainer, options={"max_batch_tokens": max_tokens})
    assert_close(gradients(cut, samples), reference, rtol=1e-4, atol=1e-6)


def test_adamw_step_by_hand(make_trainer: MakeTrainer, samples: list[TrainingSample]) -> None:
    """The first Adam step moves every weight by lr·g/(|g| + eps) of its clipped gradient."""
    gradient = gradients(warmed(make_trainer), samples)
    norm = math.sqrt(sum(float(g.square().sum()) for g in gradient.values()))
    trainer = warmed(make_trainer, learning_rate=3e-3)
    before = {name: p.detach().clone() for name, p in trainer.parameters.items()}
    stats = trainer.update(samples)
    assert stats[names.GRAD_NORM] == pytest.approx(norm, rel=1e-4)
    for name, parameter in trainer.parameters.items():
        g = gradient[name] * min(1.0, 1.0 / norm)
        expected = before[name] - 3e-3 * g / (g.abs() + 1e-8)
        clear = g.abs() > 1e-6
        torch.testing.assert_close(parameter.detach()[clear], expected[clear], rtol=0, atol=2e-5)


def test_stats_by_hand(make_trainer: MakeTrainer) -> None:
    trainer = make_trainer()
    tokens, mask = [5, 9, 77, 3], [0, 0, 1, 1]
    lp = trainer.logprobs(tokens)
    q = [0.0, 0.0, lp[1] - 0.1, lp[2] + 0.4]
    stats = trainer.update(
        [TrainingSample(tokens, mask, q, 2.0), TrainingSample(tokens, mask, q, 0.0)]
    )
    assert stats[names.COMPUTED_TOKENS] == 2
    assert stats[names.LEARNING_RATE] == 1e-2
    k3 = (math.exp(0.1) - 1 - 0.1 + math.exp(-0.4) - 1 + 0.4) / 2
    assert stats[names.SAMPLER_KL_K3] == pytest.approx(k3, rel=1e-3)
    assert stats[names.SAMPLER_MAX_LOG_RATIO] == pytest.approx(0.4, rel=1e-4)
    assert stats[names.CLIPPED_SHARE] == 0.0
    # Four trained tokens were sampled; the two of advantage 0 add nothing to the sum.
    expected = -2.0 * (math.exp(0.1) + math.exp(-0.4)) / 4
    assert stats[names.LOSS] == pytest.approx(expected, rel=1e-4)
    assert 0 < stats[names.ENTROPY] < math.log(VOCAB)
    assert stats[names.SKIPPED_STEPS] == 0
    assert trainer.steps == 1


def test_a_value_without_computed_tokens_is_left_out(make_trainer: MakeTrainer) -> None:
    trainer = make_trainer()
    stats = trainer.update([TrainingSample([5, 9, 3], [0, 1, 1], [0.0, -1.0, -1.0], 0.0)])
    assert stats == {names.LEARNING_RATE: 1e-2, names.COMPUTED_TOKENS: 0, names.SKIPPED_STEPS: 0}
    assert trainer.steps == 0


def test_clipped_tokens_are_counted(make_trainer: MakeTrainer) -> None:
    trainer = make_trainer()
    tokens = [5, 9, 77, 3]
    lp = trainer.logprobs(tokens)
    q = [0.0, lp[0] - 0.5, lp[1], lp[2] + 0.5]
    stats = trainer.update([TrainingSample(tokens, [0, 1, 1, 1], q, 1.0)])
    assert stats[names.CLIPPED_SHARE] == pytest.approx(1 / 3)


def test_minibatches_take_several_steps(
    make_trainer: MakeTrainer, samples: list[TrainingSample]
) -> None:
    trainer = make_trainer(options={"minibatches": 3})
    stats = trainer.update(samples)
    assert trainer.steps == 3
    twin = make_trainer()
    for part in range(3):
        twin.update(samples[part::3])
    assert_equal(trainer.parameters, twin.parameters)
    assert stats[names.COMPUTED_TOKENS] == sum(sum(s.mask) for s in samples)


def test_losses_differ_once_a_batch_has_several_steps(
    make_trainer: MakeTrainer, samples: list[TrainingSample]
) -> None:
    """On rollouts of the policy itself, one step is the same for every loss, and the second one has
    ratios beside 1.
    """
    losses: dict[str, dict[str, Any]] = {
        "ppo": {"epsilon": 1e-3},
        "importance_sampling": {},
        "cispo": {"high": 1.0},
        "dro": {"beta": 1.0},
    }
    apart = dict[int, list[float]]()
    for minibatches in (1, 2):
        adapters = []
        for loss, options in losses.items():
            chosen = {"loss": loss, "loss_options": options, "minibatches": minibatches}
            trainer = make_trainer(options=chosen)
            own = [[0.0, *trainer.logprobs(sample.tokens)] for sample in samples]
            pairs = zip(samples, own, strict=True)
            trainer.update([replace(sample, logprobs=logprobs) for sample, logprobs in pairs])
            adapters.append(torch.cat([p.detach().flatten() for p in trainer.parameters.values()]))
        apart[minibatches] = [float((a - b).abs().mean()) for a, b in combinations(adapters, 2)]
    assert max(apart[1]) < 1e-6
    assert min(apart[2]) > 1e-4


def test_minibatches_divide_pairs_whole(make_trainer: MakeTrainer) -> None:
    pairs = random_samples(5, count=8)
    trainer = make_trainer(options={"loss": "dpo", "minibatches": 2})
    trainer.update(pairs)
    twin = make_trainer(options={"loss": "dpo"})
    twin.update([*pairs[0:2], *pairs[4:6]])
    twin.update([*pairs[2:4], *pairs[6:8]])
    assert trainer.steps == 2
    assert_equal(trainer.parameters, twin.parameters)


def test_minibatches_compare_a_rollout_with_its_whole_group(make_trainer: MakeTrainer) -> None:
    """The KL penalty is relative to the mean of a group, whichever part a rollout is trained in."""
    group = [replace(sample, group="row 1") for sample in random_samples(5, count=4)]
    options = {"kl_coefficient": 0.5}
    trainer = make_trainer(options={**options, "minibatches": 2})
    trainer.update(group)
    reference = trainer.reference_logprobs(group)
    penalised, _ = apply_kl_penalty(group, reference, coefficient=0.5)
    twin = make_trainer()
    for part in range(2):
        twin.update(penalised[part::2])
    assert_equal(trainer.parameters, twin.parameters)


def test_accumulated_parts_make_the_step_of_the_whole(
    make_trainer: MakeTrainer, samples: list[TrainingSample]
) -> None:
    """One call of `accumulate` equals `update` to the bit; several calls differ in the order of
    sums only, even with different token counts.
    """
    whole, once, parts = warmed(make_trainer), warmed(make_trainer), warmed(make_trainer)
    expected = whole.update(samples)
    once.accumulate(samples)
    assert once.step() == expected
    for part in (samples[:2], samples[2:3], samples[3:]):
        parts.accumulate(part)
    stats = parts.step()
    assert stats[names.COMPUTED_TOKENS] == expected[names.COMPUTED_TOKENS]
    assert stats[names.LOSS] == pytest.approx(expected[names.LOSS], rel=1e-4, abs=1e-6)
    assert stats[names.GRAD_NORM] == pytest.approx(expected[names.GRAD_NORM], rel=1e-4)
    assert [trainer.steps for trainer in (whole, once, parts)] == [1, 1, 1]
    assert_equal(once.parameters, whole.parameters)
    assert_close(parts.parameters, whole.parameters, rtol=0, atol=2e-5)


def test_a_step_is_divided_by_tokens_without_a_sample_too(
    make_trainer: MakeTrainer, samples: list[TrainingSample]
) -> None:
    count = sum(sum(s.mask) for s in samples)
    half = warmed(make_trainer).update(samples)[names.GRAD_NORM] / 2
    trainer = warmed(make_trainer)
    trainer.accumulate(samples)
    assert trainer.step(further_tokens=count)[names.GRAD_NORM] == pytest.approx(half, rel=1e-5)
    assert trainer.step()[names.SKIPPED_STEPS] == 0, "nothing was accumulated since"
    assert trainer.steps == 1
    whole = warmed(make_trainer).update(samples, further_tokens=count)
    assert whole[names.GRAD_NORM] == pytest.approx(half, rel=1e-5)


def test_nothing_to_learn_from_changes_nothing(make_trainer: MakeTrainer) -> None:
    trainer = make_trainer()
    before = {name: p.detach().clone() for name, p in trainer.parameters.items()}
    stats = trainer.update([TrainingSample([1, 2], [0, 1], [0.0, -1.0], 0.0)])
    assert names.LOSS not in stats
    assert_equal(trainer.parameters, before)


def test_a_step_that_is_not_finite_is_skipped(
    make_trainer: MakeTrainer, samples: list[TrainingSample]
) -> None:
    trainer = make_trainer()
    trainer.update(samples)
    before = {name: p.detach().clone() for name, p in trainer.parameters.items()}
    huge = [TrainingSample(s.tokens, s.mask, s.logprobs, 1e38) for s in samples[:1]]
    stats = trainer.update(huge)
    assert stats[names.SKIPPED_STEPS] == 1
    assert names.LOSS not in stats
    assert names.GRAD_NORM not in stats
    assert trainer.steps == 1
    assert_equal(trainer.parameters, before)
    assert trainer.update(samples)[names.SKIPPED_STEPS] == 0


def test_logprobs_are_those_of_the_plain_model(make_trainer: MakeTrainer, model_dir: Path) -> None:
    trainer = make_trainer(temperature=0.5)
    tokens = random_samples(9, count=1)[0].tokens
    ids_1T = torch.tensor([list(tokens)])
    model = AutoModelForCausalLM.from_pretrained(model_dir, dtype=torch.float32)
    with torch.no_grad():
        logp_TV = (model(input_ids=ids_1T).logits[0, :-1] / 0.5).log_softmax(-1)
    expected = logp_TV.gather(1, ids_1T[0, 1:, None])[:, 0].tolist()
    assert trainer.logprobs(tokens) == pytest.approx(expected, abs=1e-5)
    assert trainer.logprobs([3]) == []


def save_gemma(directory: Path, *, cap: float | None) -> str:
    windowed_model(window=8, cap=cap).save_pretrained(directory)
    return str(directory)


def build(path: str) -> LoraTrainer:
    return LoraTrainer(
        path,
        base_name="x",
        rank=2,
        alpha=4,
        learning_rate=1e-3,
        seed=0,
        options=TrainerOptions(device="cpu"),
    )


@pytest.mark.parametrize("family", ["llama", "gemma2 with a sliding window", "gemma2 with a cap"])
def test_other_architectures(tmp_path: Path, family: str, samples: list[TrainingSample]) -> None:
    if family == "llama":
        torch.manual_seed(0)
        LlamaForCausalLM(LlamaConfig(**SMALL, tie_word_embeddings=False)).save_pretrained(tmp_path)
    else:
        save_gemma(tmp_path, cap=2.0 if family.endswith("cap") else None)
    trainer = build(str(tmp_path))
    assert trainer.update(samples)[names.GRAD_NORM] > 0
    ids_1T = torch.tensor([list(samples[0].tokens)])
    with torch.no_grad():
        logp_TV = trainer._adapted.peft(input_ids=ids_1T).logits[0, :-1].log_softmax(-1)
    expected = logp_TV.gather(1, ids_1T[0, 1:, None])[:, 0].tolist()
    assert trainer.logprobs(samples[0].tokens) == pytest.approx(expected, abs=1e-5)
