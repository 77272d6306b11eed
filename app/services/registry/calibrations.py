"""Calibration of a registered grader: real answers and adversarial probes, scored as in training.

Owns how many answers are scored, and how long that may take. Nothing is stored. Must not know HTTP
routes.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.domain.errors import InvalidRequest
from app.domain.graders.graders import AnyGrader
from app.domain.ids import new_id
from app.domain.strict_json import strict_loads
from app.domain.tools.trials import new_trace_id
from app.grading.calibration import (
    ProbeResult,
    Sample,
    Spread,
    probe_result,
    probes,
    report,
    row_key,
    spearman,
    spread,
)
from app.grading.samples import text_sample
from app.grading.scorer import GradeRequest, ScoreFault, Scorer
from app.services.files.files import FileService
from app.services.registry.trials import TrialService

MAX_SAMPLES: Final = 500
MAX_FILE_BYTES: Final = 33_554_432
PROBED_ROWS: Final = 20
CALIBRATION_LIMIT_S: Final = 240.0
_AT_ONCE: Final = 16
_SHOWN_FAULTS: Final = 3


@dataclass(frozen=True, slots=True)
class Calibration:
    samples: int
    scored: int
    faults: tuple[str, ...]
    """The first reasons why a sample could not be scored."""
    scores: Spread
    agreement: float | None
    """Spearman's correlation with the other grader; `None` without one, or without a spread."""
    probes: tuple[ProbeResult, ...]
    report: tuple[str, ...]


class CalibrationService:
    def __init__(self, trials: TrialService, files: FileService) -> None:
        self._trials = trials
        self._files = files

    async def _read_file(self, file_id: str) -> list[Sample]:
        """Reads a JSONL file of `{"item", "model_sample"}`, or of `{"item", "sample"}` with an
        `output_text`. Raises `InvalidRequest` and `NotFound`.
        """
        _, chunks = await self._files.content(file_id)
        lines = (await _whole(chunks)).splitlines()
        rows = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
        return [_read(line, number) for number, line in rows[:MAX_SAMPLES]]

    async def calibrate(
        self,
        grader: AnyGrader,
        samples: Sequence[Sample],
        *,
        file_id: str | None,
        other: AnyGrader | None,
    ) -> Calibration:
        """Scores `samples`, or those of a file.

        Raises `InvalidRequest` where no sample can be scored, or not all of them in time.
        """
        if file_id is not None:
            samples = await self._read_file(file_id)
        if not samples:
            raise InvalidRequest("There are no samples.", param="samples", code="no_samples")
        scorer = await self._trials.scorer(grader, "grader")
        second = None if other is None else await self._trials.scorer(other, "compare_with")
        try:
            async with asyncio.timeout(CALIBRATION_LIMIT_S):
                return await self._calibrate(scorer, second, samples)
        except TimeoutError:
            raise InvalidRequest(
                f"The samples could not be scored within {CALIBRATION_LIMIT_S:g} s: send fewer.",
                param="samples",
                code="calibration_timeout",
            ) from None

    async def _calibrate(
        self, scorer: Scorer, other: Scorer | None, samples: Sequence[Sample]
    ) -> Calibration:
        answers = await _score_all(scorer, samples)
        faults = [answer for answer in answers if isinstance(answer, str)]
        graded = [(s, a) for s, a in zip(samples, answers, strict=True) if isinstance(a, float)]
        if not graded:
            message = f"No sample could be scored: {faults[0]}."
            raise InvalidRequest(message, param="samples", code="grader_failed")
        real = spread([sample for sample, _ in graded], [score for _, score in graded])
        agreement = None if other is None else await _agreement(other, graded)
        probed = await _probe(scorer, samples, real)
        return Calibration(
            samples=len(samples),
            scored=len(graded),
            faults=tuple(dict.fromkeys(faults))[:_SHOWN_FAULTS],
            scores=real,
            agreement=agreement,
            probes=probed,
            report=tuple(report(real, probed, agreement, len(faults))),
        )


async def _probe(
    scorer: Scorer, samples: Sequence[Sample], real: Spread
) -> tuple[ProbeResult, ...]:
    """Scores each probe for the first rows; one that cannot be scored is left out."""
    places = list({row_key(s.item): n for n, s in reversed(list(enumerate(samples)))}.values())
    texts = [(samples[at].item, probes(samples, at)) for at in sorted(places)[:PROBED_ROWS]]
    found = []
    for name in texts[0][1]:
        answers = await _score_all(scorer, [Sample(of[name], item) for item, of in texts])
        scores = [answer for answer in answers if isinstance(answer, float)]
        if scores:
            found.append(probe_result(name, scores, real))
    return tuple(found)


async def _agreement(other: Scorer, graded: Sequence[tuple[Sample, float]]) -> float | None:
    answers = await _score_all(other, [sample for sample, _ in graded])
    both = [(s, a) for (_, s), a in zip(graded, answers, strict=True) if isinstance(a, float)]
    return spearman([mine for mine, _ in both], [theirs for _, theirs in both])


async def _score_all(scorer: Scorer, samples: Sequence[Sample]) -> list[float | str]:
    """Returns the score of each sample, or why it has none."""
    slots = asyncio.Semaphore(_AT_ONCE)

    async def score(sample: Sample) -> float | str:
        request = GradeRequest(
            text_sample(sample.text), sample.item, new_trace_id(), new_id("grade_")
        )
        async with slots:
            try:
                return (await scorer.score(request)).score
            except ScoreFault as fault:
                return str(fault)

    return list(await asyncio.gather(*(score(sample) for sample in samples)))


async def _whole(chunks: AsyncIterator[bytes]) -> bytes:
    content = bytearray()
    async for chunk in chunks:
        content += chunk
        if len(content) > MAX_FILE_BYTES:
            raise InvalidRequest(
                f"The file is larger than {MAX_FILE_BYTES} bytes.", param="file_id"
            )
    return bytes(content)


def _read(line: bytes, number: int) -> Sample:
    try:
        row: Any = strict_loads(line.decode())
    except (ValueError, RecursionError):
        row = None
    if isinstance(row, dict):
        item, sample = row.get("item", {}), row.get("sample")
        inner = sample.get("output_text") if isinstance(sample, dict) else None
        text = row.get("model_sample", inner)
        if isinstance(item, dict) and isinstance(text, str):
            return Sample(text, item)
    raise InvalidRequest(
        f"Line {number} of the file is no JSON object with a text 'model_sample' and an 'item'.",
        param="file_id",
        code="invalid_file",
    )
