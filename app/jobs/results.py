"""Ranks a job's checkpoints and selects those to keep. Pure.

The checkpoint with the better validation is better. Between equals the earlier one wins: a job that
has stopped improving thus publishes the checkpoint that moved least from its base.
"""

import csv
import hashlib
import io
import time
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, Final, assert_never

from app.files.files import FileRow
from app.graders import metrics as grader_metrics
from app.jobs.jobs import Checkpoint, Job
from app.jobs.methods import (
    StoredDpoMethod,
    StoredMethod,
    StoredReinforcementMethod,
    StoredSupervisedMethod,
)
from app.jobs.stop_options import KeepCheckpoints
from app.rollouts import metrics as names
from app.rollouts.metrics import MetricPoint

_REWARD, _LOSS = "full_valid_mean_reward", "full_valid_loss"


def validation_score(checkpoint: Checkpoint) -> float | None:
    """Returns the validation score, larger is better; `None` for a checkpoint without a validation
    value.
    """
    reward, loss = checkpoint.metrics.get(_REWARD), checkpoint.metrics.get(_LOSS)
    if reward is not None:
        return reward
    return None if loss is None else -loss


def best_first(checkpoints: Sequence[Checkpoint]) -> list[Checkpoint]:
    """Returns the checkpoints with a validation value."""
    values = {
        checkpoint.step: value
        for checkpoint in checkpoints
        if (value := validation_score(checkpoint)) is not None
    }
    ranked = [checkpoint for checkpoint in checkpoints if checkpoint.step in values]
    return sorted(ranked, key=lambda checkpoint: (-values[checkpoint.step], checkpoint.step))


def kept_steps(
    checkpoints: Sequence[Checkpoint], keep: KeepCheckpoints, *, needed: Collection[int] = ()
) -> list[int]:
    """Returns the steps of the checkpoints to keep, in order. Without any validation value the
    newest count as the best. `needed` ones are always kept.
    """
    newest = sorted(checkpoint.step for checkpoint in checkpoints)
    best = [checkpoint.step for checkpoint in best_first(checkpoints)] or newest[::-1]
    last = newest[-keep.last :] if keep.last else []
    return sorted({*best[: keep.best], *last, *(step for step in newest if step in needed)})


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
