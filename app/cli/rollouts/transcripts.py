"""Formats a rollout's trace as lines of text, turn by turn.

Promises: only the program begins a line at the first column. Texts of models, tools and graders are
indented, so that none of them looks like a turn, a call or a grade.
"""

import json
from typing import Any

from pydantic import BaseModel

from app.cli.terminal.printable import printable, printable_lines


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
