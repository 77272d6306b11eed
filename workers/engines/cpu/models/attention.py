"""Attention of a packed step's tokens over the KV pool.

Promises, if `invariant`, that the bits of a token's output do not depend on the rest of the batch
or on whether the token was part of a prompt or sampled: its position alone determines how many keys
are read and the order of their summation.

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

KV_POOL_BYTES: Final = 4 << 30
_MIN_ROWS: Final = 8
_SMALL_BYTES: Final = 64 << 20
_LENGTH_QUANTUM: Final = 64


@dataclass(frozen=True, slots=True)
class KvShape:
    layers: int
    heads: int
    head_size: int
    dtype: torch.dtype = torch.float32

    def bytes_per_token(self) -> int:
        return 2 * self.layers * self.heads * self.head_size * self.dtype.itemsize


class KvPool:
    def __init__(self, shape: KvShape, limit_bytes: int = KV_POOL_BYTES) -> None:
        self._shape = shape
        self._limit = limit_bytes
        self._kv_PLRHTD = self._allocate(0, 0)

    @property
    def dtype(self) -> torch.dtype:
        return self._shape.dtype

    @property
    def bytes(self) -> int:
        return self._kv_PLRHTD.numel() * self._kv_PLRHTD.element_size()

    @property
    def rows(self) -> int:
        return self._kv_PLRHTD.shape[2]

    @property
    def length(self) -> int:
        return self._kv_PLRHTD.shape[4]

    def layer(self, index: int) -> tuple[Tensor, Tensor]:
        return self._kv_PLRHTD[0, index], self._kv_PLRHTD[1, index]

    def store(self, layer: int, rows_N: Tensor, positions_N: Tensor, kv_NPHD: Tensor) -> None:
        # Index tensors separated by a slice come first in the result: its shape is N P H D.
        self._kv_PLRHTD[:, layer][:, rows_N, :, positions_N] = kv_NPHD[: len(rows_N)]

    def fits(self, *, rows: int, length: int) -> bool:
        return self._size(rows, _quantised(length)) <= self._limit

    def reserve(self, *, rows: int, length: int) -> None:
        """Allocates at least `rows` rows of `length` tokens; stored keys and values are copied."""
        if rows <= self.rows and length <= self.length:
            return
        old = self._kv_PLRHTD
        new_rows, new_length = self._grown_size(rows, length)
        new = self._allocate(new_rows, new_length)
        rows, length = min(new_rows, self.rows), min(new_length, self.length)
        new[:, :, :rows, :, :length] = old[:, :, :rows, :, :length]
        self._kv_PLRHTD = new

    def _grown_size(self, rows: int, length: int) -> tuple[int, int]:
        new_rows, new_length = self.rows, self.length
        if length > new_length:
            new_length = _quantised(max(length, new_length * 3 // 2))
        if rows > new_rows:
            new_rows = max(_MIN_ROWS, rows, 2 * new_rows)
        if self._size(new_rows, new_length) <= min(_SMALL_BYTES, self._limit):
            return new_rows, new_length
        # Rows allocated in advance are as long as the longest row.
        new_rows = rows if length > self.length else max(rows, 2 * self.rows)
        if self._size(rows, new_length) > self._limit:
            new_length = _quantised(length)
        return max(rows, min(new_rows, self._limit // self._size(1, new_length))), new_length

    def _size(self, rows: int, length: int) -> int:
        return rows * length * self._shape.bytes_per_token()

    def read(self, row: int, length: int) -> Tensor:
        return self._kv_PLRHTD[:, :, row, :, :length].clone()

    def write(self, row: int, kv_PLHTD: Tensor) -> None:
        self._kv_PLRHTD[:, :, row, :, : kv_PLHTD.shape[3]] = kv_PLHTD

    def copy(self, source: int, target: int, length: int) -> None:
        self._kv_PLRHTD[:, :, target, :, :length] = self._kv_PLRHTD[:, :, source, :, :length]

    def release(self) -> None:
        self._kv_PLRHTD = self._allocate(0, 0)

    def _allocate(self, rows: int, length: int) -> Tensor:
        # Zeros, because attention multiplies masked values by 0 and 0 * NaN is NaN.
        shape = self._shape
        size = (2, shape.layers, rows, shape.heads, length, shape.head_size)
        return torch.zeros(size, dtype=shape.dtype)


def _quantised(length: int) -> int:
    return -(-length // _LENGTH_QUANTUM) * _LENGTH_QUANTUM


IMPLEMENTATION: Final = "agent_rft_kv_pool"
LENGTH_STEP: Final = 64
FEWEST_ROWS: Final = 4
# Decoding is bound by memory bandwidth, so at most this many rows are padded to a common length.
MAX_PADDED_ROWS: Final = 16


@dataclass(frozen=True, slots=True)
class Prefill:
    row: int
    start: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class AttentionSlice:
    offset: int
    count: int
    first: int
    last: int
    length: int
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
    invariant: bool = True
    _pieces: dict[int | None, list[AttentionSlice]] = field(default_factory=dict)

    def pieces(self, window: int | None) -> list[AttentionSlice]:
        """The attention plan of the step's tokens, shared by all layers with the same window."""
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
        query_rows = FEWEST_ROWS if running and step.invariant else piece.mask.shape[2]
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
    """Transformers' layers call it and build no mask: `masking_utils` does not know it."""
    if step is None:
        raise RuntimeError("this model has the KV pool's attention and runs in packed steps only")
    if any(kwargs.get(name) is not None for name in ("softcap", "s_aux", "position_bias")):
        raise NotImplementedError("attention with soft caps, sinks or position biases")
    layer = int(module.layer_idx)  # type: ignore[arg-type]  # torch types module attributes as Tensor or Module
    query_NHD = query[0].transpose(0, 1).contiguous()
    output_NHD = attend(query_NHD, step, layer, scaling=scaling, window=sliding_window)
    return output_NHD[None], None


AttentionInterface.register(IMPLEMENTATION, kv_pool_attention)
