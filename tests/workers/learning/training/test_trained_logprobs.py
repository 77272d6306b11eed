"""A step yields the log-probs of its trained tokens, as they were before its optimizer step."""

from dataclasses import replace

import pytest
import torch

from tests.support.learning.gradients import gradients, warmed
from tests.support.learning.samples import MakeTrainer, random_samples
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import TrainingSample


def computed(trainer: LoraTrainer, samples: list[TrainingSample]) -> list[list[float]]:
    """Returns the log-probs of the trained tokens by a pass over each sample alone."""
    return [
        [
            logprob
            for logprob, trained in zip(
                trainer.logprobs(sample.tokens), sample.mask[1:], strict=True
            )
            if trained
        ]
        for sample in samples
    ]


def assert_rows(found: list[list[float] | None], expected: list[list[float]]) -> None:
    assert len(found) == len(expected)
    for row, expected_row in zip(found, expected, strict=True):
        assert row == pytest.approx(expected_row, abs=1e-5)


def test_an_update_yields_the_log_probs_before_it_and_forgets_them(
    make_trainer: MakeTrainer,
) -> None:
    trainer, samples = make_trainer(), random_samples(4, count=6)
    expected = computed(trainer, samples)
    trainer.update(samples)
    assert_rows(trainer.trained_logprobs(), expected)
    assert trainer.trained_logprobs() == []
    after = computed(trainer, samples)
    trainer.update(samples)
    assert_rows(trainer.trained_logprobs(), after)
    assert after[0] != pytest.approx(expected[0], abs=1e-4)


def test_a_sample_without_a_gradient_has_none(make_trainer: MakeTrainer) -> None:
    trainer, samples = make_trainer(), random_samples(4, count=4)
    samples[1] = replace(samples[1], advantage=0.0)
    expected = computed(trainer, samples)
    trainer.update(samples)
    found = trainer.trained_logprobs()
    assert found.pop(1) is None
    del expected[1]
    assert_rows(found, expected)


@pytest.mark.parametrize("loss", ["ppo", "dpo"])
def test_each_minibatch_has_those_of_its_own_pass(make_trainer: MakeTrainer, loss: str) -> None:
    samples = random_samples(5, count=12)
    rows = 2 if loss == "dpo" else 1
    first = [number for number in range(12) if number // rows % 2 == 0]
    twice = make_trainer(options={"loss": loss, "minibatches": 2})
    once = make_trainer(options={"loss": loss})
    expected = computed(once, samples)
    once.update([samples[number] for number in first])
    later = computed(once, samples)
    twice.update(samples)
    chosen = [(expected if number in first else later)[number] for number in range(12)]
    assert_rows(twice.trained_logprobs(), chosen)
    assert later[rows] != pytest.approx(expected[rows], abs=1e-4)


def test_accumulated_samples_are_in_the_order_of_the_calls(make_trainer: MakeTrainer) -> None:
    trainer, samples = make_trainer(), random_samples(6, count=6)
    expected = computed(trainer, samples)
    trainer.accumulate(samples[4:])
    assert trainer.trained_logprobs() == [], "the step is not taken"
    trainer.accumulate(samples[:4])
    trainer.step()
    assert_rows(trainer.trained_logprobs(), [*expected[4:], *expected[:4]])


def test_an_evaluation_yields_none(make_trainer: MakeTrainer) -> None:
    trainer = make_trainer()
    trainer.evaluate([random_samples(7, count=2)])
    assert trainer.trained_logprobs() == []


def test_unread_log_probs_do_not_outlive_the_next_step(make_trainer: MakeTrainer) -> None:
    trainer, samples = make_trainer(), random_samples(8, count=4)
    trainer.update(samples)
    expected = computed(trainer, samples[:2])
    trainer.update(samples[:2])
    assert_rows(trainer.trained_logprobs(), expected)


@pytest.mark.parametrize("kl_coefficient", [0.0, 0.5])
def test_a_rollout_in_two_rows_is_trained_as_it_is_in_one(
    make_trainer: MakeTrainer, kl_coefficient: float
) -> None:
    """Each sampled token counts once; the second row repeats the first turn as its context."""
    trainer = warmed(make_trainer, options={"kl_coefficient": kl_coefficient})
    whole, *others = [replace(sample, group="a") for sample in random_samples(9, count=3)]
    sampled = [position for position, trained in enumerate(whole.mask) if trained]
    cut = sampled[len(sampled) // 2]
    first = replace(
        whole, tokens=whole.tokens[:cut], mask=whole.mask[:cut], logprobs=whole.logprobs[:cut]
    )
    second = replace(whole, mask=[0] * cut + list(whole.mask[cut:]))
    assert first.trained_tokens
    in_one = gradients(trainer, [whole, *others])
    [one, *_] = trainer.trained_logprobs()
    in_two = gradients(trainer, [first, second, *others])
    [before, behind, *_] = trainer.trained_logprobs()
    assert [*(before or ()), *(behind or ())] == pytest.approx(one, abs=1e-5)
    for name, gradient in in_one.items():
        torch.testing.assert_close(in_two[name], gradient, atol=1e-5, rtol=1e-3)
