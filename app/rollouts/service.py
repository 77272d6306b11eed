"""Reads the held-out rows of a job from the file that the job reads.

A row has the index by which its rollouts name it, whatever rows stand around it.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from app.database import Database
from app.files.division import tags_of
from app.files.row_files import FileLine, RowsTooFar, rows_at
from app.files.rows import MAX_VALID_EXAMPLES
from app.files.service import FileService
from app.jobs.jobs import TERMINAL, Job, JobStatus
from app.kit.callers import Tenant
from app.kit.errors import NotFound
from app.kit.fields import Json
from app.kit.ids import Split
from app.kit.strict_json import strict_loads
from app.rollouts.baselines import RewardHistogram
from app.rollouts.rollouts import (
    PassCount,
    RolloutCursor,
    RolloutFilter,
    RolloutOrder,
    RolloutRow,
    RowMean,
)
from app.rollouts.trajectory import TokenRecord

_MAX_READ_BYTES: Final = 64 * 1024 * 1024
"""Bytes that are read at most, because a person waits for the page."""


@dataclass(frozen=True, slots=True)
class HeldOutRows:
    by_index: Mapping[int, Json] = field(default_factory=dict)
    """The rows that are objects."""
    count: int = 0
    """Rows of the file, readable or not."""
    unread: str = ""
    """The reason why the rows could not be read."""

    def tags(self, name: str) -> dict[int, list[str]]:
        """Returns the values of the field `name` of each row that has one."""
        found = {index: tags_of(row, name) for index, row in self.by_index.items()}
        return {index: tags for index, tags in found.items() if tags}


class HeldOutRowService:
    def __init__(self, files: FileService) -> None:
        self._files = files

    async def rows(self, job: Job) -> HeldOutRows:
        if job.validation_file is None:
            return HeldOutRows(unread="The job has no file of held-out rows.")
        try:
            _, chunks = await self._files.content(job.validation_file)
            lines = await rows_at(chunks, range(MAX_VALID_EXAMPLES), max_bytes=_MAX_READ_BYTES)
        except NotFound as error:
            return HeldOutRows(unread=error.message)
        except RowsTooFar:
            return HeldOutRows(unread="The file of held-out rows is too large for a page.")
        return HeldOutRows(await asyncio.to_thread(_objects, lines), len(lines))


def _objects(lines: Mapping[int, FileLine]) -> dict[int, Json]:
    found = dict[int, Json]()
    for index, line in lines.items():
        try:
            row = strict_loads(line.content.decode(), most=None)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            found[index] = row
    return found


_BATCH: Final = 100
"""Largest number of rollouts in one read of an export."""


class RolloutService:
    def __init__(self, database: Database, tenant: Tenant) -> None:
        self._database = database
        self._tenant = tenant

    async def page(
        self,
        job_id: str,
        where: RolloutFilter,
        *,
        after: str | None,
        limit: int,
        order_by: RolloutOrder,
        descending: bool,
    ) -> tuple[list[RolloutRow], bool]:
        """Raises `InvalidRequest` for contradictory conditions."""
        where.check(order_by)
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await unit.rollouts.page(
                job_id,
                where,
                after=after,
                limit=limit,
                order_by=order_by,
                descending=descending,
            )

    async def export(
        self, job_id: str, where: RolloutFilter, *, check: Callable[[], Awaitable[object]]
    ) -> AsyncGenerator[list[RolloutRow], None]:
        """Yields all rollouts that meet the conditions, by split, step, row, sample and attempt. No
        transaction is open between two reads. `check` is called before each further read and raises
        `AuthenticationFailed` once the caller has lost access. Raises `InvalidRequest` for
        contradictory conditions.
        """
        where.check("step")
        last: RolloutCursor | None = None
        while True:
            async with self._database.tenant(self._tenant) as unit:
                await unit.jobs.get(job_id)
                rows = await unit.rollouts.batch(job_id, where, behind=last, limit=_BATCH)
            if not rows:
                return
            last = RolloutCursor.of(rows[-1])
            yield rows
            await check()

    async def get(self, job_id: str, rollout_id: str) -> RolloutRow:
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await unit.rollouts.get(job_id, rollout_id)

    async def tokens(self, job_id: str, rollout_id: str) -> TokenRecord:
        """Returns the sampled tokens of a rollout. Raises `NotFound` for one without any."""
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await unit.rollouts.tokens(job_id, rollout_id)

    async def first_graded(
        self, job_id: str, split: Split, *, steps: Sequence[int], row: int
    ) -> list[RolloutRow | None]:
        """Returns the first rollout of a row that got a reward, at each of the steps."""
        found: list[RolloutRow | None] = []
        for step in steps:
            where = RolloutFilter(split=split, step=step, prompt_index=row, failed=False)
            first, _ = await self.page(
                job_id, where, after=None, limit=1, order_by="step", descending=False
            )
            found.append(first[0] if first else None)
        return found

    async def row_means(
        self,
        job_id: str,
        split: Split,
        *,
        steps: Sequence[int] | None = None,
        prompt_index: int | None = None,
    ) -> list[RowMean]:
        """Returns means of a split's rollouts by row and step."""
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await unit.rollouts.row_means(
                job_id, split, steps=steps, prompt_index=prompt_index
            )

    async def reward_histogram(
        self, job_id: str, split: Split, steps: Sequence[int]
    ) -> RewardHistogram | None:
        """Returns the rewards of a split's rollouts at some steps; `None` if none was graded."""
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await unit.rollouts.reward_histogram(job_id, split, steps)

    async def pass_counts(self, job_id: str, split: Split, *, at_least: float) -> list[PassCount]:
        """Returns the number of a split's rollouts that reached a reward, by row and step."""
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await unit.rollouts.pass_counts(job_id, split, at_least=at_least)

    async def report(self, job_id: str) -> dict[str, Any]:
        """Returns base against tuned on held-out rows. Raises `NotFound` until the job has
        succeeded, and for a job without held-out rows, without their rollouts, or with another end.
        """
        async with self._database.tenant(self._tenant) as unit:
            job = await unit.jobs.get(job_id)
            report = await unit.reports.get(job_id)
        if report is None:
            raise _no_report(job)
        return report


def _no_report(job: Job) -> NotFound:
    if job.validation_file is None:
        return NotFound(
            f"Job {job.id} has no report and will have none: a report compares the models on "
            "held-out rows, and the job was created without a validation_file.",
            param="validation_file",
            code="no_validation_file",
        )
    if job.status in TERMINAL and job.status is not JobStatus.SUCCEEDED:
        return NotFound(
            f"Job {job.id} is {job.status.value}, so it has no report.", code="report_not_ready"
        )
    if job.status is JobStatus.SUCCEEDED:
        return NotFound(
            f"Job {job.id} has no report and will have none: too many held-out rollouts were lost "
            "to failures of tools, environments or graders; its events say which.",
            code="validation_lost",
        )
    return NotFound(
        f"Job {job.id} has no report yet: it is {job.status.value}, and the report is made when it "
        "succeeds.",
        code="report_not_ready",
    )
