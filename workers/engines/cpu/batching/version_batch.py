"""The running batch of one model version.

Owns the queue for rows and the work of an iteration. One `advance()` is one iteration of
continuous batching (Yu et al., Orca, OSDI 2022): new prompts join, every running row gets one
token, finished rows leave. Must not know threads, HTTP or other versions.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from workers.engines.cpu.batching.batch_rows import BatchRows
from workers.engines.cpu.batching.prefixes import BLOCK, PrefixStore, block_keys, shared_length
from workers.engines.cpu.batching.sampling import draw
from workers.engines.cpu.batching.sequence import FinishReason, Sequence, SequenceUpdate
from workers.engines.cpu.models.attention import FEWEST_ROWS, Prefill, Step
from workers.engines.cpu.models.kv_pool import KV_POOL_BYTES, KvPool
from workers.engines.cpu.models.versions import Version
from workers.engines.cpu.models.weights import Weights

PREFILL_TOKENS: Final = 512
"""Limit of prompt tokens per iteration: longer prompts take several, between which rows advance."""
IDLE_KV_POOL_BYTES: Final = 64 << 20
"""Byte limit for the KV pool that an idle batch retains for its next sequences."""


@dataclass(frozen=True, slots=True)
class BatchShape:
    max_rows: int = 128
    threads: int = 1
    invariant: bool = True
    kv_pool_bytes: int = KV_POOL_BYTES

    def padded(self, count: int) -> int:
        """Returns the number of rows to compute for `count` rows. For few rows the CPU's library
        uses another code path for products, which rounds differently; each thread computes a share
        of the rows. Measured with torch 2.13 on AVX-512: with one thread 1 to 3 rows differ and
        with two also 5 to 7 and 9 to 11; multiples of 4 per thread agree bit for bit, as does any
        larger number.
        """
        multiple = FEWEST_ROWS * self.threads
        if not self.invariant or count >= 2 * multiple:
            return count
        return -(-count // multiple) * multiple


class VersionBatch:
    def __init__(
        self,
        version: Version,
        prefixes: PrefixStore,
        shape: BatchShape,
        *,
        kv_pool: KvPool | None = None,
    ) -> None:
        """`kv_pool` must be empty; by default one with the limit of `shape` is created."""
        self.version = version
        self._shape = shape
        self._kv_pool = kv_pool or KvPool(version.base.kv_shape, shape.kv_pool_bytes)
        self._rows = BatchRows(version, prefixes, self._kv_pool)
        self._waiting: deque[Sequence] = deque()
        self._updates: list[SequenceUpdate] = []

    @property
    def idle(self) -> bool:
        return not self._rows and not self._waiting

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def add(self, sequence: Sequence) -> None:
        sequence.block_keys = block_keys(
            self.version.number, sequence.tokens, sequence.sampling.cache_salt
        )
        self._waiting.append(sequence)

    def abandon(self) -> list[SequenceUpdate]:
        """Ends every sequence after a fault. Ended sequences keep their finish reason."""
        for sequence in (*self._rows.sequences, *self._waiting):
            if sequence.finish_reason is None:
                self._end(sequence, "error")
        self._rows.clear()
        self._waiting.clear()
        return self._take_updates()

    def advance(self, weights: Weights) -> list[SequenceUpdate]:
        """Computes one iteration; returns the updates of streamed and ended sequences. After an
        exception, `abandon` must be called to end every sequence.
        """
        self._drop_cancelled()
        running = len(self._rows) - self._rows.unfinished
        self._assign_rows()
        if self._rows:
            step, ids_N = self._step(running, weights.query_heads)
            logits_BV = self._forward(weights, step, ids_N)
            self._sample(logits_BV)
            self._rows.leave()
        if self.idle and self._kv_pool.bytes > IDLE_KV_POOL_BYTES:
            self._kv_pool.release()
        return self._take_updates()

    def _end(self, sequence: Sequence, finish_reason: FinishReason) -> None:
        sequence.finish_reason = finish_reason
        self._updates.append(SequenceUpdate(sequence, sequence.sampled, finish_reason))

    def _take_updates(self) -> list[SequenceUpdate]:
        updates, self._updates = self._updates, []
        return updates

    def _drop_cancelled(self) -> None:
        cancelled = [s for s in (*self._rows.sequences, *self._waiting) if s.cancelled]
        if cancelled:
            for sequence in cancelled:
                self._end(sequence, "cancelled")
            self._waiting = deque(s for s in self._waiting if not s.cancelled)
            self._rows.leave()

    def _assign_rows(self) -> None:
        """Assigns rows to waiting sequences in their order while each fits the KV pool's limit at
        its largest length. At least one runs even if it exceeds the limit.
        """
        budget = PREFILL_TOKENS
        if self._rows.unfinished:
            last = self._rows.sequences[-1]
            budget -= len(last.tokens) - last.computed_tokens
        siblings: list[Sequence] = []
        longest = self._rows.longest if self._waiting else 0
        try:
            while self._waiting and len(self._rows) < self._shape.max_rows and budget > 0:
                sequence = self._waiting[0]
                live = self._rows.live_prefix(sequence)
                if live is not None and _uncomputed_shared(live, sequence) >= BLOCK:
                    siblings.append(self._waiting.popleft())  # later copies the prefix
                    continue
                longest = max(longest, sequence.longest)
                if self._rows and not self._kv_pool.fits(rows=len(self._rows) + 1, length=longest):
                    break
                self._rows.join(sequence, live)
                self._waiting.popleft()
                budget -= len(sequence.tokens) - sequence.computed_tokens
        finally:  # also after an allocation failure: sequences without a row stay queued
            self._waiting.extendleft(reversed(siblings))

    def _step(self, running: int, query_heads: int) -> tuple[Step, Tensor]:
        """Packs a step: one token of each running row, then prompt tokens up to the limit."""
        sequences = self._rows.sequences
        rows, positions = (
            list(range(running)),
            [s.computed_tokens for s in sequences[:running]],
        )
        ids = [sequence.tokens[-1] for sequence in sequences[:running]]
        prefills, budget = [], PREFILL_TOKENS
        for row, sequence in enumerate(sequences[running:], start=running):
            start = sequence.computed_tokens
            end = min(len(sequence.tokens), start + budget)
            budget -= end - start
            prefills.append(Prefill(row, start, len(ids), end - start))
            ids += sequence.tokens[start:end]
            rows += [row] * (end - start)
            positions += range(start, end)
        self._rows.reserve(len(sequences))
        step = Step(
            self._kv_pool,
            decoding=running,
            prefills=prefills,
            rows_N=torch.tensor(rows),
            positions=positions,
            positions_N=torch.tensor(positions),
            query_heads=query_heads,
            invariant=self._shape.invariant,
        )
        return step, torch.tensor(ids + [0] * (self._shape.padded(len(ids)) - len(ids)))

    def _forward(self, weights: Weights, step: Step, ids_N: Tensor) -> Tensor:
        """Returns logits_BV of the rows that get a token; stores requested prompt log-probs."""
        output_tokens, last = list(range(step.decoding)), list(range(step.decoding))
        scored: list[tuple[Prefill, int]] = []
        for part in step.prefills:
            sequence, end = self._rows.sequences[part.row], part.offset + part.length
            if sequence.sampling.prompt_logprobs:
                scored.append((part, len(output_tokens)))
                output_tokens += range(part.offset, end)
            elif part.start + part.length == len(sequence.tokens):
                output_tokens.append(end - 1)
            if part.start + part.length == len(sequence.tokens):
                last.append(len(output_tokens) - 1)
        padding = self._shape.padded(len(output_tokens)) - len(output_tokens)
        logits_KV = weights.logits(step, ids_N, output_tokens + [0] * padding)[: len(output_tokens)]
        for part, first in scored:
            self._score(part, logits_KV[first : first + part.length])
        for row, sequence in enumerate(self._rows.sequences):
            prompt = step.prefills[row - step.decoding] if row >= step.decoding else None
            sequence.computed_tokens = (
                len(sequence.tokens) if prompt is None else prompt.start + prompt.length
            )
        return logits_KV if len(last) == len(output_tokens) else logits_KV[last]

    def _score(self, part: Prefill, logits_TV: Tensor) -> None:
        """Stores log-probs, at temperature 1, of the prompt tokens after each token of `part`."""
        sequence, first = self._rows.sequences[part.row], part.start + 1
        following = sequence.tokens[first : first + part.length]
        following_T1 = torch.tensor(following, dtype=torch.long)[:, None]
        logprobs_TV = torch.log_softmax(logits_TV[: len(following)].float(), dim=-1)
        previous = sequence.prompt_logprobs or [None]
        sequence.prompt_logprobs = [*previous, *logprobs_TV.gather(1, following_T1)[:, 0].tolist()]

    def _sample(self, logits_BV: Tensor) -> None:
        rows = self._rows.sequences[: len(logits_BV)]
        if not rows:  # the step computed only part of a prompt
            return
        samplings = [sequence.sampling for sequence in rows]
        draws = draw(
            logits_BV,
            temperatures=[sampling.temperature for sampling in samplings],
            top_ps=[sampling.top_p for sampling in samplings],
            seeds=[sampling.seed for sampling in samplings],
            positions=[sequence.sampled for sequence in rows],
        )
        for row, sequence in enumerate(rows):
            token = draws.token_ids[row]
            sequence.tokens.append(token)
            sequence.logprobs.append(draws.logprobs[row])
            if samplings[row].top_logprobs:
                sequence.top_logprobs.append(draws.best(row, samplings[row].top_logprobs))
            if token in samplings[row].stop_token_ids:
                self._end(sequence, "stop")
            elif sequence.sampled >= samplings[row].max_tokens:
                self._end(sequence, "length")
            elif sequence.streamed:
                self._updates.append(SequenceUpdate(sequence, sequence.sampled, None))


def _uncomputed_shared(live: Sequence, sequence: Sequence) -> int:
    """Returns the number of shared prompt tokens that a running row has not computed yet."""
    return (
        min(shared_length(live.tokens, sequence.tokens), len(sequence.tokens) - 1)
        - live.computed_tokens
    )
