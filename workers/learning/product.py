"""Matrix products of the frozen weights, by the library that is fastest for them.

Owns the choice between oneDNN and torch's default. Torch gives fp32 products on a CPU to MKL, which
takes a path for older processors where the processor is not Intel's: oneDNN needs less than half of
the time there, and no more elsewhere. Only for code that writes its own backward pass: autograd
knows no gradient of it. Must not know what is multiplied.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

# Private by name only: torch.compile writes calls of it into its CPU programs.
_onednn_linear: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None)


def linear(x_MI: Tensor, weight_OI: Tensor, bias_O: Tensor | None = None) -> Tensor:
    """`x_MI @ weight_OI.T + bias_O`, as `torch.nn.functional.linear`; weights may be transposed."""
    if x_MI.dtype == torch.float32 and x_MI.device.type == "cpu" and _onednn_linear is not None:
        product_MO: Tensor = _onednn_linear(x_MI, weight_OI, bias_O, "none", [], "")
        return product_MO
    return F.linear(x_MI, weight_OI, bias_O)
