"""The running batch of one model version.

One `advance()` is one iteration of continuous batching (Yu et al., Orca, OSDI 2022): new prompts
join, every running row gets one token, finished rows leave.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from workers.engines.cpu.batching.packed_batch import (
    WHOLE,
    BatchPart,
    BatchRows,
    StepLimit,
    packed_batch,
)
from workers.engines.cpu.batching.sampling import draw
from workers.engines.cpu.batching.sequence import (
    BLOCK,
    FairQueue,
    FinishReason,
    PrefixStore,
    Sequence,
    SequenceUpdate,
    block_keys,
    shared_length,
)
from workers.engines.cpu.models.adapters import Weights
from workers.engines.cpu.models.attention import FEWEST_ROWS, KV_POOL_BYTES, KvPool, Prefill, Step
from workers.engines.cpu.models.versions import Version

ALONE_TOKENS: Final = 128
"""Limit of prompt tokens of an iteration that computes newcomers alone."""
ALONE_STEPS: Final = 2
"""Iterations in a row that may compute newcomers alone: then the running rows advance."""
BUSY_ROWS: Final = 4
"""Rows from which newcomers may be computed alone: fewer hardly add to the time of an iteration."""
_NONE: Final = range(0)
IDLE_KV_POOL_BYTES: Final = 64 << 20
"""Byte limit for the KV pool that an idle batch retains for its next sequences."""


@dataclass(frozen=True, slots=True)
class _Admission:
    """Sequences that just got rows; `alone` if only they are computed in this iteration."""

    count: int
    alone: bool


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
        self._waiting = FairQueue()
        self._next_row = 0
        self._alone_steps = 0
        self._prompts_were_last = False
        self._updates: list[SequenceUpdate] = []

    @property
    def idle(self) -> bool:
        return not self._rows and not self._waiting

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def owners(self) -> set[str]:
        return {sequence.owner for sequence in self._rows.sequences} | self._waiting.owners

    def add(self, sequence: Sequence) -> None:
        sequence.block_keys = block_keys(
            self.version.number, sequence.tokens, sequence.sampling.cache_salt
        )
        self._waiting.add(sequence)

    def abandon(self) -> list[SequenceUpdate]:
        """Ends every sequence after a fault. Ended sequences keep their finish reason."""
        for sequence in (*self._rows.sequences, *self._waiting):
            if sequence.finish_reason is None:
                self._end(sequence, "error")
        self._rows.clear()
        self._waiting.keep(())
        return self._take_updates()

    def advance(self, weights: Weights, limit: StepLimit = WHOLE) -> list[SequenceUpdate]:
        """Computes one iteration; returns the updates of streamed and ended sequences. After an
        exception, `abandon` must be called to end every sequence.
        """
        self._drop_cancelled()
        part = self._part(limit)
        if part:
            self._rows.reserve(len(self._rows))
            step, ids = packed_batch(
                part,
                self._rows.sequences,
                self._kv_pool,
                prompt_tokens=limit.prompt_tokens,
                query_heads=weights.query_heads,
                invariant=self._shape.invariant,
            )
            self._sample(*self._forward(weights, step, ids))
            self._rows.leave()
        if self.idle and self._kv_pool.bytes > IDLE_KV_POOL_BYTES:
            self._kv_pool.release()
        return self._take_updates()

    def _part(self, limit: StepLimit) -> BatchPart:
        """Assigns rows and returns what this iteration computes. Newcomers with less than their
        share of a busy batch are computed alone: their first tokens wait for no other row.
        """
        running = len(self._rows) - self._rows.unfinished
        rows = range(running)
        if limit.rows is not None:
            first = self._next_row if self._next_row < running else 0
            rows = range(first, min(running, first + limit.rows))
            if rows and self._prompts_were_last:
                self._prompts_were_last, self._next_row = False, rows.stop
                return BatchPart(rows, _NONE)
        partial, admitted = self._rows.unfinished, self._assign_rows(limit.prompt_tokens)
        self._alone_steps = self._alone_steps + 1 if admitted.alone else 0
        if admitted.alone:
            return BatchPart(_NONE, range(running, running + admitted.count))
        prompts = range(running, running + partial + admitted.count)
        if limit.rows is not None:
            self._prompts_were_last = bool(prompts)
            if prompts:
                return BatchPart(_NONE, prompts)
            self._next_row = rows.stop
        return BatchPart(rows, prompts)

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
            self._waiting.keep(s for s in self._waiting if not s.cancelled)
            self._rows.leave()

    def _assign_rows(self, prompt_tokens: int) -> "_Admission":
        """Assigns rows to waiting sequences in their order while each fits the KV pool's limit at
        its largest length. At least one runs even if it exceeds the limit.
        """
        if not self._waiting:
            return _Admission(0, alone=False)
        owners = Counter(sequence.owner for sequence in self._rows.sequences)
        alone = self._alone_steps < ALONE_STEPS and self._below_share(
            self._waiting.first(owners), owners
        )
        budget = ALONE_TOKENS if alone else prompt_tokens - self._uncomputed()
        partial, count, set_aside = self._rows.unfinished, 0, list[tuple[int, Sequence]]()
        longest = self._rows.longest
        try:
            while self._waiting and len(self._rows) < self._shape.max_rows and budget > 0:
                sequence = self._waiting.first(owners)
                live = self._rows.live_prefix(sequence)
                if live is not None and _uncomputed_shared(live, sequence) >= BLOCK:
                    set_aside.append(self._waiting.take(sequence))  # later copies the prefix
                    continue
                if alone and (
                    not self._below_share(sequence, owners) or len(sequence.tokens) > budget
                ):
                    break
                longest = max(longest, sequence.longest)
                if self._rows and not self._kv_pool.fits(rows=len(self._rows) + 1, length=longest):
                    break
                # A prompt computed in part stays behind sequences that are computed without it.
                self._rows.join(sequence, live, len(self._rows) - (partial if alone else 0))
                self._waiting.take(sequence)
                owners[sequence.owner] += 1
                count += 1
                budget -= len(sequence.tokens) - sequence.computed_tokens
        finally:  # also after an allocation failure: sequences without a row stay queued
            self._waiting.give_back(set_aside)
        return _Admission(count, alone=alone and count > 0)

    def _uncomputed(self) -> int:
        """Returns the number of tokens that a prompt computed in part lacks."""
        if not self._rows.unfinished:
            return 0
        last = self._rows.sequences[-1]
        return len(last.tokens) - last.computed_tokens

    def _below_share(self, sequence: Sequence, owners: Counter[str]) -> bool:
        """Returns true for a short prompt in a busy batch whose owner has less than its share of
        the rows.
        """
        rows = owners.total()
        busy = rows >= BUSY_ROWS or self._rows.unfinished
        short = len(sequence.tokens) <= ALONE_TOKENS
        sharing = len(owners.keys() | {sequence.owner})
        return bool(busy) and short and owners[sequence.owner] * sharing < rows

    def _forward(
        self, weights: Weights, step: Step, ids: list[int]
    ) -> tuple[list[Sequence], Tensor]:
        """Returns the sequences that get a token with their logits_BV; stores requested prompt
        log-probs.
        """
        ids_N = torch.tensor(ids + [0] * (self._shape.padded(len(ids)) - len(ids)))
        rows = self._rows.sequences
        sampled = [rows[row] for row in step.decoding]
        output_tokens, last = list(range(len(sampled))), list(range(len(sampled)))
        scored: list[tuple[Prefill, int]] = []
        for part in step.prefills:
            sequence, end = rows[part.row], part.offset + part.length
            if sequence.sampling.prompt_logprobs:
                scored.append((part, len(output_tokens)))
                output_tokens += range(part.offset, end)
            elif part.start + part.length == len(sequence.tokens):
                output_tokens.append(end - 1)
            if part.start + part.length == len(sequence.tokens):
                last.append(len(output_tokens) - 1)
                sampled.append(sequence)
        padding = self._shape.padded(len(output_tokens)) - len(output_tokens)
        logits_KV = weights.logits(step, ids_N, output_tokens + [0] * padding)[: len(output_tokens)]
        for part, first in scored:
            self._score(part, logits_KV[first : first + part.length])
        for row in step.decoding:
            rows[row].computed_tokens = len(rows[row].tokens)
        for part in step.prefills:
            rows[part.row].computed_tokens = part.start + part.length
        return sampled, logits_KV if len(last) == len(output_tokens) else logits_KV[last]

    def _score(self, part: Prefill, logits_TV: Tensor) -> None:
        """Stores log-probs, at temperature 1, of the prompt tokens after each token of `part`."""
        sequence, first = self._rows.sequences[part.row], part.start + 1
        following = sequence.tokens[first : first + part.length]
        following_T1 = torch.tensor(following, dtype=torch.long)[:, None]
        logprobs_TV = torch.log_softmax(logits_TV[: len(following)].float(), dim=-1)
        previous = sequence.prompt_logprobs or [None]
        sequence.prompt_logprobs = [*previous, *logprobs_TV.gather(1, following_T1)[:, 0].tolist()]

    def _sample(self, rows: list[Sequence], logits_BV: Tensor) -> None:
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
