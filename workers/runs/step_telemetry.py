"""Records committed steps and ended jobs: spans for OpenTelemetry, counts for Prometheus."""

import time
from collections.abc import Iterable

import structlog

from app.domain.ids import OrganizationId, ProjectId
from app.domain.jobs.jobs import Job
from app.store.database import Database
from app.telemetry.spans import SPANS
from workers.runs.steps.step_outcome import StepOutcome
from workers.telemetry.figures import count_step
from workers.telemetry.job_spans import record_comparison, record_job, record_step

log = structlog.get_logger()


def baseline_committed(job: Job, outcome: StepOutcome) -> None:
    """Records the validation before the first step as step 0."""
    now = time.time()
    record_step(
        job.id,
        0,
        interval=(now - (outcome.validation.seconds or 0.0), now),
        rollouts=[rollout.key for rollout in outcome.validation.scored_rollouts()],
        trained_tokens=0,
    )


def steps_committed(job: Job, outcomes: Iterable[StepOutcome]) -> None:
    """Counts and records training steps."""
    for outcome in outcomes:
        seconds, tokens = outcome.seconds, outcome.trained_tokens
        count_step(job.method.kind, seconds=seconds, trained_tokens=tokens)
        ended = outcome.ended_at or time.time()
        rollouts = [
            *outcome.trained.scored_rollouts(),
            *outcome.validation.scored_rollouts(),
        ]
        record_step(
            job.id,
            outcome.step,
            interval=(ended - (seconds or 0.0), ended),
            rollouts=[rollout.key for rollout in rollouts],
            trained_tokens=tokens,
        )


def comparison_committed(job: Job, *outcomes: StepOutcome) -> None:
    """Records the rollouts of the report."""
    now = time.time()
    seconds = sum(outcome.validation.seconds or 0.0 for outcome in outcomes)
    rollouts = [
        rollout.key for outcome in outcomes for rollout in outcome.validation.scored_rollouts()
    ]
    record_comparison(job.id, interval=(now - seconds, now), rollouts=rollouts)


async def record_ended(database: Database, job: Job) -> None:
    """Records the span of a job if it has reached an end state, whichever process ended it."""
    if not SPANS.are_recorded:
        return
    organization, project = OrganizationId(job.organization_id), ProjectId(job.project_id)
    try:
        async with database.project_of(organization, project) as unit:
            record_job(await unit.jobs.get(job.id))
    except Exception:  # boundary of telemetry: no fault of it may end a run otherwise
        log.exception("job's span not recorded", job_id=job.id)
