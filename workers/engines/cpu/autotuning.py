"""The ways in which the engine can compute here, and the work by which they are compared."""

import os
from collections.abc import Sequence
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

from app.models.compute import ComputeChoice
from app.models.models import BaseModelSpec
from workers.autotuning import Autotuning, Work, ways
from workers.compute import model_widths
from workers.engines.cpu.batching.version_batch import BatchShape
from workers.engines.cpu.models.attention import FEWEST_ROWS
from workers.engines.cpu.models.decoder import LinearLayer

# Half the cores: on two busy cores, each small operation with two threads waits for the operating
# system's scheduler twice. Measured beside other work: 4,150 tokens/s with one thread, 2,850 with
# two.
ASSUMED_THREADS: Final = max(1, (os.cpu_count() or 1) // 2)
_ROWS: Final = (32, 4)
"""Rows of the work: those of a full batch, and the few at its end."""
_PASSES: Final = 16


def engine_autotuning(
    specs: Sequence[BaseModelSpec], *, dtype: torch.dtype, invariant: bool
) -> Autotuning:
    """For the widest model. With `invariant`, a row's bits must not depend on other rows."""
    widths = max(map(model_widths, specs))
    candidates = [
        way
        for way in ways(("onednn", "torch"), (ASSUMED_THREADS, os.cpu_count() or 1))
        if not invariant or way.products == "onednn" or rows_are_independent(way, widths, dtype)
    ]
    return Autotuning("engine", widths, tuple(candidates), lambda way: _work(way, widths, dtype))


def rows_are_independent(way: ComputeChoice, widths: tuple[int, int], dtype: torch.dtype) -> bool:
    """Returns whether a row of a product has the same bits beside few rows and beside many."""
    shape, before = BatchShape(threads=way.threads), torch.get_num_threads()
    torch.set_num_threads(way.threads)
    try:
        layers = _layers(way, widths, dtype)
        most = 4 * FEWEST_ROWS * way.threads
        hidden_NI = _hidden(most, widths, dtype)
        with torch.inference_mode():
            whole_NI = _passed(hidden_NI, layers)
            return all(
                torch.equal(_passed(hidden_NI[:rows], layers), whole_NI[:rows])
                for rows in {shape.padded(count) for count in range(1, most)}
            )
    finally:
        torch.set_num_threads(before)


def _layers(
    way: ComputeChoice, widths: tuple[int, int], dtype: torch.dtype
) -> tuple[LinearLayer, LinearLayer]:
    generator = torch.Generator().manual_seed(0)
    packs = way.products == "onednn"
    model, inner = widths
    up_OI = torch.randn(inner, model, generator=generator).to(dtype)
    down_OI = torch.randn(model, inner, generator=generator).to(dtype)
    return (
        LinearLayer(up_OI, None, mergeable=False, packs=packs),
        LinearLayer(down_OI, None, mergeable=False, packs=packs),
    )


def _hidden(rows: int, widths: tuple[int, int], dtype: torch.dtype) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(rows, widths[0], generator=generator).to(dtype)


def _passed(hidden_NI: Tensor, layers: tuple[LinearLayer, LinearLayer]) -> Tensor:
    up, down = layers
    normed_NI = F.rms_norm(hidden_NI, hidden_NI.shape[-1:])
    return down.added_to(hidden_NI, F.silu(up(normed_NI)))


def _work(way: ComputeChoice, widths: tuple[int, int], dtype: torch.dtype) -> Work:
    layers = _layers(way, widths, dtype)
    batches = [_hidden(rows, widths, dtype) for rows in _ROWS]

    def work() -> None:
        with torch.inference_mode():
            for hidden_NI in batches * _PASSES:
                _passed(hidden_NI, layers)

    return work
