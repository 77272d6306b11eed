"""`agent-rft jobs`: the commands, whose modules are imported only when one runs."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import ForceOption, LimitOption, OutOption, finite
from app.cli.remote import Remote, remote_command

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
    from app.cli.job_creation import create  # noqa: PLC0415 - keeps `agent-rft --help` fast

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
    from app.cli.job_reports import list_jobs  # noqa: PLC0415 - keeps `agent-rft --help` fast

    list_jobs(remote, limit=limit)


@jobs.command("show")
@remote_command
def jobs_show(remote: Remote, *, job: JobArgument) -> None:
    """Show a job.

    Example: agent-rft jobs show ftjob-…
    """
    from app.cli.job_reports import show_job  # noqa: PLC0415 - keeps `agent-rft --help` fast

    show_job(remote, job)


@jobs.command("watch")
@remote_command
def jobs_watch(remote: Remote, *, job: JobArgument) -> None:
    """Follow a job to its end: a live picture in a terminal, else a line for each event.

    Exit codes: 0 succeeded, 20 failed, 21 cancelled, 22 paused, 23 nothing to learn. Ctrl-C leaves
    the job running.

    Example: agent-rft jobs watch ftjob-… && agent-rft jobs report ftjob-…
    """
    from app.cli.watching import watch_job  # noqa: PLC0415 - keeps `agent-rft --help` fast

    raise typer.Exit(watch_job(remote, job))


@jobs.command("pause")
@remote_command
def jobs_pause(remote: Remote, *, job: JobArgument) -> None:
    """Pause a job after its current step.

    Example: agent-rft jobs pause ftjob-…
    """
    from app.cli.job_reports import change_job  # noqa: PLC0415 - keeps `agent-rft --help` fast

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
    from app.cli.job_reports import change_job  # noqa: PLC0415 - keeps `agent-rft --help` fast

    caps = {"max_rollouts": max_rollouts, "max_training_time_s": max_training_time_s}
    sent = {name: value for name, value in caps.items() if value is not None}
    change_job(remote, job, "resume", sent or None)


@jobs.command("cancel")
@remote_command
def jobs_cancel(remote: Remote, *, job: JobArgument) -> None:
    """Cancel a job; its checkpoints stay.

    Example: agent-rft jobs cancel ftjob-…
    """
    from app.cli.job_reports import change_job  # noqa: PLC0415 - keeps `agent-rft --help` fast

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
    from app.cli import job_reports as curves  # noqa: PLC0415 - keeps `agent-rft --help` fast

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
    from app.cli.job_creation import export  # noqa: PLC0415 - keeps `agent-rft --help` fast

    export(remote, job, "metrics", out, force=force, names=name or None, split=split)


@jobs.command("report")
@remote_command
def jobs_report(remote: Remote, *, job: JobArgument) -> None:
    """Print the paired report: the model before training against the tuned one.

    Example: agent-rft jobs report ftjob-…
    """
    from app.cli.job_reports import show_report  # noqa: PLC0415 - keeps `agent-rft --help` fast

    show_report(remote, job)


rollouts = typer.Typer(help="Rollouts of a job of a running service.", no_args_is_help=True)
RolloutJobArgument = Annotated[str, typer.Argument(metavar="JOB", help="Id of the job.")]
RolloutArgument = Annotated[str, typer.Argument(help="Id of a rollout.")]
SplitOption = Annotated[str | None, typer.Option(help="Split, such as train or report.")]
StepOption = Annotated[int | None, typer.Option(help="Step; 0 is before training.")]
RowOption = Annotated[int | None, typer.Option(help="Row of the split's file, from 0.")]
LeastRewardOption = Annotated[float | None, typer.Option(callback=finite, help="Reward at least.")]
MostRewardOption = Annotated[float | None, typer.Option(callback=finite, help="Reward at most.")]
StopReasonOption = Annotated[str | None, typer.Option(help="Such as final_answer.")]
FailureOption = Annotated[str | None, typer.Option(help="Lost to this failure.")]
FailedOption = Annotated[
    bool | None, typer.Option("--failed/--graded", help="Only lost, or only graded ones.")
]
ToolOption = Annotated[str | None, typer.Option(help="Called this tool.")]
RepeatedOption = Annotated[
    bool | None,
    typer.Option("--repeated-call/--no-repeated-call", help="With a call made twice, or without."),
]


@rollouts.command("list")
@remote_command
def rollouts_list(
    remote: Remote,
    *,
    job: RolloutJobArgument,
    split: SplitOption = None,
    step: StepOption = None,
    row: RowOption = None,
    min_reward: LeastRewardOption = None,
    max_reward: MostRewardOption = None,
    stop_reason: StopReasonOption = None,
    failure_class: FailureOption = None,
    failed: FailedOption = None,
    tool: ToolOption = None,
    repeated_call: RepeatedOption = None,
    by_reward: Annotated[bool, typer.Option("--by-reward", help="Order by reward.")] = False,
    newest: Annotated[bool, typer.Option("--desc", help="Largest first.")] = False,
    limit: LimitOption = 20,
) -> None:
    """List rollouts of a job, by step.

    Example: agent-rft rollouts list ftjob-… --failed --desc
    """
    from app.cli.rollouts import list_rollouts  # noqa: PLC0415 - keeps --help fast

    list_rollouts(
        remote,
        job,
        limit=limit,
        split=split,
        step=step,
        prompt_index=row,
        min_reward=min_reward,
        max_reward=max_reward,
        stop_reason=stop_reason,
        failure_class=failure_class,
        failed=failed,
        tool=tool,
        repeated_call=repeated_call,
        order_by="reward" if by_reward else None,
        order="desc" if newest else None,
    )


@rollouts.command("export")
@remote_command
def rollouts_export(
    remote: Remote,
    *,
    job: RolloutJobArgument,
    out: OutOption,
    force: ForceOption = False,
    split: SplitOption = None,
    step: StepOption = None,
    row: RowOption = None,
    min_reward: LeastRewardOption = None,
    max_reward: MostRewardOption = None,
    stop_reason: StopReasonOption = None,
    failure_class: FailureOption = None,
    failed: FailedOption = None,
    tool: ToolOption = None,
    repeated_call: RepeatedOption = None,
) -> None:
    """Write rollouts of a job with their traces to a file, .jsonl or .parquet; print its path.

    Example: agent-rft rollouts export ftjob-… --out rollouts.parquet --split report
    """
    from app.cli.job_creation import export  # noqa: PLC0415 - keeps --help fast

    export(
        remote,
        job,
        "rollouts",
        out,
        force=force,
        split=split,
        step=step,
        prompt_index=row,
        min_reward=min_reward,
        max_reward=max_reward,
        stop_reason=stop_reason,
        failure_class=failure_class,
        failed=failed,
        tool=tool,
        repeated_call=repeated_call,
    )


@rollouts.command("show")
@remote_command
def rollouts_show(remote: Remote, *, job: RolloutJobArgument, rollout: RolloutArgument) -> None:
    """Show a rollout turn by turn: texts, calls with arguments and results, reasons of the grade.

    Example: agent-rft rollouts show ftjob-… rollout-…
    """
    from app.cli.rollouts import show_rollout  # noqa: PLC0415 - keeps --help fast

    show_rollout(remote, job, rollout)


@rollouts.command("diff")
@remote_command
def rollouts_diff(
    remote: Remote,
    *,
    job: RolloutJobArgument,
    first: RolloutArgument,
    second: RolloutArgument,
    unified: Annotated[
        bool | None,
        typer.Option(
            "--unified/--side-by-side", help="By default side by side in a wide terminal."
        ),
    ] = None,
) -> None:
    """Compare two rollouts, such as those of one row at step 0 and at the last step.

    Example: agent-rft rollouts diff ftjob-… rollout-a rollout-b
    """
    from app.cli.rollouts import compare_rollouts  # noqa: PLC0415 - keeps --help fast

    compare_rollouts(remote, job, first, second, unified=unified)
