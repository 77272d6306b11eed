"""One iteration of continuous batching is one `advance()` (Yu et al., Orca, OSDI 2022)."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from workers.engines.cpu.batching.sequence import (
    BLOCK,
    CachedPrefix,
    FairQueue,
    FinishReason,
    PrefixStore,
    Sequence,
    SequenceUpdate,
    block_keys,
    shared_length,
)
from workers.engines.cpu.models.attention import FEWEST_ROWS, KV_POOL_BYTES, KvPool, Prefill, Step
from workers.engines.cpu.models.decoder import Weights
from workers.engines.cpu.models.versions import Version

Words = np.ndarray[tuple[int], np.dtype[np.uint64]]
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX_1: Final = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2: Final = np.uint64(0x94D049BB133111EB)


GREEDY_BELOW: Final = 1e-5
"""Smaller temperatures count as 0, as in vLLM: dividing logits by them would overflow."""
_BLOCK: Final = 128
"""Tokens per block of the two-level search in the cumulative distribution."""


@dataclass(frozen=True, slots=True)
class SampledTokens:
    token_ids: list[int]
    logprobs: list[float]
    _shifted_BV: Tensor
    _log_totals_B: Tensor

    def best(self, row: int, count: int) -> dict[int, float]:
        top = self._shifted_BV[row].topk(min(count, self._shifted_BV.shape[1]))
        logprobs = (top.values.double() - self._log_totals_B[row]).tolist()
        pairs = zip(top.indices.tolist(), logprobs, strict=True)
        return {token: logprob for token, logprob in pairs if logprob > -math.inf}


def uniforms(
    seeds: list[int], positions: list[int]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """In (0, 1), of 53 bits, by two rounds of SplitMix64 (Steele et al., OOPSLA 2014)."""
    with np.errstate(over="ignore"):
        seed_B = np.array(seeds, dtype=np.uint64)
        state_B = _split_mix(seed_B) + np.array(positions, dtype=np.uint64)
        bits_B = _split_mix(state_B) >> np.uint64(11)
    return (bits_B.astype(np.float64) + 0.5) * 2.0**-53


def _split_mix(state_B: Words) -> Words:
    state_B = state_B + _GOLDEN
    state_B = (state_B ^ (state_B >> np.uint64(30))) * _MIX_1
    state_B = (state_B ^ (state_B >> np.uint64(27))) * _MIX_2
    mixed_B: Words = state_B ^ (state_B >> np.uint64(31))
    return mixed_B


def draw(
    logits_BV: Tensor,
    *,
    temperatures: list[float],
    top_ps: list[float],
    seeds: list[int],
    positions: list[int],
) -> SampledTokens:
    """Draws one token per row; below `GREEDY_BELOW` the likeliest, log-probs at temperature 1."""
    scaled_BV = logits_BV.float()
    greedy = [row for row, temperature in enumerate(temperatures) if temperature < GREEDY_BELOW]
    if any(temperature not in {0, 1} for temperature in temperatures):
        divisors = [1.0 if t < GREEDY_BELOW else t for t in temperatures]
        scaled_BV = scaled_BV / torch.tensor(divisors)[:, None]
    nucleus_rows = [
        row
        for row, (top_p, t) in enumerate(zip(top_ps, temperatures, strict=True))
        if top_p < 1 and t >= GREEDY_BELOW
    ]
    if nucleus_rows:
        top_p_B = torch.tensor([top_ps[row] for row in nucleus_rows])
        scaled_BV = scaled_BV.clone() if scaled_BV is logits_BV else scaled_BV
        scaled_BV[nucleus_rows] = _nucleus(scaled_BV[nucleus_rows], top_p_B)
    shifted_BV = scaled_BV - scaled_BV.amax(dim=-1, keepdim=True)
    mass_BV = shifted_BV.exp()
    sums_BK = _block_sums(mass_BV)
    ids_B1 = _invert(mass_BV, sums_BK, torch.from_numpy(uniforms(seeds, positions))[:, None])
    if greedy:
        ids_B1[greedy] = logits_BV[greedy].argmax(dim=-1, keepdim=True)
    log_totals_B = sums_BK[:, -1].log()
    chosen_B = shifted_BV.gather(1, ids_B1)[:, 0] - log_totals_B
    return SampledTokens(ids_B1[:, 0].tolist(), chosen_B.tolist(), shifted_BV, log_totals_B)


def _block_sums(mass_BV: Tensor) -> Tensor:
    padded_BV = F.pad(mass_BV, (0, -mass_BV.shape[1] % _BLOCK))
    blocks_BKT = padded_BV.view(len(mass_BV), -1, _BLOCK)
    return blocks_BKT.sum(dim=-1, dtype=torch.float64).cumsum(dim=-1)


def _invert(mass_BV: Tensor, sums_BK: Tensor, uniforms_B1: Tensor) -> Tensor:
    """Returns ids_B1: the first token whose cumulative mass exceeds that share of all."""
    thresholds_B1 = uniforms_B1 * sums_BK[:, -1:]
    blocks_B1 = torch.searchsorted(sums_BK, thresholds_B1, right=True)
    before_B1 = F.pad(sums_BK, (1, 0)).gather(1, blocks_B1)
    ids_BT = blocks_B1 * _BLOCK + torch.arange(_BLOCK)
    inside_BT = mass_BV.gather(1, ids_BT.clamp_(max=mass_BV.shape[1] - 1)).double()
    cumulative_BT = inside_BT.cumsum(dim=-1)
    # The sum of the block may be rounded differently: its last token with mass bounds the search.
    last_B1 = (inside_BT > 0).double().mul_(torch.arange(1, _BLOCK + 1)).argmax(dim=-1)[:, None]
    inner_B1 = torch.searchsorted(cumulative_BT, thresholds_B1 - before_B1, right=True)
    return ids_BT.gather(1, torch.minimum(inner_B1, last_B1))


def _nucleus(scaled_BV: Tensor, top_p_B: Tensor) -> Tensor:
    sorted_BV, order_BV = scaled_BV.sort(dim=-1, descending=True)
    before_BV = sorted_BV.softmax(dim=-1).cumsum(dim=-1) - sorted_BV.softmax(dim=-1)
    sorted_BV = sorted_BV.masked_fill(before_BV >= top_p_B[:, None], float("-inf"))
    return torch.full_like(scaled_BV, float("-inf")).scatter(1, order_BV, sorted_BV)


PREFILL_TOKENS: Final = 512
"""Limit of prompt tokens per iteration: longer prompts take several, between which rows advance."""


@dataclass(frozen=True, slots=True)
class StepLimit:
    prompt_tokens: int = PREFILL_TOKENS
    rows: int | None = None


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
        """Assigns the next row, or the last, whose sequence moves on. `live` shares a prefix."""
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
        """The last row moves into each free one; a prompt computed in part stays last."""
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


ALONE_TOKENS: Final = 128
"""Limit of prompt tokens of an iteration that computes newcomers alone."""
ALONE_STEPS: Final = 2
BUSY_ROWS: Final = 4
"""Rows from which newcomers may be computed alone: fewer hardly add to the time of an iteration."""
_NONE: Final = range(0)
IDLE_KV_POOL_BYTES: Final = 64 << 20
"""Byte limit for the KV pool that an idle batch retains for its next sequences."""


@dataclass(frozen=True, slots=True)
class _Admission:
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
        for sequence in (*self._rows.sequences, *self._waiting):
            if sequence.finish_reason is None:
                self._end(sequence, "error")
        self._rows.clear()
        self._waiting.keep(())
        return self._take_updates()

    def advance(self, weights: Weights, limit: StepLimit = WHOLE) -> list[SequenceUpdate]:
        """Computes one iteration. After an exception, call `abandon` to end every sequence."""
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
        """Newcomers with less than their share of a busy batch are computed alone."""
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
        """In order, while each at its largest fits the KV pool's limit; at least one runs."""
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
        if not self._rows.unfinished:
            return 0
        last = self._rows.sequences[-1]
        return len(last.tokens) - last.computed_tokens

    def _below_share(self, sequence: Sequence, owners: Counter[str]) -> bool:
        """True for a short prompt whose owner has less than its share of a busy batch."""
        rows = owners.total()
        busy = rows >= BUSY_ROWS or self._rows.unfinished
        short = len(sequence.tokens) <= ALONE_TOKENS
        sharing = len(owners.keys() | {sequence.owner})
        return bool(busy) and short and owners[sequence.owner] * sharing < rows

    def _forward(
        self, weights: Weights, step: Step, ids: list[int]
    ) -> tuple[list[Sequence], Tensor]:
        """Returns the sequences that get a token with logits_BV; stores requested log-probs."""
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
    return (
        min(shared_length(live.tokens, sequence.tokens), len(sequence.tokens) - 1)
        - live.computed_tokens
    )
