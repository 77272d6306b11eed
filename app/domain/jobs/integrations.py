"""Integrations of a job: trackers of experiments that get its curves. Pure.

Owns which trackers the service writes to, and the library that each of them needs. Must not know
how one is written.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

TRACK_TASK: Final = "agent_rft.track"
TrackerKind = Literal["tensorboard"]
"""Types of integrations that the service writes to."""
DEFAULT_TRACES: Final = 2
MAX_TRACES: Final = 10


@dataclass(frozen=True, slots=True)
class TrackerLibrary:
    """The client library of a tracker, which an installation may lack."""

    title: str
    """Name of the tracker for readers."""
    module: str
    extra: str
    """Extra of the package `agent-rft` that installs it."""


LIBRARIES: Final = MappingProxyType[TrackerKind, TrackerLibrary](
    {"tensorboard": TrackerLibrary("TensorBoard", "tensorboard", "tensorboard")}
)
WANDB_NOT_SENT: Final = (
    "'integrations': nothing is sent to Weights & Biases, because the service holds no key of your "
    "account. Every curve is at GET /v1/fine_tuning/jobs/{id}/metrics and in 'result_files'"
)


def integrations_warning(sent: Any) -> str | None:
    """Returns the warning about integrations that the service only stores; `None` without any.
    `sent` may be invalid.
    """
    if not isinstance(sent, list):
        return None
    kinds = [one.get("type") for one in sent if isinstance(one, dict)]
    return WANDB_NOT_SENT if "wandb" in kinds else None


def trackers_of(integrations: list[dict[str, Any]]) -> list[tuple[int, TrackerKind]]:
    """Returns position and type of each integration that the service writes to."""
    return [
        (position, kind)
        for position, one in enumerate(integrations)
        for kind in LIBRARIES
        if one["type"] == kind
    ]
