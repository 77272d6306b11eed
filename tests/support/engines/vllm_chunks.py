"""Streams of chat completions as vLLM 0.32 sent them, from the model that repeats conversations.

`tests/workers/engines/contract/test_recorded_chunks.py` holds the recording to a running vLLM; with
RECORD_VLLM_CHUNKS=1 it writes the file instead.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

RECORDED: Final = Path(__file__).with_name("vllm_chunks.json")
_PREFIX: Final = "data: "


def recorded() -> dict[str, list[dict[str, Any]]]:
    """Returns the chunks by the name of their stream."""
    streams: dict[str, list[dict[str, Any]]] = json.loads(RECORDED.read_text())
    return streams


def write_recorded(streams: dict[str, list[dict[str, Any]]]) -> None:
    """Writes a line for each chunk."""
    blocks = [
        f" {json.dumps(name)}: [\n  " + ",\n  ".join(json.dumps(chunk) for chunk in chunks) + "\n ]"
        for name, chunks in streams.items()
    ]
    RECORDED.write_text("{\n" + ",\n".join(blocks) + "\n}\n")


def chunks_in(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Returns the chunks in the lines of a stream, with ids, times and log-probs that never change
    from run to run.
    """
    payloads = [line.removeprefix(_PREFIX) for line in lines if line.startswith(_PREFIX)]
    assert payloads[-1] == "[DONE]"
    return [_steady(json.loads(payload)) for payload in payloads[:-1]]


def _steady(chunk: dict[str, Any]) -> dict[str, Any]:
    for choice in chunk["choices"]:
        for number, call in enumerate(choice["delta"].get("tool_calls") or ()):
            if call.get("id"):
                call["id"] = f"call_{call.get('index', number)}"
        for entry in (choice.get("logprobs") or {}).get("content") or ():
            for each in (entry, *entry["top_logprobs"]):
                assert -1 < each["logprob"] <= 0
                each["logprob"] = -0.01
    fingerprint = {"system_fingerprint": None} if "system_fingerprint" in chunk else {}
    return {**chunk, "id": "chatcmpl-1", "created": 1, **fingerprint}
