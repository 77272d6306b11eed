"""`agent-rft evals`: the commands, whose modules are imported only when one runs."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import LimitOption
from app.cli.service.remote import Remote, remote_command

evals = typer.Typer(help="Evals of a running service.", no_args_is_help=True)
EvalArgument = Annotated[str, typer.Argument(metavar="EVAL", help="Id of the eval.")]


@evals.command("list")
@remote_command
def evals_list(remote: Remote, *, limit: LimitOption = 20) -> None:
    """List evals, newest first.

    Example: agent-rft evals list
    """
    from app.cli.evals.evals import list_evals  # noqa: PLC0415 - keeps `agent-rft --help` fast

    list_evals(remote, limit=limit)


@evals.command("runs")
@remote_command
def evals_runs(remote: Remote, *, eval_id: EvalArgument, limit: LimitOption = 20) -> None:
    """List the runs of an eval, newest first.

    Example: agent-rft evals runs eval_…
    """
    from app.cli.evals.evals import list_runs  # noqa: PLC0415 - keeps `agent-rft --help` fast

    list_runs(remote, eval_id, limit=limit)


@evals.command("show")
@remote_command
def evals_show(
    remote: Remote,
    *,
    eval_id: EvalArgument,
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of the run.")],
) -> None:
    """Show a run with its counts so far.

    Example: agent-rft evals show eval_… evalrun_…
    """
    from app.cli.evals.evals import show_run  # noqa: PLC0415 - keeps `agent-rft --help` fast

    show_run(remote, eval_id, run)


@evals.command("run")
@remote_command
def evals_run(
    remote: Remote,
    *,
    eval_id: EvalArgument,
    body: Annotated[
        Path, typer.Argument(metavar="FILE", help="JSON body of a run; - for standard input.")
    ],
    model: Annotated[
        str | None, typer.Option(help="Model that replaces the body's data_source.model.")
    ] = None,
    detach: Annotated[bool, typer.Option("--detach", help="Do not wait for the end.")] = False,
) -> None:
    """Start a run of an eval and follow it to its end; print its counts.

    Exit codes: 0 completed (whatever the counts are), 20 failed, 21 cancelled.

    Example: agent-rft evals run eval_… run.json --model ft:…
    """
    from app.cli.evals.evals import run_eval  # noqa: PLC0415 - keeps `agent-rft --help` fast

    raise typer.Exit(run_eval(remote, eval_id, body, model=model, detach=detach))
