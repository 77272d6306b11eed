"""`agent-rft rollouts`: the list and its filters, one rollout, two beside each other."""

import difflib
import json
import sys
from collections.abc import Iterator
from itertools import zip_longest
from typing import Annotated, Any, Final

import typer
from rich.table import Table
from rich.text import Text

from app.cli.files import export
from app.cli.output import Lines, console
from app.cli.remote import (
    ForceOption,
    JobArgument,
    LimitOption,
    OutOption,
    Remote,
    finite,
    remote_command,
)
from app.cli.replies import NOTHING, Reply, path_of
from app.cli.terminal import printable, printable_lines

_SIDE_BY_SIDE: Final = 100
"""Columns of a terminal from which two rollouts are shown side by side."""
RolloutArgument = Annotated[str, typer.Argument(help="Id of a rollout.")]
_FILTERS: Final = {
    "split": Annotated[str | None, typer.Option(help="Split, such as train or report.")],
    "step": Annotated[int | None, typer.Option(help="Step; 0 is before training.")],
    "prompt_index": Annotated[
        int | None, typer.Option("--row", help="Row of the split's file, from 0.")
    ],
    "min_reward": Annotated[float | None, typer.Option(callback=finite, help="Reward at least.")],
    "max_reward": Annotated[float | None, typer.Option(callback=finite, help="Reward at most.")],
    "stop_reason": Annotated[str | None, typer.Option(help="Such as final_answer.")],
    "failure_class": Annotated[str | None, typer.Option(help="Lost to this failure.")],
    "failed": Annotated[
        bool | None, typer.Option("--failed/--graded", help="Only lost, or only graded ones.")
    ],
    "tool": Annotated[str | None, typer.Option(help="Called this tool.")],
    "repeated_call": Annotated[
        bool | None,
        typer.Option(
            "--repeated-call/--no-repeated-call", help="With a call made twice, or without."
        ),
    ],
}

rollouts = typer.Typer()


@remote_command(rollouts, "list", filters=_FILTERS)
def list_rollouts(
    remote: Remote,
    *,
    job: JobArgument,
    by_reward: Annotated[bool, typer.Option("--by-reward", help="Order by reward.")] = False,
    newest: Annotated[bool, typer.Option("--desc", help="Largest first.")] = False,
    limit: LimitOption = 20,
    **conditions: Any,
) -> None:
    """List rollouts of a job, by step.

    Example: agent-rft rollouts list ftjob-… --failed --desc
    """
    remote.print_list(
        _path(job),
        ("ID", "SPLIT", "STEP", "ROW", "SAMPLE", "REWARD", "CALLS", "TOKENS", "ENDED"),
        lambda one: (
            *(one.id(), one.text("split"), one.get("step", int), one.get("prompt_index", int)),
            *(one.get("sample_index", int), one.find("reward", float)),
            *(one.find("tool_calls", int) or 0, one.find("completion_tokens", int) or 0),
            _outcome(one),
        ),
        limit=limit,
        order_by="reward" if by_reward else None,
        order="desc" if newest else None,
        **conditions,
    )


@remote_command(rollouts, "export", filters=_FILTERS)
def export_rollouts(
    remote: Remote,
    *,
    job: JobArgument,
    out: OutOption,
    force: ForceOption = False,
    **conditions: Any,
) -> None:
    """Write rollouts of a job with their traces to a file, .jsonl or .parquet; print its path.

    Example: agent-rft rollouts export ftjob-… --out rollouts.parquet --split report
    """
    export(remote, job, "rollouts", out, force=force, **conditions)


@remote_command(rollouts, "show")
def show(remote: Remote, *, job: JobArgument, rollout: RolloutArgument) -> None:
    """Show a rollout turn by turn: texts, calls with arguments and results, reasons of the grade.

    Example: agent-rft rollouts show ftjob-… rollout-…
    """
    found = remote.get(_path(job, rollout))
    lines = [printable(_title(found)), *_lines(found)]
    remote.out.result(found.data, lambda: console().print(Lines(lines)))


@remote_command(rollouts, "diff")
def diff(
    remote: Remote,
    *,
    job: JobArgument,
    first: RolloutArgument,
    second: RolloutArgument,
    unified: Annotated[
        bool | None,
        typer.Option(
            "--unified/--side-by-side", help="By default side by side in a wide terminal."
        ),
    ] = None,
) -> None:
    """Compare two rollouts, such as those of one row at step 0 and at the last step.

    Example: agent-rft rollouts diff ftjob-… rollout-a rollout-b
    """
    both = [remote.get(_path(job, one)) for one in (first, second)]

    def show() -> None:
        out = console()
        narrow = not sys.stdout.isatty() or out.width < _SIDE_BY_SIDE
        if narrow if unified is None else unified:
            out.print(Lines(list(_unified(*both))))
        else:
            out.print(_side_by_side(*both))

    remote.out.result([one.data for one in both], show)


def _path(job_id: str, *rollout_id: str) -> str:
    return "/".join(["fine_tuning/jobs", path_of(job_id), "rollouts", *map(path_of, rollout_id)])


def _outcome(rollout: Reply) -> str:
    if (failure := rollout.find("failure_class", str)) is not None:
        return f"lost to {failure}: {rollout.find('failure_message', str) or ''}"
    return rollout.find("stop_reason", str) or "-"


def _title(rollout: Reply) -> str:
    reward = rollout.find("reward", float)
    step, row, sample = (rollout.get(key, int) for key in ("step", "prompt_index", "sample_index"))
    return (
        f"{rollout.id()}  {rollout.text('split')} step {step} row {row} sample {sample}  "
        f"{'no reward' if reward is None else f'reward {reward:.4g}'}  {_outcome(rollout)}"
    )


def parts_of(rollout: Reply) -> list[str]:
    """Returns messages, turns with calls, and reasons, as lines that a terminal may show."""
    trace, parts = rollout.child("trace") or NOTHING, list[str]()
    messages, played_turns = trace.children("messages"), trace.children("turns")
    turns = iter(enumerate(played_turns, start=1))
    assistant_turns = sum(message.text("role") == "assistant" for message in messages)
    earlier, played = assistant_turns - len(played_turns), False  # a row may hold turns of its own
    for message in messages:
        number, turn, role = 0, NOTHING, message.text("role")
        match role:
            case "tool" if played:  # it is shown with its call
                continue
            case "assistant" if earlier <= 0:
                number, turn = next(turns, (0, turn))
                played = True
            case "assistant":
                earlier -= 1
            case _:
                pass
        heading = f"turn {number}" if number else role
        parts.append("\n".join([f"-- {printable(heading)}", *_message(message), *_calls(turn)]))
    if reasons := (trace.child("grader_reasons") or NOTHING).texts():
        lines = [
            _indented(f"{printable(name or 'grader')}: {printable_lines(reason)}")
            for name, reason in sorted(reasons.items())
        ]
        parts.append("\n".join(["-- grades", *lines]))
    return parts


def _message(message: Reply) -> list[str]:
    lines, content = [], message.data.get("content")
    if reasoning := message.find("reasoning_content", str):
        lines += ["(reasoning)", _indented(printable_lines(reasoning))]
        if content:
            lines.append("(answer)")
    if content:
        lines.append(_indented(printable_lines(_text(content))))
    return lines


def _calls(turn: Reply) -> list[str]:
    lines = []
    for call in turn.children("tool_calls"):
        latency_s = call.find("latency_s", float)
        took = "" if latency_s is None else f"  ({latency_s:.2f} s)"
        name = printable(call.find("name", str) or "?")
        lines.append(f"> {name}({printable(_text(call.data.get('arguments')))}){took}")
        if (error := call.find("error", str)) is not None:
            lines.append(f"! {printable(error)}")
        if output := call.data.get("output"):
            first, *rest = printable_lines(_text(output)).split("\n")
            lines += [f"< {first}", *map(_indented, rest)]
    return lines


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _unified(first: Reply, second: Reply) -> Iterator[str]:
    yield f"--- {printable(_title(first))}"
    yield f"+++ {printable(_title(second))}"
    before, after = (_lines(one) for one in (first, second))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, begin, end, other_begin, other_end in matcher.get_opcodes():
        if tag == "equal":
            yield from (f"  {line}" for line in before[begin:end])
        else:
            yield from (f"- {line}" for line in before[begin:end])
            yield from (f"+ {line}" for line in after[other_begin:other_end])


def _lines(rollout: Reply) -> list[str]:
    return [line for part in parts_of(rollout) for line in part.split("\n")]


def _side_by_side(first: Reply, second: Reply) -> Table:
    table = Table(show_lines=True, expand=True)
    for one in (first, second):
        table.add_column(Text(printable(_title(one))), ratio=1, overflow="fold")
    for left, right in zip_longest(parts_of(first), parts_of(second), fillvalue=""):
        style = "" if left == right else "yellow"
        table.add_row(*(Lines(part.split("\n"), style) for part in (left, right)))
    return table
