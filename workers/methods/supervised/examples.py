"""Reads a supervised or preference file row by row and renders rows to training samples."""

import asyncio
import itertools
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Protocol, overload

import numpy as np
import structlog
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file
from typing_extensions import override

from app.files.datasets import Prompts, check_row, prompt_messages
from app.files.rows import (
    MAX_ROW_BYTES,
    DatasetError,
    is_blank,
    learned_turns,
    load_line,
    nothing_left,
)
from app.jobs.supervised import (
    DpoMethod,
    OfflineMethodType,
    ResolvedSupervisedHyperparameters,
    SupervisedMethod,
    TrainOn,
)
from app.kit.directories import ManifestMismatch, commit_directory
from app.kit.errors import InvalidRequest
from app.rollouts.renderer import Renderer
from workers.compute import run_on_compute_thread
from workers.learning.trainer import TrainingSample
from workers.progress import PROGRESS
from workers.runs.context import JobDirectories
from workers.runs.method import CheckStop
from workers.runs.opening import JobFile, rows_of_step


@dataclass(frozen=True, slots=True)
class ExampleRow:
    line: int
    item: dict[str, Any]


class ExampleRows(Sequence[ExampleRow]):
    """Reads rows from an open file, which the run keeps even if the file is deleted meanwhile."""

    def __init__(self, path: Path, method: OfflineMethodType, max_rows: int) -> None:
        self.prompts: Final = Prompts()
        self._positions: list[tuple[int, int, int]] = []
        self._file = path.open("rb")
        weakref.finalize(self, self._file.close)
        number = offset = 0
        # A row that is too long is refused by its first piece; the rest is never read.
        while line := self._file.readline(MAX_ROW_BYTES + 2):
            number += 1
            if not is_blank(line):
                if len(self._positions) == max_rows:
                    raise DatasetError(number, "", f"the file has more than {max_rows} examples")
                item = check_row(method, line, number)
                self.prompts.see(prompt_messages(method, item), number)
                self._positions.append((offset, len(line), number))
            offset += len(line)

    @override
    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, index: int) -> ExampleRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[ExampleRow]: ...
    @override
    def __getitem__(self, index: int | slice) -> ExampleRow | list[ExampleRow]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        offset, length, number = self._positions[index]
        return ExampleRow(number, load_line(os.pread(self._file.fileno(), length, offset), number))


async def load_rows(file: JobFile, method: SupervisedMethod | DpoMethod) -> ExampleRows:
    try:
        rows = await asyncio.to_thread(ExampleRows, file.path, method.kind, file.max_rows)
    except DatasetError as error:
        raise file.invalid(error) from error
    file.check_count(len(rows))
    return rows


Messages = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Example:
    samples: tuple[TrainingSample, ...]
    """The texts of a supervised row, or the chosen and the rejected answer of a pair."""
    cut: bool


MakeExample = Callable[[ExampleRow], Example]


class Examples:
    """Renders a row on access: a file may hold more tokens than memory."""

    def __init__(self, rows: ExampleRows, make: MakeExample) -> None:
        self._rows = rows
        self._make = make

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> Example:
        return self._make(self._rows[index])

    def __iter__(self) -> Iterator[Example]:
        return (self[index] for index in range(len(self)))

    def count_cut(self) -> int:
        cut = 0
        for example in self:
            cut += example.cut
            PROGRESS.mark("row rendered")
        return cut


def supervised_examples(renderer: Renderer, *, limit: int, train_on: TrainOn) -> MakeExample:

    def make(row: ExampleRow) -> Example:
        messages, tools = row.item["messages"], row.item.get("tools") or None
        learned = learned_turns(messages, train_on)
        if not learned:
            raise DatasetError(
                row.line, f"/messages/{len(messages) - 1}/weight", "there is no answer to learn"
            )
        texts: list[_TokenizedText] = []
        longest = 0
        for turn in _turns(row, renderer, learned, tools, limit):
            longest = max(longest, len(turn.tokens))
            if any(turn.mask[:limit]):
                _add(texts, _TokenizedText(turn.tokens[:limit], turn.mask[:limit]))
        if not texts:
            raise _nothing_left(row, limit)
        samples = tuple(_sample(text.tokens, text.mask) for text in texts)
        return Example(samples, longest > limit)

    return make


def preference_examples(renderer: Renderer, *, limit: int) -> MakeExample:

    def make(row: ExampleRow) -> Example:
        prompt = row.item["input"]
        messages, tools = _without_weights(prompt["messages"]), prompt.get("tools") or None
        answers = [
            _turn(row, renderer, [*messages, *_without_weights(row.item[name])], tools)
            for name in ("preferred_output", "non_preferred_output")
        ]
        pair = [_sample(text.tokens[:limit], text.mask[:limit]) for text in answers]
        longest = max(len(text.tokens) for text in answers)
        if not all(sample.trained_tokens for sample in pair):
            raise _nothing_left(row, limit)
        if pair[0].tokens == pair[1].tokens:
            raise DatasetError(row.line, "", f"within {limit} tokens, both answers are the same")
        return Example(tuple(pair), longest > limit)

    return make


@dataclass(frozen=True, slots=True)
class _TokenizedText:
    tokens: list[int]
    mask: list[int]


def _without_weights(messages: Messages) -> Messages:
    return [{name: v for name, v in message.items() if name != "weight"} for message in messages]


def _turn(
    row: ExampleRow, renderer: Renderer, messages: Messages, tools: list[dict[str, Any]] | None
) -> _TokenizedText:
    """Returns the tokens of the last message after the prompt that the model sees before it."""
    try:
        prompt = renderer.prompt_ids(messages[:-1], tools)
        answer = renderer.turn_ids(messages, tools)
    except InvalidRequest as error:
        raise DatasetError(row.line, "", error.message) from error
    return _TokenizedText([*prompt, *answer], [0] * len(prompt) + [1] * len(answer))


def _turns(
    row: ExampleRow,
    renderer: Renderer,
    learned: list[int],
    tools: list[dict[str, Any]] | None,
    limit: int,
) -> Iterator[_TokenizedText]:
    """Yields each trained turn until no later one can be within `limit`: a row may have thousands,
    and every turn is rendered with all messages before it.
    """
    messages = _without_weights(row.item["messages"])
    questions = list(itertools.accumulate(message["role"] == "user" for message in messages))
    full: _TokenizedText | None = None
    full_at = 0
    for index in learned:
        # Past the limit a prompt gets shorter only where a template drops the reasoning before the
        # last question.
        if full is not None and questions[index] == questions[full_at]:
            continue
        turn = _turn(row, renderer, messages[: index + 1], tools)
        yield turn
        if not any(turn.mask[:limit]):
            if full is not None and full.tokens[:limit] == turn.tokens[:limit]:
                return
            full, full_at = turn, index


def _add(texts: list[_TokenizedText], turn: _TokenizedText) -> None:
    """Appends a turn, or merges it with the text before it if it continues that text. A template
    that rewrites earlier turns (e.g. drops their reasoning) gives each turn a text of its own.
    """
    before = texts[-1] if texts else None
    if before is not None and turn.tokens[: len(before.tokens)] == before.tokens:
        for position, trained in enumerate(before.mask):
            turn.mask[position] |= trained
        texts.pop()
    texts.append(turn)


def _sample(tokens: list[int], mask: list[int]) -> TrainingSample:
    return TrainingSample(tokens, mask, [0.0] * len(tokens), 1.0)


def _nothing_left(row: ExampleRow, limit: int) -> DatasetError:
    return DatasetError(row.line, "", nothing_left(limit))


_VALIDATIONS_PER_EPOCH: Final = 10


@dataclass(frozen=True, slots=True)
class SupervisedPlan:
    hyperparameters: ResolvedSupervisedHyperparameters
    train_rows: int
    valid_rows: int
    seed: int

    @property
    def total_steps(self) -> int:
        return self.hyperparameters.total_steps

    def ends_epoch(self, step: int) -> bool:
        """It then validates on all held-out rows and becomes a checkpoint."""
        return step % self.hyperparameters.steps_per_epoch == 0

    def looks_at_some(self, step: int) -> bool:
        """About ten steps per epoch measure a few held-out rows, and the last one."""
        position = (step - 1) % self.hyperparameters.steps_per_epoch + 1
        every = max(1, self.hyperparameters.steps_per_epoch // _VALIDATIONS_PER_EPOCH)
        return bool(self.valid_rows) and (position % every == 0 or self.ends_epoch(step))

    def rows(self, step: int) -> list[int]:
        """They depend on seed and step only, so a resume needs no cursor."""
        return rows_of_step(
            step,
            seed=self.seed,
            row_count=self.train_rows,
            batch_size=self.hyperparameters.batch_size,
        )

    def some_held_out(self, step: int) -> list[int]:
        return rows_of_step(
            step,
            seed=self.seed,
            row_count=self.valid_rows,
            batch_size=min(self.hyperparameters.batch_size, self.valid_rows),
        )


log = structlog.get_logger()

PART_ROWS: Final = 256
_FILE: Final = "logprobs.safetensors"

Logprobs = NDArray[np.float32]


class ReferenceModel(Protocol):
    """The part of a trainer that evaluates the model training started from."""

    def reference_logprobs(self, samples: Sequence[TrainingSample]) -> list[list[float]]: ...


class ReferenceLogprobs:
    def __init__(
        self,
        directories: JobDirectories,
        model: ReferenceModel,
        examples: Examples,
        *,
        part_rows: int = PART_ROWS,
    ) -> None:
        """`part_rows`: rows of one part; the same for every claim of a job."""
        self._directories = directories
        self._model = model
        self._examples = examples
        self._part_rows = part_rows
        self._parts: list[list[Logprobs]] = []
        """Log-probs of each part: those of the chosen and the rejected answer, row by row."""

    async def fill(self, check_stop: CheckStop) -> None:
        """Reads the stored parts and computes the others; `check_stop` is called before each."""
        size = self._part_rows
        for start in range(len(self._parts) * size, len(self._examples), size):
            check_stop()
            rows = range(start, min(start + size, len(self._examples)))
            name = f"part-{start // size:05d}"
            part = await self._stored(name, answers=2 * len(rows))
            if part is None:
                part = await run_on_compute_thread(self._reference_logprobs, rows)
                await asyncio.to_thread(_save, self._directories.path(name), part)
                await self._directories.store(name)
            self._parts.append(part)

    async def _stored(self, name: str, *, answers: int) -> list[Logprobs] | None:
        """`None` if there is no part with this number of answers. Removes a damaged part."""
        try:
            return await asyncio.to_thread(_load, await self._directories.fetch(name), answers)
        except FileNotFoundError:
            return None
        except (ManifestMismatch, OSError, SafetensorError, LookupError, ValueError) as error:
            log.warning("damaged reference part, computed again", part=name, error=str(error))
            await self._directories.discard(name)
            return None

    def with_reference(self, row: int, example: Example) -> Example:
        first = 2 * (row % self._part_rows)
        answers = self._parts[row // self._part_rows][first : first + 2]
        pair = zip(example.samples, answers, strict=True)
        return replace(
            example, samples=tuple(_with_logprobs(sample, answer) for sample, answer in pair)
        )

    def _reference_logprobs(self, rows: range) -> list[Logprobs]:
        samples = [sample for row in rows for sample in self._examples[row].samples]
        answers = self._model.reference_logprobs(samples)
        return [
            np.array(
                [value for value, trained in zip(answer, sample.mask, strict=True) if trained],
                dtype=np.float32,
            )
            for answer, sample in zip(answers, samples, strict=True)
        ]


def _with_logprobs(sample: TrainingSample, answer: Logprobs) -> TrainingSample:
    values = iter(answer.tolist())
    return replace(
        sample, logprobs=[next(values) if is_trained else 0.0 for is_trained in sample.mask]
    )


def _save(path: Path, answers: list[Logprobs]) -> None:
    counts = np.array([len(answer) for answer in answers], dtype=np.int64)
    with commit_directory(path) as partial:
        save_file({"logprobs": np.concatenate(answers), "counts": counts}, partial / _FILE)


def _load(path: Path, answers: int) -> list[Logprobs]:
    tensors: dict[str, NDArray[Any]] = load_file(path / _FILE)
    counts: list[int] = tensors["counts"].tolist()
    if len(counts) != answers or sum(counts) != len(tensors["logprobs"]):
        raise ValueError(f"{len(counts)} answers instead of {answers}")
    return np.split(tensors["logprobs"], np.cumsum(counts)[:-1])


@dataclass(frozen=True, slots=True)
class Samples:
    train: Examples
    valid: Examples | None
    pairs: bool
    train_reference: ReferenceLogprobs | None = None
    """Log-probs of the model that training starts from, for a loss that compares with it."""
    valid_reference: ReferenceLogprobs | None = None

    def training(self, row: int) -> Sequence[TrainingSample]:
        return _of(self.train, self.train_reference, row)

    def held_out(self, row: int) -> Sequence[TrainingSample]:
        if self.valid is None:
            raise ValueError("the job has no validation file")
        return _of(self.valid, self.valid_reference, row)


def _of(
    examples: Examples, reference: ReferenceLogprobs | None, row: int
) -> Sequence[TrainingSample]:
    example = examples[row]
    return (example if reference is None else reference.with_reference(row, example)).samples
