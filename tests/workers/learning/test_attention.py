import pytest
import torch
from torch import Tensor

from workers.learning.attention import attend, attend_by_branch
from workers.learning.layout import Group, Layout

LAYOUTS = {
    "alone": Layout((Group(0, (4,)), Group(0, (1,)), Group(0, (9,)))),
    "shared": Layout((Group(5, (7, 3, 0, 9)), Group(0, (4,)), Group(40, (70, 33)))),
    "prompt only": Layout((Group(3, (0, 0)),)),
}


def reference_attention(
    query: Tensor, key: Tensor, value: Tensor, layout: Layout, scale: float
) -> Tensor:
    """Computes every row separately: softmax over the tokens at or before each token of the row."""
    out = torch.zeros_like(query)
    repeat = query.shape[1] // key.shape[1]
    key, value = (x.repeat_interleave(repeat, 1) for x in (key, value))
    for prefix, own in layout.spans():
        at = [*prefix, *own]
        scores = query[:, :, at] @ key[:, :, at].mT * scale
        causal = torch.ones(len(at), len(at)).tril().bool()
        out[:, :, at] = scores.masked_fill(~causal, -torch.inf).softmax(-1) @ value[:, :, at]
    return out


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("key_heads", [1, 2, 4])
@pytest.mark.parametrize("way", ["flash", "by branch"])
def test_each_row_gets_what_it_would_get_alone(layout: Layout, key_heads: int, way: str) -> None:
    torch.manual_seed(0)
    heads = (4, key_heads, key_heads)
    query, key, value = inputs = [
        torch.randn(1, layout.tokens, n, 16, dtype=torch.float64).transpose(1, 2).requires_grad_()
        for n in heads
    ]
    if way == "flash":
        mine = attend(torch.nn.Module(), query, key, value, None, scaling=0.3, layout=layout)[0]
        mine = mine.transpose(1, 2)
    else:
        mine = attend_by_branch(query, key, value, layout, 0.3)
    expected = reference_attention(query, key, value, layout, 0.3)
    torch.testing.assert_close(mine, expected, rtol=0, atol=1e-12)
    given = torch.randn_like(mine)
    for got, wanted in zip(
        torch.autograd.grad(mine, inputs, given),
        torch.autograd.grad(expected, inputs, given),
        strict=True,
    ):
        torch.testing.assert_close(got, wanted, rtol=0, atol=1e-12)
