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

PREFILL_TOKENS: Final = 2048
"""New prompt tokens in one iteration (at least one prompt), so that running rows keep moving."""


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
        sequence.block_keys = block_keys(self.version.number, sequence.tokens)
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

    def release_memory(self) -> None:
        self._arena.release()

    def advance(self, weights: Weights) -> list[Update]:
        """One iteration. Returns what streamed and ended sequences have to tell."""
        updates = self._drop_cancelled()
        running = len(self._rows)
        self._admit()
        if not self._rows:
            return updates
        step, ids_N = self._step(running, weights.query_heads)
        logits_BV = self._forward(weights, step, ids_N)
        for sequence in self._rows:
            sequence.computed = len(sequence.tokens)
        updates += self._sample(logits_BV)
        self._leave()
        return updates

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
        running, fresh = len(self._rows), 0
        siblings: list[Sequence] = []
        while self._waiting and len(self._rows) < self._shape.max_rows:
            sequence = self._waiting.popleft()
            live = self._live_prefix(sequence)
            if live is not None and live.computed == 0:
                siblings.append(
                    sequence
                )  # its prompt is computed now; copied in the next iteration
                continue
            self._join(sequence, live)
            fresh += len(sequence.tokens) - sequence.computed
            if fresh > PREFILL_TOKENS and len(self._rows) > running + 1:
                self._part(sequence)
                break
        self._waiting.extendleft(reversed(siblings))

    def _part(self, sequence: Sequence) -> None:
        """Take back the row that passed the iteration's budget."""
        self._rows.pop()
        self._forget_blocks(sequence)
        sequence.computed = 0
        self._waiting.appendleft(sequence)

    def _live_prefix(self, sequence: Sequence) -> Sequence | None:
        if sequence.sampling.prompt_logprobs:
            return None
        for key in reversed(sequence.block_keys):
            live = self._by_block.get(key)
            if live is not None and shared_length(live.tokens, sequence.tokens) >= BLOCK:
                return live
        return None

    def _join(self, sequence: Sequence, live: Sequence | None) -> None:
        row, last = len(self._rows), len(sequence.tokens) - 1
        self._arena.reserve(rows=row + 1, length=last + 1)
        kept = None
        if not sequence.sampling.prompt_logprobs:
            kept = self._prefixes.find(self.version.number, sequence.tokens, sequence.block_keys)
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
        """The packed step: one token of each running row, then the rest of each new prompt."""
        rows, positions = list(range(running)), [s.computed for s in self._rows[:running]]
        ids = [sequence.tokens[-1] for sequence in self._rows[:running]]
        prefills = []
        for row, sequence in enumerate(self._rows[running:], start=running):
            start, end = sequence.computed, len(sequence.tokens)
            prefills.append(Prefill(row, start, len(ids), end - start))
            ids += sequence.tokens[start:]
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
        """logits_BV at each row's last token; prompts' own log-probs are noted on the way."""
        kept, last = list(range(step.decoding)), list(range(step.decoding))
        wanted: list[tuple[Sequence, int]] = []
        for part in step.prefills:
            sequence = self._rows[part.row]
            first = part.offset + part.length - 1
            if sequence.sampling.prompt_logprobs:
                wanted.append((sequence, len(kept)))
                first = part.offset
            kept += range(first, part.offset + part.length)
            last.append(len(kept) - 1)
        padding = self._shape.padded(len(kept)) - len(kept)
        logits_KV = weights.logits(step, ids_N, kept + [0] * padding)[: len(kept)]
        for sequence, begin in wanted:
            sequence.prompt_logprobs = _prompt_logprobs(logits_KV[begin:], sequence.tokens)
        return logits_KV[last] if wanted else logits_KV

    def _sample(self, logits_BV: Tensor) -> list[Update]:
        samplings = [sequence.sampling for sequence in self._rows]
        draws = draw(
            logits_BV,
            temperatures=[sampling.temperature for sampling in samplings],
            top_ps=[sampling.top_p for sampling in samplings],
            seeds=[sampling.seed for sampling in samplings],
            positions=[sequence.sampled for sequence in self._rows],
        )
        updates = []
        for row, sequence in enumerate(self._rows):
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
        """Free the rows of ended sequences; the last row moves into each hole."""
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

    def _keep(self, row: int, sequence: Sequence) -> None:
        self._forget_blocks(sequence)
        if self.version.loaded and sequence.computed >= BLOCK:
            tokens = sequence.tokens[: sequence.computed]
            kv_PLHTD = self._arena.read(row, sequence.computed)
            self._prefixes.keep(KeptPrefix(self.version.number, tokens, kv_PLHTD))

    def _forget_blocks(self, sequence: Sequence) -> None:
        for key in sequence.block_keys:
            if self._by_block.get(key) is sequence:
                del self._by_block[key]


def _prompt_logprobs(logits_TV: Tensor, tokens: list[int]) -> list[float | None]:
    """Log-prob, at temperature 1, of each token but the first given those before it."""
    following_T = torch.tensor(tokens[1:], dtype=torch.long)
    logprobs_TV = torch.log_softmax(logits_TV[: len(following_T)].float(), dim=-1)
    return [None, *logprobs_TV.gather(1, following_T[:, None])[:, 0].tolist()]
