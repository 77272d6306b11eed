"""Log-probs of each pair under the model that training starts from: computed once, stored until
the job ends.

Owns their files. They are written in parts, so that a run that is killed repeats one part at most.
The content of a part follows from the file and the starting model alone: every claim writes the
same content, and a damaged part is computed again. Must not know losses.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import structlog
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from app.disk.manifest_directories import ManifestMismatch, commit_directory
from workers.compute.compute_thread import run_on_compute_thread
from workers.learning.training_samples import TrainingSample
from workers.runs.directories import JobDirectories
from workers.runs.method import CheckStop
from workers.supervised.examples import Example, Examples

log = structlog.get_logger()

PART_ROWS: Final = 256
_FILE: Final = "logprobs.safetensors"

Logprobs = NDArray[np.float32]
"""Log-probs of the trained tokens of one answer."""


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
        """Returns the pair with the reference's log-probs in place of a sampler's."""
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
