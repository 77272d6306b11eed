"""A linear layer's weight in the form with the fastest product.

Owns the products of oneDNN on packed weights and of torch; `workers/engines/cpu/autotuning.py`
chooses. With packed weights 32 rows take less than half of the time on AVX-512 processors for which
MKL selects a slower path, and four rows a quarter; the bits of a row do not depend on other rows.
The packed form is a second copy: the plain one is retained only for weights into which adapters are
merged. Must not know the purpose of the layer.
"""

from functools import cache
from typing import Any, ClassVar, Final

import torch
import torch.nn.functional as F
from torch import Tensor

_USUAL_ROWS: Final = 32
"""Number of rows for which the packed layout is optimised; it works for any number."""


class LinearLayer:
    """A linear layer: `x_NI @ weight_OI.T + bias_O`."""

    __slots__ = ("_bias_O", "_multiplied_OI", "_packed", "bytes", "plain_OI")

    packs: ClassVar = True
    """False leaves weights plain that are loaded later. An engine sets it before it loads."""

    def __init__(
        self,
        weight_OI: Tensor,
        bias_O: Tensor | None,
        *,
        mergeable: bool,
        packs: bool | None = None,
    ) -> None:
        """`packs` is by default the attribute of the class."""
        self._bias_O = bias_O
        self._packed = (self.packs if packs is None else packs) and can_pack(weight_OI.dtype)
        self._multiplied_OI = _pack(weight_OI) if self._packed else weight_OI
        self.plain_OI = weight_OI if mergeable or not self._packed else None
        self.bytes = weight_OI.numel() * weight_OI.element_size()

    def __call__(self, x_NI: Tensor) -> Tensor:
        if self._packed:
            product: Tensor = _linear(x_NI, self._multiplied_OI, self._bias_O, "none", [], "")
            return product
        return F.linear(x_NI, self._multiplied_OI, self._bias_O)

    def added_to(self, hidden_NO: Tensor, x_NI: Tensor) -> Tensor:
        """Returns `hidden_NO` plus the product."""
        if self._packed:
            total: Tensor = _linear.binary(
                x_NI, hidden_NO, self._multiplied_OI, self._bias_O, "add"
            )
            return total
        summed_NO = torch.addmm(hidden_NO, x_NI, self._multiplied_OI.t())
        return summed_NO if self._bias_O is None else summed_NO + self._bias_O

    def with_weight(self, weight_OI: Tensor) -> "LinearLayer":
        """Returns a product of another weight with the same bias."""
        return LinearLayer(weight_OI, self._bias_O, mergeable=False, packs=self._packed)


# Private by name, but torch.compile generates calls of both in its CPU programs.
_linear: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
_packed: Any = getattr(torch.ops.mkldnn, "_reorder_linear_weight", None)


def _pack(weight_OI: Tensor) -> Tensor:
    packed: Tensor = _packed(weight_OI, _USUAL_ROWS)
    return packed


@cache
def can_pack(dtype: torch.dtype) -> bool:
    """Returns true if this build and machine multiply packed weights of a type correctly."""
    if _linear is None or _packed is None:
        return False
    x_NI, weight_OI = torch.eye(3, 16, dtype=dtype), torch.arange(128.0).to(dtype).view(8, 16)
    try:
        with torch.inference_mode():
            product_NO = _linear(x_NI, _pack(weight_OI), None, "none", [], "")
            sum_NO = _linear.binary(x_NI, product_NO, _pack(weight_OI), None, "add")
    except RuntimeError:
        return False
    expected_NO = weight_OI.t()[:3]
    return torch.equal(product_NO, expected_NO) and torch.equal(sum_NO, 2 * expected_NO)
