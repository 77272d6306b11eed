"""`agent-rft jobs`: lists, changes, creation, curves and the report."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.text import Text

from app.cli.files import FILES, export, upload
from app.cli.output import chart, columns, console, note
from app.cli.remote import (
    ForceOption,
    JobArgument,
    LimitOption,
    OutOption,
    Remote,
    finite,
    read_body,
    remote_command,
)
from app.cli.replies import NOTHING, Reply, path_of
from app.cli.terminal import CreationUnknown, ServiceError, duration, issue_lines, printable
from app.kit.errors import PreflightIssue
from app.kit.processes import FAILED, NO_ANSWER
from app.rollouts.metrics import REWARD_MEAN

if TYPE_CHECKING:
    from app.cli.client import Service

JOBS: Final = "fine_tuning/jobs"
_CHECK_TIMEOUT_S: Final = 300.0
"""Timeout of a check, which reads large files and probes endpoints."""
_LOCAL_FILE: Final = typer.Option(
    exists=True, dir_okay=False, help="Local JSONL file to upload for this parameter."
)
SplitOption = Annotated[str | None, typer.Option(help="Split, such as train or valid.")]

jobs = typer.Typer()


@remote_command(jobs, "create")
def create(
    remote: Remote,
    *,
    call: Annotated[
        Path, typer.Argument(metavar="FILE", help="JSON body of a create call; - for stdin.")
    ],
    training_file: Annotated[Path | None, _LOCAL_FILE] = None,
    validation_file: Annotated[Path | None, _LOCAL_FILE] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the call by the service; create nothing.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Follow the job to its end.")] = False,
) -> int:
    """Create a job; print its id.

    Example: agent-rft jobs create job.json --training-file train.jsonl
    --validation-file valid.jsonl --watch
    """
    from app.cli.watching import watch_job  # noqa: PLC0415 - imports httpx

    if dry_run and watch:
        raise typer.BadParameter("--dry-run creates no job that --watch could follow")
    body, files = read_body(call), {"training_file": training_file}
    files["validation_file"] = validation_file
    with remote.service() as service, _uploaded(service, files, keep=not dry_run) as ids:
        if dry_run:
            return _check(remote, service, {**body, **ids})
        job = service.create(JOBS, {**body, **ids})
        job_id = job.id()
        remote.out.line(job.data, job_id, has_more=watch)
    return watch_job(remote, job_id, job) if watch else 0


@contextmanager
def _uploaded(
    service: "Service", files: Mapping[str, Path | None], *, keep: bool
) -> Iterator[dict[str, str]]:
    ids: dict[str, str] = {}
    try:
        for param, path in files.items():
            if path is not None:
                ids[param] = upload(service, path, purpose="fine-tune").id()
                note(f"uploaded {path} as {ids[param]}")
        yield ids
    except ServiceError as failure:
        # The job may have been created, and then needs them.
        keep = isinstance(failure, CreationUnknown) or failure.exit_code == NO_ANSWER
        raise
    finally:
        if not keep:
            for file_id in ids.values():
                try:
                    service.delete(f"{FILES}/{path_of(file_id)}")
                    note(f"deleted {file_id} again")
                except ServiceError as failure:
                    note(f"{file_id} stays: {failure}")


def _check(remote: Remote, service: "Service", body: dict[str, Any]) -> int:
    report = service.post(f"{JOBS}/validate", body, timeout_s=_CHECK_TIMEOUT_S)
    lines = [
        *issue_lines("ERROR", map(_issue, report.children("errors"))),
        *issue_lines("WARNING", map(_issue, report.children("warnings"))),
    ]
    if (choice := report.child("grader_choice")) is not None:
        lines.append(f"grader: {choice.text('kind')}. {choice.text('reason')}")
    if (plan := report.child("estimate")) is not None:
        seconds = plan.find("training_seconds", float)
        lines.append(
            f"estimate: {plan.get('total_steps', int)} steps, {plan.get('train_rollouts', int)} + "
            f"{plan.get('validation_rollouts', int)} rollouts of training and validation, worker "
            f"time {'unknown' if seconds is None else duration(seconds)}"
        )
    valid = report.get("valid", bool)
    lines.append("valid" if valid else "not valid")
    remote.out.lines(report.data, lines)
    return 0 if valid else FAILED


def _issue(found: Reply) -> PreflightIssue:
    return PreflightIssue(
        "error",
        found.text("code"),
        found.text("message"),
        found.find("param", str),
        found.find("line", int),
        found.find("pointer", str),
    )


@remote_command(jobs, "list")
def list_jobs(remote: Remote, *, limit: LimitOption = 20) -> None:
    """List jobs, newest first.

    Example: agent-rft jobs list --limit 100 --json
    """
    remote.print_list(
        JOBS,
        ("ID", "STATUS", "STEP", "CREATED", "MODEL"),
        lambda job: (
            *(job.id(), ended_as(job), progress(job)),
            *(job.moment("created_at"), job.text("model")),
        ),
        limit=limit,
    )


def ended_as(job: Reply) -> str:
    """Returns the status, and of a job that has succeeded whether its report shows a gain."""
    status, verdict = job.text("status"), job.find("verdict", str)
    return status if verdict is None else f"{status}, {verdict.replace('_', ' ')}"


def progress(job: Reply) -> str:
    return f"{job.find('step', int) or 0}/{job.find('total_steps', int) or '?'}"


@remote_command(jobs, "show")
def show(remote: Remote, *, job: JobArgument) -> None:
    """Show a job.

    Example: agent-rft jobs show ftjob-…
    """
    _print(remote, remote.get(f"{JOBS}/{path_of(job)}"))


@remote_command(jobs, "watch")
def watch(remote: Remote, *, job: JobArgument) -> int:
    """Follow a job to its end: a live picture in a terminal, else a line for each event.

    Exit codes: 0 succeeded, 20 failed, 21 cancelled, 22 paused, 23 nothing to learn. Ctrl-C leaves
    the job running.

    Example: agent-rft jobs watch ftjob-… && agent-rft jobs report ftjob-…
    """
    from app.cli.watching import watch_job  # noqa: PLC0415 - imports httpx

    return watch_job(remote, job)


@remote_command(jobs, "pause")
def pause(remote: Remote, *, job: JobArgument) -> None:
    """Pause a job after its current step.

    Example: agent-rft jobs pause ftjob-…
    """
    _change(remote, job, "pause")


@remote_command(jobs, "resume")
def resume(
    remote: Remote,
    *,
    job: JobArgument,
    max_rollouts: Annotated[
        int | None, typer.Option(min=1, help="New cap, for a job that its cap paused.")
    ] = None,
    max_training_time_s: Annotated[
        float | None, typer.Option(min=0, callback=finite, help="New cap in seconds, as above.")
    ] = None,
) -> None:
    """Resume a paused job.

    Example: agent-rft jobs resume ftjob-… --max-rollouts 20000
    """
    caps = {"max_rollouts": max_rollouts, "max_training_time_s": max_training_time_s}
    _change(remote, job, "resume", {name: cap for name, cap in caps.items() if cap is not None})


@remote_command(jobs, "cancel")
def cancel(remote: Remote, *, job: JobArgument) -> None:
    """Cancel a job; its checkpoints stay.

    Example: agent-rft jobs cancel ftjob-…
    """
    _change(remote, job, "cancel")


def _change(remote: Remote, job_id: str, verb: str, body: Mapping[str, Any] | None = None) -> None:
    with remote.service() as service:
        job = service.post(f"{JOBS}/{path_of(job_id)}/{verb}", body or None)
    _print(remote, job)


def _print(remote: Remote, job: Reply) -> None:
    usage = job.child("usage_metrics") or NOTHING
    pairs: list[tuple[str, object]] = [
        ("id", job.id()),
        ("status", ended_as(job)),
        ("step", progress(job)),
        ("model", job.text("model")),
        ("tuned model", job.find("fine_tuned_model", str)),
        ("created", job.moment("created_at")),
        ("finished", job.moment("finished_at")),
        ("training file", job.find("training_file", str)),
        ("validation file", job.find("validation_file", str)),
        ("seed", job.find("seed", int)),
    ]
    if (position := job.find("queue_position", int)) is not None:
        pairs.append(("position in the queue", position))
    if (seconds := usage.find("training_time_s", float)) is not None:
        pairs.append(("training time", duration(seconds)))
    pairs += [(name, usage.data[name]) for name in ("rollouts", "tool_calls") if name in usage.data]
    if (ended := job.child("ended_early")) is not None:
        pairs.append(("ended early", ended.find("reason", str)))
    error = job.child("error") or NOTHING
    if (message := error.find("message", str)) is not None:
        pairs.append(("error", f"{error.find('code', str)}: {message}"))
    remote.out.fields(job, pairs)


_MOST_COLUMNS: Final = 120


@remote_command(jobs, "curves")
def curves(
    remote: Remote,
    *,
    job: JobArgument,
    name: Annotated[
        list[str] | None, typer.Option(help="Curve, repeatable; by default reward/mean.")
    ] = None,
    split: SplitOption = None,
    max_points: Annotated[
        int, typer.Option(min=2, max=10_000, help="Points of a curve, thinned by the service.")
    ] = 200,
    table: Annotated[
        bool | None, typer.Option("--table/--chart", help="By default a chart in a terminal.")
    ] = None,
    names: Annotated[
        bool, typer.Option("--list", help="List the job's curves with their last values.")
    ] = False,
) -> None:
    """Draw curves of a job, or print their points.

    Example: agent-rft jobs curves ftjob-… --name reward/mean --name tool_calls/mean
    """
    path = f"{JOBS}/{path_of(job)}/metrics"
    if names:
        if name or split or table is not None:
            raise typer.BadParameter("--list takes no --name, --split, --table or --chart")
        _print_names(remote, remote.get(path, max_points=2))
        return
    reply = remote.get(path, names=name or [REWARD_MEAN], split=split, max_points=max_points)
    drawn = {
        f"{curve.text('name')} ({curve.text('split')})": _points(curve)
        for curve in reply.children("data")
    }
    as_table = not sys.stdout.isatty() if table is None else table

    def show() -> None:
        out = console()
        if not drawn:
            out.print("no points yet")
        elif as_table:
            values = {label: dict(points) for label, points in drawn.items()}
            steps = sorted({step for points in values.values() for step in points})
            rows = [(step, *(points.get(step) for points in values.values())) for step in steps]
            out.print(columns(("STEP", *values), rows))
        else:
            width = min(out.width - 1, _MOST_COLUMNS)
            out.print(Text(chart(drawn, width=width, height=6)))

    remote.out.result(reply.get("data", list), show)


def _points(curve: Reply) -> list[tuple[int, float]]:
    return [
        (point.get("step", int), point.get("value", float)) for point in curve.children("points")
    ]


def _print_names(remote: Remote, reply: Reply) -> None:
    rows = [
        (curve.text("name"), curve.text("split"), *points[-1])
        for curve in reply.children("data")
        if (points := _points(curve))
    ]
    header = ("NAME", "SPLIT", "STEP", "VALUE")
    remote.out.result(reply.get("data", list), lambda: console().print(columns(header, rows)))


@remote_command(jobs, "export-curves")
def export_curves(
    remote: Remote,
    *,
    job: JobArgument,
    out: OutOption,
    force: ForceOption = False,
    name: Annotated[
        list[str] | None, typer.Option(help="Curve, repeatable; by default all.")
    ] = None,
    split: SplitOption = None,
) -> None:
    """Write every point of a job's curves to a file, .jsonl or .parquet; print its path.

    Example: agent-rft jobs export-curves ftjob-… --out curves.parquet
    """
    export(remote, job, "metrics", out, force=force, names=name or None, split=split)


@remote_command(jobs, "report")
def report(remote: Remote, *, job: JobArgument) -> None:
    """Print the paired report: the model before training against the tuned one.

    Example: agent-rft jobs report ftjob-…
    """
    from app.cli.job_report import rows, sentences  # noqa: PLC0415 - imports every grader

    reply = remote.get(f"{JOBS}/{path_of(job)}/report")
    said, measured = list(sentences(reply)), list(rows(reply))

    def show() -> None:
        out = console()
        for sentence in said:
            out.print(Text(printable(sentence)))
        out.print(columns(("MEASURE", "BASE", "START", "TUNED", "CHANGE", "95 %"), measured))

    remote.out.result(reply.data, show)
