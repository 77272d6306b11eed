"""Keys and values of the running rows of one model version.

Owns one tensor kv_PLRHTD (P = key or value, L layers, R rows, H key/value heads, T positions,
D head size). Rows 0 … B-1 are always the running ones, so that a decode step reads a view and
gathers nothing. Grows by doubling. Must not know tokens' meaning or scheduling.
"""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

_FIRST_ROWS: Final = 8
_LENGTH_QUANTUM: Final = 64


@dataclass(frozen=True, slots=True)
class KvShape:
    layers: int
    heads: int
    head_size: int

    dtype: torch.dtype = torch.float32

    def bytes_per_token(self) -> int:
        return 2 * self.layers * self.heads * self.head_size * self.dtype.itemsize


class KvArena:
    def __init__(self, shape: KvShape) -> None:
        self._shape = shape
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

    def reserve(self, *, rows: int, length: int) -> None:
        """Make room for `rows` rows of `length` tokens; what is stored stays."""
        if rows <= self.rows and length <= self.length:
            return
        old = self._kv_PLRHTD
        wanted_rows = self.rows if rows <= self.rows else max(_FIRST_ROWS, rows, 2 * self.rows)
        wanted_length = self.length
        if length > self.length:
            wanted_length = -(-max(length, self.length * 3 // 2) // _LENGTH_QUANTUM)
            wanted_length *= _LENGTH_QUANTUM
        self._kv_PLRHTD = self._allocate(wanted_rows, wanted_length)
        self._kv_PLRHTD[:, :, : old.shape[2], :, : old.shape[4]] = old

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
