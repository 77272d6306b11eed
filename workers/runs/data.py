"""A job's training and validation file: found, counted, and refused with the hosted error codes."""

import asyncio
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from app.files.rows import MAX_TRAIN_EXAMPLES, MAX_VALID_EXAMPLES, MIN_EXAMPLES, DatasetError
from app.jobs.call_checks import inspection_of_job
from app.kit.errors import NotFound, RunFailed
from app.tools.mcp_listings import SERVERS
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext


@dataclass(frozen=True, slots=True)
class JobFile:
    path: Path
    label: Literal["training", "validation"]
    max_rows: int

    def invalid(self, error: DatasetError) -> RunFailed:
        return RunFailed(
            f"Invalid file format. {error}",
            code=f"invalid_{self.label}_file",
            param=f"{self.label}_file",
        )

    def check_count(self, rows: int) -> None:
        """Raises `RunFailed` when there are too few rows."""
        if rows < MIN_EXAMPLES:
            raise RunFailed(
                f"{self.label.capitalize()} file has {rows} example(s), but must have at least "
                f"{MIN_EXAMPLES} examples",
                code="invalid_n_examples",
                param=f"{self.label}_file",
            )


async def training_file(context: RunContext) -> JobFile:
    """Raises `RunFailed` when the file was deleted."""
    path = await _fetched(context, "training", context.job.training_file)
    return JobFile(path, "training", MAX_TRAIN_EXAMPLES)


async def validation_file(context: RunContext) -> JobFile | None:
    """Returns `None` for a job without one. Raises `RunFailed` when the file was deleted."""
    file_id = context.job.validation_file
    if file_id is None:
        return None
    path = await _fetched(context, "validation", file_id)
    return JobFile(path, "validation", MAX_VALID_EXAMPLES)


async def _fetched(context: RunContext, label: str, file_id: str) -> Path:
    """Returns a local copy, which stays to the claim's end. Raises `RunFailed`."""
    path = context.scratch / f"{label}.jsonl"

    async def fetch() -> None:
        async with context.unit() as unit:
            row = await unit.files.get_for_run(file_id)
        await asyncio.to_thread(path.unlink, missing_ok=True)
        await context.objects.fetch(row.object_key, path)

    try:
        await retry_while_unavailable(fetch)
    except (NotFound, FileNotFoundError) as error:
        raise RunFailed(
            f"The {label} file {file_id} was deleted. Create the job again with another one.",
            code=f"invalid_{label}_file",
            param=f"{label}_file",
        ) from error
    return path


async def file_warnings(
    context: RunContext,
    training: JobFile,
    validation: JobFile | None,
    *,
    shared_tools: tuple[dict[str, Any], ...] = (),
) -> list[str]:
    """Returns what `validate` warns about in the files; if the control plane read them first and
    reported it, what only a run can see: `shared_tools`, the functions of newly listed MCP servers.
    """
    is_validated = context.files_validated
    if is_validated and not shared_tools:
        return []
    request = inspection_of_job(
        context.job.method,
        context.base_model,
        training=training.path,
        validation=None if validation is None else validation.path,
        shared_tools=shared_tools,
    )

    def read() -> list[str]:
        from app.jobs.dataset_checks import inspect  # noqa: PLC0415 - imports tokenizers and templates

        report = inspect(request)
        return report.warnings_about(SERVERS) if is_validated else report.warnings

    return await asyncio.to_thread(read)


def rows_of_step(step: int, *, seed: int, row_count: int, batch_size: int) -> list[int]:
    """Returns the row numbers of step 1, 2, …: every epoch has every row once, in its own order.

    The last batch of an epoch may be shorter.
    """
    steps_per_epoch = -(-row_count // batch_size)
    epoch, position = divmod(step - 1, steps_per_epoch)
    order = list(range(row_count))
    random.Random(f"epoch/{seed}/{epoch}").shuffle(order)
    return order[position * batch_size : (position + 1) * batch_size]
