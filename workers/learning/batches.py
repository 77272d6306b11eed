"""Packs samples into micro-batches, and halves those that do not fit into the memory."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from typing import Final, Generic, Self, TypeVar

import structlog
import torch
from torch import Tensor

from app.kit.errors import OUT_OF_MEMORY, RunFailed
from workers.learning.trainer import TrainingSample


@dataclass(frozen=True, slots=True)
class PrefixTree:
    """Rows of a batch that share their first `prefix` tokens; a single row has a prefix of 0."""

    prefix: int
    branches: tuple[int, ...]
    """Number of tokens of each row after the prefix; 0 if the row ends with it."""

    @property
    def tokens(self) -> int:
        return self.prefix + sum(self.branches)


@dataclass(frozen=True, slots=True)
class Layout:
    trees: tuple[PrefixTree, ...]

    @property
    def tokens(self) -> int:
        return sum(tree.tokens for tree in self.trees)

    @property
    def rows(self) -> int:
        return sum(len(tree.branches) for tree in self.trees)

    @property
    def shares(self) -> bool:
        return any(tree.prefix for tree in self.trees)

    def starts(self) -> list[tuple[int, PrefixTree]]:
        ends = accumulate((tree.tokens for tree in self.trees), initial=0)
        return list(zip(ends, self.trees, strict=False))

    def positions(self) -> list[int]:
        return [
            position
            for tree in self.trees
            for first, length in (
                (0, tree.prefix),
                *((tree.prefix, branch) for branch in tree.branches),
            )
            for position in range(first, first + length)
        ]

    def spans(self) -> list[tuple[range, range]]:
        spans = []
        for start, tree in self.starts():
            own = start + tree.prefix
            for branch in tree.branches:
                spans.append((range(start, start + tree.prefix), range(own, own + branch)))
                own += branch
        return spans


def unshared_layout(lengths: Sequence[int]) -> Layout:
    return Layout(tuple(PrefixTree(0, (length,)) for length in lengths))


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


log = structlog.get_logger()

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Packing:
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
        self, samples: Sequence[TrainingSample], work: Callable[[MicroBatch], R], packing: Packing
    ) -> Iterator[tuple[MicroBatch, R]]:
        """`work` must change nothing until it returns. Raises `RunFailed` without room."""
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


def minibatches(samples: int, *, count: int, rows_per_example: int) -> list[list[int]]:
    rows = rows_per_example
    examples = [range(start, start + rows) for start in range(0, samples, rows)]
    return [
        [index for example in examples[part::count] for index in example] for part in range(count)
    ]
