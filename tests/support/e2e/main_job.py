"""Sizes, endpoints and result of the job that the end-to-end tests share."""

from dataclasses import dataclass
from typing import Any

TRAIN_ROWS, VALID_ROWS, BATCH, GROUP = 64, 40, 8, 8
STEPS = TRAIN_ROWS // BATCH
EVAL_INTERVAL = STEPS // 2


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Addresses the installation may call: a good agent, a faulty one, one where nobody listens,
    and two where a test may listen.
    """

    good: str
    faulty: str
    dead: str
    hook: str
    silent: str
    """The address of a listener that does not answer."""

    @property
    def hook_port(self) -> int:
        return int(self.hook.rpartition(":")[2])

    @property
    def silent_port(self) -> int:
        return int(self.silent.rpartition(":")[2])


@dataclass(frozen=True, slots=True)
class FinishedJob:
    created: Any
    """The job object as the create call returned it."""
    job: Any
