"""`agent-rft models`: lists the models of a project, downloads the adapter of one, or exports it.

Standard output has the list, or the directory of the downloaded files.
"""

import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
from pydantic import BaseModel
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from app.cli.client import (
    Service,
    ServiceId,
    ServicePatience,
    check,
    parse_reply,
    path_of,
    unreadable_reply,
)
from app.cli.downloading import ModelDownload
from app.cli.output import columns, console, note
from app.cli.printable import moment, printable, printable_lines
from app.cli.remote import Remote
from app.cli.replies import ANSWER_BYTES, at_most, server_events
from app.cli.terminal import ServiceError, read_stdin
from app.kit.processes import NO_ANSWER, WRONG_OPTIONS

_POLL_S: Final = 1.0
_USABLE: Final = ("queued", "in_progress", "completed")
Archive = Callable[[Service, str, Callable[[str], None]], str]
"""Returns the path of an archive once it can be downloaded. Gets the service, the path of the model
and a function that shows a state.
"""
_NOT_IN_NAMES: Final = re.compile(r"[^\w.-]+")


class _Model(BaseModel):
    id: str
    created: float | None = None
    owned_by: str


class _Fault(BaseModel):
    message: str


class _Export(BaseModel):
    id: ServiceId
    status: str
    stage: str | None = None
    error: _Fault | None = None


class _Models(BaseModel):
    data: list[dict[str, Any]]


def print_models(remote: Remote) -> None:
    with remote.service() as service:
        rows = parse_reply(_Models, service.get("models")).data
    models = [parse_reply(_Model, row) for row in rows]

    def show() -> None:
        cells = [(one.id, moment(one.created or None), one.owned_by) for one in models]
        console().print(columns(("MODEL", "CREATED", "OWNER"), cells))

    remote.out.result(rows, show)


def download(remote: Remote, name: str, out: Path | None, *, force: bool) -> None:
    """Prints the directory. Raises `ServiceError`, and `DownloadFailed` for faults of this
    machine.
    """

    def adapter(_service: Service, path: str, _report: Callable[[str], None]) -> str:
        return f"{path}/adapter"

    _fetch(remote, name, _target(name) if out is None else out, adapter, force=force)


def export(remote: Remote, name: str, out: Path | None, *, force: bool) -> None:
    """Prints the directory. Raises `ServiceError`, also for an export that failed, and
    `DownloadFailed`.
    """

    def merged(service: Service, path: str, report: Callable[[str], None]) -> str:
        made = _completed(service, f"{path}/exports", report=report)
        return f"{path}/exports/{path_of(made.id)}/content"

    _fetch(remote, name, _target(f"{name}-merged") if out is None else out, merged, force=force)


def _target(name: str) -> Path:
    found = _NOT_IN_NAMES.sub("-", name).strip("-.")
    if not found:
        raise ServiceError(
            "the model's name is not a directory: pass --out", exit_code=WRONG_OPTIONS
        )
    return Path(found)


def _fetch(remote: Remote, name: str, target: Path, archive: Archive, *, force: bool) -> None:
    """Downloads an archive of a model into a directory, and prints its path."""
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
        download.fetch(service.http, path, report=show_bytes)
        directory = download.install()
    remote.out.result(
        {"model": name, "path": str(directory)}, lambda: print(printable(str(directory)))
    )


def _completed(service: Service, path: str, *, report: Callable[[str], None]) -> _Export:
    """Returns the newest export if it is or becomes complete, else a new one."""
    listed = service.rows(path, limit=1).data
    found = [one for one in (parse_reply(_Export, row) for row in listed) if one.status in _USABLE]
    export = found[0] if found else parse_reply(_Export, service.create(path, {}))
    patience = ServicePatience("The export continues: run the same command again later.")
    while export.status != "completed":
        if export.status not in _USABLE:
            reason = "it was deleted." if export.error is None else export.error.message
            raise ServiceError(f"the export {export.status}: {reason}")
        report(export.stage or export.status)
        time.sleep(_POLL_S)
        try:
            export = parse_reply(_Export, service.get(f"{path}/{path_of(export.id)}"))
        except (httpx.RequestError, ServiceError) as failure:
            report(f"the service is unavailable ({patience.reason(failure)})")
            patience.wait()
        else:
            patience.heard()
    return export


def _progress() -> Progress:
    """Returns a progress bar on standard error, which stays silent unless that is a terminal."""
    console = Console(stderr=True)
    columns = (
        *(TextColumn("{task.description}", markup=False), BarColumn()),
        *(DownloadColumn(), TransferSpeedColumn()),
    )
    return Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty())


_PATH: Final = "chat/completions"
_DONE: Final = "[DONE]"
_TIMEOUT_S: Final = 600.0
"""Timeout of a chat: an answer may fill the model's context, after a wait in a queue."""


@dataclass(frozen=True, slots=True)
class ChatOptions:
    model: str
    system: str | None
    temperature: float | None
    max_tokens: int | None

    def body(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        options = {"temperature": self.temperature, "max_completion_tokens": self.max_tokens}
        sent = {name: value for name, value in options.items() if value is not None}
        return {"model": self.model, "messages": messages, **sent}

    def first_messages(self) -> list[dict[str, Any]]:
        return [] if self.system is None else [{"role": "system", "content": self.system}]


class _Delta(BaseModel):
    content: str | None = None


class _Piece(BaseModel):
    delta: _Delta = _Delta()


class _Chunk(BaseModel):
    choices: list[_Piece] = []
    error: dict[str, Any] | None = None


class _Answer(BaseModel):
    content: str | None = None
    tool_calls: list[dict[str, Any]] | None = None


class _Choice(BaseModel):
    message: _Answer


class _Completion(BaseModel):
    choices: list[_Choice]


def chat(remote: Remote, options: ChatOptions, message: str | None) -> None:
    if message is None and not sys.stdin.isatty():
        message = read_stdin()
    if message is None and remote.out.as_json:
        raise ServiceError("--json needs --message or a pipe", exit_code=WRONG_OPTIONS)
    with remote.service() as service:
        if message is None:
            _converse(service, options)
        else:
            _answer_once(remote, service, options, message)


def _answer_once(remote: Remote, service: Service, options: ChatOptions, message: str) -> None:
    messages = [*options.first_messages(), {"role": "user", "content": message}]
    if remote.out.as_json:
        reply = service.post(_PATH, options.body(messages), timeout_s=_TIMEOUT_S)
        parse_reply(_Completion, reply)
        remote.out.result(reply, lambda: None)
    else:
        _print_answer(service, options, messages)


def _converse(service: Service, options: ChatOptions) -> None:
    note("one line is one message; Ctrl-D ends")
    messages = options.first_messages()
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
            answer = _print_answer(service, options, conversation)
        except ServiceError as failure:  # such as a full context: the person may ask otherwise
            note(str(failure))
            continue
        messages = [*conversation, {"role": "assistant", "content": answer}]


def _print_answer(service: Service, options: ChatOptions, messages: list[dict[str, Any]]) -> str:
    """Prints an answer as it arrives, and returns it."""
    answer: list[str] = []
    for text in _pieces(service, {**options.body(messages), "stream": True}):
        answer.append(text)
        print(printable_lines(text), end="", flush=True)
    print()
    return "".join(answer)


def _pieces(service: Service, body: dict[str, Any]) -> Iterator[str]:
    timeout = httpx.Timeout(_TIMEOUT_S, connect=5.0)
    bound = at_most(ANSWER_BYTES)
    with service.http.stream("POST", _PATH, json=body, timeout=timeout, extensions=bound) as reply:
        check(reply)
        for event in server_events(reply.iter_raw()):
            if event.data == _DONE:
                return
            if not event.data:
                continue
            try:
                chunk = parse_reply(_Chunk, json.loads(event.data))
            except (ValueError, RecursionError) as error:
                raise unreadable_reply(str(reply.url)) from error
            if chunk.error is not None:
                raise ServiceError(
                    f"the answer ended early: {chunk.error.get('message')}", exit_code=NO_ANSWER
                )
            for piece in chunk.choices:
                if piece.delta.content:
                    yield piece.delta.content
    raise ServiceError("the answer ended early", exit_code=NO_ANSWER)
