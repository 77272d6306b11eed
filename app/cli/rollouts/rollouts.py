"""`agent-rft rollouts list`, `show` and `diff`."""

import difflib
import sys
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, Final

from rich.table import Table
from rich.text import Text

from app.cli.jobs.listing import JOBS
from app.cli.rollouts.transcripts import RolloutReply, parts_of
from app.cli.service.client import parse_reply, path_of
from app.cli.service.remote import Remote
from app.cli.terminal.output import Lines, columns, console
from app.cli.terminal.printable import printable

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
