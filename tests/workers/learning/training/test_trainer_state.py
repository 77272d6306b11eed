import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from app.kit.directories import ManifestMismatch, commit_directory
from tests.support.learning.random_model import trainer_on
from tests.support.learning.samples import MakeTrainer, random_samples
from tests.support.learning.tensors import assert_equal
from tests.support.processes.child_processes import child
from workers.learning.trainer import MismatchConfig, StateMismatch, saved_settings

RESUME = f"""
import sys
sys.path.append({str(Path(__file__).parents[4])!r})
from tests.support.learning.samples import random_samples
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import TrainerOptions
model, state, out = sys.argv[1:]
trainer = LoraTrainer(
    model, base_name="public-model-2026-01-01", rank=4, alpha=8.0, learning_rate=1e-2, seed=99,
    options=TrainerOptions(device="cpu", threads=1),
)
trainer.load_state(__import__("pathlib").Path(state))
assert trainer.steps == 3
for step in range(3, 6):
    trainer.update(random_samples(step, count=6))
trainer.save_adapter(__import__("pathlib").Path(out))
"""


async def test_a_resume_in_another_process_is_bit_identical(
    make_trainer: MakeTrainer, model_dir: Path, tmp_path: Path
) -> None:
    threads = torch.get_num_threads()
    try:
        trainer = make_trainer(options={"threads": 1})
        for step in range(6):
            if step == 3:
                trainer.save_state(tmp_path / "state")
            trainer.update(random_samples(step, count=6))
        trainer.save_adapter(tmp_path / "quiet")
    finally:
        torch.set_num_threads(threads)
    arguments = [str(model_dir), str(tmp_path / "state"), str(tmp_path / "resumed")]
    with child("-c", RESUME, *arguments, settings=None) as resumed:
        assert await resumed.exit_code() == 0, resumed.errors.read_text()
    name = "adapter_model.safetensors"
    assert (tmp_path / "quiet" / name).read_bytes() == (tmp_path / "resumed" / name).read_bytes()


def test_no_pickle(make_trainer: MakeTrainer, tmp_path: Path) -> None:
    trainer = make_trainer()
    trainer.save_state(tmp_path / "fresh")  # before the first update there are no moments
    trainer.update(random_samples(0, count=4))
    trainer.save_state(tmp_path / "state")
    for directory in ("fresh", "state"):
        assert sorted(p.name for p in (tmp_path / directory).iterdir()) == [
            "adapter.safetensors",
            "manifest.json",
            "moments.safetensors",
            "random.safetensors",
            "trainer.json",
        ]
    other = make_trainer(seed=5)
    other.load_state(tmp_path / "fresh")
    other.update(random_samples(0, count=4))
    assert_equal(other.parameters, trainer.parameters)


def test_random_generators_return(make_trainer: MakeTrainer, tmp_path: Path) -> None:
    trainer = make_trainer()
    random.seed(3)
    np.random.seed(4)  # noqa: NPY002 - the process-wide generator is what is saved
    torch.manual_seed(5)
    random.gauss()
    np.random.normal()  # noqa: NPY002 - draws from the global generator, whose state is restored
    trainer.save_state(tmp_path / "state")

    def draw() -> list[float]:
        numpy = [np.random.normal(), np.random.random()]  # noqa: NPY002 - draws from the global generator, whose state is restored
        return [random.gauss(), random.random(), *numpy, *torch.rand(3).tolist()]

    expected = draw()
    trainer.load_state(tmp_path / "state")
    assert draw() == expected


def test_damage_is_refused_before_anything_changes(
    make_trainer: MakeTrainer, tmp_path: Path
) -> None:
    trainer = make_trainer()
    trainer.update(random_samples(0, count=4))
    trainer.save_state(tmp_path / "state")
    content = bytearray((tmp_path / "state" / "moments.safetensors").read_bytes())
    content[-1] ^= 1
    (tmp_path / "state" / "moments.safetensors").write_bytes(content)
    other = make_trainer(seed=1)
    before = {name: p.detach().clone() for name, p in other.parameters.items()}
    with pytest.raises(ManifestMismatch, match="moments"):
        other.load_state(tmp_path / "state")
    assert_equal(other.parameters, before)


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ({"rank": 2}, "rank"),
        ({"alpha": 4.0}, "alpha"),
        ({"learning_rate": 1e-3}, "learning_rate"),
        ({"options": {"loss": "cispo"}}, "loss"),
        ({"options": {"minibatches": 2}}, "minibatches"),
        ({"options": {"loss_options": {"epsilon": 0.1}}}, "objective"),
        ({"options": {"mismatch": MismatchConfig(truncation="token")}}, "objective"),
        ({"options": {"kl_coefficient": 0.1}}, "objective"),
    ],
)
def test_another_run_s_state_is_refused(
    make_trainer: MakeTrainer, tmp_path: Path, setting: dict[str, Any], named: str
) -> None:
    make_trainer().save_state(tmp_path / "state")
    with pytest.raises(StateMismatch, match=rf"\b{named}\b"):
        make_trainer(**setting).load_state(tmp_path / "state")


def test_a_state_is_refused_on_other_base_weights_of_the_same_name(
    make_trainer: MakeTrainer, model_dir: Path, tmp_path: Path
) -> None:
    make_trainer().save_state(tmp_path / "state")
    replaced = AutoModelForCausalLM.from_pretrained(model_dir)
    with torch.no_grad():
        replaced.get_parameter("model.layers.1.mlp.up_proj.weight").mul_(1.1)
    replaced.save_pretrained(tmp_path / "replaced")
    with pytest.raises(StateMismatch, match="base_digest"):
        trainer_on(tmp_path / "replaced").load_state(tmp_path / "state")
    # Precision is the operator's choice, and no other weights.
    make_trainer(options={"dtype": "bfloat16"}).load_state(tmp_path / "state")


def test_a_state_of_an_earlier_version_has_less_to_compare_and_loads(
    make_trainer: MakeTrainer, tmp_path: Path
) -> None:
    trainer = make_trainer()
    trainer.update(random_samples(0, count=4))
    trainer.save_state(tmp_path / "new")
    with commit_directory(tmp_path / "old") as directory:
        for path in (tmp_path / "new").iterdir():
            document = path.read_bytes()
            if path.name == "trainer.json":
                loaded = json.loads(document)
                for name in ("base_digest", "objective"):
                    del loaded["settings"][name]
                document = json.dumps(loaded).encode()
            (directory / path.name).write_bytes(document)
    settings = saved_settings(tmp_path / "old")
    assert settings is not None
    assert (settings.base_digest, settings.objective) == (None, None)
    resumed = make_trainer()
    resumed.load_state(tmp_path / "old")
    assert resumed.steps == 1
