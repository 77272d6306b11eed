"""The result file of a job: its curves as the CSV that readers of the hosted one know.

Source of the first columns: third-party readers of the hosted `step_metrics.csv`. After them stand
all curves as `<split>/<name>`. One row for each step from 1 on, blank where nothing was measured.
`entropy_loss_sum` is left out: no such term is in the loss. Formatting is pure.
"""

import csv
import hashlib
import io
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from app.domain import metrics as names
from app.domain.files import FileRow
from app.domain.metrics import MetricPoint
from workers.runs import grader_entries
from workers.runs.context import RunContext
from workers.runs.patience import patiently

FILENAME: Final = "step_metrics.csv"
PURPOSE: Final = "fine-tune-results"
_GRADER_COUNTS: Final = ("train_sample_parse_error_count", "train_other_error_count")
_TOOL_ERRORS: Final = ("tool/", "/errors")

Values = dict[str, float]


async def write_result_file(context: RunContext) -> FileRow | None:
    """Store the CSV of what is committed; `None` before the first step. The row is the caller's to
    insert, in the transaction that ends the job.

    Name and content follow from the job, so that writing it again changes nothing.
    """

    async def read() -> list[MetricPoint]:
        async with context.unit() as unit:
            return await unit.metrics.curve(context.job.id, names=None, split=None, after_step=0)

    points = await patiently(read)
    if not points:
        return None
    content = step_metrics(points, context.job.method["reinforcement"]["grader"]).encode()
    digest = hashlib.sha256(f"result-file/{context.job.id}".encode()).hexdigest()
    file_id = f"file-{digest[:24]}"
    key = f"projects/{context.job.project_id}/files/{file_id}"

    async def whole() -> AsyncIterator[bytes]:
        yield content

    stored = await context.objects.put(key, whole())
    return FileRow(
        id=file_id,
        project_id=context.job.project_id,
        filename=FILENAME,
        purpose=PURPOSE,
        bytes=stored.bytes,
        sha256=stored.sha256,
        object_key=key,
        status="processed",
        status_details=None,
        created_at=int(time.time()),
        expires_at=None,
    )


def step_metrics(points: Sequence[MetricPoint], grader: dict[str, Any]) -> str:
    """The CSV of a job's curves, steps from 1 on."""
    steps: dict[int, dict[str, Values]] = defaultdict(lambda: {"train": {}, "valid": {}})
    for point in points:
        steps[point.step].setdefault(point.split, {})[point.name] = point.value
    curves = sorted({(point.split, point.name) for point in points})
    rows = [
        {
            **_known(step, values["train"], values["valid"], grader),
            **{f"{split}/{name}": values[split].get(name) for split, name in curves},
        }
        for step, values in sorted(steps.items())
    ]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _known(step: int, train: Values, valid: Values, grader: dict[str, Any]) -> dict[str, Any]:
    loss, tokens = train.get(names.LOSS), train.get(names.TRAINED_TOKENS)
    # The loss of a step is a sum over its tokens divided by their number, and has one term.
    loss_sum = None if loss is None or tokens is None else loss * tokens
    return {
        "step": step,
        "train_mean_reward": train.get(names.REWARD_MEAN),
        "full_valid_mean_reward": valid.get(names.REWARD_MEAN),
        "completion_tokens_mean": train.get(names.COMPLETION_TOKENS_MEAN),
        "reasoning_tokens_mean": train.get(names.REASONING_TOKENS_MEAN),
        "mean_unresponsive_rewards": train.get(names.DISCARDED_SHARE),
        "pg_loss_sum": loss_sum,
        "total_loss_sum": loss_sum,
        **_grader_errors(train, grader),
        **_tool_errors(train),
    }


def _grader_errors(train: Values, grader: dict[str, Any]) -> dict[str, Any]:
    return {
        f"errors/graders/{entry['name'] or entry['type']}/{count}": entry.get(count)
        for entry in grader_entries.errors(grader, train, {})
        for count in _GRADER_COUNTS
    }


def _tool_errors(train: Values) -> Values:
    first, last = _TOOL_ERRORS
    return {
        f"train_error_count_{name.removeprefix(first).removesuffix(last)}": value
        for name, value in sorted(train.items())
        if name.startswith(first) and name.endswith(last)
    }
