"""The figures of a CPU engine for Prometheus, under vLLM's names where vLLM has the same.

Counters change only when the engine computes: callers tell by them an engine that computes from one
that is stuck (`app.gateways.inference.engine_watch`).
"""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector
from typing_extensions import override

from workers.engines.cpu.engine import Engine


class EngineFigures(Collector):
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def show(self) -> bytes:
        return generate_latest(self._registry)

    @override
    def collect(self) -> Iterator[Metric]:
        work = self._engine.work
        yield _counter("vllm:iterations", "Forward passes of all models.", work.iterations)
        yield _counter("vllm:prompt_tokens", "Prompt tokens of started sequences.", work.prompts)
        yield _counter("vllm:generation_tokens", "Tokens sampled.", work.sampled)
        yield _counter("vllm:request_success", "Sequences that have ended.", work.ended)
        running, waiting = self._engine.load
        yield _gauge("vllm:num_requests_running", "Sequences that run.", running)
        yield _gauge("vllm:num_requests_waiting", "Sequences that wait for memory.", waiting)
        yield _gauge("agent_rft_engine_adapters", "Adapters loaded.", self._engine.adapters)


def _counter(name: str, text: str, value: float) -> Metric:
    return CounterMetricFamily(name, text, value)


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value)
