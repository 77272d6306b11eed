"""Tuned models over HTTP: rows that train one, its answers followed, a job that starts from it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from openai import OpenAI
from transformers import AutoTokenizer

from app.rollouts.renderer import Renderer
from app.settings import shipped_models
from examples.records_agent.tools import SCHEMAS
from tests.support.e2e.main_job import Endpoints
from tests.support.embedded.installation import Installation, wait_until_final
from tests.support.embedded.jobs import records_method, upload
from tests.support.models.served_models import FollowedText, follow_text

HELD_OUT = range(40, 50)


def lookup_row(number: int) -> dict[str, Any]:
    """Returns an agent's whole conversation: a call, its reply, the answer."""
    call = {"name": "lookup", "arguments": json.dumps({"record": f"P{number:03}"})}
    return {
        "messages": [
            {"role": "user", "content": f"What is the weight of part P{number:03}?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"call_{number}", "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": f"call_{number}", "content": "the weight is 12"},
            {"role": "assistant", "content": "The weight is 12."},
        ],
        "tools": list(SCHEMAS),
    }


def file(
    client: OpenAI,
    directory: Path,
    numbers: range,
    row: Callable[[int], dict[str, Any]] = lookup_row,
) -> str:
    path = directory / f"rows-{numbers.start}.jsonl"
    path.write_text("\n".join(json.dumps(row(n)) for n in numbers))
    return upload(client, path)


def turn_ids(
    tokenizer: Any, messages: list[Any], index: int, tools: list[Any] | None = None
) -> tuple[list[int], int]:
    """Returns the ids up to the end of the assistant message at `index`, and where it begins."""
    messages = json.loads(json.dumps(messages))
    for message in messages:
        message["content"] = message["content"] or ""
        for call in message.get("tool_calls", ()):
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    opening, whole = (
        tokenizer.apply_chat_template(
            part, tools=tools, add_generation_prompt=opens, return_dict=False
        )
        for part, opens in ((messages[:index], True), (messages[: index + 1], False))
    )
    ids = whole[: len(whole) - whole[::-1].index(tokenizer.eos_token_id)]
    assert ids[: len(opening)] == opening
    return ids, len(opening)


def followed(
    client: OpenAI, model: str, messages: list[Any], index: int, tools: list[Any] | None = None
) -> FollowedText:
    """Follows the assistant message at `index` through the public API."""
    spec = shipped_models()[0]
    ids, start = turn_ids(AutoTokenizer.from_pretrained(spec.path), messages, index, tools)
    renderer = Renderer(spec.path, tool_parser=spec.tool_parser, chat_template=spec.chat_template)
    return follow_text(
        client,
        model,
        messages[:index],
        text=[renderer.decode([token]) for token in ids[start:]],
        tools=tools or (),
    )


def reinforced(live: Installation, endpoints: Endpoints, files: tuple[str, str], start: str) -> Any:
    """Returns a job of two steps that starts from a tuned model."""
    client = live.client()
    method = records_method(endpoints.good, batch_size=12, compute_multiplier=0.5, eval_interval=10)
    created = client.fine_tuning.jobs.create(
        model=start, training_file=files[0], validation_file=files[1], method=method, seed=5
    )
    assert created.model == start
    job = wait_until_final(client, created.id)
    assert job.status == "succeeded", job.error
    ratios = live.curve(job.id, "train/sampler_max_abs_log_ratio")
    assert ratios[1] < 1e-2, "sampled from the model that the trainer starts from"
    assert live.get(f"/fine_tuning/jobs/{job.id}/report")["start_model"] == start
    return job
