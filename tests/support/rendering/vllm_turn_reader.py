"""Reads turns in vLLM, whole and token by token, as its server does: with vLLM's own parsers, or
with those of this project from a plugin.

A program for the interpreter of vLLM's environment, which has none of our packages: it takes JSON
on standard input and writes JSON on standard output. `tests/support/rendering/vllm_parsers.py`
calls it.
"""

import json
import sys
from types import SimpleNamespace
from typing import Any

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.parser import ParserManager
from vllm.tokenizers import get_tokenizer
from vllm.tool_parsers.abstract_tool_parser import ToolParserManager


def read(turn: dict[str, Any], tokenizers: dict[str, Any], tools: list[Any]) -> dict[str, Any]:
    """Returns what each way of reading finds, or why the parser cannot be made."""
    parser, reasoning = turn["parser"], turn.get("reasoning")
    offered = {} if parser is None else {"tools": tools}
    request = ChatCompletionRequest(
        model="m", messages=[{"role": "user", "content": "a"}], **offered
    )
    tokenizer, ours = tokenizers[turn["tokenizer"]], (parser or "").startswith("agent_rft")
    try:
        kind = ParserManager.get_parser(
            tool_parser_name=parser,
            reasoning_parser_name=reasoning,
            enable_auto_tools=True,
            is_harmony=_is_harmony(turn),
            tokenizer=tokenizer,
        )
        model = {"model_config": SimpleNamespace(tokenizer=turn["tokenizer"])} if ours else {}
        whole, streamed = (kind(tokenizer, request.tools, **model) for _ in range(2))
    except Exception as error:  # noqa: BLE001 - the caller judges it
        return {"fault": repr(error)}
    ids = _ids(turn, tokenizer)
    prompt = tokenizer.encode(turn["prompt"], add_special_tokens=False)
    whole.set_prompt_token_ids(prompt)
    return {
        "whole": _attempt(_whole, whole, request, turn["text"], ids),
        "streamed": _attempt(_streamed, streamed, request, tokenizer, ids, prompt),
    }


def _is_harmony(turn: dict[str, Any]) -> bool:
    return "openai" in (turn["parser"] or turn["reasoning"])


def _ids(turn: dict[str, Any], tokenizer: Any) -> list[int]:
    if turn["parser"] != "openai" and turn.get("reasoning") != "openai_gptoss":
        ids: list[int] = tokenizer.encode(turn["text"], add_special_tokens=False)
        return ids
    from vllm.entrypoints.openai.parser.harmony_utils import get_encoding  # noqa: PLC0415 - it may be fetched

    harmony: list[int] = get_encoding().encode(turn["text"], allowed_special="all")
    return harmony


def _attempt(way: Any, *arguments: Any) -> dict[str, Any]:
    try:
        found: dict[str, Any] = way(*arguments)
    except Exception as error:  # noqa: BLE001 - the caller judges it
        return {"fault": repr(error)}
    return found


def _whole(parser: Any, request: Any, text: str, ids: list[int]) -> dict[str, Any]:
    reasoning, content, calls = parser.parse(
        text, request, enable_auto_tools=True, model_output_token_ids=ids
    )
    found = [[call.name, call.arguments] for call in calls or ()]
    return {"reasoning": reasoning or "", "content": content or "", "calls": found}


def _streamed(
    parser: Any, request: Any, tokenizer: Any, ids: list[int], prompt: list[int]
) -> dict[str, Any]:
    """Feeds one token at a time, and joins the deltas as a client joins them."""
    joined: dict[str, Any] = {"reasoning": "", "content": ""}
    calls: dict[int, list[str]] = {}
    shown = ""
    for count, token in enumerate(ids, start=1):
        text = tokenizer.decode(ids[:count], skip_special_tokens=False)
        if text.endswith("\ufffd"):  # part of a character: the server waits too
            text = shown
        delta = parser.parse_delta(
            text[len(shown) :], [token], request, prompt, finished=count == len(ids)
        )
        shown = text
        if delta is None:
            continue
        joined["reasoning"] += delta.reasoning or ""
        joined["content"] += delta.content or ""
        for call in delta.tool_calls or ():
            entry = calls.setdefault(call.index, ["", ""])
            entry[0] += (call.function.name if call.function else None) or ""
            entry[1] += (call.function.arguments if call.function else None) or ""
    return {**joined, "calls": [calls[index] for index in sorted(calls)]}


def main() -> None:
    asked = json.load(sys.stdin)
    if asked["plugin"] is not None:
        ToolParserManager.import_tool_parser(asked["plugin"])
    directories = {turn["tokenizer"] for turn in asked["turns"]}
    tokenizers = {directory: get_tokenizer(directory) for directory in directories}
    found = [read(turn, tokenizers, asked["tools"]) for turn in asked["turns"]]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
