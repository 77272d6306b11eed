"""A faster forward and backward pass for peft's LoRA layers.

Owns the computation of y = x·Wᵀ + s·(x·Aᵀ)·Bᵀ and its gradients; modules, parameters and published
files stay peft's. In fp32 and fp64 the update is merged into the weight for the call, W + s·B·A,
which costs as much as a few tokens and leaves one matrix product in each direction. Merged weights
are not stored, so memory use is that of the base. In lower precisions rounding would lose the
update, so the two low-rank products stay separate, in the base's precision with the adapter's
weights in fp32; peft instead casts all activations to fp32. Must not know losses or batches.
"""

from typing import Any

import torch
from peft import PeftModel
from peft.tuners.lora.layer import Linear
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from typing_extensions import override

from workers.learning.forward.matrix_product import linear

MERGED_TYPES = (torch.float32, torch.float64)


def install_fast_lora_forward(model: PeftModel, *, adapter: str = "default") -> int:
    """Replaces the forward pass of every plain LoRA layer of `adapter`; returns their number.

    Layers with dropout, DoRA, a LoRA bias or a base layer other than `nn.Linear` retain peft's.
    """
    count = 0
    for module in model.modules():
        if isinstance(module, Linear) and _is_plain(module, adapter):
            module.forward = _Forward(module, adapter)  # type: ignore[assignment,method-assign]  # replaces the method of one module on purpose
            count += 1
    return count


def _is_plain(module: Linear, adapter: str) -> bool:
    return (
        type(module.base_layer) is nn.Linear
        and adapter in module.lora_A
        and adapter not in module.lora_variant
        and isinstance(module.lora_dropout[adapter], nn.Identity)
        and module.lora_A[adapter].bias is None
        and module.lora_B[adapter].bias is None
    )


class _Forward:
    def __init__(self, module: Linear, adapter: str) -> None:
        self._module = module
        self._adapter = adapter
        self._peft_forward = module.forward

    def __call__(self, hidden: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        module, adapter = self._module, self._adapter
        active = list(module.active_adapters) == [adapter]
        if module.disable_adapters or module.merged or not active or args or kwargs:
            output: Tensor = self._peft_forward(hidden, *args, **kwargs)
            return output
        rows = hidden.flatten(0, -2)
        out: Tensor = _LoraLinear.apply(  # type: ignore[no-untyped-call]  # torch leaves it untyped
            rows,
            module.base_layer.weight,
            module.base_layer.bias,
            module.lora_A[adapter].weight,
            module.lora_B[adapter].weight,
            module.scaling[adapter],
        )
        return out.view(*hidden.shape[:-1], -1)


class _LoraLinear(torch.autograd.Function):
    """One layer with I inputs, O outputs and rank R, applied to M rows."""

    @staticmethod
    @override
    def forward(
        ctx: Any,
        hidden_MI: Tensor,
        weight_OI: Tensor,
        bias_O: Tensor | None,
        down_RI: Tensor,
        up_OR: Tensor,
        scaling: float,
    ) -> Tensor:
        ctx.save_for_backward(hidden_MI, weight_OI, down_RI, up_OR)
        ctx.scaling = scaling
        if weight_OI.dtype in MERGED_TYPES:
            return linear(hidden_MI, _merged(weight_OI, down_RI, up_OR, scaling), bias_O)
        out_MO = linear(hidden_MI, weight_OI, bias_O)
        low_rank_MR = hidden_MI @ down_RI.to(hidden_MI.dtype).T
        return out_MO.addmm_(low_rank_MR, up_OR.to(hidden_MI.dtype).T, alpha=scaling)

    @staticmethod
    @once_differentiable
    @override
    def backward(ctx: Any, grad_MO: Tensor) -> tuple[Tensor | None, ...]:
        hidden_MI, weight_OI, down_RI, up_OR = ctx.saved_tensors
        scaling, dtype = ctx.scaling, hidden_MI.dtype
        low_rank_MR = hidden_MI @ down_RI.to(dtype).T
        # With the rank last in memory for both operands, this is several times faster on a CPU.
        slope_MR = nn.functional.linear(grad_MO, up_OR.to(dtype).T.contiguous())
        down_grad = (slope_MR.T @ hidden_MI).to(down_RI.dtype).mul_(scaling)
        up_grad = (low_rank_MR.T @ grad_MO).T.contiguous().to(up_OR.dtype).mul_(scaling)
        if not ctx.needs_input_grad[0]:
            return None, None, None, down_grad, up_grad, None
        if weight_OI.dtype in MERGED_TYPES:
            grad_MI = linear(grad_MO, _merged(weight_OI, down_RI, up_OR, scaling).T)
        else:
            grad_MI = (grad_MO @ weight_OI).addmm_(slope_MR, down_RI.to(dtype), alpha=scaling)
        return grad_MI, None, None, down_grad, up_grad, None


def _merged(weight_OI: Tensor, down_RI: Tensor, up_OR: Tensor, scaling: float) -> Tensor:
    return torch.addmm(
        weight_OI, up_OR.to(weight_OI.dtype), down_RI.to(weight_OI.dtype), alpha=scaling
    )
