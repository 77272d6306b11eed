"""Metrics of the CPU engine: what a request adds to them, and that the page names all of them."""

import re
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from app.models.engine_http import HttpInference, counters
from tests.support.patience import PATIENCE_S
from tests.support.runs.real_run import TinyEngine

PAGE = (Path(__file__).parents[4] / "docs" / "observability.md").read_text(encoding="utf-8")


async def _text(engine: TinyEngine) -> str:
    async with httpx.AsyncClient(timeout=PATIENCE_S) as http:
        reply = await http.get(f"{engine.url}/metrics")
    assert reply.status_code == 200
    return reply.text


def _values(text: str) -> dict[str, float]:
    return {
        "/".join((sample.name, *sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def test_a_request_adds_its_tokens_once_it_has_ended(engine: TinyEngine) -> None:
    before = _values(await _text(engine))
    client = HttpInference(engine.url)
    try:
        completion = await client.complete(
            engine.spec.name, [1, 2, 3, 4], max_tokens=3, temperature=0, seed=1, stop_token_ids=()
        )
    finally:
        await client.aclose()
    assert len(completion.token_ids) == 3
    after = _values(await _text(engine))
    added = {name: after[name] - before.get(name, 0) for name in after if name.startswith("vllm:")}
    assert added["vllm:prompt_tokens_total"] == 4
    assert added["vllm:generation_tokens_total"] == 3
    assert added["vllm:request_success_total/length"] == 1
    assert added["vllm:iteration_tokens_total_count"] >= 3
    assert added["vllm:iteration_tokens_total_sum"] == 7
    assert after["vllm:num_requests_running"] == after["vllm:num_requests_waiting"] == 0
    assert after["process_resident_memory_bytes"] > 1 << 20


async def test_an_idle_engines_counters_stand_still(engine: TinyEngine) -> None:
    first, second = await _text(engine), await _text(engine)
    assert counters(first) == counters(second) != ""
    assert "num_requests" not in counters(first)


async def test_the_page_names_each_of_them(engine: TinyEngine) -> None:
    shown = re.findall(r"^# TYPE (vllm:\w+) ", await _text(engine), re.MULTILINE)
    assert sorted(re.findall(r"^\| `(vllm:\w+)", PAGE, re.MULTILINE)) == sorted(shown)
