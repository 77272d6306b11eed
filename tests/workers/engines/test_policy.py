import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typing_extensions import override

from app.kit.errors import InvalidRequest
from app.models.engine import AdapterMissing, Completion, EngineUnavailable
from tests.support.engines.in_memory import InMemoryInference
from tests.support.patience import PATIENCE_S
from workers.engines import policy as policy_module
from workers.engines.policy import EnginePolicy
from workers.rollout.environment import SampledTurn, SamplingParams

PARAMS = SamplingParams(max_tokens=8, temperature=1.0, seed=5, stop_token_ids=(2,))
ADAPTER = Path("/adapters/1")


def _script(model: str, prompt: list[int], seed: int) -> Completion:
    scores: tuple[float | None, ...] = (None, *(-1.0 * token for token in prompt[1:]))
    return Completion((len(model), seed, 2), (-0.1, -0.2, -0.3), "stop", scores)


@pytest.fixture
def engine() -> InMemoryInference:
    return InMemoryInference(_script)


@pytest.fixture
def policy(engine: InMemoryInference) -> EnginePolicy:
    return EnginePolicy(engine, base_model="base", patience_s=PATIENCE_S)


async def test_version_zero_is_the_base_model(policy: EnginePolicy) -> None:
    turn = await policy.sample([1, 2], PARAMS)
    assert turn == SampledTurn((4, 5, 2), (-0.1, -0.2, -0.3), "stop", 0)


async def test_a_published_version_samples_under_its_own_name(
    policy: EnginePolicy, engine: InMemoryInference
) -> None:
    await policy.publish(1, ADAPTER, "job-v1")
    turn = await policy.sample([1, 2], PARAMS)
    assert (turn.policy_version, policy.version) == (1, 1)
    assert engine.prompts == [("job-v1", [1, 2])]
    assert engine.adapters == {"job-v1": ADAPTER}


async def test_retired_versions_leave_the_engine(
    policy: EnginePolicy, engine: InMemoryInference
) -> None:
    await policy.publish(1, ADAPTER, "job-v1")
    await policy.publish(2, Path("/adapters/2"), "job-v2")
    await policy.retire(2)  # the newest stays
    await policy.retire(1)
    await policy.retire(1)
    await policy.retire(0)
    assert list(engine.adapters) == ["job-v2"]


async def test_a_version_under_which_a_request_runs_is_not_retired(
    policy: EnginePolicy, engine: InMemoryInference
) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()
    complete = engine.complete

    async def slow(*args: Any, **kwargs: Any) -> Completion:
        begun.set()
        await go_on.wait()
        return await complete(*args, **kwargs)

    await policy.publish(1, ADAPTER, "job-v1")
    engine.complete = slow  # type: ignore[method-assign]  # slows one call of this engine down
    running = asyncio.create_task(policy.sample([1, 2], PARAMS))
    await begun.wait()
    await policy.publish(2, Path("/adapters/2"), "job-v2")
    assert not await policy.retire(1)
    assert sorted(engine.adapters) == ["job-v1", "job-v2"]
    go_on.set()
    assert (await running).policy_version == 1
    assert await policy.retire(1)
    assert list(engine.adapters) == ["job-v2"]
    with pytest.raises(KeyError):
        await policy.sample_at(1, [1, 2], PARAMS)


async def test_an_older_version_can_be_sampled_beside_the_newest(
    policy: EnginePolicy, engine: InMemoryInference
) -> None:
    await policy.publish(1, ADAPTER, "job-v1")
    await policy.publish(2, Path("/adapters/2"), "job-v2")
    assert (await policy.sample_at(1, [1], PARAMS)).policy_version == 1
    assert (await policy.sample([1], PARAMS)).policy_version == 2
    assert [name for name, _ in engine.prompts] == ["job-v1", "job-v2"]
    assert policy.busy.reading() > 0


async def test_a_baseline_can_be_sampled_between_versions(
    policy: EnginePolicy, engine: InMemoryInference
) -> None:
    await policy.publish(1, ADAPTER, "job-v1")
    policy.use_base()
    assert (await policy.sample([1], PARAMS)).policy_version == 0
    policy.use(1)
    assert (await policy.sample([1], PARAMS)).policy_version == 1
    assert [model for model, _ in engine.prompts] == ["base", "job-v1"]


async def test_the_base_is_sampled_although_a_tuned_start_is_version_0(
    policy: EnginePolicy, engine: InMemoryInference
) -> None:
    await policy.publish(0, ADAPTER, "job-start")
    await policy.base.sample([1], PARAMS)
    await policy.sample([1], PARAMS)
    policy.use_base()
    await policy.sample([1], PARAMS)
    assert [model for model, _ in engine.prompts] == ["base", "job-start", "base"]


async def test_an_adapter_the_engine_forgot_is_loaded_again_once(
    policy: EnginePolicy, engine: InMemoryInference
) -> None:
    await policy.publish(1, ADAPTER, "job-v1")
    engine.adapters.clear()  # a restart
    turns = await asyncio.gather(*(policy.sample([1], PARAMS) for _ in range(8)))
    assert {turn.policy_version for turn in turns} == {1}
    assert engine.adapters == {"job-v1": ADAPTER}


async def test_an_engine_that_is_unavailable_is_waited_for(
    policy: EnginePolicy, engine: InMemoryInference
) -> None:
    await policy.publish(1, ADAPTER, "job-v1")
    engine.unavailable = True
    waiting = asyncio.create_task(policy.sample([1], PARAMS))
    await asyncio.sleep(0.3)
    assert not waiting.done()
    engine.unavailable = False
    engine.adapters.clear()
    assert (await waiting).policy_version == 1


async def test_past_the_deadline_the_engine_is_unavailable_for_good(
    engine: InMemoryInference,
) -> None:
    impatient = EnginePolicy(engine, base_model="base", patience_s=0.2)
    engine.unavailable = True
    with pytest.raises(EngineUnavailable):
        await impatient.sample([1], PARAMS)
    with pytest.raises(EngineUnavailable):
        await impatient.publish(1, ADAPTER, "job-v1")
    assert impatient.version == 0


async def test_a_missing_base_model_is_not_waited_for(engine: InMemoryInference) -> None:
    with pytest.raises(AdapterMissing):
        await EnginePolicy(engine, base_model="other").sample([1], PARAMS)


async def test_a_refused_adapter_is_an_error_and_the_old_version_stays() -> None:
    class Refusing(InMemoryInference):
        @override
        async def load_adapter(self, name: str, path: Path) -> None:
            raise InvalidRequest("shapes do not fit")

    policy = EnginePolicy(Refusing(_script), base_model="base")
    with pytest.raises(InvalidRequest, match="shapes"):
        await policy.publish(1, ADAPTER, "job-v1")
    assert policy.version == 0


async def test_probe_gives_a_log_prob_for_every_token_but_the_first(policy: EnginePolicy) -> None:
    assert await policy.probe([9, 3, 4]) == [-3.0, -4.0]


async def test_time_spent_on_a_long_answer_is_not_the_engines_absence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr(policy_module, "time", SimpleNamespace(monotonic=lambda: now))

    class FallsAfterALongWhile(InMemoryInference):
        calls = 0

        @override
        async def complete(self, *args: Any, **kwargs: Any) -> Completion:
            nonlocal now
            self.calls += 1
            if self.calls == 1:
                now = 100.0
                raise EngineUnavailable("The engine fell.")
            return await super().complete(*args, **kwargs)

    policy = EnginePolicy(FallsAfterALongWhile(_script), base_model="base", patience_s=0.5)
    assert (await policy.sample([1], PARAMS)).token_ids == (4, 5, 2)


async def test_a_healthy_engine_that_keeps_failing_is_retried_ever_more_rarely() -> None:
    class AlwaysFails(InMemoryInference):
        calls = 0

        @override
        async def complete(self, *args: Any, **kwargs: Any) -> Completion:
            self.calls += 1
            raise EngineUnavailable("The engine answered 500.")

    engine = AlwaysFails(_script)
    with pytest.raises(EngineUnavailable):
        await EnginePolicy(engine, base_model="base", patience_s=1.5).sample([1], PARAMS)
    assert engine.calls <= 8
