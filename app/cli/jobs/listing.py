"""`agent-rft jobs list`, `show`, `pause`, `resume` and `cancel`."""

from collections.abc import Mapping
from typing import Any, Final

from app.cli.jobs.replies import JobReply
from app.cli.service.client import parse_reply, path_of
from app.cli.service.remote import Remote
from app.cli.terminal.output import columns, console, fields
from app.cli.terminal.times import duration, moment

JOBS: Final = "fine_tuning/jobs"


def list_jobs(remote: Remote, *, limit: int) -> None:
    with remote.service() as service:
        rows = service.rows(JOBS, limit=limit)
    jobs = [parse_reply(JobReply, row) for row in rows.data]

    def show() -> None:
        header = ("ID", "STATUS", "STEP", "CREATED", "MODEL")
        cells = [
            (job.id, job.status, job.progress, moment(job.created_at), job.model) for job in jobs
        ]
        console().print(columns(header, cells))

    remote.out.result(rows.data, show, has_more=rows.has_more)


def show_job(remote: Remote, job_id: str) -> None:
    with remote.service() as service:
        reply = service.get(f"{JOBS}/{path_of(job_id)}")
    _print(remote, reply)


def change_job(
    remote: Remote, job_id: str, verb: str, body: Mapping[str, Any] | None = None
) -> None:
    """Calls `pause`, `resume` or `cancel`, and prints the job after it."""
    with remote.service() as service:
        reply = service.post(f"{JOBS}/{path_of(job_id)}/{verb}", body)
    _print(remote, reply)


def _print(remote: Remote, reply: dict[str, Any]) -> None:
    job = parse_reply(JobReply, reply)
    remote.out.result(reply, lambda: console().print(fields(job_line(job))))


def job_line(job: JobReply) -> list[tuple[str, object]]:
    pairs: list[tuple[str, object]] = [
        ("id", job.id),
        ("status", job.status),
        ("step", job.progress),
        ("model", job.model),
        ("tuned model", job.fine_tuned_model),
        ("created", moment(job.created_at)),
        ("finished", moment(job.finished_at)),
        ("training file", job.training_file),
        ("validation file", job.validation_file),
        ("seed", job.seed),
    ]
    if job.queue_position is not None:
        pairs.append(("position in the queue", job.queue_position))
    usage = job.usage_metrics or {}
    if isinstance(seconds := usage.get("training_time_s"), int | float):
        pairs.append(("training time", duration(seconds)))
    pairs += [(name, usage[name]) for name in ("rollouts", "tool_calls") if name in usage]
    if job.ended_early is not None:
        pairs.append(("ended early", job.ended_early.get("reason")))
    if job.error is not None and job.error.message is not None:
        pairs.append(("error", f"{job.error.code}: {job.error.message}"))
    return pairs
