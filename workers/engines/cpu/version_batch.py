"""The running batch of one model version.

Owns who waits for a row and what an iteration computes. One `advance()` is one iteration of
continuous batching (Yu et al., Orca, OSDI 2022): new prompts join, every running row gets one
token, finished rows leave. Must not know threads, HTTP or other versions.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from workers.engines.cpu.attention import FEWEST_ROWS, Prefill, Step
from workers.engines.cpu.batch_rows import BatchRows
from workers.engines.cpu.kv_pool import KV_POOL_BYTES, KvPool
from workers.engines.cpu.prefixes import BLOCK, PrefixStore, block_keys, shared_length
from workers.engines.cpu.sampling import draw
from workers.engines.cpu.sequence import FinishReason, Sequence, Update
from workers.engines.cpu.versions import Version
from workers.engines.cpu.weights import Weights

PREFILL_TOKENS: Final = 512
"""New prompt tokens in one iteration: longer prompts take several, so that running rows move."""
IDLE_KV_POOL_BYTES: Final = 64 << 20
"""Byte limit for the KV cache that an idle batch keeps for the next turns of its rollouts."""


@dataclass(frozen=True, slots=True)
class BatchShape:
    max_rows: int = 128
    threads: int = 1
    invariant: bool = True
    kv_pool_bytes: int = KV_POOL_BYTES

    def padded(self, count: int) -> int:
        """Rows to compute for `count` of them. Products of matrices with few rows take another path
        through the CPU's library and round another way; each thread takes its share of the rows.
        Measured with torch 2.13 on AVX-512: with one thread 1 to 3 rows differ and with two also
        5 to 7 and 9 to 11; multiples of 4 per thread agree bit for bit, as does any larger number.
        """
        least = FEWEST_ROWS * self.threads
        if not self.invariant or count >= 2 * least:
            return count
        return -(-count // least) * least


class VersionBatch:
    def __init__(
        self,
        version: Version,
        prefixes: PrefixStore,
        shape: BatchShape,
        *,
        kv_pool: KvPool | None = None,
    ) -> None:
        """`kv_pool` is an empty one; by default of the shape's size."""
        self.version = version
        self._shape = shape
        self._kv_pool = kv_pool or KvPool(version.base.kv_shape, shape.kv_pool_bytes)
        self._rows = BatchRows(version, prefixes, self._kv_pool)
        self._waiting: deque[Sequence] = deque()
        self._updates: list[Update] = []

    @property
    def idle(self) -> bool:
        return not self._rows and not self._waiting

    def add(self, sequence: Sequence) -> None:
        sequence.block_keys = block_keys(
            self.version.number, sequence.tokens, sequence.sampling.cache_salt
        )
        self._waiting.append(sequence)

    def abandon(self) -> list[Update]:
        """Ends every sequence after a fault. Ended sequences keep their finish reason."""
        for sequence in (*self._rows.sequences, *self._waiting):
            if sequence.finish_reason is None:
                self._end(sequence, "error")
        self._rows.clear()
        self._waiting.clear()
        return self._take_updates()

    def advance(self, weights: Weights) -> list[Update]:
        """One iteration. Returns the updates of streamed and ended sequences. After any
        exception, `abandon` reports the end of every sequence.
        """
        self._drop_cancelled()
        running = len(self._rows) - self._rows.unfinished
        self._admit()
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
        self._updates.append(Update(sequence, sequence.sampled, finish_reason))

    def _take_updates(self) -> list[Update]:
        updates, self._updates = self._updates, []
        return updates

    def _drop_cancelled(self) -> None:
        gone = [s for s in (*self._rows.sequences, *self._waiting) if s.cancelled]
        if gone:
            for sequence in gone:
                self._end(sequence, "cancelled")
            self._waiting = deque(s for s in self._waiting if not s.cancelled)
            self._rows.leave()

    def _admit(self) -> None:
        """Give waiting prompts rows, in their order, as far as the KV pool's limit goes: each with
        room for all it may become. One always runs, whatever it takes.
        """
        left = PREFILL_TOKENS
        if self._rows.unfinished:
            last = self._rows.sequences[-1]
            left -= len(last.tokens) - last.computed
        siblings: list[Sequence] = []
        longest = self._rows.longest if self._waiting else 0
        try:
            while self._waiting and len(self._rows) < self._shape.max_rows and left > 0:
                sequence = self._waiting[0]
                live = self._rows.live_prefix(sequence)
                if live is not None and _still_to_come(live, sequence) >= BLOCK:
                    siblings.append(self._waiting.popleft())  # copies the prefix later
                    continue
                longest = max(longest, sequence.longest)
                if self._rows and not self._kv_pool.fits(rows=len(self._rows) + 1, length=longest):
                    break
                self._rows.join(sequence, live)
                self._waiting.popleft()
                left -= len(sequence.tokens) - sequence.computed
        finally:  # also when there is no memory: who has no row still waits
            self._waiting.extendleft(reversed(siblings))

    def _step(self, running: int, query_heads: int) -> tuple[Step, Tensor]:
        """The packed step: one token of each running row, then of each prompt what fits."""
        sequences = self._rows.sequences
        rows, positions = (
            list(range(running)),
            [s.computed for s in sequences[:running]],
        )
        ids = [sequence.tokens[-1] for sequence in sequences[:running]]
        prefills, left = [], PREFILL_TOKENS
        for row, sequence in enumerate(sequences[running:], start=running):
            start = sequence.computed
            end = min(len(sequence.tokens), start + left)
            left -= end - start
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
        """logits_BV of the rows that get a token; prompts' own log-probs are noted on the way."""
        kept, last = list(range(step.decoding)), list(range(step.decoding))
        scored: list[tuple[Prefill, int]] = []
        for part in step.prefills:
            sequence, end = self._rows.sequences[part.row], part.offset + part.length
            if sequence.sampling.prompt_logprobs:
                scored.append((part, len(kept)))
                kept += range(part.offset, end)
            elif part.start + part.length == len(sequence.tokens):
                kept.append(end - 1)
            if part.start + part.length == len(sequence.tokens):
                last.append(len(kept) - 1)
        padding = self._shape.padded(len(kept)) - len(kept)
        logits_KV = weights.logits(step, ids_N, kept + [0] * padding)[: len(kept)]
        for part, first in scored:
            self._score(part, logits_KV[first : first + part.length])
        for row, sequence in enumerate(self._rows.sequences):
            prompt = step.prefills[row - step.decoding] if row >= step.decoding else None
            sequence.computed = (
                len(sequence.tokens) if prompt is None else prompt.start + prompt.length
            )
        return logits_KV if len(last) == len(kept) else logits_KV[last]

    def _score(self, part: Prefill, logits_TV: Tensor) -> None:
        """Log-probs, at temperature 1, of the prompt's tokens that follow a part of it."""
        sequence, first = self._rows.sequences[part.row], part.start + 1
        following = sequence.tokens[first : first + part.length]
        following_T1 = torch.tensor(following, dtype=torch.long)[:, None]
        logprobs_TV = torch.log_softmax(logits_TV[: len(following)].float(), dim=-1)
        found = sequence.prompt_logprobs or [None]
        sequence.prompt_logprobs = [*found, *logprobs_TV.gather(1, following_T1)[:, 0].tolist()]

    def _sample(self, logits_BV: Tensor) -> None:
        rows = self._rows.sequences[: len(logits_BV)]
        if not rows:  # a step that computed nothing but a part of a prompt
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
                self._updates.append(Update(sequence, sequence.sampled, None))


def _still_to_come(live: Sequence, sequence: Sequence) -> int:
    """Tokens that a running row will share with a prompt and has not computed yet."""
    return (
        min(shared_length(live.tokens, sequence.tokens), len(sequence.tokens) - 1) - live.computed
    )
