"""The running batch of one model version.

Owns the version's arena and which row belongs to whom. One `advance()` is one iteration of
continuous batching (Yu et al., Orca, OSDI 2022): new prompts join, every running row gets one
token, finished rows leave. Must not know threads, HTTP or other versions.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from workers.engines.cpu.arena import KvArena
from workers.engines.cpu.attention import FEWEST_ROWS, Prefill, Step
from workers.engines.cpu.prefixes import (
    BLOCK,
    KeptPrefix,
    PrefixStore,
    block_keys,
    shared_length,
)
from workers.engines.cpu.sampling import draw
from workers.engines.cpu.sequence import Sequence, Update
from workers.engines.cpu.versions import Version
from workers.engines.cpu.weights import Weights

PREFILL_TOKENS: Final = 512
"""New prompt tokens in one iteration: longer prompts take several, so that running rows move."""
IDLE_ARENA_BYTES: Final = 64 << 20
"""What a lane without work keeps, for the next turns of its rollouts."""


@dataclass(frozen=True, slots=True)
class LaneShape:
    max_rows: int = 128
    threads: int = 1
    invariant: bool = True

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


class Lane:
    def __init__(self, version: Version, prefixes: PrefixStore, shape: LaneShape) -> None:
        self.version = version
        self._prefixes = prefixes
        self._shape = shape
        self._arena = KvArena(version.base.kv_shape)
        self._rows: list[Sequence] = []
        self._waiting: deque[Sequence] = deque()
        self._by_block: dict[int, Sequence] = {}

    @property
    def idle(self) -> bool:
        return not self._rows and not self._waiting

    def add(self, sequence: Sequence) -> None:
        sequence.block_keys = block_keys(
            self.version.number, sequence.tokens, sequence.sampling.cache_salt
        )
        self._waiting.append(sequence)

    def abandon(self) -> list[Update]:
        """Give up on everything after a fault."""
        lost = [*self._rows, *self._waiting]
        for sequence in lost:
            sequence.finish_reason = "error"
        self._rows.clear()
        self._waiting.clear()
        self._by_block.clear()
        self._arena.release()
        return [Update(sequence, sequence.sampled, "error") for sequence in lost]

    def advance(self, weights: Weights) -> list[Update]:
        """One iteration. Returns what streamed and ended sequences have to tell."""
        updates = self._drop_cancelled()
        running = len(self._rows) - self._unfinished()
        self._admit()
        if self._rows:
            step, ids_N = self._step(running, weights.query_heads)
            logits_BV = self._forward(weights, step, ids_N)
            updates += self._sample(logits_BV)
            self._leave()
        if self.idle and self._arena.bytes > IDLE_ARENA_BYTES:
            self._arena.release()
        return updates

    def _unfinished(self) -> int:
        """1 if the last row's prompt is computed in part, else 0: no other row's ever is."""
        return int(bool(self._rows) and self._rows[-1].computed < len(self._rows[-1].tokens) - 1)

    def _drop_cancelled(self) -> list[Update]:
        gone = [s for s in (*self._rows, *self._waiting) if s.cancelled]
        if gone:
            for sequence in gone:
                sequence.finish_reason = "cancelled"
            self._waiting = deque(s for s in self._waiting if not s.cancelled)
            self._leave()
        return [Update(sequence, sequence.sampled, "cancelled") for sequence in gone]

    def _admit(self) -> None:
        """Give waiting prompts rows, with what they share with known ones already filled in."""
        left = PREFILL_TOKENS
        if self._unfinished():
            left -= len(self._rows[-1].tokens) - self._rows[-1].computed
        siblings: list[Sequence] = []
        while self._waiting and len(self._rows) < self._shape.max_rows and left > 0:
            sequence = self._waiting.popleft()
            live = self._live_prefix(sequence)
            if live is not None and _still_to_come(live, sequence) >= BLOCK:
                siblings.append(sequence)  # copied once it is computed
                continue
            self._join(sequence, live)
            left -= len(sequence.tokens) - sequence.computed
        self._waiting.extendleft(reversed(siblings))

    def _live_prefix(self, sequence: Sequence) -> Sequence | None:
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

    def _join(self, sequence: Sequence, live: Sequence | None) -> None:
        row, last = len(self._rows), len(sequence.tokens) - 1
        self._arena.reserve(rows=row + 1, length=last + 1)
        kept = None
        if not sequence.sampling.prompt_logprobs:
            owner = (self.version.number, sequence.sampling.cache_salt)
            kept = self._prefixes.find(owner, sequence.tokens, sequence.block_keys)
        from_kept = min(shared_length(kept.tokens, sequence.tokens), last) if kept else 0
        from_live = min(shared_length(live.tokens, sequence.tokens), last) if live else 0
        if live is not None and from_live >= from_kept:
            sequence.computed = min(from_live, live.computed)
            self._arena.copy(self._rows.index(live), row, sequence.computed)
        elif kept is not None:
            sequence.computed = from_kept
            self._arena.write(row, kept.kv_PLHTD[:, :, :, :from_kept])
        sequence.reused = sequence.computed
        self._rows.append(sequence)
        for key in sequence.block_keys:
            self._by_block.setdefault(key, sequence)

    def _step(self, running: int, query_heads: int) -> tuple[Step, Tensor]:
        """The packed step: one token of each running row, then of each prompt what fits."""
        rows, positions = list(range(running)), [s.computed for s in self._rows[:running]]
        ids = [sequence.tokens[-1] for sequence in self._rows[:running]]
        prefills, left = [], PREFILL_TOKENS
        for row, sequence in enumerate(self._rows[running:], start=running):
            start = sequence.computed
            end = min(len(sequence.tokens), start + left)
            left -= end - start
            prefills.append(Prefill(row, start, len(ids), end - start))
            ids += sequence.tokens[start:end]
            rows += [row] * (end - start)
            positions += range(start, end)
        self._arena.reserve(rows=len(self._rows), length=max(positions) + 1)
        step = Step(
            self._arena,
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
            sequence, end = self._rows[part.row], part.offset + part.length
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
        for row, sequence in enumerate(self._rows):
            prompt = step.prefills[row - step.decoding] if row >= step.decoding else None
            sequence.computed = (
                len(sequence.tokens) if prompt is None else prompt.start + prompt.length
            )
        return logits_KV if len(last) == len(kept) else logits_KV[last]

    def _score(self, part: Prefill, logits_TV: Tensor) -> None:
        """Log-probs, at temperature 1, of the prompt's tokens that follow a part of it."""
        sequence, first = self._rows[part.row], part.start + 1
        following = sequence.tokens[first : first + part.length]
        following_T1 = torch.tensor(following, dtype=torch.long)[:, None]
        logprobs_TV = torch.log_softmax(logits_TV[: len(following)].float(), dim=-1)
        found = sequence.prompt_logprobs or [None]
        sequence.prompt_logprobs = [*found, *logprobs_TV.gather(1, following_T1)[:, 0].tolist()]

    def _sample(self, logits_BV: Tensor) -> list[Update]:
        rows = self._rows[: len(logits_BV)]
        if not rows:  # a step that computed nothing but a part of a prompt
            return []
        samplings = [sequence.sampling for sequence in rows]
        draws = draw(
            logits_BV,
            temperatures=[sampling.temperature for sampling in samplings],
            top_ps=[sampling.top_p for sampling in samplings],
            seeds=[sampling.seed for sampling in samplings],
            positions=[sequence.sampled for sequence in rows],
        )
        updates = []
        for row, sequence in enumerate(rows):
            token = draws.token_ids[row]
            sequence.tokens.append(token)
            sequence.logprobs.append(draws.logprobs[row])
            if samplings[row].top_logprobs:
                sequence.top_logprobs.append(draws.best(row, samplings[row].top_logprobs))
            if token in samplings[row].stop_token_ids:
                sequence.finish_reason = "stop"
            elif sequence.sampled >= samplings[row].max_tokens:
                sequence.finish_reason = "length"
            if sequence.streamed or sequence.finish_reason is not None:
                updates.append(Update(sequence, sequence.sampled, sequence.finish_reason))
        return updates

    def _leave(self) -> None:
        """Free the rows of ended sequences; the last row moves into each hole. A prompt computed in
        part stays behind all others.
        """
        before = len(self._rows)
        tail = self._rows.pop() if self._unfinished() else None
        row = 0
        while row < len(self._rows):
            sequence = self._rows[row]
            if sequence.finish_reason is None:
                row += 1
                continue
            self._keep(row, sequence)
            last = self._rows.pop()
            if last is not sequence:
                self._arena.copy(len(self._rows), row, last.computed)
                self._rows[row] = last
        if tail is not None:
            self._move_tail(tail, before - 1)

    def _move_tail(self, tail: Sequence, row: int) -> None:
        if tail.finish_reason is not None:
            self._keep(row, tail)
            return
        if row != len(self._rows):
            self._arena.copy(row, len(self._rows), tail.computed)
        self._rows.append(tail)

    def _keep(self, row: int, sequence: Sequence) -> None:
        self._forget_blocks(sequence)
        if self.version.loaded and sequence.computed >= BLOCK:
            tokens = sequence.tokens[: sequence.computed]
            kv_PLHTD = self._arena.read(row, sequence.computed)
            owner = (self.version.number, sequence.sampling.cache_salt)
            self._prefixes.keep(KeptPrefix(owner, tokens, kv_PLHTD))

    def _forget_blocks(self, sequence: Sequence) -> None:
        for key in sequence.block_keys:
            if self._by_block.get(key) is sequence:
                del self._by_block[key]


def _still_to_come(live: Sequence, sequence: Sequence) -> int:
    """Tokens that a running row will share with a prompt and has not computed yet."""
    return (
        min(shared_length(live.tokens, sequence.tokens), len(sequence.tokens) - 1) - live.computed
    )
