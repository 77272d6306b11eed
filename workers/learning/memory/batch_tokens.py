"""Measures how many tokens of a micro-batch fit into the free memory of a device.

Owns the measurement: forward and backward of one and of several short rows through the real model,
whose difference is the cost of a token. Where attention keeps scores or masks of all pairs of a
row, longer rows cost more than these: their micro-batches are halved until they fit. Must not know
losses.
"""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

import structlog
import torch
from torch import nn

from workers.learning.adapters.token_scores import TokenScorer

log = structlog.get_logger()

ROW_TOKENS: Final = 512
ROWS: Final = 4
USED_SHARE: Final = 0.85
"""Share of the free memory to plan for; the remainder is for fragments of the allocator and private
memory of kernels.
"""
MOST_TOKENS: Final = 65_536
"""Largest planned micro-batch: a larger one gains no speed."""
FEWEST_TOKENS: Final = 256
ADAPTER_COPIES: Final = 4
"""Number of tensors per trained weight besides itself: the gradients of step and micro-batch, and
two moments.
"""


class Memory(Protocol):
    def free(self) -> int:
        """Returns the bytes that can still be allocated."""
        ...

    def peak(self, work: Callable[[], object]) -> int:
        """Returns the most bytes that `work` allocates at a time."""
        ...


class CudaMemory:
    """The memory of a GPU that other processes leave free."""

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def free(self) -> int:
        torch.cuda.empty_cache()
        return int(torch.cuda.mem_get_info(self._device)[0])

    def peak(self, work: Callable[[], object]) -> int:
        torch.cuda.reset_peak_memory_stats(self._device)
        before = torch.cuda.memory_allocated(self._device)
        work()
        torch.cuda.synchronize(self._device)
        return int(torch.cuda.max_memory_allocated(self._device)) - before


def measured_batch_tokens(
    memory: Memory, scorer: TokenScorer, parameters: Sequence[nn.Parameter]
) -> int:
    """Returns the tokens of a micro-batch that uses most of the free memory."""
    head, one, several = (
        memory.peak(scorer.rehearse_head),
        memory.peak(lambda: scorer.rehearse_layers([ROW_TOKENS], parameters)),
        memory.peak(lambda: scorer.rehearse_layers([ROW_TOKENS] * ROWS, parameters)),
    )
    a_token = (several - one) / (ROW_TOKENS * (ROWS - 1))
    adapter = sum(parameter.nbytes for parameter in parameters)
    free = memory.free()
    usable = USED_SHARE * free - head - ADAPTER_COPIES * adapter
    tokens = int(min(MOST_TOKENS, max(FEWEST_TOKENS, usable / a_token)))
    log.info("micro_batch_measured", max_tokens=tokens, bytes_a_token=round(a_token), free=free)
    return tokens
