"""Reads a job's rollouts, held-out rows, report, and the requests that a rollout sent."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from app.database import Database
from app.evals.service import AttachedEvalService
from app.files.datasets import grader_item
from app.files.division import tags_of
from app.files.row_files import FileLine, RowsTooFar, rows_at
from app.files.rows import MAX_VALID_EXAMPLES
from app.files.service import FileService
from app.graders.kinds.multi import child_call_id
from app.graders.kinds.remote import encode
from app.graders.samples import sample_object
from app.graders.scorer import GradeRequest
from app.jobs.jobs import TERMINAL, Job, JobStatus
from app.kit.callers import Tenant
from app.kit.errors import NotFound
from app.kit.fields import Json
from app.kit.ids import SampleKey, Split
from app.kit.strict_json import strict_loads
from app.rollouts.rollouts import (
    PassCount,
    RewardHistogram,
    RolloutCursor,
    RolloutFilter,
    RolloutOrder,
    RolloutRow,
    RowMean,
    key_of,
    trajectory_of,
)
from app.rollouts.trajectory import GRADER_FAILURES, TokenRecord
from app.tools.tool_calls import ToolCall

_MAX_READ_BYTES: Final = 64 * 1024 * 1024
"""Bytes that are read at most, because a person waits for the page."""


@dataclass(frozen=True, slots=True)
class HeldOutRows:
    by_index: Mapping[int, Json] = field(default_factory=dict)
    """The rows that are objects."""
    count: int = 0
    unread: str = ""

    def tags(self, name: str) -> dict[int, list[str]]:
        found = {index: tags_of(row, name) for index, row in self.by_index.items()}
        return {index: tags for index, tags in found.items() if tags}


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One request: to a tool (`call_id`) or to a grader (its `name`)."""

    name: str
    url: str
    headers: Mapping[str, str]
    body: str
    call_id: str


@dataclass(frozen=True, slots=True)
class RolloutSources:
    row: str | None
    """The line of the file; `None` if it is missing, with the reason in `no_row`."""
    no_row: str
    file_id: str | None
    tools: Sequence[SentRequest]
    graders: Sequence[SentRequest]


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

    async def sources(self, job: Job, row: RolloutRow) -> RolloutSources:
        file_id = job.training_file if row.split == "train" else job.validation_file
        line, reason = None, "The job has no file of held-out rows."
        if file_id is not None:
            try:
                line = await self._line(file_id, row.prompt_index)
            except NotFound as error:
                reason = error.message
        return RolloutSources(
            row=line,
            no_row="" if line is not None else reason,
            file_id=file_id,
            tools=list(_tool_requests(job, row)),
            graders=[] if line is None else list(_grader_requests(job, row, line)),
        )

    async def _line(self, file_id: str, index: int) -> str:
        _, chunks = await self._files.content(file_id)
        try:
            rows = await rows_at(chunks, {index}, max_bytes=_MAX_READ_BYTES)
        except RowsTooFar:
            raise NotFound(f"Row {index} of {file_id} is too far behind its first bytes.") from None
        if index not in rows:
            raise NotFound(f"File {file_id} has no row {index}.")
        return rows[index].content.decode(errors="replace").strip()


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
        where.check(order_by)
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await unit.rollouts.page(
                job_id, where, after=after, limit=limit, order_by=order_by, descending=descending
            )

    async def export(
        self, job_id: str, where: RolloutFilter, *, check: Callable[[], Awaitable[object]]
    ) -> AsyncGenerator[list[RolloutRow], None]:
        """Yields rollouts by split, step, row, sample and attempt, without a transaction between
        two reads. `check` is called there, and raises `AuthenticationFailed` for lost access.
        Raises `InvalidRequest` for contradictory conditions.
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
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await unit.rollouts.row_means(
                job_id, split, steps=steps, prompt_index=prompt_index
            )

    async def reward_histogram(
        self, job_id: str, split: Split, steps: Sequence[int]
    ) -> RewardHistogram | None:
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await unit.rollouts.reward_histogram(job_id, split, steps)

    async def pass_counts(self, job_id: str, split: Split, *, at_least: float) -> list[PassCount]:
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await unit.rollouts.pass_counts(job_id, split, at_least=at_least)

    async def report(self, job_id: str) -> dict[str, Any]:
        """Raises `NotFound` until the job has succeeded, and for a job that will have none."""
        async with self._database.tenant(self._tenant) as unit:
            job = await unit.jobs.get(job_id)
            report = await unit.reports.get(job_id)
        if report is None:
            raise _no_report(job)
        evals = AttachedEvalService(self._database, self._tenant)
        return {**report, "evals": [await evals.compared(each) for each in job.evals]}


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


def _tool_requests(job: Job, row: RolloutRow) -> Iterator[SentRequest]:
    tools = {tool["name"]: tool for tool in job.method.options.get("tools") or []}
    key = key_of(row)
    for turn, record in enumerate(row.trace["turns"]):
        for number, call in enumerate(record["tool_calls"]):
            tool = tools.get(call["name"])
            if tool is None or "server_url" not in tool or call.get("attempts") == 0:
                continue  # a tool that the job does not have, or a call that was refused unsent
            request = ToolCall(
                name=call["name"],
                arguments=call["arguments"],
                call_id=key.call_id(turn, number),
                function_call_id=key.function_call_id(turn, number),
                trace_id=row.trace_id,
            ).request(tool.get("headers"))
            yield SentRequest(
                name=call["name"],
                url=tool["server_url"],
                headers=_headers(tool, request.call_id, row.trace_id),
                body=request.body.decode(),
                call_id=request.call_id,
            )


def _grader_requests(job: Job, row: RolloutRow, line: str) -> Iterator[SentRequest]:
    graders = list(_endpoints(job.method.options.get("grader") or {}, key_of(row)))
    if not graders or not row.trace["turns"]:
        return
    if row.failure_class is not None and row.failure_class not in GRADER_FAILURES:
        return  # a rollout that was lost to a tool never reached them
    try:
        item = strict_loads(line, most=None)
    except (ValueError, RecursionError):
        return
    sample = sample_object(trajectory_of(row))
    for name, call_id, grader in graders:
        request = GradeRequest(sample, grader_item(item), row.trace_id, call_id)
        headers = _headers(grader, call_id, row.trace_id)
        yield SentRequest(name, grader["url"], headers, encode(request).decode(), call_id)


def _endpoints(grader: Json, key: SampleKey) -> Iterator[tuple[str, str, Json]]:
    name = str(grader.get("name") or grader.get("type"))
    call_id = key.grade_id(name)
    if grader.get("type") == "endpoint":
        yield name, call_id, grader
    for child_name, child in (grader.get("graders") or {}).items():
        if isinstance(child, dict) and child.get("type") == "endpoint":
            yield child_name, child_call_id(call_id, child_name), child


def _headers(target: Json, call_id: str, trace_id: str) -> dict[str, str]:
    return {
        **(target.get("headers") or {}),
        "content-type": "application/json",
        "Idempotency-Key": call_id,
        "X-Rollout-Id": trace_id,
    }
