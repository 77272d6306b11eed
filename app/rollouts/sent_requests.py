"""Rebuilds the requests to a rollout's tools and graders from its stored trace.

Must not send anything.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from app.files.datasets import grader_item
from app.files.row_files import RowsTooFar, rows_at
from app.files.service import FileService
from app.graders.kinds.multi import child_call_id
from app.graders.kinds.remote import encode
from app.graders.samples import sample_object
from app.graders.scorer import GradeRequest
from app.jobs.jobs import Job
from app.kit.errors import NotFound
from app.kit.fields import Json
from app.kit.ids import SampleKey, Split
from app.kit.strict_json import strict_loads
from app.rollouts.rollouts import RolloutRow, key_of, trajectory_of
from app.rollouts.trajectory import GRADER_FAILURES
from app.tools.tool_calls import ToolCall

MAX_READ_BYTES: Final = 64 * 1024 * 1024
"""Number of bytes that are searched for the row; no more, because a person waits for the page."""


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
    """The row of a rollout, and the requests about it."""

    row: str | None
    """The line of the file; `None` if it is missing, with the reason in `no_row`."""
    no_row: str
    file_id: str | None
    tools: Sequence[SentRequest]
    graders: Sequence[SentRequest]


class SentRequestService:
    def __init__(self, files: FileService) -> None:
        self._files = files

    async def sources(self, job: Job, row: RolloutRow) -> RolloutSources:
        file_id = _file_of(job, row.split)
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
        """Returns the text of a row. Raises `NotFound`."""
        _, chunks = await self._files.content(file_id)
        try:
            rows = await rows_at(chunks, {index}, max_bytes=MAX_READ_BYTES)
        except RowsTooFar:
            raise NotFound(f"Row {index} of {file_id} is too far behind its first bytes.") from None
        if index not in rows:
            raise NotFound(f"File {file_id} has no row {index}.")
        return rows[index].content.decode(errors="replace").strip()


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
    if not graders or not row.trace["turns"] or not _was_graded(row):
        return
    try:
        item = strict_loads(line, most=None)
    except (ValueError, RecursionError):
        return
    sample = sample_object(trajectory_of(row))
    for name, call_id, grader in graders:
        request = GradeRequest(sample, grader_item(item), row.trace_id, call_id)
        headers = _headers(grader, call_id, row.trace_id)
        yield SentRequest(name, grader["url"], headers, encode(request).decode(), call_id)


def _was_graded(row: RolloutRow) -> bool:
    """Returns whether graders were called: a rollout lost to a tool never reached them."""
    return row.failure_class is None or row.failure_class in GRADER_FAILURES


def _endpoints(grader: Json, key: SampleKey) -> Iterator[tuple[str, str, Json]]:
    """Yields the endpoint graders of a job, with names and call ids."""
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


def _file_of(job: Job, split: Split) -> str | None:
    match split:
        case "train":
            return job.training_file
        case "valid" | "test" | "valid_greedy" | "valid_base" | "report":
            return job.validation_file
        case _:
            assert_never(split)
