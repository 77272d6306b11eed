"""The metrics of a CPU engine for Prometheus, under vLLM's names where they mean the same.

Counters change only when the engine computes: by them `app.gateways.inference.engine_watch`
distinguishes an engine that computes from one that is stuck.
"""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, SummaryMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector
from typing_extensions import override

from workers.engines.cpu.engine import Engine


class EngineMetrics(Collector):
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def show(self) -> bytes:
        return generate_latest(self._registry)

    @override
    def collect(self) -> Iterator[Metric]:
        engine, work = self._engine, self._engine.work
        yield SummaryMetricFamily(
            "vllm:iteration_tokens_total",
            "Forward passes, and the tokens of the sequences that have ended.",
            count_value=engine.iterations,
            sum_value=work.prompt_tokens + work.generation_tokens,
        )
        for name, text, value in (
            ("prompt_tokens", "Prompt tokens of ended sequences.", work.prompt_tokens),
            ("generation_tokens", "Tokens sampled by ended sequences.", work.generation_tokens),
            ("prefix_cache_hits", "Of the prompt tokens, those not computed anew.", work.reused),
        ):
            yield CounterMetricFamily(f"vllm:{name}", text, value)
        ended = CounterMetricFamily(
            "vllm:request_success", "Ended sequences by reason.", labels=["finished_reason"]
        )
        for reason, count in sorted(work.ended.items()):
            ended.add_metric([reason], count)
        yield ended
        for name, text, present in (
            ("running", "Sequences that are computed.", engine.unended - engine.waiting),
            ("waiting", "Sequences that wait for a row or for memory.", engine.waiting),
        ):
            yield GaugeMetricFamily(f"vllm:num_requests_{name}", text, max(0, present))
