"""A run's rows: the job's files read, checked row by row, and refused with line and reason."""

from collections.abc import Iterable
from pathlib import Path

from app.domain.dataset import DatasetError, DatasetRow, parse_rows
from app.domain.errors import NotFound, RunFailed
from app.domain.jobs import MAX_TRAIN_EXAMPLES, MAX_VALID_EXAMPLES, MIN_EXAMPLES
from workers.runs.context import RunContext
from workers.runs.patience import patiently


async def load_rows(context: RunContext, *, training: bool) -> list[DatasetRow]:
    """Rows of the training or validation file. Raises `RunFailed` with the hosted error code."""
    label = "training" if training else "validation"
    file_id = context.job.training_file if training else context.job.validation_file
    limit = MAX_TRAIN_EXAMPLES if training else MAX_VALID_EXAMPLES
    path = await _path(context, file_id, label)
    tool_names = {tool.name for tool in context.method.tools}
    try:
        rows = parse_rows(_lines(path), tool_names, limit)
    except DatasetError as error:
        raise RunFailed(
            f"Invalid file format. {error}",
            code=f"invalid_{label}_file",
            param=f"{label}_file",
        ) from error
    if len(rows) < MIN_EXAMPLES:
        raise RunFailed(
            f"{label.capitalize()} file has {len(rows)} example(s), but must have at least "
            f"{MIN_EXAMPLES} examples",
            code="invalid_n_examples",
            param=f"{label}_file",
        )
    return rows


async def _path(context: RunContext, file_id: str, label: str) -> Path:
    async def look_up() -> Path:
        async with context.unit() as unit:
            row = await unit.files.get(file_id)
        return context.objects.local_path(row.object_key)

    try:
        path = await patiently(look_up)
    except NotFound:
        path = None
    if path is None or not path.is_file():
        raise RunFailed(
            f"The {label} file {file_id} was deleted.",
            code=f"invalid_{label}_file",
            param=f"{label}_file",
        )
    return path


def _lines(path: Path) -> Iterable[bytes]:
    with path.open("rb") as file:
        yield from file
