"""`agent-rft tools`, `graders`, `curricula`, `environments` and `recipes`: registered objects."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from app.cli.output import note
from app.cli.remote import LimitOption, Remote, Run, read_body, remote_command
from app.cli.replies import NOTHING, Reply, path_of
from app.cli.terminal import WrongOption, local_faults, moment, printable
from app.kit.processes import TEST_FAILED

_TEST_TIMEOUT_S: Final = 300.0
"""Timeout of a test, which calls endpoints for a minute, each of which may be slow."""
BodyOption = Annotated[
    Path | None,
    typer.Option("--body", metavar="FILE", help="JSON body of the test; - for standard input."),
]
_TEST_BODIES: Final = {
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


def _registry(noun: str, one: str, *, is_tested: bool = True) -> typer.Typer:
    commands = typer.Typer()
    id_of = typer.Argument(metavar="ID", help=f"Id of the {one}.")

    def named(verb: str, does: str, arguments: str) -> Callable[[Run], Run]:
        text = f"{does}\n\nExample: agent-rft {noun} {verb} {arguments}"
        return remote_command(commands, verb, text=text)

    @named("add", f"Register a {one}; print its id.", f"{one}.json")
    def add(
        remote: Remote,
        *,
        definition: Annotated[
            Path, typer.Argument(metavar="FILE", help="JSON definition; - for standard input.")
        ],
    ) -> None:
        body = read_body(definition)
        with remote.service() as service:
            added = service.create(noun, body)
        for warning in added.children("warnings"):
            note(warning.text("message"))
        remote.out.line(added.data, added.id())

    @named("list", f"List {noun}, newest first.", "--json")
    def list_all(remote: Remote, *, limit: LimitOption = 20) -> None:
        remote.print_list(noun, ("ID", "NAME", "VERSION", "CREATED"), _cells, limit=limit)

    @named("show", f"Show a {one}.", f"{one}_… --version 1")
    def show(
        remote: Remote,
        *,
        object_id: Annotated[str, id_of],
        version: Annotated[
            int | None, typer.Option(min=1, help="Version; the newest by default.")
        ] = None,
    ) -> None:
        found = remote.get(f"{noun}/{path_of(object_id)}", version=version)
        _cells(found)  # refuses the reply of another server
        remote.out.fields(found, _named(found))

    if is_tested:
        _add_test(named, noun, one, id_of)
    return commands


def _add_test(
    named: Callable[[str, str, str], Callable[[Any], Any]], noun: str, one: str, id_of: Any
) -> None:
    sentence, example = _TEST_BODIES.get(noun), f"{one}_…"
    does = f"Test a {one}; exit code 24 if it has a fault."
    if sentence is not None:
        does, example = f"{does}\n\n{sentence}", f"{example} --body body.json"

    @named("test", does, example)
    def test(remote: Remote, *, object_id: Annotated[str, id_of], body: BodyOption = None) -> int:
        if noun == "graders" and body is None:
            raise typer.BadParameter(
                f"a {one} is tested on an answer: pass a FILE, or - for standard input, with "
                '{"model_sample": "the answer", "item": {}}',
                param_hint="--body",
            )
        sent = None if body is None else read_body(body)
        path = f"{noun}/{path_of(object_id)}/test"
        with remote.service() as service:
            reply = service.post(path, sent, timeout_s=_TEST_TIMEOUT_S)
        return (_print_grade if noun == "graders" else _print_test)(remote, reply)


def _cells(one: Reply) -> tuple[object, ...]:
    created = one.find("created_at", float)
    return one.id(), one.text("name"), one.get("version", int), _moment(created)


def _moment(created_at: float | None) -> str:
    return "ships" if created_at is None else moment(created_at)


def _named(found: Reply) -> list[tuple[str, object]]:
    times = ("created_at", "updated_at")
    return [
        (name, _moment(found.find(name, float)) if name in times else value)
        for name, value in found.data.items()
        if name != "object"
    ]


def _print_test(remote: Remote, result: Reply) -> int:
    passed = result.get("passed", bool)
    lines = [
        *(
            f"{check.text('status'):7}  {check.text('name')}: {check.text('detail')}"
            for check in result.children("checks")
        ),
        *(
            f"{fault.text('severity'):7}  {fault.text('code')}: {fault.text('message')}"
            for fault in result.children("faults")
        ),
        "passed" if passed else "not passed",
    ]
    remote.out.lines(result.data, lines)
    return 0 if passed else TEST_FAILED


def _print_grade(remote: Remote, run: Reply) -> int:
    metadata = run.child("metadata") or NOTHING
    flags = (metadata.child("errors") or NOTHING).data
    raised = sorted(name for name, value in flags.items() if value is True)
    details = [
        (name.replace("_", " "), printable(str(flags[name])))
        for name in sorted(flags)
        if name.endswith("details") and flags[name]
    ]
    reasons = (metadata.child("reasons") or NOTHING).texts()
    remote.out.fields(
        run,
        [
            *(("reward", run.find("reward", float)), ("errors", ", ".join(raised) or None)),
            *details,
            *((f"reason {name}", text) for name, text in reasons.items()),
        ],
    )
    return TEST_FAILED if raised else 0


tools = _registry("tools", "tool")
graders = _registry("graders", "grader")
curricula = _registry("curricula", "curriculum")
environments = _registry("environments", "environment")
recipes = _registry("recipes", "recipe", is_tested=False)


_TIMEOUT_S: Final = 300.0
"""The service asks the model for two minutes."""


@remote_command(curricula, "generate")
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
    sent = read_body(body)
    paths = {part: out / f"{part}.jsonl" for part in ("training", "validation")}
    taken = next((path for path in paths.values() if path.exists()), None)
    if taken is not None:
        raise WrongOption(f"{taken} exists already")
    with remote.service() as service:
        reply = service.post("fine_tuning/alpha/scenarios/generate", sent, timeout_s=_TIMEOUT_S)
    curriculum = reply.child("curriculum") or NOTHING
    rows = {part: curriculum.children(part) for part in paths}
    for fault in reply.find("faults", list) or ():
        note(str(fault))
    repeats, unusable = reply.get("duplicates", int), reply.get("unusable", int)
    if repeats or unusable:
        note(f"left out: {repeats} repeats, {unusable} unusable entries")
    written = [paths[part] for part in paths if rows[part]]
    with local_faults(out):
        for path in written:
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = (f"{json.dumps(row.data)}\n" for row in rows[path.stem])
            path.write_text("".join(lines), encoding="utf-8")
    remote.out.result(
        reply.data, lambda: print("\n".join(printable(str(path)) for path in written))
    )
