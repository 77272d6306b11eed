"""Calibration with a scorer of its own: what is computed, where, and how faults arrive."""

import asyncio
import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

import pytest

from app.files.service import FileService
from app.graders import calibration_service as calibrations
from app.graders.calibration import Sample
from app.graders.calibration_service import BaselineSamples, CalibrationService, calibration_slots
from app.graders.definitions import read_grader
from app.graders.scorer import GradeRequest, ScoreResult
from app.kit.errors import InvalidRequest, NotFound, RateLimited
from app.tools.trial_service import TrialService

GRADER = read_grader({"type": "contains", "needles": ["x"]})
SAMPLES = [Sample(text, {"n": number}) for number, text in enumerate("xyxyxy")]


class _Scorer:
    """Scores 1 for a text with an x, and never suspends."""

    async def score(self, request: GradeRequest) -> ScoreResult:
        return ScoreResult(float("x" in request.sample["output_text"]))


class _Trials:
    async def scorer(self, grader: object, _param: str) -> _Scorer:
        assert grader is GRADER
        return _Scorer()

    def computing(self) -> AbstractContextManager[None]:
        return nullcontext()


class _Files:
    async def content(self, file_id: str) -> Any:
        raise NotFound(f"No such File object: {file_id}", param="id")


class _HeldFiles:
    """Counts the reads, which end with no file once they are released."""

    def __init__(self) -> None:
        self.reads = 0
        self.released = asyncio.Event()

    async def content(self, file_id: str) -> Any:
        self.reads += 1
        await self.released.wait()
        raise NotFound(f"No such File object: {file_id}", param="id")


def service() -> CalibrationService:
    return CalibrationService(
        cast("TrialService", _Trials()),
        cast("FileService", _Files()),
        cast("BaselineSamples", None),
    )


async def test_statistics_and_probes_are_computed_beside_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads: dict[str, int] = {}

    def watched(name: str) -> None:
        function = getattr(calibrations, name)

        def run(*args: Any, **options: Any) -> Any:
            threads[name] = threading.get_ident()
            return function(*args, **options)

        monkeypatch.setattr(calibrations, name, run)

    for name in ("spread", "probes"):
        watched(name)
    await service().calibrate(GRADER, SAMPLES, file_id=None, job_id=None, other=None)
    assert set(threads) == {"spread", "probes"}
    assert threading.get_ident() not in threads.values()


async def test_others_run_between_the_scores_of_a_scorer_that_never_suspends() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(other())
    await calibrations._score_all(_Scorer(), SAMPLES * 80)
    beside.cancel()
    assert turns >= 480 // 16


async def test_calibrations_beyond_the_slots_are_refused_before_their_file_is_read() -> None:
    slots, files = calibration_slots(), _HeldFiles()

    def calibrate(organization: str) -> asyncio.Task[Any]:
        made = CalibrationService(
            cast("TrialService", _Trials()),
            cast("FileService", files),
            cast("BaselineSamples", None),
            slot=lambda: slots.taken(organization),
        )
        return asyncio.ensure_future(
            made.calibrate(GRADER, [], file_id="file-1", job_id=None, other=None)
        )

    running = [calibrate(owner) for owner in ("one", "two", "three", "four") for _ in range(2)]
    for owner, said in (
        ("one", "2 calibrations of this organization"),
        ("five", "8 calibrations of several organizations"),
    ):
        with pytest.raises(RateLimited, match=said):
            await calibrate(owner)
    assert files.reads == 8
    files.released.set()
    for each in running:
        with pytest.raises(NotFound):
            await each
    with pytest.raises(NotFound):
        await calibrate("five")


async def test_the_time_limit_counts_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrations, "CALIBRATION_LIMIT_S", 0)
    made = CalibrationService(
        cast("TrialService", _Trials()),
        cast("FileService", _HeldFiles()),
        cast("BaselineSamples", None),
    )
    with pytest.raises(InvalidRequest) as late:
        await made.calibrate(GRADER, [], file_id="file-1", job_id=None, other=None)
    assert (late.value.param, late.value.code) == ("file_id", "calibration_timeout")
