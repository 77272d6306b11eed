"""`agent-rft jobs`: the commands, whose modules are imported only when one runs."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import ForceOption, LimitOption, OutOption, finite
from app.cli.service.remote import Remote, remote_command

jobs = typer.Typer(help="Fine-tuning jobs of a running service.", no_args_is_help=True)
JobArgument = Annotated[str, typer.Argument(metavar="JOB", help="Id of the job.")]
WatchOption = Annotated[bool, typer.Option("--watch", help="Follow the job to its end.")]
_LOCAL_FILE = typer.Option(
    exists=True, dir_okay=False, help="Local JSONL file to upload for this parameter."
)


@jobs.command("create")
@remote_command
def jobs_create(
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
    watch: WatchOption = False,
) -> None:
    """Create a job; print its id.

    Example: agent-rft jobs create job.json --training-file train.jsonl
    --validation-file valid.jsonl --watch
    """
    from app.cli.jobs.creation import create  # noqa: PLC0415 - keeps `agent-rft --help` fast

    if dry_run and watch:
        raise typer.BadParameter("--dry-run creates no job that --watch could follow")
    files = {"training_file": training_file, "validation_file": validation_file}
    raise typer.Exit(create(remote, call, files, dry_run=dry_run, watch=watch))


@jobs.command("list")
@remote_command
def jobs_list(remote: Remote, *, limit: LimitOption = 20) -> None:
    """List jobs, newest first.

    Example: agent-rft jobs list --limit 100 --json
    """
    from app.cli.jobs.listing import list_jobs  # noqa: PLC0415 - keeps `agent-rft --help` fast

    list_jobs(remote, limit=limit)


@jobs.command("show")
@remote_command
def jobs_show(remote: Remote, *, job: JobArgument) -> None:
    """Show a job.

    Example: agent-rft jobs show ftjob-…
    """
    from app.cli.jobs.listing import show_job  # noqa: PLC0415 - keeps `agent-rft --help` fast

    show_job(remote, job)


@jobs.command("watch")
@remote_command
def jobs_watch(remote: Remote, *, job: JobArgument) -> None:
    """Follow a job to its end: a live picture in a terminal, else a line for each event.

    Exit codes: 0 succeeded, 20 failed, 21 cancelled, 22 paused, 23 nothing to learn. Ctrl-C leaves
    the job running.

    Example: agent-rft jobs watch ftjob-… && agent-rft jobs report ftjob-…
    """
    from app.cli.jobs.watching import watch_job  # noqa: PLC0415 - keeps `agent-rft --help` fast

    raise typer.Exit(watch_job(remote, job))


@jobs.command("pause")
@remote_command
def jobs_pause(remote: Remote, *, job: JobArgument) -> None:
    """Pause a job after its current step.

    Example: agent-rft jobs pause ftjob-…
    """
    from app.cli.jobs.listing import change_job  # noqa: PLC0415 - keeps `agent-rft --help` fast

    change_job(remote, job, "pause")


@jobs.command("resume")
@remote_command
def jobs_resume(
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
    from app.cli.jobs.listing import change_job  # noqa: PLC0415 - keeps `agent-rft --help` fast

    caps = {"max_rollouts": max_rollouts, "max_training_time_s": max_training_time_s}
    sent = {name: value for name, value in caps.items() if value is not None}
    change_job(remote, job, "resume", sent or None)


@jobs.command("cancel")
@remote_command
def jobs_cancel(remote: Remote, *, job: JobArgument) -> None:
    """Cancel a job; its checkpoints stay.

    Example: agent-rft jobs cancel ftjob-…
    """
    from app.cli.jobs.listing import change_job  # noqa: PLC0415 - keeps `agent-rft --help` fast

    change_job(remote, job, "cancel")


@jobs.command("curves")
@remote_command
def jobs_curves(
    remote: Remote,
    *,
    job: JobArgument,
    name: Annotated[
        list[str] | None, typer.Option(help="Curve, repeatable; by default reward/mean.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="Split, such as train or valid.")] = None,
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
    from app.cli.jobs import curves  # noqa: PLC0415 - keeps `agent-rft --help` fast

    if names:
        if name or split or table is not None:
            raise typer.BadParameter("--list takes no --name, --split, --table or --chart")
        curves.list_curves(remote, job)
        return
    curves.show_curves(remote, job, name or [], split=split, max_points=max_points, as_table=table)


@jobs.command("export-curves")
@remote_command
def jobs_export_curves(
    remote: Remote,
    *,
    job: JobArgument,
    out: OutOption,
    force: ForceOption = False,
    name: Annotated[
        list[str] | None, typer.Option(help="Curve, repeatable; by default all.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="Split, such as train or valid.")] = None,
) -> None:
    """Write every point of a job's curves to a file, .jsonl or .parquet; print its path.

    Example: agent-rft jobs export-curves ftjob-… --out curves.parquet
    """
    from app.cli.jobs.table_files import export  # noqa: PLC0415 - keeps `agent-rft --help` fast

    export(remote, job, "metrics", out, force=force, names=name or None, split=split)


@jobs.command("report")
@remote_command
def jobs_report(remote: Remote, *, job: JobArgument) -> None:
    """Print the paired report: the model before training against the tuned one.

    Example: agent-rft jobs report ftjob-…
    """
    from app.cli.jobs.report import show_report  # noqa: PLC0415 - keeps `agent-rft --help` fast

    show_report(remote, job)
