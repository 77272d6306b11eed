"""Keys and values of the running rows of one model version.

Owns one tensor kv_PLRHTD (P = key or value, L layers, R rows, H key/value heads, T positions,
D head size). Rows 0 … B-1 are always the running ones, so that a decode step reads a view without
a gather. Grows by doubling while the tensor is small or within the limit. Promises not to exceed
`limit_bytes` for rows that fit into it; while it grows, both old and new tensor are allocated. Must
not know the meaning of tokens or scheduling.
"""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

KV_POOL_BYTES: Final = 4 << 30
_MIN_ROWS: Final = 8
_SMALL_BYTES: Final = 64 << 20
"""Size up to which rows and positions are allocated in advance; zeroed memory is resident."""
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
        """Returns keys_RHTD and values_RHTD of one layer as views."""
        return self._kv_PLRHTD[0, index], self._kv_PLRHTD[1, index]

    def store(self, layer: int, rows_N: Tensor, positions_N: Tensor, kv_NPHD: Tensor) -> None:
        """Stores keys and values of N tokens of one layer; further entries of `kv_NPHD` are
        padding.
        """
        # Index tensors separated by a slice come first in the result: its shape is N P H D.
        self._kv_PLRHTD[:, layer][:, rows_N, :, positions_N] = kv_NPHD[: len(rows_N)]

    def fits(self, *, rows: int, length: int) -> bool:
        """Returns true if `rows` rows of `length` tokens are within the limit."""
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
        """Returns the rows and positions to allocate: more than required if the tensor is small."""
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
        """Returns a copy kv_PLHTD of a row's first `length` positions."""
        return self._kv_PLRHTD[:, :, row, :, :length].clone()

    def write(self, row: int, kv_PLHTD: Tensor) -> None:
        """Writes positions 0 … T-1 of a row."""
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
