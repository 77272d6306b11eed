"""`agent-rft jobs create`: uploads the files of a job and creates it, or only checks the call."""

import contextlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
from rich.text import Text

from app.cli.client import Service, download, parse_reply, path_of
from app.cli.files import FILES, upload
from app.cli.job_reports import JOBS, JobReply, ValidationReply
from app.cli.output import console, note
from app.cli.printable import duration, printable
from app.cli.remote import Remote, read_body
from app.cli.terminal import CreationUnknown, ServiceError, issue_lines
from app.cli.watching import watch_job
from app.kit.processes import FAILED, NO_ANSWER, WRONG_OPTIONS

_CHECK_TIMEOUT_S = 300.0
"""Timeout of a check, which reads large files and probes endpoints."""


def create(
    remote: Remote, call: Path, files: Mapping[str, Path | None], *, dry_run: bool, watch: bool
) -> int:
    """Returns the exit code: of the followed job with `watch`, of the check with `dry_run`."""
    body = read_body(call)
    with remote.service() as service, _uploaded(service, files, keep=not dry_run) as ids:
        if dry_run:
            return _check(remote, service, {**body, **ids})
        reply = service.create(JOBS, {**body, **ids})
        job = parse_reply(JobReply, reply)
        remote.out.result(reply, lambda: print(printable(job.id), flush=True), has_more=watch)
    return watch_job(remote, job.id, job) if watch else 0


@contextmanager
def _uploaded(
    service: Service, files: Mapping[str, Path | None], *, keep: bool
) -> Iterator[dict[str, str]]:
    """Yields the ids of the uploaded files by parameter."""
    ids: dict[str, str] = {}
    try:
        for param, path in files.items():
            if path is not None:
                ids[param] = str(upload(service, path, purpose="fine-tune")["id"])
                note(f"uploaded {printable(str(path))} as {printable(ids[param])}")
        yield ids
    except ServiceError as failure:
        # The job may have been created, and then needs them.
        keep = isinstance(failure, CreationUnknown) or failure.exit_code == NO_ANSWER
        raise
    finally:
        if not keep:
            for file_id in ids.values():
                with contextlib.suppress(ServiceError, httpx.RequestError):
                    service.delete(f"{FILES}/{path_of(file_id)}")
                    note(f"deleted {printable(file_id)} again")


def _check(remote: Remote, service: Service, body: dict[str, Any]) -> int:
    reply = service.post(f"{JOBS}/validate", body, timeout_s=_CHECK_TIMEOUT_S)
    report = parse_reply(ValidationReply, reply)
    remote.out.result(reply, lambda: _print_report(report))
    return 0 if report.valid else FAILED


def _print_report(report: ValidationReply) -> None:
    out = console()
    for severity, issues in (("ERROR", report.errors), ("WARNING", report.warnings)):
        for line in issue_lines(severity, issues):
            out.print(Text(line))
    if report.grader_choice is not None:
        choice = report.grader_choice
        out.print(Text(printable(f"grader: {choice.get('kind')}. {choice.get('reason')}")))
    if report.estimate is not None:
        plan = report.estimate
        seconds = plan.get("training_seconds")
        time = duration(seconds) if isinstance(seconds, int | float) else "unknown"
        rollouts = f"{plan.get('train_rollouts')} + {plan.get('validation_rollouts')}"
        out.print(
            Text(
                printable(
                    f"estimate: {plan.get('total_steps')} steps, {rollouts} rollouts of training "
                    f"and validation, worker time {time}"
                )
            )
        )
    out.print("valid" if report.valid else "not valid")


_FORMATS: Final = {".jsonl": "jsonl", ".parquet": "parquet"}


def export(
    remote: Remote, job_id: str, rows: str, out: Path, *, force: bool, **conditions: Any
) -> None:
    """Writes the `rollouts` or the `metrics` of a job, and prints the path of the file."""
    form = _FORMATS.get(out.suffix)
    if form is None:
        raise ServiceError(
            f"{out}: the name must end with {' or '.join(_FORMATS)}", exit_code=WRONG_OPTIONS
        )
    path = f"{JOBS}/{path_of(job_id)}/{rows}/export"
    file = download(remote, path, out, force=force, format=form, **conditions)
    remote.out.result(
        {"job_id": job_id, "path": str(file.path), "bytes": file.size},
        lambda: print(printable(str(file.path))),
    )
