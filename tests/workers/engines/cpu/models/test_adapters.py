import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file, save_file
from transformers import Qwen3ForCausalLM

from app.kit.errors import InvalidRequest
from app.models.adapters import CONFIG_FILE, WEIGHTS_FILE
from tests.support.models.tiny_model import save_adapter, save_tiny_model
from workers.engines.cpu.models.decoder import read_adapter


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def base(model_dir: Path) -> Qwen3ForCausalLM:
    return Qwen3ForCausalLM.from_pretrained(model_dir)


@pytest.fixture(scope="module")
def shared_adapter(model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_adapter(model_dir, tmp_path_factory.mktemp("adapter"), seed=1)


@pytest.fixture
def adapter(shared_adapter: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(shared_adapter, tmp_path / "adapter"))


def _change_config(adapter: Path, **changes: Any) -> None:
    config = json.loads((adapter / CONFIG_FILE).read_text())
    (adapter / CONFIG_FILE).write_text(json.dumps({**config, **changes}))


def _change_tensors(adapter: Path, change: Any) -> None:
    tensors = load_file(adapter / WEIGHTS_FILE)
    change(tensors)
    save_file(tensors, adapter / WEIGHTS_FILE)


def test_merged_weights_equal_those_of_peft(
    adapter: Path, base: Qwen3ForCausalLM, model_dir: Path
) -> None:
    deltas = read_adapter(adapter, base)
    fresh = Qwen3ForCausalLM.from_pretrained(model_dir)
    merged = PeftModel.from_pretrained(fresh, str(adapter)).merge_and_unload()
    assert len(deltas) == 4 * 7
    for name, delta in deltas.items():
        expected = merged.get_submodule(name).weight
        found = delta.merged(base.get_submodule(name).weight)  # type: ignore[arg-type]  # torch types module attributes as Tensor or Module
        assert torch.allclose(found, expected, atol=1e-6)


def test_rank_stabilised_scale_is_that_of_peft(adapter: Path, base: Qwen3ForCausalLM) -> None:
    _change_config(adapter, use_rslora=True)
    assert {delta.scale for delta in read_adapter(adapter, base).values()} == {16 / 8**0.5}


def test_a_pickle_is_refused_even_beside_good_weights(
    adapter: Path, base: Qwen3ForCausalLM
) -> None:
    torch.save({}, adapter / "adapter_model.bin")
    with pytest.raises(InvalidRequest, match=r"adapter_model\.bin"):
        read_adapter(adapter, base)
    (adapter / WEIGHTS_FILE).unlink()
    with pytest.raises(InvalidRequest, match=r"has no adapter_model\.safetensors"):
        read_adapter(adapter, base)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"peft_type": "IA3"}, "not a LoRA"),
        ({"use_dora": True}, "use_dora"),
        ({"modules_to_save": ["lm_head"]}, "modules_to_save"),
        ({"bias": "all"}, "bias"),
        ({"r": None}, "no rank"),
        ({"r": 4}, "do not fit"),
        ({"target_modules": ["q_proj", "lm_head"]}, "without weights: .'lm_head'"),
    ],
)
def test_a_config_that_means_something_else_is_refused(
    adapter: Path, base: Qwen3ForCausalLM, changes: dict[str, Any], message: str
) -> None:
    _change_config(adapter, **changes)
    with pytest.raises(InvalidRequest, match=message):
        read_adapter(adapter, base)


_Q = "base_model.model.model.layers.0.self_attn.q_proj"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop(f"{_Q}.lora_A.weight"), "lacks lora_A"),
        (lambda t: t.update({"base_model.model.extra": torch.zeros(1)}), "Unknown adapter tensor"),
        (lambda t: t.update({f"{_Q}.lora_A.weight": torch.zeros(8, 5)}), "do not fit"),
        (lambda t: t[f"{_Q}.lora_B.weight"].fill_(float("nan")), "not finite"),
        (
            lambda t: t.update(
                {
                    "base_model.model.model.layers.9.self_attn.q_proj.lora_A.weight": torch.zeros(
                        8, 8
                    ),
                    "base_model.model.model.layers.9.self_attn.q_proj.lora_B.weight": torch.zeros(
                        8, 8
                    ),
                }
            ),
            "no linear layer",
        ),
        (lambda t: [t.pop(f"{_Q}.lora_{side}.weight") for side in "AB"], "without weights"),
    ],
)
def test_tensors_that_do_not_fit_are_refused(
    adapter: Path, base: Qwen3ForCausalLM, change: Any, message: str
) -> None:
    _change_tensors(adapter, change)
    with pytest.raises(InvalidRequest, match=message):
        read_adapter(adapter, base)


def test_files_with_a_wrong_format_are_refused(
    adapter: Path, base: Qwen3ForCausalLM, tmp_path: Path
) -> None:
    with pytest.raises(InvalidRequest, match="No adapter directory"):
        read_adapter(tmp_path / "nowhere", base)
    (adapter / WEIGHTS_FILE).write_bytes(b"\x80\x04}q")
    with pytest.raises(InvalidRequest, match="cannot be read"):
        read_adapter(adapter, base)
    (adapter / CONFIG_FILE).write_text("{")
    with pytest.raises(InvalidRequest, match="cannot be read"):
        read_adapter(adapter, base)
