"""The opening of a tracker: everything that its library needs to write one job.

It is sent to the library's process as JSON.
"""

from dataclasses import asdict, dataclass
from typing import Any

from app.domain.documents.json_object import Json
from app.domain.jobs.integrations import TrackerKind


@dataclass(frozen=True, slots=True)
class WandbAccount:
    """The operator's account at Weights & Biases."""

    api_key: str
    base_url: str
    offline: bool


@dataclass(frozen=True, slots=True)
class Opening:
    """Everything that the library of a tracker needs to write one job."""

    kind: TrackerKind
    directory: str
    """The directory of the job, which this tracker alone writes to."""
    run_id: str
    name: str
    options: Json
    """Options of the integration, with its secrets."""
    is_local: bool
    allow_endpoints: tuple[str, ...]
    allow_plain_http: bool
    wandb: WandbAccount

    def to_json(self) -> Json:
        return asdict(self)

    @classmethod
    def from_json(cls, sent: dict[str, Any]) -> "Opening":
        endpoints = tuple(sent["allow_endpoints"])
        wandb = WandbAccount(**sent["wandb"])
        return cls(**{**sent, "allow_endpoints": endpoints, "wandb": wandb})
