from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from torch import Tensor
from transformers import AutoModelForCausalLM

from workers.learning.adapters import adapter_parameters, install_fast_lora_forward

LINEAR_LAYERS = 7 * 2  # of the two-layer Qwen3 of conftest


def stock(model_dir: Path, dtype: torch.dtype, *, dropout: float = 0.0) -> PeftModel:
    base = AutoModelForCausalLM.from_pretrained(model_dir, dtype=dtype)
    config = LoraConfig(r=4, lora_alpha=8, target_modules="all-linear", lora_dropout=dropout)
    torch.manual_seed(3)
    model: PeftModel = get_peft_model(base, config)
    for parameter in adapter_parameters(model).values():
        parameter.data.copy_(torch.randn(parameter.shape) * 0.1)
    return model.eval()


def logits_and_gradients(model: PeftModel) -> tuple[Tensor, dict[str, Tensor]]:
    ids_BT = torch.arange(24).reshape(2, 12)
    logits_BTV = model(input_ids=ids_BT).logits.double()
    generator = torch.Generator().manual_seed(1)
    weights_BTV = torch.randn(logits_BTV.shape, generator=generator, dtype=torch.float64)
    model.zero_grad()
    (logits_BTV * weights_BTV).sum().backward()
    found = {
        name: p.grad.clone() for name, p in adapter_parameters(model).items() if p.grad is not None
    }
    return logits_BTV.detach(), found


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5), (torch.bfloat16, 0.1)]
)
def test_gradients_are_peft_s(model_dir: Path, dtype: torch.dtype, tolerance: float) -> None:
    """Compares relative to the largest entry, for a complete model with large updates."""
    model = stock(model_dir, dtype)
    if dtype == torch.float64:  # otherwise peft would compute the update in fp32
        model.to(torch.float64)
    logits, gradients = logits_and_gradients(model)
    assert install_fast_lora_forward(model) == LINEAR_LAYERS
    mine, mine_gradients = logits_and_gradients(model)
    assert float((mine - logits).abs().max()) <= tolerance * float(logits.abs().max())
    assert mine_gradients.keys() == gradients.keys()
    assert len(gradients) == 2 * LINEAR_LAYERS
    for name, gradient in gradients.items():
        assert mine_gradients[name].dtype == gradient.dtype
        difference = float((mine_gradients[name] - gradient).abs().max())
        assert difference <= tolerance * float(gradient.abs().max()), name


def test_one_layer_in_fp32_is_peft_s(model_dir: Path) -> None:
    model = stock(model_dir, torch.float32)
    layer: Any = model.get_submodule("base_model.model.model.layers.1.mlp.down_proj")
    hidden_MI = torch.randn(50, 128, requires_grad=True)
    wanted = [hidden_MI, layer.lora_A["default"].weight, layer.lora_B["default"].weight]
    given_MO = torch.randn(50, 64)
    stock_out = layer(hidden_MI)
    expected = torch.autograd.grad(stock_out, wanted, given_MO)
    install_fast_lora_forward(model)
    out = layer(hidden_MI)
    torch.testing.assert_close(out, stock_out, rtol=0, atol=1e-6 * float(out.detach().abs().max()))
    for got, gradient in zip(torch.autograd.grad(out, wanted, given_MO), expected, strict=True):
        torch.testing.assert_close(got, gradient, rtol=0, atol=1e-6 * float(gradient.abs().max()))


def test_without_its_adapter_it_is_the_base(model_dir: Path) -> None:
    model = stock(model_dir, torch.float32)
    base = AutoModelForCausalLM.from_pretrained(model_dir, dtype=torch.float32)
    ids_BT = torch.arange(12)[None]
    install_fast_lora_forward(model)
    with torch.no_grad(), model.disable_adapter():
        assert torch.equal(model(input_ids=ids_BT).logits, base(input_ids=ids_BT).logits)
    with torch.no_grad():
        assert not torch.equal(model(input_ids=ids_BT).logits, base(input_ids=ids_BT).logits)


def test_a_layer_with_dropout_stays_peft_s(model_dir: Path) -> None:
    assert install_fast_lora_forward(stock(model_dir, torch.float32, dropout=0.1)) == 0
