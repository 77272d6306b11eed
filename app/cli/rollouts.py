"""`agent-rft rollouts list`, `show` and `diff`."""

import difflib
import json
import sys
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, Final

from pydantic import BaseModel
from rich.table import Table
from rich.text import Text

from app.cli.client import parse_reply, path_of
from app.cli.job_reports import JOBS
from app.cli.output import Lines, columns, console
from app.cli.printable import printable, printable_lines
from app.cli.remote import Remote


class CallReply(BaseModel):
    name: str | None = None
    arguments: Any = None
    output: Any = None
    error: str | None = None
    latency_s: float | None = None


class TurnReply(BaseModel):
    tool_calls: list[CallReply] = []


class MessageReply(BaseModel):
    role: str
    content: Any = None
    reasoning_content: str | None = None


class TraceReply(BaseModel):
    messages: list[MessageReply] = []
    turns: list[TurnReply] = []
    grader_reasons: dict[str, str] = {}


class RolloutReply(BaseModel):
    id: str
    split: str
    step: int
    prompt_index: int
    sample_index: int
    reward: float | None
    stop_reason: str | None = None
    failure_class: str | None = None
    failure_message: str | None = None
    completion_tokens: int = 0
    tool_calls: int = 0
    trace: TraceReply = TraceReply()

    @property
    def outcome(self) -> str:
        """Returns the stop reason, or the failure of a lost rollout."""
        if self.failure_class is not None:
            return f"lost to {self.failure_class}: {self.failure_message or ''}"
        return self.stop_reason or "-"

    @property
    def title(self) -> str:
        reward = "no reward" if self.reward is None else f"reward {self.reward:.4g}"
        return (
            f"{self.id}  {self.split} step {self.step} row {self.prompt_index} sample "
            f"{self.sample_index}  {reward}  {self.outcome}"
        )


def parts_of(rollout: RolloutReply) -> list[str]:
    """Returns the prompt's messages, the turns with their calls, and the grader's reasons, each as
    lines that a terminal may show.
    """
    trace, parts = rollout.trace, list[str]()
    turns = iter(enumerate(trace.turns, start=1))
    assistant_turns = sum(message.role == "assistant" for message in trace.messages)
    earlier, played = assistant_turns - len(trace.turns), False  # a row may hold turns of its own
    for message in trace.messages:
        number, turn = 0, TurnReply()
        match message.role:
            case "tool" if played:  # it is shown with its call
                continue
            case "assistant" if earlier <= 0:
                number, turn = next(turns, (0, turn))
                played = True
            case "assistant":
                earlier -= 1
            case _:
                pass
        heading = f"turn {number}" if number else message.role
        parts.append("\n".join([f"-- {printable(heading)}", *_message(message), *_calls(turn)]))
    if trace.grader_reasons:
        reasons = [
            _indented(f"{printable(name or 'grader')}: {printable_lines(reason)}")
            for name, reason in sorted(trace.grader_reasons.items())
        ]
        parts.append("\n".join(["-- grades", *reasons]))
    return parts


def _message(message: MessageReply) -> list[str]:
    lines = []
    if message.reasoning_content:
        lines += ["(reasoning)", _indented(printable_lines(message.reasoning_content))]
        if message.content:
            lines.append("(answer)")
    if message.content:
        lines.append(_indented(printable_lines(_text(message.content))))
    return lines


def _calls(turn: TurnReply) -> list[str]:
    lines = []
    for call in turn.tool_calls:
        took = "" if call.latency_s is None else f"  ({call.latency_s:.2f} s)"
        name, arguments = printable(call.name or "?"), printable(_text(call.arguments))
        lines.append(f"> {name}({arguments}){took}")
        if call.error is not None:
            lines.append(f"! {printable(call.error)}")
        if call.output:
            first, *rest = printable_lines(_text(call.output)).split("\n")
            lines += [f"< {first}", *map(_indented, rest)]
    return lines


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_SIDE_BY_SIDE: Final = 100
"""Columns of a terminal from which two rollouts are shown side by side."""


def list_rollouts(remote: Remote, job_id: str, *, limit: int, **filters: Any) -> None:
    with remote.service() as service:
        rows = service.rows(f"{JOBS}/{path_of(job_id)}/rollouts", limit=limit, **filters)
    rollouts = [parse_reply(RolloutReply, row) for row in rows.data]

    def show() -> None:
        header = ("ID", "SPLIT", "STEP", "ROW", "SAMPLE", "REWARD", "CALLS", "TOKENS", "ENDED")
        cells = [
            (
                *(one.id, one.split, one.step, one.prompt_index, one.sample_index),
                *(one.reward, one.tool_calls, one.completion_tokens, one.outcome),
            )
            for one in rollouts
        ]
        console().print(columns(header, cells))

    remote.out.result(rows.data, show, has_more=rows.has_more)


def show_rollout(remote: Remote, job_id: str, rollout_id: str) -> None:
    reply = _read(remote, job_id, rollout_id)
    rollout = parse_reply(RolloutReply, reply)

    def show() -> None:
        console().print(Lines([printable(rollout.title), *_lines(rollout)]))

    remote.out.result(reply, show)


def compare_rollouts(
    remote: Remote, job_id: str, first_id: str, second_id: str, *, unified: bool | None
) -> None:
    """Shows two rollouts side by side in a wide terminal, else as one list of lines, unless
    `unified` chooses.
    """
    replies = [_read(remote, job_id, one) for one in (first_id, second_id)]
    first, second = (parse_reply(RolloutReply, reply) for reply in replies)

    def show() -> None:
        out = console()
        narrow = not sys.stdout.isatty() or out.width < _SIDE_BY_SIDE
        if narrow if unified is None else unified:
            out.print(Lines(list(_unified(first, second))))
        else:
            out.print(_side_by_side(first, second))

    remote.out.result(replies, show)


def _read(remote: Remote, job_id: str, rollout_id: str) -> dict[str, Any]:
    with remote.service() as service:
        return service.get(f"{JOBS}/{path_of(job_id)}/rollouts/{path_of(rollout_id)}")


def _unified(first: RolloutReply, second: RolloutReply) -> Iterator[str]:
    """Yields every line, marked with `-` if only the first has it and `+` if only the second."""
    yield f"--- {printable(first.title)}"
    yield f"+++ {printable(second.title)}"
    before, after = (_lines(one) for one in (first, second))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, begin, end, other_begin, other_end in matcher.get_opcodes():
        if tag == "equal":
            yield from (f"  {line}" for line in before[begin:end])
        else:
            yield from (f"- {line}" for line in before[begin:end])
            yield from (f"+ {line}" for line in after[other_begin:other_end])


def _lines(rollout: RolloutReply) -> list[str]:
    return [line for part in parts_of(rollout) for line in part.split("\n")]


def _side_by_side(first: RolloutReply, second: RolloutReply) -> Table:
    table = Table(show_lines=True, expand=True)
    for one in (first, second):
        table.add_column(Text(printable(one.title)), ratio=1, overflow="fold")
    for left, right in zip_longest(parts_of(first), parts_of(second), fillvalue=""):
        style = "" if left == right else "yellow"
        table.add_row(*(Lines(part.split("\n"), style) for part in (left, right)))
    return table
