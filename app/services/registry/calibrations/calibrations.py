"""Calibration of a registered grader: real answers and adversarial probes, scored as in training.

Owns the time limit of a calibration, and the number of concurrent ones in a process. Threads read
the file and compute scores, statistics and probes within the organization's share, so that the API
continues to answer. Nothing is stored. Must not know HTTP routes.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from app.domain.errors import InvalidRequest, NotFound
from app.domain.graders.graders import AnyGrader
from app.domain.ids import new_id
from app.domain.tools.trials import new_trace_id
from app.grading.calibration.calibration import Sample, Spread, spearman, spread
from app.grading.calibration.calibration_report import Agreement, report
from app.grading.calibration.probes import ProbeResult, probe_result, probes
from app.grading.computing import LONG_TEXT, run_on_scoring_thread
from app.grading.samples import text_sample
from app.grading.scorer import GradeRequest, ScoreFault, Scorer
from app.services.files.files import FileService
from app.services.registry.calibrations.baseline_samples import BaselineSamples
from app.services.registry.calibrations.calibration_files import check_number, read_samples
from app.services.registry.trials import TrialService
from app.slots.project_slots import RETRY_LONG_WORK_AFTER_S, ProjectSlots

CALIBRATION_LIMIT_S: Final = 240.0
OF_ORGANIZATION: Final = 2
OF_ALL: Final = 8
"""Largest number of calibrations in one process, more than one organization may run: each has its
samples of 33 MB and more in memory.
"""
_AT_ONCE: Final = 16
_SHOWN_FAULTS: Final = 3


def calibration_slots() -> ProjectSlots:
    return ProjectSlots(
        OF_ORGANIZATION,
        noun="calibrations",
        retry_after_s=RETRY_LONG_WORK_AFTER_S,
        owner="organization",
        of_all=OF_ALL,
    )


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
    def __init__(
        self,
        trials: TrialService,
        files: FileService,
        baselines: BaselineSamples,
        *,
        slot: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """`slot` acquires the slot of one calibration, or raises `RateLimited`."""
        self._trials = trials
        self._files = files
        self._baselines = baselines
        self._slot = slot

    async def _read_file(self, file_id: str) -> list[Sample]:
        """Reads the samples of a file. Raises `InvalidRequest` and `NotFound`."""
        try:
            _, chunks = await self._files.content(file_id)
        except NotFound as error:
            raise NotFound(error.message, param="file_id", code=error.code) from error
        return await read_samples(chunks)

    async def calibrate(
        self,
        grader: AnyGrader,
        samples: Sequence[Sample],
        *,
        file_id: str | None,
        job_id: str | None,
        other: AnyGrader | None,
    ) -> Calibration:
        """Scores `samples`, the samples of a file, or a job's baseline.

        Raises `InvalidRequest` with the parameter of the source if no sample can be scored, or not
        all of them in time; `RateLimited` while too many calibrations run.
        """
        sent_as, cure = "samples", "send fewer"
        if file_id is not None:
            sent_as = "file_id"
        elif job_id is not None:
            sent_as, cure = "job_id", "send some of the job's answers as 'samples'"
        with self._slot(), self._trials.computing():
            try:
                async with asyncio.timeout(CALIBRATION_LIMIT_S):
                    found = await self._found(samples, file_id=file_id, job_id=job_id)
                    check_number(len(found), sent_as)
                    scorer = await self._trials.scorer(grader, "grader")
                    second = (
                        None if other is None else await self._trials.scorer(other, "compare_with")
                    )
                    return await self._calibrate(grader, scorer, second, found, sent_as=sent_as)
            except TimeoutError:
                raise InvalidRequest(
                    f"The samples could not be read and scored within {CALIBRATION_LIMIT_S:g} s: "
                    f"{cure}.",
                    param=sent_as,
                    code="calibration_timeout",
                ) from None

    async def _found(
        self, samples: Sequence[Sample], *, file_id: str | None, job_id: str | None
    ) -> Sequence[Sample]:
        if file_id is not None:
            return await self._read_file(file_id)
        return samples if job_id is None else await self._baselines.read(job_id)

    async def _calibrate(
        self,
        grader: AnyGrader,
        scorer: Scorer,
        other: Scorer | None,
        samples: Sequence[Sample],
        *,
        sent_as: str,
    ) -> Calibration:
        answers = await _score_all(scorer, samples)
        faults = [answer for answer in answers if isinstance(answer, str)]
        graded = [(s, a) for s, a in zip(samples, answers, strict=True) if isinstance(a, float)]
        if not graded:
            message = f"No sample could be scored: {faults[0]}."
            raise InvalidRequest(message, param=sent_as, code="grader_failed")
        real = await run_on_scoring_thread(
            partial(
                spread,
                [sample for sample, _ in graded],
                [score for _, score in graded],
                lowest=grader.lowest,
                highest=grader.highest,
            )
        )
        agreement = None if other is None else await _agreement(other, graded)
        tried = await run_on_scoring_thread(partial(probes, samples))
        probed = await _probe(scorer, tried, real)
        return Calibration(
            samples=len(samples),
            scored=len(graded),
            faults=tuple(dict.fromkeys(faults))[:_SHOWN_FAULTS],
            scores=real,
            agreement=None if agreement is None else agreement.value,
            probes=probed,
            report=tuple(report(real, probed, agreement, len(faults), tried)),
        )


async def _probe(
    scorer: Scorer, tried: Mapping[str, Sequence[Sample]], real: Spread
) -> tuple[ProbeResult, ...]:
    """Scores each probe; leaves out probes that cannot be scored."""
    found = []
    for name, answers in tried.items():
        scored = await _score_all(scorer, answers)
        scores = [score for score in scored if isinstance(score, float)]
        if scores:
            found.append(probe_result(name, scores, real))
    return tuple(found)


async def _agreement(other: Scorer, graded: Sequence[tuple[Sample, float]]) -> Agreement:
    answers = await _score_all(other, [sample for sample, _ in graded])
    both = [(s, a) for (_, s), a in zip(graded, answers, strict=True) if isinstance(a, float)]
    own, others = [mine for mine, _ in both], [answer for _, answer in both]
    value = await run_on_scoring_thread(partial(spearman, own, others))
    faults = tuple(answer for answer in answers if isinstance(answer, str))
    return Agreement(value, len(both), faults)


async def _score_all(scorer: Scorer, samples: Sequence[Sample]) -> list[float | str]:
    """Returns the score of each sample, or the reason why it has none."""
    slots = asyncio.Semaphore(_AT_ONCE)

    async def score(sample: Sample) -> float | str:
        async with slots:
            await asyncio.sleep(0)  # a scorer that awaits nothing would hold the loop to the end
            sampled = await _sampled(sample)
            request = GradeRequest(sampled, sample.item, new_trace_id(), new_id("grade_"))
            try:
                return (await scorer.score(request)).score
            except ScoreFault as fault:
                return str(fault)

    return list(await asyncio.gather(*(score(sample) for sample in samples)))


async def _sampled(sample: Sample) -> dict[str, Any]:
    """Returns the grader's input for a sample. A long answer is parsed on a thread."""
    read = partial(text_sample, sample.text, sample.more)
    if len(sample.text) < LONG_TEXT and not sample.more:
        return read()
    return await run_on_scoring_thread(read)
