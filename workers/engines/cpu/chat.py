"""`POST /v1/chat/completions`: messages and tools in, an assistant message out, also as a stream.

Owns the hosted response shapes. Tool calls are told whole, once their closing tag is there: a
broken call is answered as plain content, as vLLM does.
"""

import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from app.rendering.renderer import ParsedTurn, Renderer
from workers.engines.cpu.bodies import ChatBody
from workers.engines.cpu.engine import Engine, random_seed
from workers.engines.cpu.sequence import Sampling, Sequence

_HELD_BACK: Final = ("<tool_call>", "<think>", "</think>")
_UNFINISHED_CHARACTER: Final = "\ufffd"


@dataclass(slots=True)
class ChatTurn:
    """One chat request under way."""

    body: ChatBody
    sequence: Sequence
    renderer: Renderer
    envelope: dict[str, Any] = field(default_factory=dict)

    def text(self, count: int) -> str:
        start = self.sequence.prompt_length
        return self.renderer.decode(self.sequence.tokens[start : start + count])

    def stop_at(self, text: str) -> int | None:
        """Where the first stop string begins."""
        found = [at for stop in self.body.stop or [] if (at := text.find(stop)) >= 0]
        return min(found, default=None)


def begin_turn(engine: Engine, body: ChatBody, *, streamed: bool) -> ChatTurn:
    """Raises `AdapterMissing` or `InvalidRequest`."""
    version = engine.versions.get(body.model)
    renderer, spec = _renderer(version.base.renderer, body), version.base.spec
    prompt = renderer.prompt_ids(body.messages, body.tools)
    sampling = Sampling(
        max_tokens=body.max_completion_tokens or body.max_tokens or spec.max_turn_tokens,
        temperature=1.0 if body.temperature is None else body.temperature,
        seed=random_seed() if body.seed is None else body.seed & 0xFFFF_FFFF_FFFF_FFFF,
        top_p=1.0 if body.top_p is None else body.top_p,
        stop_token_ids=frozenset((*renderer.stop_token_ids, *(body.stop_token_ids or ()))),
        top_logprobs=(body.top_logprobs or 0) if body.logprobs else 0,
        cache_salt=body.cache_salt or "",
    )
    every_token = streamed or bool(body.stop)
    sequence = engine.sequence(version, prompt, sampling, streamed=every_token)
    envelope = {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion.chunk" if streamed else "chat.completion",
        "created": int(time.time()),
        "model": body.model,
    }
    return ChatTurn(body, sequence, renderer, envelope)


def _renderer(renderer: Renderer, body: ChatBody) -> Renderer:
    if body.chat_template_kwargs is None:
        return renderer
    return renderer.given(body.chat_template_kwargs.model_dump(exclude_none=True))


async def chat(engine: Engine, body: ChatBody) -> dict[str, Any]:
    turn = begin_turn(engine, body, streamed=False)
    updates = engine.updates(turn.sequence)
    text, cut = "", None
    try:
        async for update in updates:
            text = turn.text(update.count)
            cut = turn.stop_at(text)
            if cut is not None:
                break
    finally:
        await updates.aclose()
    parsed = turn.renderer.parse(turn.sequence.tokens[turn.sequence.prompt_length :])
    message = {"role": "assistant", **_message(turn, parsed, text, cut)}
    choice: dict[str, Any] = {
        "index": 0,
        "message": message,
        "logprobs": _logprobs(turn),
        "finish_reason": _finish_reason(turn, message, cut),
    }
    if body.return_token_ids:
        choice["token_ids"] = turn.sequence.tokens[turn.sequence.prompt_length :]
        turn.envelope["prompt_token_ids"] = turn.sequence.tokens[: turn.sequence.prompt_length]
    return {**turn.envelope, "choices": [choice], "usage": _usage(turn, parsed)}


async def stream_chat(engine: Engine, turn: ChatTurn) -> AsyncGenerator[dict[str, Any]]:
    """Chunks: the role, content as it becomes certain, whole tool calls, the finish reason."""
    yield _chunk(turn, {"role": "assistant", "content": ""})
    told, text, cut = 0, "", None
    updates = engine.updates(turn.sequence)
    try:
        async for update in updates:
            text = turn.text(update.count)
            cut = turn.stop_at(text)
            answer = _certain(turn, text if cut is None else text[:cut])
            if len(answer) > told:
                yield _chunk(turn, {"content": answer[told:]})
                told = len(answer)
            if cut is not None:
                break
    finally:
        await updates.aclose()
    parsed = turn.renderer.parse(turn.sequence.tokens[turn.sequence.prompt_length :])
    message = _message(turn, parsed, text, cut)
    for delta in _last_deltas(message, told, _certain(turn, text)):
        yield _chunk(turn, delta)
    yield _chunk(turn, {}, finish_reason=_finish_reason(turn, message, cut))
    if turn.body.include_usage:
        yield {**turn.envelope, "choices": [], "usage": _usage(turn, parsed)}


def _last_deltas(message: dict[str, Any], told: int, certain: str) -> list[dict[str, Any]]:
    """What the stream still owes: held-back content, reasoning and tool calls."""
    deltas: list[dict[str, Any]] = []
    content = message["content"] or ""
    if "tool_calls" not in message and len(content) > told and content.startswith(certain[:told]):
        deltas.append({"content": content[told:]})
    if message.get("reasoning"):
        deltas.append({"reasoning": message["reasoning"]})
    for index, call in enumerate(message.get("tool_calls", [])):
        deltas.append({"tool_calls": [{"index": index, **call}]})
    return deltas


def _certain(turn: ChatTurn, text: str) -> str:
    """The start of the answer's content that no later token can turn into something else."""
    reasoning_end = text.rfind("</think>")
    if reasoning_end >= 0:
        text = text[reasoning_end + len("</think>") :]
    elif turn.renderer.starts_thinking or text.lstrip().startswith("<think>"):
        return ""
    text = text.lstrip().rstrip(_UNFINISHED_CHARACTER)
    if turn.body.tools and turn.body.tool_choice != "none":
        text = text.partition("<tool_call>")[0]
    for mark in _HELD_BACK:
        for length in range(len(mark), 0, -1):
            if text.endswith(mark[:length]):
                text = text[:-length]
    return text.rstrip()


def _message(turn: ChatTurn, parsed: ParsedTurn, text: str, cut: int | None) -> dict[str, Any]:
    answer = text if cut is None else text[:cut]
    for mark in ("</think>", "<think>"):
        answer = answer.rpartition(mark)[2]
    if parsed.reasoning and "</think>" not in text:
        answer = ""
    message: dict[str, Any] = {"content": answer.strip()}
    if parsed.reasoning:
        message["reasoning"] = parsed.reasoning
    wanted = bool(turn.body.tools) and turn.body.tool_choice != "none" and cut is None
    if wanted and parsed.tool_calls and parsed.parse_error is None:
        calls = parsed.tool_calls[: 1 if turn.body.parallel_tool_calls is False else None]
        message["content"] = parsed.content or None
        message["tool_calls"] = [
            {
                "id": f"call_{uuid4().hex[:24]}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments_json},
            }
            for call in calls
        ]
    return message


def _finish_reason(turn: ChatTurn, message: dict[str, Any], cut: int | None) -> str:
    if message.get("tool_calls"):
        return "tool_calls"
    return "stop" if cut is not None else turn.sequence.finish_reason or "stop"


def _chunk(
    turn: ChatTurn, delta: dict[str, Any], *, finish_reason: str | None = None
) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return {**turn.envelope, "choices": [choice]}


def _logprobs(turn: ChatTurn) -> dict[str, Any] | None:
    if not turn.body.logprobs:
        return None
    sequence, decode = turn.sequence, turn.renderer.decode
    entries = []
    for index, logprob in enumerate(sequence.logprobs):
        best = sequence.top_logprobs[index] if sequence.top_logprobs else {}
        token = sequence.tokens[sequence.prompt_length + index]
        entries.append(
            {
                **_token(decode([token]), logprob),
                "top_logprobs": [_token(decode([other]), value) for other, value in best.items()],
            }
        )
    return {"content": entries, "refusal": None}


def _token(text: str, logprob: float) -> dict[str, Any]:
    return {"token": text, "logprob": logprob, "bytes": list(text.encode())}


def _usage(turn: ChatTurn, parsed: ParsedTurn) -> dict[str, Any]:
    prompt, sampled = turn.sequence.prompt_length, turn.sequence.sampled
    return {
        "prompt_tokens": prompt,
        "completion_tokens": sampled,
        "total_tokens": prompt + sampled,
        "prompt_tokens_details": {"cached_tokens": turn.sequence.reused},
        "completion_tokens_details": {"reasoning_tokens": parsed.reasoning_tokens},
    }
