"""`agent-rft evals`: the commands, whose modules are imported only when one runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from app.cli.options import ForceOption, LimitOption, OutOption
from app.cli.remote import Remote, remote_command

evals = typer.Typer(help="Evals of a running service.", no_args_is_help=True)
EvalArgument = Annotated[str, typer.Argument(metavar="EVAL", help="Id of the eval.")]


@evals.command("list")
@remote_command
def evals_list(remote: Remote, *, limit: LimitOption = 20) -> None:
    """List evals, newest first.

    Example: agent-rft evals list
    """
    from app.cli.evals import list_evals  # noqa: PLC0415 - keeps `agent-rft --help` fast

    list_evals(remote, limit=limit)


@evals.command("runs")
@remote_command
def evals_runs(remote: Remote, *, eval_id: EvalArgument, limit: LimitOption = 20) -> None:
    """List the runs of an eval, newest first.

    Example: agent-rft evals runs eval_…
    """
    from app.cli.evals import list_runs  # noqa: PLC0415 - keeps `agent-rft --help` fast

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
    from app.cli.evals import show_run  # noqa: PLC0415 - keeps `agent-rft --help` fast

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
    from app.cli.evals import run_eval  # noqa: PLC0415 - keeps `agent-rft --help` fast

    raise typer.Exit(run_eval(remote, eval_id, body, model=model, detach=detach))


files = typer.Typer(help="Files of a running service.", no_args_is_help=True)
FileArgument = Annotated[str, typer.Argument(metavar="FILE_ID", help="Id of the file.")]


@files.command("upload")
@remote_command
def files_upload(
    remote: Remote,
    *,
    path: Annotated[
        Path, typer.Argument(metavar="PATH", exists=True, dir_okay=False, help="Local file.")
    ],
    purpose: Annotated[str, typer.Option(help="Purpose of the file.")] = "fine-tune",
) -> None:
    """Upload a file; print its id.

    Example: agent-rft files upload train.jsonl
    """
    from app.cli.files import upload_file  # noqa: PLC0415 - keeps `agent-rft --help` fast

    upload_file(remote, path, purpose=purpose)


@files.command("list")
@remote_command
def files_list(
    remote: Remote,
    *,
    purpose: Annotated[str | None, typer.Option(help="Only files of this purpose.")] = None,
    limit: LimitOption = 20,
) -> None:
    """List files, newest first.

    Example: agent-rft files list --purpose fine-tune-results
    """
    from app.cli.files import list_files  # noqa: PLC0415 - keeps `agent-rft --help` fast

    list_files(remote, purpose=purpose, limit=limit)


@files.command("show")
@remote_command
def files_show(remote: Remote, *, file: FileArgument) -> None:
    """Show a file without its bytes.

    Example: agent-rft files show file-…
    """
    from app.cli.files import show_file  # noqa: PLC0415 - keeps `agent-rft --help` fast

    show_file(remote, file)


@files.command("download")
@remote_command
def files_download(
    remote: Remote,
    *,
    file: FileArgument,
    out: OutOption,
    force: ForceOption = False,
) -> None:
    """Download a file; print its path. It appears whole or not at all.

    Example: agent-rft files download file-… --out metrics.csv
    """
    from app.cli.files import download_file  # noqa: PLC0415 - keeps `agent-rft --help` fast

    download_file(remote, file, out, force=force)


@files.command("delete")
@remote_command
def files_delete(remote: Remote, *, file: FileArgument) -> None:
    """Delete a file.

    Example: agent-rft files delete file-…
    """
    from app.cli.files import delete_file  # noqa: PLC0415 - keeps `agent-rft --help` fast

    delete_file(remote, file)


BodyOption = Annotated[
    Path | None,
    typer.Option("--body", metavar="FILE", help="JSON body of the test; - for standard input."),
]
_TEST_BODIES: Final[Mapping[str, str]] = {
    "tools": (
        'The body {"arguments": {"query": "books"}} is the call that is sent; without it, the '
        "arguments are made from the tool's schema."
    ),
    "graders": (
        "The body is the answer and the row that it is graded on: "
        '{"model_sample": "the answer", "item": {}}.'
    ),
    "environments": (
        'The body {"task": {…}, "tool_calls": [{"name": "search", "arguments": "{}"}]} is the '
        "episode that is played; without it, the turn calls the first tool that is offered."
    ),
}
"""A sentence about the body of a test, for nouns whose test has one that is often sent."""


def registry(
    noun: str, one: str, *, needs_body: bool = False, is_tested: bool = True
) -> typer.Typer:
    """Returns the commands of a noun of the registry. `one` is the noun for a single object."""
    commands = typer.Typer(help=f"Registered {noun} of a project.", no_args_is_help=True)
    _register_add(commands, noun=noun, one=one)
    _register_list(commands, noun=noun)
    _register_show(commands, noun=noun, one=one)
    if is_tested:
        _register_test(commands, noun=noun, one=one, needs_body=needs_body)
    return commands


def _register_add(commands: typer.Typer, *, noun: str, one: str) -> None:
    @commands.command(
        "add",
        help=f"Register a {one}; print its id.\n\nExample: agent-rft {noun} add {one}.json",
    )
    @remote_command
    def add(
        remote: Remote,
        *,
        definition: Annotated[
            Path, typer.Argument(metavar="FILE", help="JSON definition; - for standard input.")
        ],
    ) -> None:
        from app.cli.registry import add_object  # noqa: PLC0415 - keeps --help fast

        add_object(remote, noun, definition)


def _register_list(commands: typer.Typer, *, noun: str) -> None:
    @commands.command(
        "list", help=f"List {noun}, newest first.\n\nExample: agent-rft {noun} list --json"
    )
    @remote_command
    def list_all(remote: Remote, *, limit: LimitOption = 20) -> None:
        from app.cli.registry import list_objects  # noqa: PLC0415 - keeps --help fast

        list_objects(remote, noun, limit=limit)


def _register_show(commands: typer.Typer, *, noun: str, one: str) -> None:
    id_of = _id_argument(one)

    @commands.command(
        "show", help=f"Show a {one}.\n\nExample: agent-rft {noun} show {one}_… --version 1"
    )
    @remote_command
    def show(
        remote: Remote,
        *,
        object_id: Annotated[str, id_of],
        version: Annotated[
            int | None, typer.Option(min=1, help="Version; the newest by default.")
        ] = None,
    ) -> None:
        from app.cli.registry import show_object  # noqa: PLC0415 - keeps --help fast

        show_object(remote, noun, object_id, version=version)


def _register_test(commands: typer.Typer, *, noun: str, one: str, needs_body: bool) -> None:
    id_of = _id_argument(one)

    @commands.command("test", help=_test_help(noun, one))
    @remote_command
    def test(remote: Remote, *, object_id: Annotated[str, id_of], body: BodyOption = None) -> None:
        from app.cli.registry import run_object_test  # noqa: PLC0415 - keeps --help fast

        if needs_body and body is None:
            raise typer.BadParameter(
                f"a {one} is tested on an answer: pass a FILE, or - for standard input, with "
                '{"model_sample": "the answer", "item": {}}',
                param_hint="--body",
            )

        raise typer.Exit(run_object_test(remote, noun, object_id, body))


def _test_help(noun: str, one: str) -> str:
    does = f"Test a {one}; exit code 24 if it has a fault."
    example = f"Example: agent-rft {noun} test {one}_…"
    body = _TEST_BODIES.get(noun)
    if body is None:
        return f"{does}\n\n{example}"
    return f"{does}\n\n{body}\n\n{example} --body body.json"


def _id_argument(one: str) -> Any:
    return typer.Argument(metavar="ID", help=f"Id of the {one}.")


def curricula() -> typer.Typer:
    """Returns the commands of curricula: those of any noun, and the writing of rows."""
    commands = registry("curricula", "curriculum")

    @commands.command("generate")
    @remote_command
    def generate(
        remote: Remote,
        *,
        body: Annotated[
            Path,
            typer.Argument(metavar="FILE", help="JSON with tools and model; - for standard input."),
        ],
        out: Annotated[Path, typer.Option(help="Directory of the files.")] = Path(),
    ) -> None:
        """Have a model write tasks for an agent's tools; print the paths of the files.

        Example: agent-rft curricula generate scenarios.json --out curriculum
        """
        from app.cli.registry import generate  # noqa: PLC0415 - keeps --help fast

        generate(remote, body, out)

    return commands
