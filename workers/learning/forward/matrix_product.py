"""Matrix products with frozen weights, computed by the fastest library.

Owns both products; `workers/learning/training/autotuning.py` chooses. Torch computes fp32 products
on a CPU with MKL, which uses a code path for older processors on those that are not from Intel:
there oneDNN needs less than half of the time, elsewhere no more. Only for code with its own
backward pass, because autograd has no gradient for it. Must not know the operands' meaning.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from app.domain.models.compute_choices import Products

# Private by name, but torch.compile generates calls of it in its CPU programs.
_onednn_linear: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None)


def wide_linear(
    x_MI: Tensor, weight_OI: Tensor, bias_O: Tensor | None, precision: torch.dtype
) -> Tensor:
    """Returns `x_MI @ weight_OI.T + bias_O` in `precision`, not rounded to the operands' own."""
    if x_MI.dtype == precision:
        return linear(x_MI, weight_OI, bias_O)
    if x_MI.device.type == "cuda":
        product_MO = torch.mm(x_MI, weight_OI.T, out_dtype=precision)
    elif x_MI.device.type == "meta":
        product_MO = x_MI.new_empty(x_MI.shape[0], weight_OI.shape[0], dtype=precision)
    else:
        product_MO = linear(x_MI.to(precision), weight_OI.to(precision))
    return product_MO if bias_O is None else product_MO.add_(bias_O)


def has_onednn_product(x_MI: Tensor) -> bool:
    return x_MI.dtype == torch.float32 and x_MI.device.type == "cpu" and _onednn_linear is not None


class TrainerProducts:
    """The library of this process's products, which a trainer sets before it computes."""

    chosen: Products = "onednn"


def linear(x_MI: Tensor, weight_OI: Tensor, bias_O: Tensor | None = None) -> Tensor:
    """Returns `x_MI @ weight_OI.T + bias_O` like `F.linear`; weights may be transposed views."""
    if has_onednn_product(x_MI) and TrainerProducts.chosen == "onednn":
        product_MO: Tensor = _onednn_linear(x_MI, weight_OI, bias_O, "none", [], "")
        return product_MO
    return F.linear(x_MI, weight_OI, bias_O)
