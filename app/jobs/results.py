"""A job leaves the best checkpoints, the file of its curves, and whether it is the same to the
bit, and its secrets apart. Of equal checkpoints the earlier is better: it moved least from its
base.
"""

import csv
import hashlib
import io
import time
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.files.files import FileRow
from app.graders import metrics as grader_metrics
from app.jobs.integrations import read_integration
from app.jobs.jobs import Checkpoint, Job
from app.jobs.methods import METHOD_MODELS, stored_method
from app.jobs.stop_options import KeepCheckpoints
from app.kit.fields import Json
from app.kit.redaction import SecretValues, redact_in_place, require_sealed, restore_secrets, split
from app.rollouts import metrics as names
from app.rollouts.metrics import MetricPoint

_REWARD, _LOSS = "full_valid_mean_reward", "full_valid_loss"
_PREFERENCE, _CHOSEN_CHANGE = "full_valid_preference_accuracy", "full_valid_chosen_change"


def validation_score(checkpoint: Checkpoint) -> tuple[float, ...] | None:
    """Returns what is compared, first value first; the highest is the best. DPO's loss also falls
    where preferred and rejected answers both become less probable. Therefore checkpoints of pairs
    whose preferred answers lost no log-prob come first, by accuracy and then by what they gained;
    then the others, by what they lost.
    """
    reward, loss, accuracy, change = (
        checkpoint.metrics.get(name) for name in (_REWARD, _LOSS, _PREFERENCE, _CHOSEN_CHANGE)
    )
    if reward is not None:
        return (reward,)
    if accuracy is not None and change is not None:
        return (0.0, accuracy, change) if change >= -names.TIE else (change,)
    return None if loss is None else (-loss,)


def best_first(checkpoints: Sequence[Checkpoint]) -> list[Checkpoint]:
    scores = ((validation_score(one), one) for one in checkpoints)
    ranked = [(score, -one.step, one) for score, one in scores if score is not None]
    return [one for *_, one in sorted(ranked, key=lambda each: each[:2], reverse=True)]


def kept_steps(
    checkpoints: Sequence[Checkpoint], keep: KeepCheckpoints, *, needed: Collection[int] = ()
) -> list[int]:
    """Returns steps in order, `needed` ones always. Without validations the newest are the best."""
    newest = sorted(checkpoint.step for checkpoint in checkpoints)
    best = [checkpoint.step for checkpoint in best_first(checkpoints)] or newest[::-1]
    last = newest[-keep.last :] if keep.last else []
    return sorted({*best[: keep.best], *last, *(step for step in newest if step in needed)})


FILENAME: Final = "step_metrics.csv"
PURPOSE: Final = "fine-tune-results"

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
    content = step_metrics(points, job.method.grader).encode()
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


def step_metrics(points: Sequence[MetricPoint], grader: dict[str, Any] | None) -> str:
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
        **{
            f"errors/graders/{entry['name'] or entry['type']}/{count}": entry.get(count)
            for entry in grader_metrics.errors(grader, train, {})
            for count in ("train_sample_parse_error_count", "train_other_error_count")
        },
        **{
            f"train_error_count_{name.removeprefix('tool/').removesuffix('/errors')}": value
            for name, value in sorted(train.items())
            if name.startswith("tool/") and name.endswith("/errors")
        },
    }


@dataclass(frozen=True, slots=True)
class EngineMachine:
    processor: str
    batch_invariant: bool


@dataclass(frozen=True, slots=True)
class ClaimMachine:
    trainer: str
    accelerated: bool
    """True if the trainer computes on an accelerator, whose sums have no fixed order."""
    in_order: bool
    """True if every run trains on the same samples: in mode `sync`, and for methods without modes.
    """
    samples: bool
    engine: EngineMachine | None
    """`None` for an engine without this information, and for a method that does not sample."""


def reproducibility(before: dict[str, Any] | None, claim: ClaimMachine) -> dict[str, Any]:
    record = before or {"reasons": [], "processors": []}
    processors = [f"trainer: {claim.trainer}"]
    if claim.samples and claim.engine is not None:
        processors.append(f"engine: {claim.engine.processor}")
    seen = _distinct([*record["processors"], *processors])
    reasons = list(dict.fromkeys([*record["reasons"], *_reasons(claim, seen)]))
    return {"same_to_the_bit": not reasons, "reasons": reasons, "processors": seen}


def _distinct(processors: Sequence[str]) -> list[str]:
    """Returns each description once. One that was recorded before products and threads were part of
    it counts as the same as a longer one of the same processor.
    """
    found = list(dict.fromkeys(processors))
    return [one for one in found if not any(other.startswith(f"{one}, ") for other in found)]


def _reasons(claim: ClaimMachine, processors: Sequence[str]) -> list[str]:
    found = []
    if claim.accelerated:
        found.append("The trainer computes on an accelerator.")
    if not claim.in_order:
        found.append("The mode trains in the order in which samples come.")
    if claim.samples and claim.engine is None:
        found.append("The engine does not say whether its results depend on the batch.")
    if claim.engine is not None and not claim.engine.batch_invariant:
        found.append("On its processor the engine's results depend on the batch.")
    parts = [one.split(":")[0] for one in processors]
    if len(parts) > len(set(parts)):
        found.append(
            "The job's claims ran on different processors, or with other products or threads."
        )
    return found


_INTEGRATIONS: Final = "integrations"
_BELOW: Final = f"/{_INTEGRATIONS}/"


def redact_method(method: Json) -> SecretValues:
    kind = stored_method(method).kind
    return redact_in_place(METHOD_MODELS[kind], method, (kind,))


def restored_method(method: dict[str, Any], opened: dict[str, Any]) -> dict[str, Any]:
    sealed = {at: value for at, value in opened.items() if not at.startswith(_BELOW)}
    kind = stored_method(method).kind
    require_sealed(METHOD_MODELS[kind], method, sealed, (kind,))
    whole: dict[str, Any] = restore_secrets(method, sealed)
    return whole


def split_integrations(integrations: list[Json]) -> tuple[list[Json], SecretValues]:
    copy: Json = {_INTEGRATIONS: integrations}
    sealed: SecretValues = {}
    for position, one in enumerate(integrations):
        path = (_INTEGRATIONS, position)
        copy, found = split(type(read_integration(one)), copy, path)
        sealed |= found
    shown: list[Json] = copy[_INTEGRATIONS]
    return shown, sealed


def restored_integrations(integrations: list[Json], opened: SecretValues) -> list[Json]:
    document = {_INTEGRATIONS: integrations}
    sealed = {at: value for at, value in opened.items() if at.startswith(_BELOW)}
    for position, one in enumerate(integrations):
        path = (_INTEGRATIONS, position)
        require_sealed(type(read_integration(one)), document, sealed, path)
    whole: list[Json] = restore_secrets(document, sealed)[_INTEGRATIONS]
    return whole
