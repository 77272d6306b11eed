import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from app.local.state import free_port
from app.models.compute import MeasuredChoice
from app.models.engine import EngineUnavailable
from app.models.engine_http import HttpInference
from tests.support.models.tiny_model import CONTEXT_LENGTH, save_adapter, save_tiny_model
from tests.support.patience import PATIENCE_S, until
from tests.support.processes.child_processes import FORKS, ended, killed
from workers.autotuning import ways
from workers.engines.cpu.engine import ASSUMED_THREADS
from workers.engines.policy import EnginePolicy
from workers.processes.forking.forks import ChildProcess
from workers.rollout.environment import SamplingParams

PARAMS = SamplingParams(max_tokens=12, temperature=1.0, seed=3, stop_token_ids=())
Start = Callable[[], ChildProcess]


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def start(tmp_path: Path, port: int) -> Iterator[Start]:
    """Starts `-m workers.engines.cpu`; kills the processes that still run at the end."""
    model_dir = save_tiny_model(tmp_path / "model")
    spec = {"name": "tiny", "path": str(model_dir), "context_length": CONTEXT_LENGTH}
    models = tmp_path / "models.json"
    models.write_text(json.dumps([spec]))
    command = ["-m", "workers.engines.cpu", "--port", str(port), "--models-json", str(models)]
    command += ["--kv-pool-mib", "64", "--adapter-mib", "64", "--compute-dir", str(tmp_path / "c")]
    started: list[ChildProcess] = []

    def launch() -> ChildProcess:
        with Path(os.devnull).open("r+") as nothing:
            process = FORKS.start(
                command,
                stdin=nothing.fileno(),
                stderr=nothing.fileno(),
                environment={**os.environ, "AGENT_RFT_ENGINE_API_KEY": "sk-engine"},
            )
        started.append(process)
        return process

    yield launch
    for process in started:
        killed(process)


@pytest.fixture
async def inference(port: int) -> AsyncIterator[HttpInference]:
    client = HttpInference(f"http://127.0.0.1:{port}", api_key="sk-engine")
    yield client
    await client.aclose()


async def test_a_killed_engine_costs_time_but_no_samples_and_sigterm_ends_it_cleanly(
    start: Start, inference: HttpInference, tmp_path: Path
) -> None:
    policy = EnginePolicy(inference, base_model="tiny", patience_s=PATIENCE_S)
    engine = start()
    adapter = save_adapter(tmp_path / "model", tmp_path / "adapter", seed=1)
    await policy.publish(1, adapter, "job-s1")
    before = await policy.sample([5, 6, 7], PARAMS)
    scores = await policy.probe([5, 6, 7, *before.token_ids])
    # Probe and sample agree: the sampled log-probs are those of the published weights.
    assert scores[2:] == pytest.approx(before.logprobs, abs=1e-4)
    await asyncio.to_thread(killed, engine)
    waiting = asyncio.create_task(policy.sample([5, 6, 7], PARAMS))
    await asyncio.sleep(0.2)
    engine = start()
    after = await waiting
    assert after.token_ids == before.token_ids
    assert after.policy_version == 1
    assert after.logprobs == pytest.approx(before.logprobs, abs=1e-6)
    engine.signal(signal.SIGTERM)
    assert await ended(engine) == 0


async def test_an_engine_measures_once_computes_as_it_found_and_can_be_overruled(
    start: Start, inference: HttpInference, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (os.cpu_count() or 1) == 1:
        pytest.skip("one core may have one way to compute, which is not measured")

    async def way() -> str:
        """Starts an engine, and returns what it says of its computation."""
        found = list[str]()

        async def answers() -> bool:
            with suppress(EngineUnavailable):
                machine = await inference.machine("tiny")
                found.append("" if machine is None else machine.processor)
            return bool(found)

        engine = start()
        await until(answers, what="the engine's answer")
        await asyncio.to_thread(killed, engine)
        return found[0]

    monkeypatch.setenv("AGENT_RFT_COMPUTE", '{"measure": true}')
    first = await way()
    (file,) = (tmp_path / "c").iterdir()
    kept = MeasuredChoice.model_validate_json(file.read_text())
    assert first.endswith(str(kept.choice))
    # Torch's products are no candidate where they are not the same beside other rows.
    every = ways(("onednn",), (ASSUMED_THREADS, os.cpu_count() or 1))
    other = next(candidate for candidate in every if candidate != kept.choice)
    file.write_text(kept.model_copy(update={"choice": other}).model_dump_json())
    assert (await way()).endswith(str(other)), "read, not measured"
    monkeypatch.setenv("AGENT_RFT_COMPUTE", '{"engine_products": "onednn", "engine_threads": 2}')
    assert (await way()).endswith("onednn products, 2 threads")
    assert list((tmp_path / "c").iterdir()) == [file]
