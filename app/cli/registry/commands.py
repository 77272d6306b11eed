"""The commands that `agent-rft tools`, `graders`, `curricula`, `environments` and `recipes` share.

Their modules are imported only when one runs.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from app.cli.options import LimitOption
from app.cli.service.remote import Remote, remote_command

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
        from app.cli.registry.objects import add_object  # noqa: PLC0415 - keeps --help fast

        add_object(remote, noun, definition)


def _register_list(commands: typer.Typer, *, noun: str) -> None:
    @commands.command(
        "list", help=f"List {noun}, newest first.\n\nExample: agent-rft {noun} list --json"
    )
    @remote_command
    def list_all(remote: Remote, *, limit: LimitOption = 20) -> None:
        from app.cli.registry.objects import list_objects  # noqa: PLC0415 - keeps --help fast

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
        from app.cli.registry.objects import show_object  # noqa: PLC0415 - keeps --help fast

        show_object(remote, noun, object_id, version=version)


def _register_test(commands: typer.Typer, *, noun: str, one: str, needs_body: bool) -> None:
    id_of = _id_argument(one)

    @commands.command("test", help=_test_help(noun, one))
    @remote_command
    def test(remote: Remote, *, object_id: Annotated[str, id_of], body: BodyOption = None) -> None:
        from app.cli.registry.objects import run_object_test  # noqa: PLC0415 - keeps --help fast

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
        from app.cli.registry.scenarios import generate  # noqa: PLC0415 - keeps --help fast

        generate(remote, body, out)

    return commands
