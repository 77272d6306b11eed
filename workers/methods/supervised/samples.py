"""The samples of a run's rows, with reference log-probs where the loss needs them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import structlog
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from app.kit.directories import ManifestMismatch, commit_directory
from workers.compute import run_on_compute_thread
from workers.learning.trainer import TrainingSample
from workers.methods.supervised.examples import Example, Examples
from workers.runs.context import JobDirectories
from workers.runs.method import CheckStop

log = structlog.get_logger()

PART_ROWS: Final = 256
_FILE: Final = "logprobs.safetensors"

Logprobs = NDArray[np.float32]


class ReferenceModel(Protocol):
    """The part of a trainer that evaluates the model training started from."""

    def reference_logprobs(self, samples: Sequence[TrainingSample]) -> list[list[float]]: ...


class ReferenceLogprobs:
    """The log-probs of one file's rows. Call `fill` before anything else."""

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
        """Returns a stored part with this number of answers; `None` if there is none. Removes a
        damaged part.
        """
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
        """Raises `ValueError` without a validation file."""
        if self.valid is None:
            raise ValueError("the job has no validation file")
        return _of(self.valid, self.valid_reference, row)


def _of(
    examples: Examples, reference: ReferenceLogprobs | None, row: int
) -> Sequence[TrainingSample]:
    example = examples[row]
    return (example if reference is None else reference.with_reference(row, example)).samples
