"""Calibrates a grader with samples, a file of them, or the baseline of a job."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from io import BytesIO
from typing import Any, Final

from app.database import Database
from app.files.datasets import grader_item
from app.files.row_files import FileLine, rows_at
from app.files.rows import DatasetError, is_blank, load_line
from app.files.service import FileService
from app.graders.calibration import (
    MAX_ITEM_VALUES,
    MAX_SAMPLES,
    Agreement,
    CalibrationProbe,
    GraderCalibration,
    ProbeName,
    Sample,
    ScoreSpread,
    probe_result,
    probes,
    report,
    spearman,
    spread,
)
from app.graders.definitions import AnyGrader
from app.graders.samples import sample_object
from app.graders.scorer import (
    LONG_TEXT,
    GradeRequest,
    ScoreFault,
    Scorer,
    run_on_scoring_thread,
    text_sample,
)
from app.graders.template_faults import SAMPLE_KEYS
from app.kit.callers import Tenant
from app.kit.errors import InvalidRequest, NotFound
from app.kit.ids import new_id
from app.kit.slots import RETRY_LONG_WORK_AFTER_S, ProjectSlots
from app.kit.strict_json import MAX_VALUES, TooManyValues, count_values, strict_loads
from app.rollouts.rollouts import RolloutFilter, RolloutRow, trajectory_of
from app.tools.tools import new_trace_id
from app.tools.trial_service import TrialService

_PAGE: Final = 100
_PARAM: Final = "job_id"


class BaselineSamples:
    def __init__(self, database: Database, tenant: Tenant, files: FileService) -> None:
        self._database = database
        self._tenant = tenant
        self._files = files

    async def read(self, job_id: str) -> list[Sample]:
        try:
            async with self._database.tenant(self._tenant) as unit:
                held_out = (await unit.jobs.get(job_id)).validation_file
        except NotFound as error:
            raise NotFound(error.message, param=_PARAM, code=error.code) from error
        rollouts = await self._rollouts(job_id)
        if held_out is None or not rollouts:
            raise InvalidRequest(
                f"Job {job_id} has no rollouts of a baseline: it has none yet, they are not kept "
                "any more, or it is not a reinforcement job.",
                param=_PARAM,
                code="no_baseline",
            )
        items = await self._items(held_out, {rollout.prompt_index for rollout in rollouts})
        return [_sample(rollout, items.get(rollout.prompt_index, {})) for rollout in rollouts]

    async def _rollouts(self, job_id: str) -> list[RolloutRow]:
        found, more = list[RolloutRow](), True
        while more and len(found) < MAX_SAMPLES:
            async with self._database.tenant(self._tenant) as unit:
                page, more = await unit.rollouts.page(
                    job_id,
                    RolloutFilter(split="valid", step=0, failed=False),
                    after=found[-1].id if found else None,
                    limit=min(_PAGE, MAX_SAMPLES - len(found)),
                )
            found += page
        return found

    async def _items(self, file_id: str, wanted: set[int]) -> dict[int, dict[str, Any]]:
        try:
            _, chunks = await self._files.content(file_id)
        except NotFound as error:
            message = f"The rows of the baseline are gone: file {file_id} does not exist any more."
            raise InvalidRequest(message, param=_PARAM, code="file_not_found") from error
        items, values = dict[int, dict[str, Any]](), 0
        for index, line in (await rows_at(chunks, wanted)).items():
            items[index] = await run_on_scoring_thread(partial(_item, line))
            values += count_values(items[index])
            check_values(values, _PARAM)
        return items


def _item(line: FileLine) -> dict[str, Any]:
    try:
        return grader_item(load_line(line.content, line.number))
    except DatasetError as fault:  # the job has read the row: somebody changed the file
        raise InvalidRequest(str(fault), param=_PARAM, code="invalid_file") from fault


def _sample(rollout: RolloutRow, item: dict[str, Any]) -> Sample:
    sample = sample_object(trajectory_of(rollout))
    return Sample(sample["output_text"], item, sample)


MAX_FILE_BYTES: Final = 33_554_432
MAX_SAMPLE_BYTES: Final = 1_048_576
_KEYS: Final = frozenset({"item", "model_sample", "sample"})
_LISTS: Final = ("choices", "output_tools", "tool_calls", "turns")
_TEXTS: Final = ("output_reasoning_summary", "stop_reason")


def check_number(count: int, param: str) -> None:
    if not count:
        raise InvalidRequest("There are no samples.", param=param, code="no_samples")
    if count > MAX_SAMPLES:
        raise InvalidRequest(
            f"There are {count} samples, more than {MAX_SAMPLES}: send fewer.",
            param=param,
            code="too_many_samples",
        )


def check_values(count: int, param: str) -> None:
    if count > MAX_ITEM_VALUES:
        raise InvalidRequest(
            f"The items contain more than {MAX_ITEM_VALUES} values: send fewer samples.",
            param=param,
            code="too_many_values",
        )


async def read_samples(chunks: AsyncIterator[bytes]) -> list[Sample]:
    content = bytearray()
    async for chunk in chunks:
        content += chunk
        if len(content) > MAX_FILE_BYTES:
            raise _refused(f"The file is larger than {MAX_FILE_BYTES} bytes.")
    return await run_on_scoring_thread(partial(_samples, bytes(content)))


def _samples(content: bytes) -> list[Sample]:
    kept, count = list[tuple[int, bytes]](), 0
    for number, line in enumerate(BytesIO(content), start=1):
        if is_blank(line):
            continue
        if len(line.removesuffix(b"\n")) > MAX_SAMPLE_BYTES:
            message = f"Line {number} of the file is longer than {MAX_SAMPLE_BYTES} bytes."
            raise _refused(message)
        count += 1
        if count <= MAX_SAMPLES:
            kept.append((number, line))
    check_number(count, "file_id")
    samples, values = list[Sample](), 0
    for number, line in kept:
        samples.append(_read(line, number))
        values += count_values(samples[-1].item) + count_values(samples[-1].more or {})
        check_values(values, "file_id")
    return samples


def _read(line: bytes, number: int) -> Sample:
    try:
        row: Any = strict_loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except TooManyValues:
        message = f"Line {number} of the file contains more than {MAX_VALUES} values."
        raise _refused(message) from None
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise _no_sample(number)
    _refuse_unknown(row, _KEYS, f"Line {number} of the file")
    item, text, sample = row.get("item"), row.get("model_sample"), row.get("sample")
    if not (item is None or isinstance(item, dict)):
        raise _no_sample(number)
    if sample is None and isinstance(text, str):
        return Sample(text, item or {})
    if isinstance(sample, dict):
        if text is not None:
            raise _refused(
                f"Line {number} of the file has both 'model_sample' and 'sample', which has the "
                "answer as its 'output_text': send one of them."
            )
        return _whole(sample, item or {}, number)
    raise _no_sample(number)


def _whole(sample: dict[str, Any], item: dict[str, Any], number: int) -> Sample:
    owner = f"'sample' in line {number} of the file"
    _refuse_unknown(sample, SAMPLE_KEYS, owner)
    parts = {key: value for key, value in sample.items() if value is not None}
    text = parts.pop("output_text", None)
    if not isinstance(text, str):
        raise _refused(f"{owner} has no text 'output_text', which is the answer.")
    for key in _LISTS:
        entries = parts.get(key, [])
        if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
            raise _refused(f"{owner} has a '{key}' that is not a list of objects.")
    for key in _TEXTS:
        if not isinstance(parts.get(key, ""), str):
            raise _refused(f"{owner} has a '{key}' that is not text.")
    return Sample(text, item, parts or None)


def _refuse_unknown(holder: dict[str, Any], known: Collection[str], owner: str) -> None:
    unknown = [key for key, value in holder.items() if key not in known and value is not None]
    if unknown:
        raise _refused(f"{owner} has an unknown key {unknown[0][:80]!r}.")


def _no_sample(number: int) -> InvalidRequest:
    return _refused(
        f"Line {number} of the file is not a JSON object with a text 'model_sample' and an 'item'."
    )


def _refused(message: str) -> InvalidRequest:
    return InvalidRequest(message, param="file_id", code="invalid_file")


CALIBRATION_LIMIT_S: Final = 240.0
OF_ORGANIZATION: Final = 2
OF_ALL: Final = 8
"""Most calibrations in one process: each has samples of 33 MB and more in memory."""
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

    async def calibrate(
        self,
        grader: AnyGrader,
        samples: Sequence[Sample],
        *,
        file_id: str | None,
        job_id: str | None,
        other: AnyGrader | None,
    ) -> GraderCalibration:
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
        if file_id is None:
            return samples if job_id is None else await self._baselines.read(job_id)
        try:
            _, chunks = await self._files.content(file_id)
        except NotFound as error:
            raise NotFound(error.message, param="file_id", code=error.code) from error
        return await read_samples(chunks)

    async def _calibrate(
        self,
        grader: AnyGrader,
        scorer: Scorer,
        other: Scorer | None,
        samples: Sequence[Sample],
        *,
        sent_as: str,
    ) -> GraderCalibration:
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
        return GraderCalibration(
            samples=len(samples),
            scored=len(graded),
            faults=list(dict.fromkeys(faults))[:_SHOWN_FAULTS],
            scores=real,
            agreement=None if agreement is None else agreement.value,
            probes=probed,
            report=report(real, probed, agreement, len(faults), tried),
        )


async def _probe(
    scorer: Scorer, tried: Mapping[ProbeName, Sequence[Sample]], real: ScoreSpread
) -> list[CalibrationProbe]:
    found = []
    for name, answers in tried.items():
        scored = await _score_all(scorer, answers)
        scores = [score for score in scored if isinstance(score, float)]
        if scores:
            found.append(probe_result(name, scores, real))
    return found


async def _agreement(other: Scorer, graded: Sequence[tuple[Sample, float]]) -> Agreement:
    answers = await _score_all(other, [sample for sample, _ in graded])
    both = [(s, a) for (_, s), a in zip(graded, answers, strict=True) if isinstance(a, float)]
    own, others = [mine for mine, _ in both], [answer for _, answer in both]
    value = await run_on_scoring_thread(partial(spearman, own, others))
    faults = tuple(answer for answer in answers if isinstance(answer, str))
    return Agreement(value, len(both), faults)


async def _score_all(scorer: Scorer, samples: Sequence[Sample]) -> list[float | str]:
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
    read = partial(text_sample, sample.text, sample.more)
    if len(sample.text) < LONG_TEXT and not sample.more:
        return read()
    return await run_on_scoring_thread(read)
