"""Builds the result file of a job: its curves as CSV in the hosted format. Pure.

Source of the first columns: third-party readers of the hosted `step_metrics.csv`; `train_accuracy`
is the older name of a supervised one. All curves follow as `<split>/<name>`. There is one row for
each step from 1 on, blank for values that were not measured. `entropy_loss_sum` is omitted, because
the loss has no such term.
"""

import csv
import hashlib
import io
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final, assert_never

from app.domain.data.files import FileRow
from app.domain.graders import grader_metrics
from app.domain.jobs.jobs import Job
from app.domain.methods.method_documents import (
    StoredDpoMethod,
    StoredMethod,
    StoredReinforcementMethod,
    StoredSupervisedMethod,
)
from app.domain.rollouts import metrics as names
from app.domain.rollouts.metrics import MetricPoint

FILENAME: Final = "step_metrics.csv"
PURPOSE: Final = "fine-tune-results"
_GRADER_COUNTS: Final = ("train_sample_parse_error_count", "train_other_error_count")
_TOOL_ERRORS: Final = ("tool/", "/errors")

Values = dict[str, float]


def result_file(job: Job, points: Sequence[MetricPoint]) -> tuple[FileRow, bytes] | None:
    """Returns row and content for the curves from step 1 on; `None` if no step has points. The last
    of two points with the same key counts.

    The id is derived from job and content. Writing the file again therefore changes nothing, and a
    cancel and a simultaneous end of the run, only one of which includes a lost step, write separate
    files.
    """
    points = [point for point in points if point.step > 0]
    if not points:
        return None
    content = step_metrics(points, _grader(job.method)).encode()
    digest = hashlib.sha256(content).hexdigest()
    file_id = f"file-{hashlib.sha256(f'result-file/{job.id}/{digest}'.encode()).hexdigest()[:24]}"
    row = FileRow(
        id=file_id,
        project_id=job.project_id,
        filename=FILENAME,
        purpose=PURPOSE,
        bytes=len(content),
        sha256=digest,
        object_key=f"projects/{job.project_id}/files/{file_id}",
        status="processed",
        status_details=None,
        created_at=int(time.time()),
        expires_at=None,
    )
    return row, content


def _grader(method: StoredMethod) -> dict[str, Any] | None:
    match method:
        case StoredReinforcementMethod():
            grader: dict[str, Any] = method.options["grader"]
            return grader
        case StoredSupervisedMethod() | StoredDpoMethod():
            return None
        case _:
            assert_never(method)


def step_metrics(points: Sequence[MetricPoint], grader: dict[str, Any] | None) -> str:
    """Returns the CSV of a job's curves from step 1 on. Supervised and DPO jobs have no grader."""
    steps: dict[int, dict[str, Values]] = defaultdict(lambda: {"train": {}, "valid": {}})
    for point in points:
        steps[point.step].setdefault(point.split, {})[point.name] = point.value
    curves = sorted({(point.split, point.name) for point in points})
    rows = [
        {
            **(
                _of_text(step, values["train"], values["valid"])
                if grader is None
                else _known(step, values["train"], values["valid"], grader)
            ),
            **{f"{split}/{name}": values.get(split, {}).get(name) for split, name in curves},
        }
        for step, values in sorted(steps.items())
    ]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _of_text(step: int, train: Values, valid: Values) -> dict[str, Any]:
    accuracy = train.get(names.TOKEN_ACCURACY)
    return {
        "step": step,
        "train_loss": train.get(names.LOSS),
        "train_accuracy": accuracy,
        "train_mean_token_accuracy": accuracy,
        "valid_loss": valid.get(names.BATCH_LOSS),
        "valid_mean_token_accuracy": valid.get(names.BATCH_TOKEN_ACCURACY),
        "full_valid_loss": valid.get(names.LOSS),
        "full_valid_mean_token_accuracy": valid.get(names.TOKEN_ACCURACY),
    }


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
        for entry in grader_metrics.errors(grader, train, {})
        for count in _GRADER_COUNTS
    }


def _tool_errors(train: Values) -> Values:
    first, last = _TOOL_ERRORS
    return {
        f"train_error_count_{name.removeprefix(first).removesuffix(last)}": value
        for name, value in sorted(train.items())
        if name.startswith(first) and name.endswith(last)
    }
