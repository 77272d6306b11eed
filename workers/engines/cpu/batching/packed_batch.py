"""The part of a batch's work that one forward pass computes, and how it is packed."""

from dataclasses import dataclass
from typing import Final

import torch

from workers.engines.cpu.batching.sequence import (
    BLOCK,
    CachedPrefix,
    PrefixStore,
    Sequence,
    shared_length,
)
from workers.engines.cpu.models.attention import KvPool, Prefill, Step
from workers.engines.cpu.models.versions import Version

PREFILL_TOKENS: Final = 512
"""Limit of prompt tokens per iteration: longer prompts take several, between which rows advance."""


@dataclass(frozen=True, slots=True)
class StepLimit:
    """The most work of one forward pass."""

    prompt_tokens: int = PREFILL_TOKENS
    rows: int | None = None
    """The most running rows, which then alternate, and not beside prompts; `None`: all of them."""


WHOLE: Final = StepLimit()


@dataclass(frozen=True, slots=True)
class BatchPart:
    rows: range
    prompts: range
    """Rows whose prompts are computed, up to a limit of tokens; they come after all others."""

    def __bool__(self) -> bool:
        return bool(self.rows) or bool(self.prompts)


def packed_batch(
    part: BatchPart,
    sequences: list[Sequence],
    kv_pool: KvPool,
    *,
    prompt_tokens: int,
    query_heads: int,
    invariant: bool,
) -> tuple[Step, list[int]]:
    """Returns the forward pass of a part and the ids of its tokens. `sequences`: of all rows."""
    rows = list(part.rows)
    positions = [sequences[row].computed_tokens for row in part.rows]
    ids = [sequences[row].tokens[-1] for row in part.rows]
    prefills, budget = [], prompt_tokens
    for row in part.prompts:
        sequence = sequences[row]
        start = sequence.computed_tokens
        end = min(len(sequence.tokens), start + budget)
        budget -= end - start
        prefills.append(Prefill(row, start, len(ids), end - start))
        ids += sequence.tokens[start:end]
        rows += [row] * (end - start)
        positions += range(start, end)
    step = Step(
        kv_pool,
        decoding=part.rows,
        prefills=prefills,
        rows_N=torch.tensor(rows),
        positions=positions,
        positions_N=torch.tensor(positions),
        query_heads=query_heads,
        invariant=invariant,
    )
    return step, ids


class BatchRows:
    def __init__(self, version: Version, prefixes: PrefixStore, kv_pool: KvPool) -> None:
        self.sequences: list[Sequence] = []
        """Sequences in order of their rows."""
        self.kv_pool = kv_pool
        self._version = version
        self._prefixes = prefixes
        self._by_block: dict[int, Sequence] = {}

    def __len__(self) -> int:
        return len(self.sequences)

    @property
    def unfinished(self) -> int:
        """1 if the last row's prompt is computed in part, otherwise 0; no other row's can be."""
        if not self.sequences:
            return 0
        last = self.sequences[-1]
        return int(last.computed_tokens < len(last.tokens) - 1)

    @property
    def longest(self) -> int:
        return max((sequence.longest for sequence in self.sequences), default=0)

    def live_prefix(self, sequence: Sequence) -> Sequence | None:
        if sequence.sampling.prompt_logprobs:
            return None
        for key in reversed(sequence.block_keys):
            live = self._by_block.get(key)
            if (
                live is not None
                and live.sampling.cache_salt == sequence.sampling.cache_salt
                and shared_length(live.tokens, sequence.tokens) >= BLOCK
            ):
                return live
        return None

    def join(self, sequence: Sequence, live: Sequence | None, row: int) -> None:
        """Assigns a row to a sequence: the next one, or the last one, whose sequence then moves to
        the next. `live` is a running one with a shared prefix.
        """
        last = len(sequence.tokens) - 1
        self.reserve(len(self) + 1, len(sequence.tokens))
        if row < len(self):
            self.kv_pool.copy(row, row + 1, self.sequences[row].computed_tokens)
        cached = None
        if not sequence.sampling.prompt_logprobs:
            owner = (self._version.number, sequence.sampling.cache_salt)
            cached = self._prefixes.find(owner, sequence.tokens, sequence.block_keys)
        cached_length = min(shared_length(cached.tokens, sequence.tokens), last) if cached else 0
        live_length = min(shared_length(live.tokens, sequence.tokens), last) if live else 0
        if live is not None and live_length >= cached_length:
            sequence.computed_tokens = min(live_length, live.computed_tokens)
            source = self.sequences.index(live)
            source += int(source >= row)  # it has just moved
            self.kv_pool.copy(source, row, sequence.computed_tokens)
        elif cached is not None:
            sequence.computed_tokens = cached_length
            self.kv_pool.write(row, cached.kv_PLHTD[:, :, :, :cached_length])
        sequence.reused = sequence.computed_tokens
        self.sequences.insert(row, sequence)
        for key in sequence.block_keys:
            self._by_block.setdefault(key, sequence)

    def reserve(self, rows: int, length: int = 0) -> None:
        """Allocates `rows` rows for the tokens of every running sequence and at least `length`."""
        longest = max((len(sequence.tokens) for sequence in self.sequences), default=0)
        self.kv_pool.reserve(rows=rows, length=max(longest, length))

    def leave(self) -> None:
        """Frees the rows of ended sequences; the last row moves into each free one. A prompt
        computed in part stays in the last row.
        """
        rows, tail_row = self.sequences, len(self) - 1
        partial = self.unfinished
        end, row = len(rows) - partial, 0
        while row < end:
            if rows[row].finish_reason is None:
                row += 1
                continue
            self._cache_prefix(row, rows[row])
            end -= 1
            if row != end:
                self.kv_pool.copy(end, row, rows[end].computed_tokens)
                rows[row] = rows[end]
            del rows[end]
        if partial:
            self._move_tail(tail_row)

    def clear(self) -> None:
        self.sequences.clear()
        self._by_block.clear()
        self.kv_pool.release()

    def _move_tail(self, row: int) -> None:
        """Moves the partly computed prompt from `row` to directly after the remaining rows."""
        tail = self.sequences[-1]
        if tail.finish_reason is not None:
            self._cache_prefix(row, tail)
            self.sequences.pop()
        elif row != len(self) - 1:
            self.kv_pool.copy(row, len(self) - 1, tail.computed_tokens)

    def _cache_prefix(self, row: int, sequence: Sequence) -> None:
        for key in sequence.block_keys:
            if self._by_block.get(key) is sequence:
                del self._by_block[key]
        if self._version.loaded and sequence.computed_tokens >= BLOCK:
            tokens = sequence.tokens[: sequence.computed_tokens]
            kv_PLHTD = self.kv_pool.read(row, sequence.computed_tokens)
            owner = (self._version.number, sequence.sampling.cache_salt)
            self._prefixes.add(CachedPrefix(owner, tokens, kv_PLHTD))
