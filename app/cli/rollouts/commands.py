"""`agent-rft rollouts`: the commands, whose modules are imported only when one runs."""

from typing import Annotated

import typer

from app.cli.options import ForceOption, LimitOption, OutOption, finite
from app.cli.service.remote import Remote, remote_command

rollouts = typer.Typer(help="Rollouts of a job of a running service.", no_args_is_help=True)
JobArgument = Annotated[str, typer.Argument(metavar="JOB", help="Id of the job.")]
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
    job: JobArgument,
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
    from app.cli.rollouts.rollouts import list_rollouts  # noqa: PLC0415 - keeps --help fast

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
    job: JobArgument,
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
    from app.cli.jobs.table_files import export  # noqa: PLC0415 - keeps --help fast

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
def rollouts_show(remote: Remote, *, job: JobArgument, rollout: RolloutArgument) -> None:
    """Show a rollout turn by turn: texts, calls with arguments and results, reasons of the grade.

    Example: agent-rft rollouts show ftjob-… rollout-…
    """
    from app.cli.rollouts.rollouts import show_rollout  # noqa: PLC0415 - keeps --help fast

    show_rollout(remote, job, rollout)


@rollouts.command("diff")
@remote_command
def rollouts_diff(
    remote: Remote,
    *,
    job: JobArgument,
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
    from app.cli.rollouts.rollouts import compare_rollouts  # noqa: PLC0415 - keeps --help fast

    compare_rollouts(remote, job, first, second, unified=unified)
