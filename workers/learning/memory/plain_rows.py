"""Runs a model on the meta device as it runs on a GPU: with fused attention, on plain rows.

There torch falls back to products of whole matrices, which hold all pairs of tokens for each head.
The kernels of GPUs and CPUs keep the output and one sum for each query, and of a mask its values in
the precision of the queries. Models whose own attention holds all pairs (`eager`) stay as they are.
"""

from collections.abc import Callable
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.overrides import TorchFunctionMode
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import repeat_kv, use_gqa_in_sdpa
from transformers.masking_utils import sdpa_mask
from typing_extensions import override

_NAME: Final = "counted"


class PlainRows(TorchFunctionMode):
    """Makes a model's check for plain input (one sequence in a row, no padding) return true,
    because tensors on the meta device have no values to check.
    """

    @override
    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if func is torch.Tensor.__bool__ and args[0].device.type == "meta":
            return True
        return func(*args, **(kwargs or {}))


def count_fused_attention(base: PreTrainedModel) -> None:
    """Replaces torch's attention by the tensors that a fused kernel allocates."""
    if base.config._attn_implementation == "sdpa":  # noqa: SLF001 - no public name
        base.set_attn_implementation(_NAME)


def _attend(
    module: nn.Module,
    query_BHTK: Tensor,
    key_BJTK: Tensor,
    value_BJTV: Tensor,
    attention_mask: Tensor | None,
    **_: Any,
) -> tuple[Tensor, None]:
    del module
    groups = query_BHTK.shape[1] // key_BJTK.shape[1]
    if groups > 1 and not use_gqa_in_sdpa(attention_mask, key_BJTK, value_BJTV):
        key_BJTK, value_BJTV = (repeat_kv(x, groups) for x in (key_BJTK, value_BJTV))
    out_BHTV = _FusedAttention.apply(query_BHTK, key_BJTK, value_BJTV, attention_mask)  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return out_BHTV.transpose(1, 2).contiguous(), None


AttentionInterface.register(_NAME, _attend)
AttentionMaskInterface.register(_NAME, sdpa_mask)


class _FusedAttention(torch.autograd.Function):
    @staticmethod
    @override
    def forward(
        ctx: Any, query_BHTK: Tensor, key_BJTK: Tensor, value_BJTV: Tensor, mask: Tensor | None
    ) -> Tensor:
        out_BHTV = query_BHTK.new_empty((*query_BHTK.shape[:-1], value_BJTV.shape[-1]))
        sums_BHT = query_BHTK.new_empty(query_BHTK.shape[:-1], dtype=torch.float32)
        bias = None if mask is None else mask.to(query_BHTK.dtype)
        ctx.save_for_backward(query_BHTK, key_BJTK, value_BJTV, bias, out_BHTV, sums_BHT)
        return out_BHTV

    @staticmethod
    @once_differentiable
    @override
    def backward(ctx: Any, grad_BHTV: Tensor) -> tuple[Tensor | None, ...]:
        del grad_BHTV
        query_BHTK, key_BJTK, value_BJTV, *_ = ctx.saved_tensors
        return (*(torch.empty_like(x) for x in (query_BHTK, key_BJTK, value_BJTV)), None)
