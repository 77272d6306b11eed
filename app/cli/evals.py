"""`agent-rft evals`: lists, shows and follows runs of evals."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from app.cli.output import columns, console, fields, note
from app.cli.remote import LimitOption, Remote, read_body, remote_command
from app.cli.replies import NOTHING, Reply, path_of
from app.cli.terminal import ServiceError
from app.kit.processes import INTERRUPTED, RUN_CANCELLED, RUN_FAILED

if TYPE_CHECKING:
    from app.cli.client import Service

_EVALS: Final = "evals"
_CODES: Final = {"completed": 0, "failed": RUN_FAILED, "canceled": RUN_CANCELLED}
EvalArgument = Annotated[str, typer.Argument(metavar="EVAL", help="Id of the eval.")]

evals = typer.Typer()


@remote_command(evals, "list")
def list_evals(remote: Remote, *, limit: LimitOption = 20) -> None:
    """List evals, newest first.

    Example: agent-rft evals list
    """
    remote.print_list(
        _EVALS,
        ("ID", "NAME", "CRITERIA", "CREATED"),
        lambda one: (
            *(one.id(), one.find("name", str), len(one.children("testing_criteria"))),
            one.moment("created_at"),
        ),
        limit=limit,
        order="desc",
    )


@remote_command(evals, "runs")
def list_runs(remote: Remote, *, eval_id: EvalArgument, limit: LimitOption = 20) -> None:
    """List the runs of an eval, newest first.

    Example: agent-rft evals runs eval_…
    """
    remote.print_list(
        f"{_EVALS}/{path_of(eval_id)}/runs",
        ("ID", "STATUS", "MODEL", "CREATED", "RESULT"),
        lambda run: (
            *(run.id(), run.text("status"), run.find("model", str)),
            *(run.moment("created_at"), _counts(run)),
        ),
        limit=limit,
        order="desc",
    )


@remote_command(evals, "show")
def show(
    remote: Remote,
    *,
    eval_id: EvalArgument,
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of the run.")],
) -> None:
    """Show a run with its counts so far.

    Example: agent-rft evals show eval_… evalrun_…
    """
    _print(remote, remote.get(_path(eval_id, run)))


@remote_command(evals, "run")
def run_eval(
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
) -> int:
    """Start a run of an eval and follow it to its end; print its counts.

    Exit codes: 0 completed (whatever the counts are), 20 failed, 21 cancelled.

    Example: agent-rft evals run eval_… run.json --model ft:…
    """
    sent = read_body(body)
    if model is not None:
        source = sent.get("data_source")
        sent["data_source"] = {**(source if isinstance(source, dict) else {}), "model": model}
    with remote.service() as service:
        run = service.create(f"{_EVALS}/{path_of(eval_id)}/runs", sent)
        if not detach:
            note(f"run {run.id()} of {eval_id}")
            try:
                run = _followed(service, eval_id, run.id())
            except KeyboardInterrupt:
                note(f"the run continues: agent-rft evals show {eval_id} {run.id()}")
                return INTERRUPTED
    _print(remote, run)
    return _CODES.get(run.text("status"), 0)


def _followed(service: "Service", eval_id: str, run_id: str) -> Reply:
    from app.cli.client import ServicePatience  # noqa: PLC0415 - imports httpx

    shown = ""
    patience = ServicePatience("The run continues; see it with `agent-rft evals show`.")
    while True:
        try:
            run = service.get(_path(eval_id, run_id))
        except ServiceError as failure:
            note(f"the service is unavailable ({patience.reason(failure)}); trying again")
            patience.wait()
            continue
        patience.heard()
        status, counts = run.text("status"), _counts(run)
        if status in _CODES:
            return run
        if sys.stderr.isatty() and counts != shown:
            shown = counts
            note(f"{status}: {counts}")
        time.sleep(1.0)


def _path(eval_id: str, run_id: str) -> str:
    return f"{_EVALS}/{path_of(eval_id)}/runs/{path_of(run_id)}"


def _counts(run: Reply) -> str:
    counts = run.child("result_counts") or NOTHING
    total, passed, failed, errored = (
        counts.find(name, int) or 0 for name in ("total", "passed", "failed", "errored")
    )
    return f"{total} items: {passed} passed, {failed} failed, {errored} errors"


def _print(remote: Remote, run: Reply) -> None:
    pairs: list[tuple[str, object]] = [
        *(("id", run.id()), ("status", run.text("status")), ("model", run.find("model", str))),
        ("result", _counts(run)),
    ]
    if (error := run.child("error")) is not None:
        pairs.append(("error", f"{error.find('code', str)}: {error.find('message', str)}"))
    rows = [
        (one.text("testing_criteria"), one.get("passed", int), one.get("failed", int))
        for one in run.children("per_testing_criteria_results")
    ]

    def show() -> None:
        out = console()
        out.print(fields(pairs))
        if rows:
            out.print(columns(("CRITERION", "PASSED", "FAILED"), rows))

    remote.out.result(run.data, show)
