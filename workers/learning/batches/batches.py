"""Packs samples into micro-batches.

Owns the model's inputs. Promises: no padding; the common prefix of one prompt's rows is computed
once; tokens after the last trained one are cut, since no trained token depends on them; samples
with advantage 0 are not computed unless requested; targets are shifted in this module only.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Self

import torch
from torch import Tensor

from workers.learning.batches.layout import Layout, PrefixTree, unshared_layout
from workers.learning.training_samples import TrainingSample


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """M input tokens, packed as `layout` describes, and the N trained tokens of their rows.

    `positions_N` are indices into the M tokens whose output predicts `targets_N`, that is, one
    before the target's own position in its row.
    """

    ids_M: Tensor
    layout: Layout
    positions_N: Tensor
    targets_N: Tensor
    sampler_logprobs_N: Tensor
    advantages_N: Tensor
    rows_N: Tensor
    """Row number of each trained token, counted from 0 over all trees."""
    sources: tuple[int, ...]
    """Index of each row's sample in the input."""

    def to(self, device: torch.device) -> Self:
        return type(self)(
            self.ids_M.to(device),
            self.layout,
            self.positions_N.to(device),
            self.targets_N.to(device),
            self.sampler_logprobs_N.to(device),
            self.advantages_N.to(device),
            self.rows_N.to(device),
            self.sources,
        )


def one_band(length: int) -> int:
    """Returns the band of every row of a model that computes rows of all lengths together."""
    del length
    return 0


def micro_batches(
    samples: Sequence[TrainingSample],
    *,
    max_tokens: int,
    rows_per_example: int = 1,
    share: bool = True,
    keep_zero_advantage: bool = False,
    band: Callable[[int], int] = one_band,
) -> list[MicroBatch]:
    """Packs rows in order of length into micro-batches of up to `max_tokens` tokens; a longer row
    gets its own micro-batch. The `rows_per_example` adjacent samples of an example stay together,
    in their order. With `share`, rows of one prompt are packed together and contain it once;
    without it, tokens are counted as if rows were padded to the longest. With
    `keep_zero_advantage`, samples with advantage 0 are packed too. Examples whose longest rows are
    of different bands share no micro-batch. The sort is stable, so the same samples always give the
    same batches.
    """
    rows = [_Row.of(source, sample) for source, sample in enumerate(samples)]
    examples = [
        _Example.of(rows[start : start + rows_per_example])
        for start in range(0, len(rows), rows_per_example)
    ]
    examples = [e for e in examples if e.has_gradient(keep_zero_advantage=keep_zero_advantage)]
    examples.sort(key=lambda example: example.width)
    return [
        batch
        for _, part in groupby(examples, key=lambda example: band(example.width))
        for batch in _packed(list(part), max_tokens, share=share)
    ]


def _packed(examples: list["_Example"], max_tokens: int, *, share: bool) -> list[MicroBatch]:
    if not share:
        return [
            _collate([_Rows.without_sharing(part)]) for part in _padded_parts(examples, max_tokens)
        ]
    batches: list[list[_Rows]] = []
    tokens_left = 0
    for packed in _shared(examples, max_tokens):
        if packed.layout.tokens > tokens_left:
            batches.append([])
            tokens_left = max_tokens
        batches[-1].append(packed)
        tokens_left -= packed.layout.tokens
    return [_collate(batch) for batch in batches]


@dataclass(frozen=True, slots=True)
class _Row:
    source: int
    sample: TrainingSample
    length: int
    """Number of inputs up to the one that predicts the last trained token; 0 if none is trained."""

    @classmethod
    def of(cls, source: int, sample: TrainingSample) -> Self:
        positions = [position for position, trained in enumerate(sample.mask) if trained]
        return cls(source, sample, positions[-1] if positions else 0)


@dataclass(frozen=True, slots=True)
class _Example:
    rows: tuple[_Row, ...]
    prompt: tuple[int, ...] | None
    """Tokens before the first trained one, if they are equal in all rows."""

    @classmethod
    def of(cls, rows: Sequence[_Row]) -> Self:
        prompts = {_prompt(row.sample) for row in rows}
        return cls(tuple(rows), prompts.pop() if len(prompts) == 1 else None)

    @property
    def width(self) -> int:
        return max(row.length for row in self.rows)

    def has_gradient(self, *, keep_zero_advantage: bool) -> bool:
        return any(
            row.length > 0 and (keep_zero_advantage or not row.sample.has_zero_advantage)
            for row in self.rows
        )


def _prompt(sample: TrainingSample) -> tuple[int, ...] | None:
    first = next((position for position, trained in enumerate(sample.mask) if trained), None)
    return None if first is None else tuple(sample.tokens[:first])


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of a micro-batch, or of a part of one, in order, and their layout."""

    layout: Layout
    rows: tuple[_Row, ...]

    @classmethod
    def without_sharing(cls, examples: Sequence[_Example]) -> Self:
        rows = tuple(row for example in examples for row in example.rows)
        return cls(unshared_layout([row.length for row in rows]), rows)

    @classmethod
    def sharing(cls, examples: Sequence[_Example], prefix: int) -> Self:
        rows = tuple(row for example in examples for row in example.rows)
        if len(rows) == 1:
            return cls.without_sharing(examples)
        branches = tuple(row.length - prefix for row in rows)
        return cls(Layout((PrefixTree(prefix, branches),)), rows)


def _shared(examples: Sequence[_Example], max_tokens: int) -> list[_Rows]:
    """Packs the examples of each prompt together, up to `max_tokens` tokens at a time."""
    by_prompt: dict[object, list[_Example]] = {}
    for number, example in enumerate(examples):
        by_prompt.setdefault(number if example.prompt is None else example.prompt, []).append(
            example
        )
    packed = []
    for members in by_prompt.values():
        if members[0].prompt is None:
            packed.append(_Rows.without_sharing(members))
            continue
        prefix = len(members[0].prompt)
        start, total = 0, prefix
        for end, example in enumerate(members):
            own = sum(row.length - prefix for row in example.rows)
            if end > start and total + own > max_tokens:
                packed.append(_Rows.sharing(members[start:end], prefix))
                start, total = end, prefix
            total += own
        packed.append(_Rows.sharing(members[start:], prefix))
    return packed


def _padded_parts(examples: Sequence[_Example], max_tokens: int) -> list[Sequence[_Example]]:
    parts = []
    start = rows = 0
    for end, example in enumerate(examples):
        if end > start and (rows + len(example.rows)) * example.width > max_tokens:
            parts.append(examples[start:end])
            start, rows = end, 0
        rows += len(example.rows)
    return [*parts, examples[start:]] if examples else []


def _collate(parts: Sequence[_Rows]) -> MicroBatch:
    layout = Layout(tuple(tree for part in parts for tree in part.layout.trees))
    ids = [0] * layout.tokens
    positions: list[int] = []
    targets: list[int] = []
    logprobs: list[float] = []
    advantages: list[float] = []
    row_numbers: list[int] = []
    rows = [row for part in parts for row in part.rows]
    for number, (row, (prefix, own)) in enumerate(zip(rows, layout.spans(), strict=True)):
        length, sample = row.length, row.sample
        indices = [*prefix, *own]
        ids[prefix.start : prefix.stop] = sample.tokens[: len(prefix)]
        ids[own.start : own.stop] = sample.tokens[len(prefix) : length]
        trained = [position for position in range(1, length + 1) if sample.mask[position]]
        positions.extend(indices[position - 1] for position in trained)
        targets.extend(sample.tokens[position] for position in trained)
        logprobs.extend(sample.logprobs[position] for position in trained)
        advantages.extend(sample.advantage_of(position) for position in trained)
        row_numbers.extend([number] * len(trained))
    return MicroBatch(
        ids_M=torch.tensor(ids, dtype=torch.long),
        layout=layout,
        positions_N=torch.tensor(positions, dtype=torch.long),
        targets_N=torch.tensor(targets, dtype=torch.long),
        sampler_logprobs_N=torch.tensor(logprobs, dtype=torch.float32),
        advantages_N=torch.tensor(advantages, dtype=torch.float32),
        rows_N=torch.tensor(row_numbers, dtype=torch.long),
        sources=tuple(row.source for row in rows),
    )
