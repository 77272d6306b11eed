from itertools import pairwise

import pytest
import torch
from torch import Tensor

from workers.learning import backbone as varlen_attention
from workers.learning.backbone import Sequences, attend, attend_by_branch
from workers.learning.batches import Layout, PrefixTree

LAYOUTS = {
    "alone": Layout((PrefixTree(0, (4,)), PrefixTree(0, (1,)), PrefixTree(0, (9,)))),
    "shared": Layout((PrefixTree(5, (7, 3, 0, 9)), PrefixTree(0, (4,)), PrefixTree(40, (70, 33)))),
    "prompt only": Layout((PrefixTree(3, (0, 0)),)),
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


class WrittenOutKernel:
    """Computes what the GPU's kernel computes, and its backward from a given log-sum-exp."""

    def forward(
        self, query_MHK: Tensor, key_NJK: Tensor, value_NJK: Tensor, at: Sequences, scale: float
    ) -> tuple[Tensor, Tensor]:
        scores_HMN, values_NHK = self._scores(query_MHK, key_NJK, value_NJK, at, scale)
        sums_HM = scores_HMN.logsumexp(-1)
        probs_HMN = (scores_HMN - sums_HM[..., None]).exp()
        return torch.einsum("hmn,nhk->mhk", probs_HMN, values_NHK), sums_HM

    def backward(
        self,
        grad_MHK: Tensor,
        inputs: tuple[Tensor, Tensor, Tensor],
        out_MHK: Tensor,
        sums_HM: Tensor,
        at: Sequences,
        scale: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The flash backward: probabilities from the log-sum-exp, and D = Σ grad · out."""
        query_MHK, key_NJK, value_NJK = inputs
        scores_HMN, values_NHK = self._scores(query_MHK, key_NJK, value_NJK, at, scale)
        repeat = query_MHK.shape[1] // key_NJK.shape[1]
        keys_NHK = key_NJK.repeat_interleave(repeat, 1)
        probs_HMN = (scores_HMN - sums_HM[..., None]).exp()
        dots_HM = (grad_MHK * out_MHK).sum(-1).T
        slope_HMN = probs_HMN * (
            torch.einsum("mhk,nhk->hmn", grad_MHK, values_NHK) - dots_HM[..., None]
        )
        by_key = [
            torch.einsum("hmn,mhk->nhk", slope_HMN, query_MHK) * scale,
            torch.einsum("hmn,mhk->nhk", probs_HMN, grad_MHK),
        ]
        key_grad, value_grad = (
            x.reshape(x.shape[0], key_NJK.shape[1], repeat, -1).sum(2) for x in by_key
        )
        return torch.einsum("hmn,nhk->mhk", slope_HMN, keys_NHK) * scale, key_grad, value_grad

    @staticmethod
    def _scores(
        query_MHK: Tensor, key_NJK: Tensor, value_NJK: Tensor, at: Sequences, scale: float
    ) -> tuple[Tensor, Tensor]:
        repeat = query_MHK.shape[1] // key_NJK.shape[1]
        keys_NHK, values_NHK = (x.repeat_interleave(repeat, 1) for x in (key_NJK, value_NJK))
        scores_HMN = torch.einsum("mhk,nhk->hmn", query_MHK, keys_NHK) * scale
        visible_MN = torch.zeros(scores_HMN.shape[1:], dtype=torch.bool)
        ends = zip(at.query_ends.tolist(), at.key_ends.tolist(), strict=True)
        for (q, k), (q_end, k_end) in pairwise(ends):
            block = torch.ones(q_end - q, k_end - k, dtype=torch.bool)
            visible_MN[q:q_end, k:k_end] = block.tril() if at.causal else block
        return scores_HMN.masked_fill(~visible_MN, -torch.inf), values_NHK


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("key_heads", [1, 2, 4])
@pytest.mark.parametrize("way", ["flash", "by branch", "varlen"])
def test_each_row_gets_what_it_would_get_alone(
    layout: Layout, key_heads: int, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(varlen_attention, "KERNEL", WrittenOutKernel())
    torch.manual_seed(0)
    heads = (4, key_heads, key_heads)
    query, key, value = inputs = [
        torch.randn(1, layout.tokens, n, 16, dtype=torch.float64).transpose(1, 2).requires_grad_()
        for n in heads
    ]
    if way == "flash":
        mine = attend(torch.nn.Module(), query, key, value, None, scaling=0.3, layout=layout)[0]
        mine = mine.transpose(1, 2)
    elif way == "varlen":
        mine = varlen_attention.attend_packed(query, key, value, layout, 0.3)
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


def test_a_prefix_is_not_kept_again_for_each_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory for backward grows with the packed tokens and not with the number of branches."""
    monkeypatch.setattr(varlen_attention, "KERNEL", WrittenOutKernel())

    def kept(branches: int) -> int:
        layout = Layout((PrefixTree(400, (240 // branches,) * branches),))
        query, key, value = (
            torch.randn(1, n, layout.tokens, 8, requires_grad=True) for n in (4, 2, 2)
        )
        storages: dict[int, int] = {}

        def seen(tensor: Tensor) -> Tensor:
            storages[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(seen, lambda tensor: tensor):
            varlen_attention.attend_packed(query, key, value, layout, 0.3)
        return sum(storages.values())

    assert kept(16) == kept(1)
