import json
import random
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from tests.support.learning.samples import MakeTrainer, random_samples
from tests.support.learning.tensors import assert_equal
from workers.learning.adapters import adapter_parameters, attach_lora, load_adapter, load_base
from workers.learning.trainer import TrainingSample

CPU = torch.device("cpu")


def fresh(model_dir: Path, *, seed: int = 0, rank: int = 4) -> PeftModel:
    base = load_base(str(model_dir), device=CPU, dtype=torch.float32)
    return attach_lora(base, rank=rank, alpha=8, base_name="public-name", seed=seed)


def test_every_linear_layer_but_the_output_layer(model_dir: Path) -> None:
    names = adapter_parameters(fresh(model_dir))
    layers = {name.split(".lora_")[0].removeprefix("base_model.model.") for name in names}
    expected = {
        f"model.layers.{number}.{part}"
        for number in range(2)
        for part in (
            *(f"self_attn.{p}_proj" for p in "qkvo"),
            *(f"mlp.{p}_proj" for p in ("gate", "up", "down")),
        )
    }
    assert layers == expected
    assert len(names) == 2 * len(expected)
    assert all(parameter.dtype == torch.float32 for parameter in names.values())


def test_initial_weights_depend_on_the_seed_alone(model_dir: Path) -> None:
    torch.manual_seed(1)
    first = adapter_parameters(fresh(model_dir))
    torch.manual_seed(2)
    before = torch.get_rng_state()
    two = adapter_parameters(fresh(model_dir))
    assert torch.equal(before, torch.get_rng_state())  # the global generator was not used
    assert_equal(first, two)
    other = adapter_parameters(fresh(model_dir, seed=1))
    for name, parameter in first.items():
        assert torch.equal(parameter, other[name]) == ("lora_B" in name)
        assert bool((parameter == 0).all()) == ("lora_B" in name)


def test_a_low_precision_base_has_an_fp32_adapter(model_dir: Path) -> None:
    base = load_base(str(model_dir), device=CPU, dtype=torch.bfloat16)
    model = attach_lora(base, rank=2, alpha=4, base_name="x", seed=0)
    assert {p.dtype for p in adapter_parameters(model).values()} == {torch.float32}


def test_stock_peft_has_the_log_probs_of_the_trainer(
    make_trainer: MakeTrainer, model_dir: Path, tmp_path: Path, samples: list[TrainingSample]
) -> None:
    trainer = make_trainer()
    for _ in range(3):
        trainer.update(samples)
    trainer.save_adapter(tmp_path / "adapter")
    base = AutoModelForCausalLM.from_pretrained(model_dir, dtype=torch.float32)
    stock = PeftModel.from_pretrained(base, str(tmp_path / "adapter")).eval()
    moved = 0.0
    for sample in random_samples(3, count=64):
        ids_1T = torch.tensor([list(sample.tokens)])
        with torch.no_grad():
            logp_TV = stock(input_ids=ids_1T).logits[0, :-1].log_softmax(-1)
        expected = logp_TV.gather(1, ids_1T[0, 1:, None])[:, 0].tolist()
        assert trainer.logprobs(sample.tokens) == pytest.approx(expected, abs=1e-5)
        of_base = trainer.logprobs(sample.tokens, adapter=False)
        moved = max(moved, *(abs(a - b) for a, b in zip(expected, of_base, strict=True)))
    assert moved > 0.1


def test_published_files(make_trainer: MakeTrainer, model_dir: Path, tmp_path: Path) -> None:
    trainer = make_trainer()
    for name in ("one", "two"):
        trainer.save_adapter(tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == ["adapter_config.json", "adapter_model.safetensors", "manifest.json"]
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    text = (tmp_path / "one" / "adapter_config.json").read_text()
    config = json.loads(text)
    assert config["base_model_name_or_path"] == "public-model-2026-01-01"
    assert str(model_dir) not in text
    assert (config["r"], config["lora_alpha"], config["peft_type"]) == (4, 8, "LORA")
    tensors = load_file(tmp_path / "one" / "adapter_model.safetensors")
    assert {t.dtype for t in tensors.values()} == {torch.float32}
    with pytest.raises(FileExistsError):
        trainer.save_adapter(tmp_path / "one")


def test_load_adapter(make_trainer: MakeTrainer, model_dir: Path, tmp_path: Path) -> None:
    trainer = make_trainer()
    trainer.update(random_samples(5, count=4))
    trainer.save_adapter(tmp_path / "adapter")
    model = fresh(model_dir, seed=random.randrange(100))
    load_adapter(model, tmp_path / "adapter")
    loaded = adapter_parameters(model)
    assert_equal(loaded, trainer.parameters)
    assert all(parameter.requires_grad for parameter in loaded.values())
    with pytest.raises(ValueError, match="'r'"):
        load_adapter(fresh(model_dir, rank=2), tmp_path / "adapter")
