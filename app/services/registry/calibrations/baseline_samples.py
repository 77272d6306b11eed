"""Reads the samples of a calibration from a job's baseline: its start model's answers to held-out
rows, as graders received them, with tool calls and turns. A lost rollout has no answer.

Must not know how samples are scored.
"""

from functools import partial
from typing import Any, Final

from app.domain.accounts.tenants import Tenant
from app.domain.data.chat_rows import DatasetError, load_line
from app.domain.data.dataset import grader_item
from app.domain.errors import InvalidRequest, NotFound
from app.domain.graders.rollout_samples import sample_object
from app.domain.rollouts.rollouts import RolloutFilter, RolloutRow
from app.domain.rollouts.stored_traces import trajectory_of
from app.domain.texts.strict_json import count_values
from app.grading.calibration.calibration import MAX_SAMPLES, Sample
from app.grading.computing import run_on_scoring_thread
from app.services.files.files import FileService
from app.services.files.rows import FileLine, rows_at
from app.services.registry.calibrations.calibration_files import check_values
from app.store.database import Database

_PAGE: Final = 100
_PARAM: Final = "job_id"


class BaselineSamples:
    def __init__(self, database: Database, tenant: Tenant, files: FileService) -> None:
        self._database = database
        self._tenant = tenant
        self._files = files

    async def read(self, job_id: str) -> list[Sample]:
        """Returns the first 500 answers of the job's baseline. Raises `NotFound` for an unknown
        job, `InvalidRequest` for one without a baseline or without its rows.
        """
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
        """Returns the rows with these numbers, in the form for graders."""
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
