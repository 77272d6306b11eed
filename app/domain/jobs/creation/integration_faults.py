"""The integrations of a create call, valid or not, and the faults of any of them. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from app.domain.documents.walk import value_of
from app.domain.errors import InvalidRequest
from app.domain.jobs.integrations import INTEGRATIONS

_WANDB_PROJECT: Final = re.compile(r"[^/\\#?%:\x00-\x1f\x7f]{1,128}")
_REFUSED_THERE: Final = "'/', '\\', '#', '?', '%' or ':'"


def sent_integrations(body: Mapping[str, Any]) -> list[Any]:
    """Returns the integrations of a call, valid or not."""
    sent = body.get(INTEGRATIONS)
    return sent if isinstance(sent, list) else []


def integration_faults(integrations: Sequence[Any]) -> Iterator[InvalidRequest]:
    """Yields an error for each integration that an earlier one excludes, since a job has one
    directory of event files, and for each project that W&B would refuse while the job runs. Accepts
    integrations that are invalid. A stored job is not checked: it stays readable.
    """
    named = [value_of(one, "type") for one in integrations]
    for position, kind in enumerate(named):
        at = f"{INTEGRATIONS}[{position}]"
        if kind == "tensorboard" and kind in named[:position]:
            yield InvalidRequest(
                f"'{kind}' is named twice in '{INTEGRATIONS}'. Send it once.",
                param=f"{at}.type",
                code="invalid_value",
            )
        project = value_of(value_of(integrations[position], "wandb"), "project")
        if kind == "wandb" and isinstance(project, str) and not _WANDB_PROJECT.fullmatch(project):
            yield InvalidRequest(
                f"'{at}.wandb.project' must be 1 to 128 characters without control characters and "
                f"{_REFUSED_THERE}, as Weights & Biases wants it.",
                param=f"{at}.wandb.project",
                code="invalid_value",
            )
