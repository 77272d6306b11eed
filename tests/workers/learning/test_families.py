"""The table of model families in the docs is what is measured here, row by row."""

from itertools import takewhile
from pathlib import Path

import pytest

from tests.support.learning.architectures import ARCHITECTURES, build_architecture
from tests.support.learning.family_matrix import HEADER, measure
from workers.learning.adapters.lora_targets import lora_targets

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


@pytest.mark.parametrize("family", sorted(ARCHITECTURES))
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
