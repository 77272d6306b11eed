"""The table of model families in the docs is what is measured here, row by row."""

from itertools import takewhile
from pathlib import Path

import pytest
import torch
from peft import LoraConfig, get_peft_model
from torch import nn
from transformers import Gemma3Config, Gemma3ForConditionalGeneration

from tests.support.cases import cases
from tests.support.learning.architectures import ARCHITECTURES, build_architecture
from tests.support.learning.family_matrix import HEADER, measure
from workers.learning.adapters import lora_targets

PAGE = Path(__file__).parents[3] / "docs" / "models.md"
MEASURED_HERE = ["Qwen2.5", "Qwen3 MoE", "Mixtral", "Qwen3.5", "Granite", "Gemma 2", "gpt-oss"]
"""Families that differ most from one another; `make families` measures all of them."""


def rows() -> dict[str, str]:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index(HEADER[0])
    assert lines[start + 1] == HEADER[1]
    table = takewhile(lambda line: line.startswith("| "), lines[start + 2 :])
    return {line.split(" | ")[0].removeprefix("| "): line for line in table}


@pytest.mark.parametrize("family", MEASURED_HERE)
def test_the_row_of_a_family_is_measured(family: str, tmp_path: Path) -> None:
    assert measure(family, tmp_path).line() == rows()[family]


def test_every_family_has_its_row() -> None:
    assert sorted(rows()) == sorted(ARCHITECTURES)


@cases("family", sorted(ARCHITECTURES))
def test_a_mixture_of_experts_is_adapted_in_attention_only(family: str) -> None:
    model = build_architecture(family, device="meta")
    targets = lora_targets(model)
    names = [name for name, _ in model.named_modules()]
    if isinstance(targets, str):
        assert not any("expert" in name or name.endswith(".gate") for name in names)
        return
    adapted = [n for n in names if any(n == t or n.endswith(f".{t}") for t in targets)]
    assert any(name.endswith("q_proj") for name in adapted)
    assert all(".self_attn." in name for name in adapted)


def test_a_vision_tower_is_left_alone() -> None:
    """Its attention has layers of the names that the language model's are adapted by."""
    text = {"hidden_size": 32, "num_hidden_layers": 2, "vocab_size": 64, "head_dim": 16}
    vision = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 28}
    config = Gemma3Config(text_config=text, vision_config=vision)
    with torch.device("meta"):
        model = Gemma3ForConditionalGeneration(config)
    layers = [name for name, one in model.named_modules() if type(one) is nn.Linear]
    vision_layers = [name for name in layers if "vision_tower" in name]
    assert any(name.endswith("q_proj") for name in vision_layers)
    with torch.device("meta"):
        peft = get_peft_model(model, LoraConfig(target_modules=lora_targets(model)))
    adapted = {
        name for name, one in peft.get_base_model().named_modules() if hasattr(one, "lora_A")
    }
    expected = [name for name in layers if ".language_model." in f".{name}"]
    assert len(expected) == 14
    assert adapted == set(expected)
