"""Attention of a packed step's tokens over the KV pool.

Owns the attention plan of a step, whose tokens are packed without padding: running rows attend
together, each new prompt separately, so that a long prompt does not slow down short requests.
Promises, if `invariant`, that the bits of a token's output do not depend on the rest of the batch
or on whether the token was part of a prompt or sampled: its position alone determines how many keys
are read and the order of their summation. Must not know sampling or requests.

The rules behind that promise were measured with torch 2.13 on AVX-512: matrix products agree bit
for bit from FEWEST_ROWS rows on, and the library splits the sum over keys into pieces that depend
on their number, so that number must follow from the position (here in units of LENGTH_STEP).
"""

from dataclasses import dataclass, field
from typing import Any, Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import AttentionInterface
from transformers.cache_utils import Cache, CacheLayerMixin
from typing_extensions import override

from workers.engines.cpu.models.kv_pool import KvPool

IMPLEMENTATION: Final = "agent_rft_kv_pool"
LENGTH_STEP: Final = 64
FEWEST_ROWS: Final = 4
# Decoding is bound by memory bandwidth, so at most this many rows are padded to a common length.
MAX_PADDED_ROWS: Final = 16


@dataclass(frozen=True, slots=True)
class Prefill:
    """The part of one row's prompt at `offset … offset + length` of the packed step."""

    row: int
    start: int
    """Position of the first token; earlier ones are already in the KV pool."""
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class AttentionSlice:
    """Tokens of one attention call: `count` tokens from `offset` on, of rows `first … last`."""

    offset: int
    count: int
    first: int
    last: int
    length: int
    """Number of keys to read from each row."""
    mask: Tensor
    """mask_B1QT: 0 for visible keys and -inf for others. Q is 1 for running rows (B rows, one token
    each); for a prompt it is the piece's tokens times the query heads per key head, padded."""


@dataclass(slots=True)
class Step:
    """One forward pass. The first tokens belong to the rows of `decoding`, one each; the tokens of
    prompts follow. `rows_N` and `positions_N` are the row and position in the KV pool of
    each token's key and value; further tokens of the pass are padding.
    """

    kv_pool: KvPool
    decoding: range
    prefills: list[Prefill]
    rows_N: Tensor
    positions: list[int]
    positions_N: Tensor
    query_heads: int
    """Number of query heads per key head."""
    invariant: bool = True
    _pieces: dict[int | None, list[AttentionSlice]] = field(default_factory=dict)

    def pieces(self, window: int | None) -> list[AttentionSlice]:
        """Returns the attention plan of the step's tokens, in their order. All layers with the same
        window share it.
        """
        plan = self._pieces.get(window)
        if plan is None:
            plan = [*self._running_pieces(window), *self._prompt_pieces(window)]
            self._pieces[window] = plan
        return plan

    def _running_pieces(self, window: int | None) -> list[AttentionSlice]:
        if not self.decoding:
            return []
        count, offset = len(self.decoding), self.decoding.start
        lengths = [_rounded(position + 1) for position in self.positions[:count]]
        positions_B1 = self.positions_N[:count, None]
        mask_B11T = self._mask(positions_B1, max(lengths), window)[:, None, None]
        pieces, first = [], 0
        while first < count:
            last = first + 1
            while last < count and self._same_piece(lengths, first, last):
                last += 1
            length = max(lengths[first:last])
            mask = mask_B11T[first:last, :, :, :length]
            rows = offset + first, offset + last
            pieces.append(AttentionSlice(first, last - first, *rows, length, mask))
            first = last
        return pieces

    def _same_piece(self, lengths: list[int], first: int, row: int) -> bool:
        if self.invariant:
            return lengths[row] == lengths[first]
        return row - first < MAX_PADDED_ROWS

    def _prompt_pieces(self, window: int | None) -> list[AttentionSlice]:
        pieces = []
        for part in self.prefills:
            start, end = part.start, part.start + part.length
            while start < end:
                stop = min(end, _rounded(start + 1)) if self.invariant else end
                length = _rounded(stop)
                positions_Q1 = torch.arange(start, stop)[:, None]
                positions_Q1 = positions_Q1.repeat_interleave(self.query_heads, dim=0)
                mask_QT = self._mask(positions_Q1, length, window)
                mask_QT = F.pad(mask_QT, (0, 0, 0, -len(mask_QT) % FEWEST_ROWS))
                offset = part.offset + start - part.start
                pieces.append(
                    AttentionSlice(
                        offset, stop - start, part.row, part.row + 1, length, mask_QT[None, None]
                    )
                )
                start = stop
        return pieces

    def _mask(self, positions_Q1: Tensor, length: int, window: int | None) -> Tensor:
        keys_1T = torch.arange(length)[None]
        hidden_QT = keys_1T > positions_Q1
        if window is not None:
            hidden_QT |= keys_1T <= positions_Q1 - window
        mask_QT = torch.zeros(hidden_QT.shape, dtype=self.kv_pool.dtype)
        return mask_QT.masked_fill_(hidden_QT, float("-inf"))


def _rounded(length: int) -> int:
    return -(-length // LENGTH_STEP) * LENGTH_STEP


def attend(
    query_NHD: Tensor, step: Step, layer: int, *, scaling: float | None, window: int | None
) -> Tensor:
    """Returns output_NHD for the step's queries; its keys and values must be in the KV pool."""
    keys_RHTD, values_RHTD = step.kv_pool.layer(layer)
    tokens, _, size = query_NHD.shape
    query_NKGD = query_NHD.view(tokens, keys_RHTD.shape[1], step.query_heads, size)
    output_NKGD = torch.zeros_like(query_NKGD, memory_format=torch.contiguous_format)
    for piece in step.pieces(window):
        end = piece.offset + piece.count
        part = query_NKGD[piece.offset : end]
        running = piece.mask.shape[2] == 1
        # Query heads that share a key head are laid out along the axis of query positions.
        rows = part if running else part.transpose(0, 1).flatten(1, 2)[None]
        query_rows = max(FEWEST_ROWS, piece.mask.shape[2]) if step.invariant else rows.shape[2]
        if not running:
            query_rows = piece.mask.shape[2]
        if rows.shape[2] < query_rows:
            rows = F.pad(rows, (0, 0, 0, query_rows - rows.shape[2]))
        output = F.scaled_dot_product_attention(
            rows,
            keys_RHTD[piece.first : piece.last, :, : piece.length],
            values_RHTD[piece.first : piece.last, :, : piece.length],
            attn_mask=piece.mask,
            scale=scaling,
        )
        if running:
            output_NKGD[piece.offset : end] = output[:, :, : step.query_heads]
        else:
            output_KQD = output[0, :, : piece.count * step.query_heads]
            output_NKGD[piece.offset : end] = output_KQD.view(
                -1, piece.count, step.query_heads, size
            ).transpose(0, 1)
    return output_NKGD.view(tokens, -1, size)


class KvPoolCache(Cache):
    """A transformers cache that stores new keys and values in the KV pool and returns them."""

    def __init__(self, step: Step) -> None:
        super().__init__(layer_class_to_replicate=CacheLayerMixin)
        self._step = step

    @override
    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        both_NPHD = torch.stack((key_states[0], value_states[0])).permute(2, 0, 1, 3)
        step = self._step
        step.kv_pool.store(layer_idx, step.rows_N, step.positions_N, both_NPHD)
        return key_states, value_states

    @override
    def get_seq_length(self, layer_idx: int = 0) -> int:
        return 0


def kv_pool_attention(
    module: nn.Module,
    query: Tensor,
    _key: Tensor,
    _value: Tensor,
    _attention_mask: Tensor | None,
    *,
    scaling: float | None = None,
    sliding_window: int | None = None,
    step: Step | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Computes output_1NHD of query_1HND over the KV pool. Transformers' attention layers call it;
    they build no mask, because `masking_utils` does not know this implementation.
    """
    if step is None:
        raise RuntimeError("this model has the KV pool's attention and runs in packed steps only")
    if any(kwargs.get(name) is not None for name in ("softcap", "s_aux", "position_bias")):
        raise NotImplementedError("attention with soft caps, sinks or position biases")
    layer = int(module.layer_idx)  # type: ignore[arg-type]  # torch types module attributes as Tensor or Module
    query_NHD = query[0].transpose(0, 1).contiguous()
    output_NHD = attend(query_NHD, step, layer, scaling=scaling, window=sliding_window)
    return output_NHD[None], None


AttentionInterface.register(IMPLEMENTATION, kv_pool_attention)
