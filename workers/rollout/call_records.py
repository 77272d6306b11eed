"""Makes the records of a turn's tool calls from the replies that the model read."""

from collections.abc import Callable, Iterable
from typing import assert_never

from app.domain.rollouts.trajectory import UNPARSABLE_CALL, ToolCallRecord
from workers.rollout.environment import Reply, ToolReply, UserReply


def call_records(
    shown: Iterable[tuple[Reply, str]],
    *,
    earlier: Iterable[ToolCallRecord],
    count_tokens: Callable[[str], int],
) -> tuple[ToolCallRecord, ...]:
    """Returns a record for each tool reply, with the part of it that the model read. A call is
    repeated if an earlier one of the rollout had its name and arguments.
    """
    seen = {(call.name, call.arguments) for call in earlier}
    records = []
    for reply, text in shown:
        match reply:
            case ToolReply():
                call = (reply.name, reply.arguments)
                repeated = reply.name != UNPARSABLE_CALL and call in seen
                records.append(_record(reply, text, repeated=repeated, tokens=count_tokens(text)))
                seen.add(call)
            case UserReply():
                pass
            case _:
                assert_never(reply)
    return tuple(records)


def _record(reply: ToolReply, text: str, *, repeated: bool, tokens: int) -> ToolCallRecord:
    return ToolCallRecord(
        id=reply.position.function_call_id,
        call_id=reply.position.call_id,
        name=reply.name,
        arguments=reply.arguments,
        output=text,
        error=reply.outcome.error,
        latency_s=reply.outcome.latency_s,
        attempts=reply.outcome.attempts,
        output_tokens=tokens,
        repeated=repeated,
    )
