"""Computes the standing of a job for lists of jobs: its value before training and now. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.domain.ids import Split
from app.domain.jobs.findings.findings import watched_by
from app.domain.jobs.jobs import Job
from app.domain.jobs.stop_rules.stop_rules import LOSSES, REWARD
from app.domain.rollouts import metrics as names
from app.domain.rollouts.metrics import MetricPoint

LISTED: Final = (REWARD.valid, LOSSES.valid, names.DISCARDED_SHARE)
"""Curves whose first and last values the list shows."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Progress of a job: the value that measures its success, before training and now."""

    before: float | None
    now: float | None
    is_reward: bool
    lost: float | None
    is_validated: bool
    """True if `now` measures held-out rows, as `before` does; otherwise it measures the latest
    training step, whose rows and temperature differ, so that the two are not comparable.
    """

    @property
    def gain(self) -> float | None:
        if self.before is None or self.now is None or not self.is_validated:
            return None
        return self.now - self.before

    @property
    def is_better(self) -> bool:
        return self.gain is not None and (self.gain > 0) is self.is_reward and self.gain != 0


def standing(job: Job, points: Sequence[MetricPoint]) -> Standing:
    """Returns the standing from the validations, or from training until there is a second
    validation.
    """
    watched = watched_by(job.method)
    ends: dict[tuple[str, Split], list[MetricPoint]] = {}
    for point in points:
        ends.setdefault((point.name, point.split), []).append(point)
    valid = ends.get((watched.valid, "valid"), [])
    train = ends.get((watched.train, "train"), [])
    lost = ends.get((names.DISCARDED_SHARE, "train")) or ends.get((names.DISCARDED_SHARE, "valid"))
    before = valid[0].value if valid and valid[0].step == 0 else None
    is_validated = bool(valid) and valid[-1].step > 0
    now = valid[-1] if is_validated else (train[-1] if train else None)
    return Standing(
        before,
        None if now is None else now.value,
        is_reward=watched.is_reward,
        lost=None if lost is None else lost[-1].value,
        is_validated=is_validated,
    )
