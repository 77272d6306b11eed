"""The recorded streams of vLLM are what vLLM sends."""

import os
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.models.models import BaseModelSpec
from tests.support.engines.contract import KEY, VLLM, running
from tests.support.engines.conversations import PLAIN, TOOL_TURNS, save_answering_parrot
from tests.support.engines.vllm_chunks import chunks_in, recorded, write_recorded
from tests.support.models.tiny_model import CONTEXT_LENGTH, LOOKUP
from tests.support.patience import PATIENCE_S

pytestmark = pytest.mark.vllm
STREAMS: dict[str, dict[str, Any]] = {
    "plain": {"messages": PLAIN[:1], "stream_options": {"include_usage": True}},
    "tool calls": {"messages": TOOL_TURNS[:1], "tools": [LOOKUP]},
    "log-probs": {"messages": PLAIN[:1], "logprobs": True, "top_logprobs": 1, "max_tokens": 2},
}


def test_vllm_sends_the_recorded_chunks(tmp_path: Path) -> None:
    spec = BaseModelSpec(
        name="parrot",
        path=str(tmp_path),
        context_length=CONTEXT_LENGTH,
        chat_template=save_answering_parrot(tmp_path),
    )
    engine = tmp_path / "engine"
    engine.mkdir()
    with running(VLLM, spec, engine) as url:
        sent = {name: _sent(url, options) for name, options in STREAMS.items()}
    if os.environ.get("RECORD_VLLM_CHUNKS"):
        write_recorded(sent)
    assert sent == recorded()


def _sent(url: str, options: dict[str, Any]) -> list[dict[str, Any]]:
    body = {"model": "parrot", "temperature": 0, "max_tokens": 100, "stream": True, **options}
    reply = httpx.post(
        f"{url}/v1/chat/completions",
        json=body,
        headers={"Authorization": f"Bearer {KEY}"},
        timeout=PATIENCE_S,
    )
    assert reply.status_code == httpx.codes.OK, reply.text
    return chunks_in(reply.text.splitlines())
