"""Runs work over micro-batches that fit into memory.

Owns the size of a micro-batch. Promises: the result of every sample counts once; work that ran out
of memory is repeated on micro-batches of half the size, and later calls keep the smaller size. A
result therefore depends on the memory only in the order of its sums. Must not know models or
losses.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

import structlog
import torch

from app.domain.errors import OUT_OF_MEMORY, RunFailed
from workers.learning.batches.batches import MicroBatch, micro_batches, one_band
from workers.learning.training_samples import TrainingSample

log = structlog.get_logger()

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Packing:
    """Options of `micro_batches` that stay the same over the micro-batches of a step."""

    share: bool
    rows_per_example: int = 1
    keep_zero_advantage: bool = False
    band: Callable[[int], int] = one_band

    def pack(self, samples: Sequence[TrainingSample], max_tokens: int) -> list[MicroBatch]:
        return micro_batches(
            samples,
            max_tokens=max_tokens,
            rows_per_example=self.rows_per_example,
            share=self.share,
            keep_zero_advantage=self.keep_zero_advantage,
            band=self.band,
        )

    def computed_tokens(self, batch: MicroBatch) -> int:
        """Returns the tokens of a forward pass, padding included where rows are padded."""
        if self.share:
            return batch.layout.tokens
        return batch.layout.rows * max(len(own) for _, own in batch.layout.spans())


class FittingBatches:
    def __init__(self, *, max_tokens: int, device: torch.device) -> None:
        self.max_tokens = max_tokens
        """Largest micro-batch in tokens; it becomes smaller when the memory does not suffice."""
        self._device = device

    def run(
        self,
        samples: Sequence[TrainingSample],
        work: Callable[[MicroBatch], R],
        packing: Packing,
    ) -> Iterator[tuple[MicroBatch, R]]:
        """Yields each micro-batch with the result of `work`, which must change nothing until it
        returns. Raises `RunFailed` if an example alone does not fit.
        """
        pending = packing.pack(samples, self.max_tokens)
        while pending:
            done = self._attempt(pending[0], work)
            if done is None:
                pending = self._halved(samples, pending, packing)
                continue
            yield pending.pop(0), done.result
            del done  # frees a gradient before the next one is computed

    def _attempt(
        self, batch: MicroBatch, work: Callable[[MicroBatch], R]
    ) -> "_BatchResult[R] | None":
        """Returns the result of `work`, or `None` if the memory did not suffice. All that `work`
        allocated is free then, because the error, whose traceback refers to it, does not outlive
        this call.
        """
        try:
            return _BatchResult(work(batch.to(self._device)))
        except torch.OutOfMemoryError as error:
            log.warning("micro_batch_out_of_memory", tokens=batch.layout.tokens, reason=str(error))
            return None

    def _halved(
        self, samples: Sequence[TrainingSample], pending: list[MicroBatch], packing: Packing
    ) -> list[MicroBatch]:
        """Packs the samples of the pending micro-batches into smaller ones."""
        failed = packing.computed_tokens(pending[0])
        if len(pending[0].sources) <= packing.rows_per_example:
            raise RunFailed(_too_long(failed, packing, self._device), code=OUT_OF_MEMORY)
        if self._device.type == "cuda":
            torch.cuda.empty_cache()
        self.max_tokens = max(1, failed // 2)
        log.info("micro_batch_halved", max_tokens=self.max_tokens)
        sources = [source for batch in pending for source in batch.sources]
        smaller = packing.pack([samples[source] for source in sources], self.max_tokens)
        return [
            replace(batch, sources=tuple(sources[index] for index in batch.sources))
            for batch in smaller
        ]


@dataclass(frozen=True, slots=True)
class _BatchResult(Generic[R]):
    result: R


_CURE: Final = (
    "Set `checkpointing` of the base model to true if it is false, give the engine on this GPU a "
    "smaller share of the memory, or lower `context_length` or `lora_rank` of the base model; "
    "`agent-rft plan` says what fits."
)


def _too_long(tokens: int, packing: Packing, device: torch.device) -> str:
    example = "sequence" if packing.rows_per_example == 1 else "pair of sequences"
    return (
        f"The memory of {device.type} does not suffice for the gradient of a single {example} of "
        f"{tokens} tokens, the smallest micro-batch there is. {_CURE}"
    )
