"""`agent-rft models`: lists, chats, downloads an adapter or exports weights."""

import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from app.cli.output import note
from app.cli.remote import Remote, finite, remote_command
from app.cli.replies import NOTHING, Reply, path_of, server_events, unreadable_reply
from app.cli.terminal import (
    ServiceError,
    WrongOption,
    moment,
    printable,
    printable_lines,
    read_stdin,
)
from app.kit.processes import NO_ANSWER

if TYPE_CHECKING:
    from app.cli.client import Service

_USABLE: Final = ("queued", "in_progress", "completed")
_NOT_IN_NAMES: Final = re.compile(r"[^\w.-]+")
NameArgument = Annotated[str, typer.Argument(help="Tuned model or checkpoint, as chat takes it.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace an earlier download in DIR.")]
Archive = Callable[["Service", str, Callable[[str], None]], str]
"""Returns the path of an archive, of service and model; calls the function with states."""

models = typer.Typer()


@remote_command(models, "list")
def list_models(remote: Remote) -> None:
    """Print the models that a project may call, with time of creation and owner.

    Example: agent-rft models list --json
    """
    reply = remote.get("models")
    remote.out.table(
        reply.get("data", list),
        ("MODEL", "CREATED", "OWNER"),
        lambda one: (
            *(one.text("id"), moment(one.find("created", float) or None), one.text("owned_by")),
        ),
    )


@remote_command(models, "download")
def download(
    remote: Remote,
    *,
    name: NameArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="New directory for the adapter; by default the name."),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Download the adapter of a model as a PEFT directory; print the directory.

    Every file is checked by its SHA-256, and DIR appears whole or not at all. An interrupted
    download continues when the same command runs again.

    Example: agent-rft models download ft:… --out adapter
    """

    def adapter(_service: "Service", path: str, _report: Callable[[str], None]) -> str:
        return f"{path}/adapter"

    _fetch(remote, name, out or _target(name), adapter, force=force)


@remote_command(models, "export")
def export(
    remote: Remote,
    *,
    name: NameArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="New directory; by default the name and `-merged`."),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Have a model merged with its base, and download the weights; print the directory.

    Uses an export that the service still has, or waits for a new one. An interrupted download
    continues when the same command runs again.

    Example: agent-rft models export ft:… --out merged
    """

    def merged(service: "Service", path: str, report: Callable[[str], None]) -> str:
        exports = f"{path}/exports"
        return f"{exports}/{path_of(_completed(service, exports, report=report))}/content"

    _fetch(remote, name, out or _target(f"{name}-merged"), merged, force=force)


def _target(name: str) -> Path:
    found = _NOT_IN_NAMES.sub("-", name).strip("-.")
    if not found:
        raise WrongOption("the model's name is not a directory: pass --out")
    return Path(found)


def _fetch(remote: Remote, name: str, target: Path, archive: Archive, *, force: bool) -> None:
    from app.cli.downloading import ModelDownload  # noqa: PLC0415 - imports httpx

    with (
        remote.service() as service,
        _progress() as progress,
        ModelDownload(target, force=force) as download,
    ):
        task = progress.add_task(printable(name), total=None)

        def show_state(state: str) -> None:
            progress.update(task, description=printable(state))

        def show_bytes(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        path = archive(service, f"models/{path_of(name)}", show_state)
        download.fetch(service, path, report=show_bytes)
        directory = download.install()
    remote.out.line({"model": name, "path": str(directory)}, str(directory))


def _completed(service: "Service", path: str, *, report: Callable[[str], None]) -> str:
    """Returns the id of the newest export if it is or becomes complete, else of a new one."""
    from app.cli.client import ServicePatience  # noqa: PLC0415 - imports httpx

    newest = [Reply(row) for row in service.rows(path, limit=1).data]
    usable = bool(newest) and newest[0].text("status") in _USABLE
    export = newest[0] if usable else service.create(path, {})
    patience = ServicePatience("The export continues: run the same command again later.")
    while (status := export.text("status")) != "completed":
        if status not in _USABLE:
            error = export.child("error")
            reason = "it was deleted." if error is None else error.text("message")
            raise ServiceError(f"the export {status}: {reason}")
        report(export.find("stage", str) or status)
        time.sleep(1.0)
        try:
            export = service.get(f"{path}/{path_of(export.id())}")
        except ServiceError as failure:
            report(f"the service is unavailable ({patience.reason(failure)})")
            patience.wait()
        else:
            patience.heard()
    return export.id()


def _progress() -> Progress:
    console = Console(stderr=True)
    columns = (
        *(TextColumn("{task.description}", markup=False), BarColumn()),
        *(DownloadColumn(), TransferSpeedColumn()),
    )
    return Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty())


_PATH: Final = "chat/completions"
_TIMEOUT_S: Final = 600.0
"""Timeout of a chat: an answer may fill the model's context, after a wait in a queue."""
_ANSWER_BYTES: Final = 1024**3
"""Most bytes of an answer that comes in pieces, each with names and marks around some letters."""


@dataclass(frozen=True, slots=True)
class _Chat:
    service: "Service"
    options: dict[str, Any]

    def body(self, messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        return {**self.options, "messages": messages, **more}

    def print_answer(self, messages: list[dict[str, Any]]) -> str:
        answer: list[str] = []
        for text in self._pieces(self.body(messages, stream=True)):
            answer.append(text)
            print(printable_lines(text), end="", flush=True)
        print()
        return "".join(answer)

    def _pieces(self, body: dict[str, Any]) -> Iterator[str]:
        with self.service.stream(
            "POST", _PATH, json=body, timeout_s=_TIMEOUT_S, most_bytes=_ANSWER_BYTES
        ) as reply:
            for event in server_events(reply.chunks):
                if event.data == "[DONE]":
                    return
                if not event.data:
                    continue
                try:
                    chunk = Reply(json.loads(event.data))
                except (ValueError, RecursionError) as error:
                    raise unreadable_reply(reply.url) from error
                if (fault := chunk.child("error")) is not None:
                    raise ServiceError(
                        f"the answer ended early: {fault.find('message', str)}", exit_code=NO_ANSWER
                    )
                for piece in chunk.children("choices"):
                    if text := (piece.child("delta") or NOTHING).find("content", str):
                        yield text
        raise ServiceError("the answer ended early", exit_code=NO_ANSWER)


@remote_command(models, "chat")
def chat(
    remote: Remote,
    *,
    name: NameArgument,
    message: Annotated[
        str | None, typer.Option("--message", "-m", help="One message; its answer is printed.")
    ] = None,
    system: Annotated[str | None, typer.Option(help="System message.")] = None,
    temperature: Annotated[
        float | None, typer.Option(min=0, callback=finite, help="Temperature.")
    ] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Longest answer.")] = None,
) -> None:
    """Chat with a model. Without --message, each typed line is a message; piped input is one
    message.

    Example: agent-rft models chat ft:… -m 'Who wrote it?'
    """
    if message is None and not sys.stdin.isatty():
        message = read_stdin()
    if message is None and remote.out.as_json:
        raise WrongOption("--json needs --message or a pipe")
    options = {"model": name, "temperature": temperature, "max_completion_tokens": max_tokens}
    sent = {key: value for key, value in options.items() if value is not None}
    messages = [] if system is None else [{"role": "system", "content": system}]
    with remote.service() as service:
        talk = _Chat(service, sent)
        if message is None:
            _converse(talk, messages)
            return
        messages = [*messages, {"role": "user", "content": message}]
        if not remote.out.as_json:
            talk.print_answer(messages)
            return
        reply = service.post(_PATH, talk.body(messages), timeout_s=_TIMEOUT_S)
    reply.get("choices", list)  # another server answers something else
    remote.out.result(reply.data, lambda: None)


def _converse(talk: _Chat, messages: list[dict[str, Any]]) -> None:
    note("one line is one message; Ctrl-D ends")
    while True:
        try:
            line = input("> ")
        except EOFError:
            print()
            return
        if not line.strip():
            continue
        conversation = [*messages, {"role": "user", "content": line}]
        try:
            answer = talk.print_answer(conversation)
        except ServiceError as failure:  # such as a full context: the person may ask otherwise
            note(str(failure))
            continue
        messages = [*conversation, {"role": "assistant", "content": answer}]
