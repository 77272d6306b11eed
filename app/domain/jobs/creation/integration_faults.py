"""The integrations of a create call, valid or not, and those that an earlier one excludes. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.domain.documents.walk import value_of
from app.domain.errors import InvalidRequest
from app.domain.jobs.integrations import INTEGRATIONS


def sent_integrations(body: Mapping[str, Any]) -> list[Any]:
    """Returns the integrations of a call, valid or not."""
    sent = body.get(INTEGRATIONS)
    return sent if isinstance(sent, list) else []


def repeated_faults(integrations: Sequence[Any]) -> Iterator[InvalidRequest]:
    """Yields an error for each integration that an earlier one excludes: a job has one directory of
    event files. Accepts integrations that are invalid.
    """
    named = [value_of(one, "type") for one in integrations]
    for position, kind in enumerate(named):
        if kind == "tensorboard" and kind in named[:position]:
            yield InvalidRequest(
                f"'{kind}' is named twice in '{INTEGRATIONS}'. Send it once.",
                param=f"{INTEGRATIONS}[{position}].type",
                code="invalid_value",
            )
