"""`agent-rft models chat`: one answer, or a conversation in a terminal, as it is sampled."""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import httpx
from pydantic import BaseModel

from app.cli.service.bounded_replies import ANSWER_BYTES, at_most
from app.cli.service.client import Service, check, parse_reply, unreadable_reply
from app.cli.service.remote import Remote
from app.cli.service.server_events import server_events
from app.cli.terminal.output import note
from app.cli.terminal.printable import printable_lines
from app.cli.terminal.service_errors import ServiceError
from app.cli.terminal.standard_streams import read_stdin
from app.domain.processes.exit_codes import NO_ANSWER, WRONG_OPTIONS

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
