"""Merged weights of the tiny model: for stock `transformers` the same as base and adapter."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from app.settings import shipped_model_dir
from workers.learning.adapters import (
    BaseNotMergeable,
    adapter_parameters,
    attach_lora,
    load_base,
    merge_adapter,
    save_adapter,
)

BASE = str(shipped_model_dir())
TEMPLATE = "{% for message in messages %}{{ message.content }}{% endfor %}"


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter whose update is far from zero."""
    return _adapter(tmp_path_factory.mktemp("adapters") / "adapter", scale=0.05)


def _adapter(directory: Path, *, scale: float) -> Path:
    base = load_base(BASE, device=torch.device("cpu"), dtype=torch.float32)
    model = attach_lora(base, rank=16, alpha=16, base_name="tiny", seed=7)
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in adapter_parameters(model).values():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * scale)
    save_adapter(model, directory)
    return directory


def _logprobs(model: torch.nn.Module) -> torch.Tensor:
    tokens = torch.randint(0, 200, (4, 64), generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        return torch.log_softmax(model.eval()(tokens).logits.float(), dim=-1)


def test_merged_weights_give_the_log_probs_of_base_and_adapter(
    adapter: Path, tmp_path: Path
) -> None:
    sizes: list[int] = []
    merge_adapter(BASE, adapter, tmp_path, chat_template=None, fits=sizes.append)
    merged = AutoModelForCausalLM.from_pretrained(tmp_path, dtype="auto")
    base = AutoModelForCausalLM.from_pretrained(BASE, dtype=torch.float32)
    plain = _logprobs(base)
    together = _logprobs(PeftModel.from_pretrained(base, adapter))
    assert (together - plain).abs().max() > 0.1, "the adapter changes the model"
    assert (_logprobs(merged) - together).abs().max() < 1e-4
    assert merged.dtype == torch.float32
    files = {path.name for path in tmp_path.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= files
    assert not [name for name in files if name.startswith("adapter")]
    written = load_file(tmp_path / "model.safetensors").values()
    assert sizes == [sum(each.numel() * each.element_size() for each in merged.parameters())]
    assert sum(each.numel() * each.element_size() for each in written) <= sizes[0]
    ours, theirs = (AutoTokenizer.from_pretrained(path) for path in (tmp_path, BASE))
    text = "A question, 12 + 30?"
    assert ours.encode(text) == theirs.encode(text)
    assert ours.chat_template == theirs.chat_template


def test_the_operators_chat_template_replaces_the_models_own(adapter: Path, tmp_path: Path) -> None:
    template = tmp_path / "template.jinja"
    template.write_text(TEMPLATE)
    target = tmp_path / "merged"
    target.mkdir()
    merge_adapter(BASE, adapter, target, chat_template=template, fits=lambda _: None)
    assert AutoTokenizer.from_pretrained(target).chat_template == TEMPLATE


def test_weights_that_cannot_be_merged_are_refused_with_the_reason(
    adapter: Path, tmp_path: Path
) -> None:
    quantized = tmp_path / "quantized"
    shutil.copytree(BASE, quantized)
    config = json.loads((quantized / "config.json").read_text())
    config["quantization_config"] = {"quant_method": "fp8"}
    (quantized / "config.json").write_text(json.dumps(config))
    not_finite = _adapter(tmp_path / "nan", scale=float("nan"))
    target = tmp_path / "merged"
    target.mkdir()
    for base, given, reason in (
        (str(quantized), adapter, "are quantized"),
        (BASE, not_finite, "NaNs"),
        (str(tmp_path / "nowhere"), adapter, "cannot be loaded"),
    ):
        with pytest.raises(BaseNotMergeable, match=reason):
            merge_adapter(base, given, target, chat_template=None, fits=lambda _: None)
        assert list(target.iterdir()) == []


def test_nothing_is_written_without_room(adapter: Path, tmp_path: Path) -> None:
    def full(size: int) -> None:
        raise OSError(f"no room for {size}")

    with pytest.raises(OSError, match="no room for"):
        merge_adapter(BASE, adapter, tmp_path, chat_template=None, fits=full)
    assert list(tmp_path.iterdir()) == []
