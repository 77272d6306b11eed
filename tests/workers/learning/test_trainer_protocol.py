"""The trainer's interface with two implementations: one in this process, one in another process
with JSON messages. Both must give the same bits.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from app.kit.directories import ManifestMismatch
from tests.support.learning.process_trainer import ROOT, ProcessTrainer
from tests.support.learning.samples import random_samples
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import (
    StateMismatch,
    Trainer,
    TrainerOptions,
    TrainerSettings,
    TrainingSample,
    saved_settings,
)

WEIGHTS = "adapter_model.safetensors"
Make = Callable[..., Trainer]


@pytest.fixture
def arguments(model_dir: Path) -> dict[str, Any]:
    return {
        "base_path": str(model_dir),
        "base_name": "public-model-2026-01-01",
        "rank": 4,
        "alpha": 8.0,
        "learning_rate": 1e-2,
        "seed": 0,
        "options": {"device": "cpu", "threads": 1, "kl_coefficient": 0.1},
    }


@pytest.fixture
def local(arguments: dict[str, Any]) -> Iterator[Make]:
    threads = torch.get_num_threads()

    def make(**changed: Any) -> Trainer:
        settings = arguments | changed
        options = TrainerOptions(**settings.pop("options"))
        return LoraTrainer(**settings, options=options)

    yield make
    torch.set_num_threads(threads)


@pytest.fixture
def remote(arguments: dict[str, Any]) -> Iterator[Make]:
    started: list[ProcessTrainer] = []

    def make(**changed: Any) -> Trainer:
        started.append(ProcessTrainer(arguments | changed))
        return started[-1]

    yield make
    for trainer in started:
        trainer.close()


def _train(trainer: Trainer, directory: Path) -> dict[str, Any]:
    """Makes every call once; returns all results and written files."""
    grouped = [
        TrainingSample(s.tokens, s.mask, s.logprobs, s.advantage, group=f"prompt {number // 4}")
        for number, s in enumerate(random_samples(1, count=8))
    ]
    answers = {
        "settings": trainer.settings,
        "update": trainer.update(grouped),
        "trained": trainer.trained_logprobs(),
        "evaluate": trainer.evaluate([grouped[:2], grouped[2:]]),
        "logprobs": trainer.logprobs([3, 1, 4, 1, 5]),
        "base": trainer.logprobs([3, 1, 4, 1, 5], adapter=False),
        "reference": trainer.reference_logprobs(grouped),
    }
    trainer.accumulate(grouped[:4])
    trainer.accumulate(grouped[4:])
    answers["step"] = trainer.step()
    answers["accumulated"], answers["forgotten"] = (
        trainer.trained_logprobs(),
        trainer.trained_logprobs(),
    )
    trainer.save_state(directory / "state")
    trainer.save_adapter(directory / "adapter")
    answers["steps"], answers["accelerators"] = trainer.steps, trainer.accelerators
    answers["state"] = {
        path.name: path.read_bytes()
        for path in sorted((directory / "state").iterdir())
        if path.suffix == ".safetensors" and path.name != "random.safetensors"
    }
    answers["adapter"] = (directory / "adapter" / WEIGHTS).read_bytes()
    return answers


def test_a_trainer_in_another_process_gives_the_same_bits(
    local: Make, remote: Make, tmp_path: Path
) -> None:
    here = _train(local(), tmp_path / "here")
    there = _train(remote(), tmp_path / "there")
    assert there == here
    assert here["steps"] == 2
    assert here["accelerators"] == 0
    assert len(here["trained"]) == len(here["accumulated"]) == 8
    assert here["forgotten"] == []
    digest = here["settings"].base_digest
    objective = '{"kl_coefficient": 0.1, "loss": {}, "mismatch": null}'
    assert here["settings"] == TrainerSettings(
        "public-model-2026-01-01", 4, 8.0, 1e-2, "ppo", 1, digest, None, objective
    )
    assert here["logprobs"] != here["base"]


def test_either_trainer_resumes_the_state_of_the_other(
    local: Make, remote: Make, tmp_path: Path
) -> None:
    before, after = random_samples(2, count=6), random_samples(3, count=6)
    quiet, first, second = local(), remote(), local(seed=9)
    quiet.update(before)
    first.update(before)
    first.save_state(tmp_path / "state")
    second.load_state(tmp_path / "state")
    assert second.steps == 1
    assert second.update(after) == quiet.update(after)
    for trainer, name in ((quiet, "quiet"), (second, "resumed")):
        trainer.save_adapter(tmp_path / name)
    assert (tmp_path / "quiet" / WEIGHTS).read_bytes() == (
        tmp_path / "resumed" / WEIGHTS
    ).read_bytes()


@pytest.mark.parametrize("where", ["local", "remote"])
def test_faults_of_a_state_are_errors_by_name(
    where: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    make: Make = request.getfixturevalue(where)
    trainer = make()
    trainer.save_state(tmp_path / "state")
    assert saved_settings(tmp_path / "state") == trainer.settings
    with pytest.raises(FileExistsError):
        trainer.save_state(tmp_path / "state")
    with pytest.raises(StateMismatch, match="learning_rate"):
        make(learning_rate=1e-3).load_state(tmp_path / "state")
    (tmp_path / "state" / "adapter.safetensors").write_bytes(b"")
    with pytest.raises(ManifestMismatch):
        trainer.load_state(tmp_path / "state")


def test_a_closed_trainer_in_another_process_fails_its_next_call(remote: Make) -> None:
    trainer = remote()
    assert trainer.steps == 0
    trainer.close()
    with pytest.raises((RuntimeError, ValueError, BrokenPipeError)):
        trainer.update(random_samples(0, count=2))


def test_the_interface_loads_no_torch() -> None:
    code = "import sys, workers.learning.trainer; print({'torch', 'peft'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout.strip() == "set()"
