"""Keys and values of the running rows of one model version.

Owns one tensor kv_PLRHTD (P = key or value, L layers, R rows, H key/value heads, T positions,
D head size). Rows 0 … B-1 are always the running ones, so that a decode step reads a view and
gathers nothing. Grows by doubling while that is little or within the limit. Promises never to take
more than `limit_bytes` for what fits into it; while it grows, the old tensor stands beside the new.
Must not know tokens' meaning or scheduling.
"""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

KV_POOL_BYTES: Final = 4 << 30
_FIRST_ROWS: Final = 8
_LITTLE_BYTES: Final = 64 << 20
"""Up to here rows and positions are allocated ahead of need; zeros become resident at once."""
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
        """keys_RHTD and values_RHTD of one layer, as views."""
        return self._kv_PLRHTD[0, index], self._kv_PLRHTD[1, index]

    def store(self, layer: int, rows_N: Tensor, positions_N: Tensor, kv_NPHD: Tensor) -> None:
        """Keys and values of N tokens of one layer; entries beyond N are padding."""
        # Indices with a slice between them come first: the target has the shape N P H D.
        self._kv_PLRHTD[:, layer][:, rows_N, :, positions_N] = kv_NPHD[: len(rows_N)]

    def fits(self, *, rows: int, length: int) -> bool:
        """Returns true if so many rows, the longest of `length` tokens, fit the limit."""
        return self._size(rows, _quantised(length)) <= self._limit

    def reserve(self, *, rows: int, length: int) -> None:
        """Make room for rows 0 … `rows` - 1, the longest of them of `length` tokens; what is stored
        there stays.
        """
        if rows <= self.rows and length <= self.length:
            return
        old = self._kv_PLRHTD
        wanted_rows, wanted_length = self._grown(rows, length)
        new = self._allocate(wanted_rows, wanted_length)
        rows, length = min(wanted_rows, self.rows), min(wanted_length, self.length)
        new[:, :, :rows, :, :length] = old[:, :, :rows, :, :length]
        self._kv_PLRHTD = new

    def _grown(self, rows: int, length: int) -> tuple[int, int]:
        """Rows and positions to allocate: more than needed where that costs little."""
        more, longer = self.rows, self.length
        if length > longer:
            longer = _quantised(max(length, longer * 3 // 2))
        if rows > more:
            more = max(_FIRST_ROWS, rows, 2 * more)
        if self._size(more, longer) <= min(_LITTLE_BYTES, self._limit):
            return more, longer
        # Rows that nobody needs yet are as long as the longest.
        more = rows if length > self.length else max(rows, 2 * self.rows)
        if self._size(rows, longer) > self._limit:
            longer = _quantised(length)
        return max(rows, min(more, self._limit // self._size(1, longer))), longer

    def _size(self, rows: int, length: int) -> int:
        return rows * length * self._shape.bytes_per_token()

    def read(self, row: int, length: int) -> Tensor:
        """A copy kv_PLHTD of a row's first `length` positions."""
        return self._kv_PLRHTD[:, :, row, :, :length].clone()

    def write(self, row: int, kv_PLHTD: Tensor) -> None:
        """Put positions 0 … T-1 into a row."""
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
