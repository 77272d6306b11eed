"""Two tenants' trainers in one process: neither affects the other's adapter.

The risks are those of shared processes: a library's global state, torch's random generator, and a
pending gradient while another trainer clips and steps.
"""

import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.support.learning.samples import MakeTrainer, random_samples
from workers.learning.lora_trainer import LoraTrainer

STEPS = 4


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Sets one thread: the setting is per process, and another number may change the last bits."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def tenants(make_trainer: MakeTrainer) -> Callable[[str], LoraTrainer]:
    """A and B differ in every setting in which two jobs on one base can differ."""

    def make(name: str) -> LoraTrainer:
        if name == "a":
            return make_trainer(seed=1, rank=4, learning_rate=1e-2)
        loss = {"loss": "cispo", "minibatches": 2}
        return make_trainer(seed=2, rank=8, alpha=4.0, learning_rate=3e-1, options=loss)

    return make


def _bits(trainer: LoraTrainer, directory: Path) -> dict[str, bytes]:
    """Returns the saved state except the process's random state: adapter and moments."""
    trainer.save_adapter(directory / "adapter")
    trainer.save_state(directory / "state")
    files = ("adapter/adapter_model.safetensors", "state/adapter.safetensors")
    return {name: (directory / name).read_bytes() for name in (*files, "state/moments.safetensors")}


def _alone(trainer: LoraTrainer, directory: Path) -> dict[str, bytes]:
    for step in range(STEPS):
        trainer.accumulate(random_samples(step, count=4))
        trainer.accumulate(random_samples(100 + step, count=4))
        trainer.step()
    return _bits(trainer, directory)


def test_interleaved_halves_of_steps_leave_no_trace(
    tenants: Callable[[str], LoraTrainer], tmp_path: Path
) -> None:
    """B accumulates, steps, saves and loads between A's gradients and A's step."""
    expected = _alone(tenants("a"), tmp_path / "alone")
    a, b = tenants("a"), tenants("b")
    for step in range(STEPS):
        a.accumulate(random_samples(step, count=4))
        b.accumulate(random_samples(200 + step, count=6))
        a.accumulate(random_samples(100 + step, count=4))
        b.step()
        b.save_state(tmp_path / f"b-{step}")
        random.seed(step)
        np.random.seed(step)  # noqa: NPY002 - the global one is what is being disturbed
        torch.manual_seed(step)
        b.accumulate(random_samples(300 + step, count=2))  # pending while A clips and steps
        a.step()
        b.step()
        b.load_state(tmp_path / f"b-{step}")  # resets the process's generators
        tenants("b").logprobs([1, 2, 3])  # a third job starts
    assert _bits(a, tmp_path / "beside") == expected


def test_b_is_no_more_disturbed_than_a(
    tenants: Callable[[str], LoraTrainer], tmp_path: Path
) -> None:
    expected = _alone(tenants("b"), tmp_path / "alone")
    b, a = tenants("b"), tenants("a")
    for step in range(STEPS):
        b.accumulate(random_samples(step, count=4))
        a.update(random_samples(400 + step, count=8))
        b.accumulate(random_samples(100 + step, count=4))
        a.accumulate(random_samples(500 + step, count=8))
        b.step()
        a.step()
    assert _bits(b, tmp_path / "beside") == expected
    assert expected != _alone(tenants("a"), tmp_path / "a"), "the two learn different things"


def test_at_the_same_moment_in_two_threads(
    tenants: Callable[[str], LoraTrainer], tmp_path: Path
) -> None:
    """Trains each run in its own thread, as in one process with several runs."""
    expected = {name: _alone(tenants(name), tmp_path / f"alone-{name}") for name in ("a", "b")}
    trainers = {name: tenants(name) for name in ("a", "b")}
    got: dict[str, dict[str, bytes]] = {}
    start = threading.Barrier(2)

    def train(name: str) -> None:
        torch.set_num_threads(1)
        start.wait()
        got[name] = _alone(trainers[name], tmp_path / f"beside-{name}")

    threads = [threading.Thread(target=train, args=(name,)) for name in trainers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == expected


def test_a_trainer_holds_and_clips_its_own_parameters_only(
    tenants: Callable[[str], LoraTrainer],
) -> None:
    a, b = tenants("a"), tenants("b")
    mine = {id(parameter) for parameter in a.parameters.values()}
    assert mine == {id(p) for group in a._optimizer.param_groups for p in group["params"]}
    assert mine.isdisjoint(id(parameter) for parameter in b.parameters.values())
    assert a._adapted.peft is not b._adapted.peft
    b.accumulate(random_samples(0, count=4))
    pending = {name: p.grad.clone() for name, p in b.parameters.items() if p.grad is not None}
    assert pending
    a.update(random_samples(1, count=4))
    for name, gradient in pending.items():
        grad = b.parameters[name].grad
        assert grad is not None
        assert torch.equal(grad, gradient)
