"""Computes log-probs of tokens under a model, with or without its adapter."""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

import structlog
import torch
from torch import nn
from transformers import PreTrainedModel

from workers.learning.adapters import output_layer
from workers.learning.backbone import Backbone
from workers.learning.batches import FittingBatches, MicroBatch, Packing, unshared_layout
from workers.learning.head import LogProbHead, TokenScores, check_model, output_scaling
from workers.learning.trainer import TrainingSample
from workers.progress import PROGRESS

log = structlog.get_logger()


class TokenScorer:
    def __init__(
        self, base: PreTrainedModel, *, temperature: float, checkpointing: bool = False
    ) -> None:
        self._device = base.device
        self._backbone = Backbone(base, checkpointing=checkpointing)
        self._head = LogProbHead(
            output_layer(base), temperature=temperature, scaling=output_scaling(base)
        )
        try:
            self._check(base, temperature)
        except (ValueError, TypeError) as error:
            if not self.shares:
                raise
            # The forward pass of some bases drops the layout before attention, or rejects it.
            log.info("base_model_is_run_by_row", reason=str(error))
            self._backbone.run_by_row()
            self._check(base, temperature)

    def _check(self, base: PreTrainedModel, temperature: float) -> None:
        check_model(
            base, lambda batch: self(batch).logprobs_N, temperature=temperature, share=self.shares
        )

    @property
    def shares(self) -> bool:
        return self._backbone.packs

    def packing(self, *, rows_per_example: int = 1, keep_zero_advantage: bool = False) -> Packing:
        return Packing(
            share=self.shares,
            rows_per_example=rows_per_example,
            keep_zero_advantage=keep_zero_advantage,
            band=self._backbone.rotations.band,
        )

    def __call__(self, batch: MicroBatch, *, mean: bool = False) -> TokenScores:
        hidden_MD = self._backbone(batch.ids_M, batch.layout)
        hidden_ND = hidden_MD.index_select(0, batch.positions_N)
        scores = self._head(hidden_ND, batch.targets_N, mean=mean)
        PROGRESS.mark("micro-batch computed")
        return scores

    @torch.no_grad()
    def of_row(self, token_ids: Sequence[int]) -> list[float]:
        """Returns the T-1 log-probs of tokens 1 … T-1, each given the tokens before it."""
        if len(token_ids) < 2:  # noqa: PLR2004 - a log-prob requires a preceding token
            return []
        ids_T = torch.tensor(token_ids, dtype=torch.long, device=self._device)
        hidden_TD = self._backbone(ids_T[:-1], unshared_layout([len(token_ids) - 1]))
        result: list[float] = self._head(hidden_TD, ids_T[1:]).logprobs_N.tolist()
        return result

    @torch.no_grad()
    def of_samples(
        self, samples: Sequence[TrainingSample], batches: FittingBatches
    ) -> list[list[float]]:
        """Returns log-probs parallel to the samples and their tokens; 0.0 for untrained tokens."""
        packing = self.packing(keep_zero_advantage=True)
        result = [[0.0] * len(sample.tokens) for sample in samples]
        trained_positions = [[p for p, m in enumerate(sample.mask) if m] for sample in samples]
        for batch, logprobs in batches.run(samples, self._logprobs, packing):
            next_positions = [iter(trained_positions[source]) for source in batch.sources]
            for row, value in zip(batch.rows_N.tolist(), logprobs, strict=True):
                result[batch.sources[row]][next(next_positions[row])] = value
        return result

    def rehearse_layers(self, lengths: Sequence[int], parameters: Sequence[nn.Parameter]) -> None:
        """Runs rows of these lengths forward and backward, without the head; changes nothing."""
        layout = unshared_layout(lengths)
        ids_M = torch.arange(layout.tokens, device=self._device) % self._head.vocabulary
        total = self._backbone(ids_M, layout).sum()
        torch.autograd.grad(total, parameters, allow_unused=True)

    def rehearse_head(self) -> None:
        self._head.rehearse()

    def _logprobs(self, batch: MicroBatch) -> list[float]:
        logprobs: list[float] = self(batch).logprobs_N.tolist()
        return logprobs


ROW_TOKENS: Final = 512
ROWS: Final = 4
USED_SHARE: Final = 0.85
"""Share of the free memory to plan for; the rest is for fragments of the allocator."""
MOST_TOKENS: Final = 65_536
"""Largest planned micro-batch: a larger one gains no speed."""
FEWEST_TOKENS: Final = 256
ADAPTER_COPIES: Final = 4
"""Tensors per trained weight besides itself: gradients of step and micro-batch, two moments."""


class Memory(Protocol):
    def free(self) -> int: ...

    def peak(self, work: Callable[[], object]) -> int: ...


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
