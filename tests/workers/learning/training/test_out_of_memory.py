"""A trainer whose memory does not suffice halves its micro-batches and learns the same."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from app.kit.errors import RunFailed
from app.rollouts import metrics as names
from tests.support.learning.gradients import gradients, warmed
from tests.support.learning.samples import MakeTrainer, random_samples
from tests.support.learning.tensors import assert_close
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.memory.plan import peak_bytes
from workers.learning.token_scores import measured_batch_tokens
from workers.learning.trainer import TrainingSample

SOURCES = ["forward", "backward"]
"""Where the memory ends: on the way through the layers, or with half of the gradient computed."""


def limit_memory(trainer: LoraTrainer, tokens: int, *, at: str = "forward") -> list[int]:
    """Lets no pass of more than `tokens` tokens succeed; returns the sizes of all passes begun."""
    passes: list[int] = []

    def enter(_module: nn.Module, _args: Any, kwargs: Any) -> None:
        rows, width = kwargs["input_ids"].shape
        passes.append(rows * width)
        if at == "forward" and rows * width > tokens:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB")

    def leave(_module: nn.Module, _args: Any, output: Any) -> None:
        hidden = output[0] if isinstance(output, tuple) else output
        if at == "backward" and hidden.requires_grad and hidden.shape[:-1].numel() > tokens:
            hidden.register_hook(fail)

    def fail(_gradient: torch.Tensor) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB")

    base = trainer._adapted.peft.get_submodule("base_model.model.model")
    base.register_forward_pre_hook(enter, with_kwargs=True)
    base.get_submodule("layers.0").register_forward_hook(leave)
    return passes


@pytest.mark.parametrize("at", SOURCES)
@pytest.mark.parametrize("limit", [60, 150])
def test_the_gradient_does_not_depend_on_the_memory(
    make_trainer: MakeTrainer, samples: list[TrainingSample], limit: int, at: str
) -> None:
    expected = gradients(warmed(make_trainer), samples)
    small = warmed(make_trainer)
    passes = limit_memory(small, limit, at=at)
    assert_close(gradients(small, samples), expected, rtol=1e-4, atol=1e-6)
    assert passes[0] > limit, "the first micro-batch was too large"
    small.update(samples)
    assert max(passes[-3:]) <= limit


@pytest.mark.parametrize("at", SOURCES)
def test_every_curve_counts_each_token_once(
    make_trainer: MakeTrainer, samples: list[TrainingSample], at: str
) -> None:
    plain, small = make_trainer(), make_trainer()
    passes = limit_memory(small, 100, at=at)
    expected, found = plain.update(samples), small.update(samples)
    assert max(passes) > 100
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-6)
    assert found[names.COMPUTED_TOKENS] == expected[names.COMPUTED_TOKENS]
    assert small.steps == 1


@pytest.mark.parametrize("at", SOURCES)
def test_the_log_probs_of_each_token_count_once(
    make_trainer: MakeTrainer, samples: list[TrainingSample], at: str
) -> None:
    plain, small = make_trainer(), make_trainer()
    passes = limit_memory(small, 100, at=at)
    plain.update(samples)
    small.update(samples)
    assert max(passes) > 100
    found, expected = small.trained_logprobs(), plain.trained_logprobs()
    assert [row and len(row) for row in found] == [sample.trained_tokens for sample in samples]
    for row, expected_row in zip(found, expected, strict=True):
        assert row == pytest.approx(expected_row, abs=1e-5)


def test_the_smaller_size_stays(make_trainer: MakeTrainer, samples: list[TrainingSample]) -> None:
    trainer = make_trainer()
    passes = limit_memory(trainer, 100)
    trainer.update(samples)
    failed = sum(size > 100 for size in passes)
    trainer.update(samples)
    assert sum(size > 100 for size in passes) == failed


def test_pairs_are_halved_whole(make_trainer: MakeTrainer) -> None:
    samples = random_samples(6, count=12)
    plain, small = (warmed(make_trainer, options={"loss": "dpo"}) for _ in range(2))
    passes = limit_memory(small, 130)
    expected, found = gradients(plain, samples), gradients(small, samples)
    assert max(passes) > 130
    assert_close(found, expected, rtol=1e-4, atol=1e-6)


def test_validation_and_reference_are_halved_too(
    make_trainer: MakeTrainer, samples: list[TrainingSample]
) -> None:
    plain, small = make_trainer(), make_trainer()
    passes = limit_memory(small, 100)
    (found,), (expected,) = small.evaluate([samples]), plain.evaluate([samples])
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-6)
    assert max(passes) > 100
    for row, expected_row in zip(
        small.reference_logprobs(samples), plain.reference_logprobs(samples), strict=True
    ):
        assert row == pytest.approx(expected_row, abs=1e-5)


@pytest.mark.parametrize(
    "work",
    [
        lambda trainer, samples: trainer.update(samples),
        lambda trainer, samples: trainer.evaluate([samples]),
        lambda trainer, samples: trainer.reference_logprobs(samples),
    ],
    ids=["update", "evaluate", "reference"],
)
def test_a_sequence_that_does_not_fit_ends_the_run_with_the_setting_that_helps(
    make_trainer: MakeTrainer,
    samples: list[TrainingSample],
    work: Callable[[LoraTrainer, list[TrainingSample]], object],
) -> None:
    trainer = make_trainer()
    passes = limit_memory(trainer, 20)
    with pytest.raises(RunFailed, match="`checkpointing` of the base model") as failed:
        work(trainer, samples)
    assert failed.value.code == "out_of_memory"
    assert passes[0] > passes[-1] > 20, "halved, down to one sequence that does not fit"
    assert f"a single sequence of {passes[-1]} tokens" in str(failed.value)
    assert trainer.steps == 0


def test_weights_that_do_not_fit_end_the_run(
    make_trainer: MakeTrainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_args: object, **_kwargs: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr("workers.learning.adapted_model.load_base", full)
    with pytest.raises(RunFailed, match="weights of public-model-2026-01-01") as failed:
        make_trainer()
    assert failed.value.code == "out_of_memory"


class CountedMemory:
    """Counts the live bytes of tensors against a free memory of a given size, on any device."""

    def __init__(self, free: int) -> None:
        self._free = free

    def free(self) -> int:
        return self._free

    def peak(self, work: Callable[[], object]) -> int:
        return peak_bytes(work)


@pytest.mark.parametrize("checkpointing", [False, True])
def test_the_measured_micro_batch_fills_the_memory(
    make_trainer: MakeTrainer, *, checkpointing: bool
) -> None:
    """Measures under a memory that counts tensors, and then counts an update of that size."""
    trainer = make_trainer(options={"checkpointing": checkpointing})
    free = 64 * 2**20
    tokens = measured_batch_tokens(
        CountedMemory(free), trainer._adapted.scorer, list(trainer.parameters.values())
    )
    trainer._adapted.batches.max_tokens = tokens
    batch = [
        TrainingSample([n % 90, *range(100)], [0] + [1] * 100, [-4.8] * 101, 1.0)
        for n in range(tokens // 100)
    ]
    assert 0.5 * free < peak_bytes(lambda: trainer.update(batch)) < free
