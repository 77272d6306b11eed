"""Attention over packed rows on a GPU, in two calls of the flash kernel for each layer.

Every range of the packed tokens attends to itself in the first call; the branches of all trees
attend to their prefixes in the second, and the results are merged by their log-sum-exps. Keys and
values of a prefix are computed once and no copy of them is kept for backward. The kernel's backward
takes the merged output and log-sum-exp, so two calls of it are exact (as in ring attention, arXiv
2310.01889). On the meta device the kernel has a shape and no values, which is how memory is
planned.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final, Protocol, Self

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from typing_extensions import override

from workers.learning.batches import Layout

_TYPES: Final = (torch.bfloat16, torch.float16)
_LARGEST_HEAD: Final = 256
_AMPERE: Final = (8, 0)


@dataclass(frozen=True, slots=True)
class Sequences:
    """Q ranges of queries that attend to the K ranges of keys with the same index. Each range
    begins where the one before it ends.
    """

    query_ends: Tensor
    key_ends: Tensor
    longest_query: int
    longest_key: int
    causal: bool

    @classmethod
    def of(cls, queries: list[int], keys: list[int], device: torch.device, *, causal: bool) -> Self:
        ends = (
            torch.tensor([0, *accumulate(lengths)], dtype=torch.int32, device=device)
            for lengths in (queries, keys)
        )
        query_ends, key_ends = ends
        return cls(query_ends, key_ends, max(queries), max(keys), causal)


class Kernel(Protocol):
    """The flash kernel for tensors (tokens, heads, head size); key heads divide query heads."""

    def forward(
        self, query_MHK: Tensor, key_NJK: Tensor, value_NJK: Tensor, at: Sequences, scale: float
    ) -> tuple[Tensor, Tensor]: ...

    def backward(
        self,
        grad_MHK: Tensor,
        inputs: tuple[Tensor, Tensor, Tensor],
        out_MHK: Tensor,
        sums_HM: Tensor,
        at: Sequences,
        scale: float,
    ) -> tuple[Tensor, Tensor, Tensor]: ...


class FlashKernel:
    """Torch's flash kernel for sequences of several lengths, called as
    `torch.nn.attention.varlen` calls it; that one cannot take a merged log-sum-exp.
    """

    def forward(
        self, query_MHK: Tensor, key_NJK: Tensor, value_NJK: Tensor, at: Sequences, scale: float
    ) -> tuple[Tensor, Tensor]:
        out_MHK, sums_HM, *_ = torch.ops.aten._flash_attention_forward(  # noqa: SLF001 - see the class
            query_MHK,
            key_NJK,
            value_NJK,
            at.query_ends,
            at.key_ends,
            at.longest_query,
            at.longest_key,
            0.0,
            at.causal,
            False,
            scale=scale,
        )
        return out_MHK, sums_HM

    def backward(
        self,
        grad_MHK: Tensor,
        inputs: tuple[Tensor, Tensor, Tensor],
        out_MHK: Tensor,
        sums_HM: Tensor,
        at: Sequences,
        scale: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        device = grad_MHK.device
        grads: tuple[Tensor, Tensor, Tensor] = torch.ops.aten._flash_attention_backward(  # noqa: SLF001 - see the class
            grad_MHK.contiguous(),
            *inputs,
            out_MHK,
            sums_HM,
            at.query_ends,
            at.key_ends,
            at.longest_query,
            at.longest_key,
            0.0,
            at.causal,
            torch.zeros(2, dtype=torch.uint64, device=device),  # the state of dropout, which is off
            torch.empty(0, device=device),
            scale=scale,
        )
        return grads


KERNEL: Kernel = FlashKernel()


def can_attend(query: Tensor) -> bool:
    if query.device.type == "meta":
        return True
    head = query.shape[-1]
    return (
        query.device.type == "cuda"
        and query.dtype in _TYPES
        and head <= _LARGEST_HEAD
        and head % 8 == 0
        and torch.cuda.get_device_capability(query.device) >= _AMPERE
    )


@dataclass(frozen=True, slots=True)
class _Ranges:
    own: Sequences
    crossing: Sequences | None
    branches: Tensor
    """Indices of the tokens that have a prefix, of all trees."""
    prefixes: Tensor
    """Indices of the tokens of those prefixes."""


@lru_cache(maxsize=4)
def _ranges(layout: Layout, device: torch.device) -> _Ranges:
    parts = [length for tree in layout.trees for length in (tree.prefix, *tree.branches) if length]
    own = Sequences.of(parts, parts, device, causal=True)
    branches: list[int] = []
    prefixes: list[int] = []
    lengths = []
    for start, tree in layout.starts():
        first, end = start + tree.prefix, start + tree.tokens
        if tree.prefix and end > first:
            branches.extend(range(first, end))
            prefixes.extend(range(start, first))
            lengths.append((end - first, tree.prefix))
    crossing = None
    if lengths:
        queries, keys = map(list, zip(*lengths, strict=True))
        crossing = Sequences.of(queries, keys, device, causal=False)
    queries_at, keys_at = (
        torch.tensor(x, dtype=torch.long, device=device) for x in (branches, prefixes)
    )
    return _Ranges(own, crossing, queries_at, keys_at)


def attend_packed(
    query_1HMK: Tensor, key_1JMK: Tensor, value_1JMK: Tensor, layout: Layout, scale: float
) -> Tensor:
    by_token = (x[0].transpose(0, 1) for x in (query_1HMK, key_1JMK, value_1JMK))
    out_MHK: Tensor = _VarlenFlash.apply(*by_token, layout, scale)  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return out_MHK.transpose(0, 1)[None]


class _VarlenFlash(torch.autograd.Function):
    @staticmethod
    @override
    def forward(
        ctx: Any,
        query_MHK: Tensor,
        key_MJK: Tensor,
        value_MJK: Tensor,
        layout: Layout,
        scale: float,
    ) -> Tensor:
        at = _ranges(layout, query_MHK.device)
        out_MHK, sums_HM = KERNEL.forward(query_MHK, key_MJK, value_MJK, at.own, scale)
        if at.crossing is not None:
            other_BHK, other_HB = KERNEL.forward(
                query_MHK[at.branches],
                key_MJK[at.prefixes],
                value_MJK[at.prefixes],
                at.crossing,
                scale,
            )
            _merge(out_MHK, sums_HM, other_BHK, other_HB, at.branches)
        ctx.save_for_backward(query_MHK, key_MJK, value_MJK, out_MHK, sums_HM)
        ctx.layout, ctx.scale = layout, scale
        return out_MHK

    @staticmethod
    @once_differentiable
    @override
    def backward(ctx: Any, grad_MHK: Tensor) -> tuple[Tensor | None, ...]:
        query_MHK, key_MJK, value_MJK, out_MHK, sums_HM = ctx.saved_tensors
        at = _ranges(ctx.layout, query_MHK.device)
        inputs = (query_MHK, key_MJK, value_MJK)
        slopes = KERNEL.backward(grad_MHK, inputs, out_MHK, sums_HM, at.own, ctx.scale)
        if at.crossing is not None:
            b, p = at.branches, at.prefixes
            crossed = KERNEL.backward(
                grad_MHK[b],
                (query_MHK[b], key_MJK[p], value_MJK[p]),
                out_MHK[b],
                sums_HM[:, b].contiguous(),
                at.crossing,
                ctx.scale,
            )
            for slope, indices, part in zip(slopes, (b, p, p), crossed, strict=True):
                slope.index_add_(0, indices, part)
        return *slopes, None, None


def _merge(
    out_MHK: Tensor, sums_HM: Tensor, other_BHK: Tensor, other_HB: Tensor, branches: Tensor
) -> None:
    """Merges attention over two disjoint sets of keys into attention over both, in place."""
    own_HB = sums_HM[:, branches]
    merged_HB = torch.logaddexp(own_HB, other_HB)
    weight_BH1, other_BH1 = (
        (sums - merged_HB).exp().transpose(0, 1).unsqueeze(-1) for sums in (own_HB, other_HB)
    )
    merged_BHK = out_MHK[branches] * weight_BH1 + other_BHK * other_BH1
    out_MHK[branches] = merged_BHK.to(out_MHK.dtype)
    sums_HM[:, branches] = merged_HB
