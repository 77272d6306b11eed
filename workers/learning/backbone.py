"""Computes the hidden states of packed rows."""

from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any, Final, Self

import structlog
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.attention.bias import causal_lower_right
from torch.utils.checkpoint import checkpoint
from transformers import AttentionInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.modeling_layers import GradientCheckpointingLayer
from typing_extensions import override

from workers.learning.batches import Layout
from workers.learning.head import Rotations

_TYPES: Final = (torch.bfloat16, torch.float16)
_LARGEST_HEAD: Final = 256
_AMPERE: Final = (8, 0)


@dataclass(frozen=True, slots=True)
class Sequences:
    """Q ranges of queries attend to the K ranges of keys with the same index; ranges adjoin."""

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


class FlashKernel:
    """Torch's flash kernel for sequences of several lengths, called as
    `torch.nn.attention.varlen` calls it; that one cannot take a merged log-sum-exp. Tensors are
    (tokens, heads, head size); key heads divide query heads.
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


KERNEL = FlashKernel()


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
            _merge_attention(out_MHK, sums_HM, other_BHK, other_HB, at.branches)
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


def _merge_attention(
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


log = structlog.get_logger()

_PAD = 0  # any valid token id: outputs at padding are never read


class Backbone:
    def __init__(self, base: PreTrainedModel, *, checkpointing: bool = False) -> None:
        self._base = base
        self._stock = base.config._attn_implementation  # noqa: SLF001 - no public name
        self.packs = can_share(base)
        if self.packs:
            base.set_attn_implementation(NAME)
        self.rotations = Rotations(base)
        if checkpointing:
            _checkpoint(base)

    def run_by_row(self) -> None:
        """Switches to padded rows, for a base that fails the check of the packed forward pass."""
        self._base.set_attn_implementation(self._stock)
        self.packs = False

    def __call__(self, ids_M: Tensor, layout: Layout) -> Tensor:
        """Returns hidden states (M, D); the rows of `ids_M` must be of one band of `rotations`."""
        self.rotations.reset()
        if self.packs:
            positions_1M = torch.tensor([layout.positions()], device=ids_M.device)
            out = self._base.base_model(
                input_ids=ids_M[None], position_ids=positions_1M, use_cache=False, layout=layout
            )
            packed_MD: Tensor = out.last_hidden_state[0]
            return packed_MD
        if layout.shares:
            raise ValueError("this base model cannot share prefixes")
        rows = [list(own) for _, own in layout.spans()]
        width = max(map(len, rows))
        ids_BT = ids_M.new_full((len(rows), width), _PAD)
        for number, row in enumerate(rows):
            ids_BT[number, : len(row)] = ids_M[row]
        hidden_BTD: Tensor = self._base.base_model(
            input_ids=ids_BT, use_cache=False
        ).last_hidden_state
        indices = [
            number * width + position
            for number, row in enumerate(rows)
            for position in range(len(row))
        ]
        return hidden_BTD.flatten(0, 1).index_select(0, torch.tensor(indices, device=ids_M.device))


def _checkpoint(base: PreTrainedModel) -> None:
    """Makes every layer recompute its forward pass in backward. Replaces the method of each layer
    instead of using transformers' own switch, which needs layers in training mode: peft and
    `eval()` end that mode, and it would turn on dropout in a layer. Nothing in a layer is random,
    so no random state is kept for the second pass.
    """
    layers = [m for m in base.modules() if isinstance(m, GradientCheckpointingLayer)]
    if not layers:
        log.warning("base_model_cannot_checkpoint", architecture=type(base).__name__)
    for layer in layers:
        layer.forward = partial(
            checkpoint, layer.forward, use_reentrant=False, preserve_rng_state=False
        )


NAME: Final = "shared_prefix"
_forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu  # noqa: SLF001 - no public name returns the log-sum-exp
_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward  # noqa: SLF001 - as above


def can_share(base: PreTrainedModel) -> bool:
    config = base.config.get_text_config()
    kinds = getattr(config, "layer_types", None) or ["full_attention"]
    windows = getattr(config, "sliding_window", None) and not hasattr(config, "layer_types")
    return (
        bool(getattr(base, "_supports_attention_backend", False))
        and set(kinds) == {"full_attention"}
        and not windows
        and getattr(config, "attn_logit_softcapping", None) is None
    )


def attend(
    module: nn.Module,
    query_1HMK: Tensor,
    key_1JMK: Tensor,
    value_1JMK: Tensor,
    attention_mask: Tensor | None,
    *,
    scaling: float | None = None,
    layout: Layout | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Computes attention for M packed tokens, H query heads, J key heads and head size K; returns
    (1, M, H, K). With fewer key heads than query heads, adjacent query heads share a key head.
    """
    if layout is None:
        plain: tuple[Tensor, None] = sdpa_attention_forward(
            module, query_1HMK, key_1JMK, value_1JMK, attention_mask, scaling=scaling, **kwargs
        )
        return plain
    scale = query_1HMK.shape[-1] ** -0.5 if scaling is None else scaling
    if query_1HMK.device.type == "cpu":
        mixed_1HMK = _PackedFlash.apply(  # type: ignore[no-untyped-call]  # torch leaves it untyped
            query_1HMK, key_1JMK, value_1JMK, layout, scale
        )
    elif can_attend(query_1HMK):
        mixed_1HMK = attend_packed(query_1HMK, key_1JMK, value_1JMK, layout, scale)
    else:
        mixed_1HMK = attend_by_branch(query_1HMK, key_1JMK, value_1JMK, layout, scale)
    return mixed_1HMK.transpose(1, 2), None


AttentionInterface.register(NAME, attend)


def attend_by_branch(
    query_1HMK: Tensor, key_1JMK: Tensor, value_1JMK: Tensor, layout: Layout, scale: float
) -> Tensor:
    """The same with torch's public attention, each branch after a copy of its prefix."""
    parts = []
    for start, tree in layout.starts():
        prefix = slice(start, start + tree.prefix)
        if tree.prefix:
            q, k, v = (x[:, :, prefix] for x in (query_1HMK, key_1JMK, value_1JMK))
            parts.append(_sdpa(q, k, v, is_causal=True, scale=scale))
        own = start + tree.prefix
        for length in tree.branches:
            branch = slice(own, own + length)
            own += length
            if not length:
                continue
            q = query_1HMK[:, :, branch]
            if not tree.prefix:
                k, v = key_1JMK[:, :, branch], value_1JMK[:, :, branch]
                parts.append(_sdpa(q, k, v, is_causal=True, scale=scale))
                continue
            k, v = (
                torch.cat((x[:, :, prefix], x[:, :, branch]), 2) for x in (key_1JMK, value_1JMK)
            )
            bias = causal_lower_right(length, tree.prefix + length)
            parts.append(_sdpa(q, k, v, attn_mask=bias, scale=scale))
    return torch.cat(parts, 2)


def _sdpa(query: Tensor, key: Tensor, value: Tensor, **options: Any) -> Tensor:
    grouped_queries = query.shape[1] != key.shape[1]
    return nn.functional.scaled_dot_product_attention(
        query, key, value, enable_gqa=grouped_queries, **options
    )


class _PackedFlash(torch.autograd.Function):
    @staticmethod
    @override
    def forward(
        ctx: Any,
        query_1HMK: Tensor,
        key_1JMK: Tensor,
        value_1JMK: Tensor,
        layout: Layout,
        scale: float,
    ) -> Tensor:
        heads, tokens, width = query_1HMK.shape[1:]
        out_1MHK = query_1HMK.new_empty(1, tokens, heads, width)
        out_1HMK = out_1MHK.transpose(1, 2)
        precision = torch.promote_types(query_1HMK.dtype, torch.float32)
        sums_1HM = query_1HMK.new_empty(1, heads, tokens, dtype=precision)
        q, k, v = _by_key_head(query_1HMK, key_1JMK, value_1JMK)
        out, sums = _split(out_1HMK, q), _split(sums_1HM, q)
        for part in _causal_parts(layout):
            own = (x[:, :, part] for x in (q, k, v))
            out[:, :, part], sums[:, :, part] = _forward(*own, is_causal=True, scale=scale)
        for prefix, branches in _crossings(layout):
            mixed, lse = _forward(q[:, :, branches], k[:, :, prefix], v[:, :, prefix], scale=scale)
            _merge(out[:, :, branches], sums[:, :, branches], mixed, lse)
        ctx.save_for_backward(query_1HMK, key_1JMK, value_1JMK, out_1HMK, sums_1HM)
        ctx.layout, ctx.scale = layout, scale
        return out_1HMK

    @staticmethod
    @once_differentiable
    @override
    def backward(ctx: Any, grad_1HMK: Tensor) -> tuple[Tensor | None, ...]:
        query_1HMK, key_1JMK, value_1JMK, out_1HMK, sums_1HM = ctx.saved_tensors
        q, k, v = _by_key_head(query_1HMK, key_1JMK, value_1JMK)
        grad, out, sums = (_split(x, q) for x in (grad_1HMK, out_1HMK, sums_1HM))
        slopes = [torch.zeros_like(x) for x in (query_1HMK, key_1JMK, value_1JMK)]
        dq, dk, dv = _split(slopes[0], q), slopes[1].transpose(0, 1), slopes[2].transpose(0, 1)
        calls = [(part, part, True) for part in _causal_parts(ctx.layout)]
        calls += [(branches, prefix, False) for prefix, branches in _crossings(ctx.layout)]
        for queries, keys, causal in calls:
            grads = _backward(
                grad[:, :, queries],
                q[:, :, queries],
                k[:, :, keys],
                v[:, :, keys],
                out[:, :, queries],
                sums[:, :, queries],
                0.0,
                causal,
                scale=ctx.scale,
            )
            dq[:, :, queries] += grads[0]
            dk[:, :, keys] += grads[1].sum(1, keepdim=True)
            dv[:, :, keys] += grads[2].sum(1, keepdim=True)
        return *slopes, None, None


def _by_key_head(query_1HMK: Tensor, *shared: Tensor) -> tuple[Tensor, ...]:
    """Views with the key heads as the batch: (J, H/J, M, K); no head is copied."""
    key_heads = shared[0].shape[1]
    query: Tensor = query_1HMK.unflatten(1, (key_heads, -1))[0]  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return query, *(x.transpose(0, 1).expand(-1, query.shape[1], -1, -1) for x in shared)


def _split(by_head: Tensor, query: Tensor) -> Tensor:
    halves: Tensor = by_head.unflatten(1, query.shape[:2])[0]  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return halves


def _causal_parts(layout: Layout) -> list[slice]:
    parts = []
    for start, tree in layout.starts():
        first = start
        for length in (tree.prefix, *tree.branches):
            if length:
                parts.append(slice(first, first + length))
            first += length
    return parts


def _crossings(layout: Layout) -> list[tuple[slice, slice]]:
    return [
        (slice(start, start + tree.prefix), slice(start + tree.prefix, start + tree.tokens))
        for start, tree in layout.starts()
        if tree.prefix and tree.tokens > tree.prefix
    ]


def _merge(out: Tensor, sums: Tensor, other: Tensor, other_sums: Tensor) -> None:
    merged_sums = torch.logaddexp(sums, other_sums)
    weight = (sums - merged_sums).exp().unsqueeze(-1).to(out.dtype)
    other_weight = (other_sums - merged_sums).exp().unsqueeze(-1).to(out.dtype)
    out.mul_(weight).add_(other * other_weight)
    sums.copy_(merged_sums)
