"""The assignment of a tracker: everything that its library needs to write one job.

It is sent to the library's process as JSON.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
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
class Assignment:
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
    wandb: WandbAccount | None = None
    """The operator's account, for its own kind of tracker alone."""

    @property
    def scratch(self) -> Path:
        """Returns the directory of temporary files, which may hold texts of a customer: it is
        removed with the process, and again before the next one starts.
        """
        return Path(self.directory) / ".tmp"

    def to_json(self) -> Json:
        return asdict(self)

    @classmethod
    def from_json(cls, sent: dict[str, Any]) -> "Assignment":
        endpoints = tuple(sent["allow_endpoints"])
        wandb = None if sent["wandb"] is None else WandbAccount(**sent["wandb"])
        return cls(**{**sent, "allow_endpoints": endpoints, "wandb": wandb})
