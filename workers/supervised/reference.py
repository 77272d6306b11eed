"""What the model that training starts from says of each pair: asked once, kept on disk until the
job ends.

Kept in parts, so that a run that is killed meanwhile asks again for one part at most. A part's
content follows from file and start alone; whichever claim writes it, it is the same, and one that
was damaged on the disk is worked out again.
"""

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

import structlog
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from workers.learning.committed import ManifestMismatch, commit_directory, verify_directory
from workers.learning.training_samples import TrainingSample
from workers.supervised.examples import Example, Examples

log = structlog.get_logger()

PART_ROWS: Final = 256
_FILE: Final = "logprobs.safetensors"


class Asked(Protocol):
    """A trainer, for what it was when training started."""

    def reference_logprobs(self, samples: Sequence[TrainingSample]) -> list[list[float]]: ...


class ReferenceLogprobs:
    """Of one file's rows. Call `fill` before anything else."""

    def __init__(
        self, directory: Path, model: Asked, examples: Examples, *, part_rows: int = PART_ROWS
    ) -> None:
        """`part_rows`: how many are asked about at once; the same for every claim of a job."""
        self._directory = directory
        self._model = model
        self._examples = examples
        self._part_rows = part_rows
        self._parts: list[list[torch.Tensor]] = []
        """Per row of a part, the log-probs of the chosen and the rejected answer's tokens."""

    def fill(self, between: Callable[[], None]) -> None:
        """Read what is there and work out the rest; what `between` raises ends it between parts."""
        size = self._part_rows
        for start in range(len(self._parts) * size, len(self._examples), size):
            between()
            rows = range(start, min(start + size, len(self._examples)))
            path = self._directory / f"part-{start // size:05d}"
            kept = _kept(path, answers=2 * len(rows))
            if kept is None:
                kept = self._asked([self._examples[row] for row in rows])
                _save(path, kept)
            self._parts.append(kept)

    def with_reference(self, row: int, example: Example) -> Example:
        """The pair, with the reference in the place of the sampler."""
        first = 2 * (row % self._part_rows)
        both = self._parts[row // self._part_rows][first : first + 2]
        pair = zip(example.samples, both, strict=True)
        return replace(example, samples=tuple(_filled(sample, kept) for sample, kept in pair))

    def _asked(self, examples: list[Example]) -> list[torch.Tensor]:
        samples = [sample for example in examples for sample in example.samples]
        asked = self._model.reference_logprobs(samples)
        return [
            torch.tensor([lp for lp, learned in zip(row, sample.mask, strict=True) if learned])
            for row, sample in zip(asked, samples, strict=True)
        ]


def _filled(sample: TrainingSample, kept: torch.Tensor) -> TrainingSample:
    values = iter(kept.tolist())
    return replace(sample, logprobs=[next(values) if one else 0.0 for one in sample.mask])


def _save(path: Path, answers: list[torch.Tensor]) -> None:
    """What another claim has written meanwhile is the same."""
    counts = torch.tensor([len(answer) for answer in answers], dtype=torch.int64)
    with suppress(FileExistsError), commit_directory(path) as partial:
        save_file({"logprobs": torch.cat(answers), "counts": counts}, partial / _FILE)


def _kept(path: Path, *, answers: int) -> list[torch.Tensor] | None:
    """`None` unless the part is there with so many answers; a damaged one makes room."""
    if not path.is_dir():
        return None
    try:
        return _load(path, answers)
    except (ManifestMismatch, OSError, SafetensorError, LookupError, ValueError) as error:
        log.warning("damaged reference part, asked again", part=path.name, error=str(error))
        shutil.rmtree(path, ignore_errors=True)
        return None


def _load(path: Path, answers: int) -> list[torch.Tensor]:
    verify_directory(path)
    held = load_file(path / _FILE)
    counts: list[int] = held["counts"].tolist()
    if len(counts) != answers or sum(counts) != len(held["logprobs"]):
        raise ValueError(f"{len(counts)} answers instead of {answers}")
    return list(torch.split(held["logprobs"], counts))
