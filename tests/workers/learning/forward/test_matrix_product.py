"""Products equal those of torch, with either library."""

import torch

from tests.support.cases import cases
from workers.learning.head import linear


@cases(("dtype", "bound"), [(torch.float32, 1e-4), (torch.float64, 1e-12), (torch.bfloat16, 0.3)])
@cases("rows", [1, 5, 300])
def test_a_product_is_torchs(dtype: torch.dtype, bound: float, rows: int) -> None:
    generator = torch.Generator().manual_seed(0)
    x_MI, weight_OI, bias_O = (
        torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)
        for shape in ((rows, 48), (96, 48), (96,))
    )
    exact_MO = x_MI.double() @ weight_OI.double().T
    assert (linear(x_MI, weight_OI) - exact_MO).abs().max() < bound
    assert (linear(x_MI, weight_OI, bias_O) - exact_MO - bias_O.double()).abs().max() < bound
    turned_OI = weight_OI.T.contiguous().T
    assert (linear(x_MI, turned_OI) - exact_MO).abs().max() < bound
    assert linear(x_MI[:0], weight_OI).shape == (0, 96)
    assert linear(x_MI, weight_OI).dtype == dtype
