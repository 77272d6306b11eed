"""From saved files to an engine's version and back, with the engine's in-memory twin."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from app.jobs.jobs import Usage
from app.kit.directories import ManifestMismatch, commit_directory
from app.kit.errors import InvalidRequest, RunFailed
from app.models.engine import Completion
from tests.support.engines.in_memory import InMemoryInference
from tests.support.reinforcement.scored_rollouts import scored
from tests.support.runs.world import BASE, World
from workers.engines.policy import EnginePolicy
from workers.learning.trainer import TrainerSettings
from workers.runs.context import RunContext
from workers.runs.publisher import Publisher
from workers.runs.step_outcome import TrainedStep, load_scheduler_state


class SavingTrainer:
    """Writes directories and returns the log-probs of the scripted engine."""

    steps = 0
    accelerators = 0
    settings = TrainerSettings(BASE.name, 1, 1.0, 1.0, "ppo", 1)

    def __init__(self, logprob: float = -0.25, base_logprob: float = -0.25) -> None:
        self._logprob = logprob
        self._base_logprob = base_logprob

    def update(self, samples: Sequence[object]) -> dict[str, float]:
        raise NotImplementedError

    def accumulate(self, samples: Sequence[object]) -> None:
        raise NotImplementedError

    def step(self, denominator: int | None = None) -> dict[str, float]:
        raise NotImplementedError

    def trained_logprobs(self) -> list[list[float] | None]:
        raise NotImplementedError

    def evaluate(
        self, sets: Sequence[Sequence[object]], *, adapter: bool = True
    ) -> list[dict[str, float]]:
        raise NotImplementedError

    def reference_logprobs(self, samples: Sequence[object]) -> list[list[float]]:
        raise NotImplementedError

    def logprobs(self, token_ids: Sequence[int], *, adapter: bool = True) -> list[float]:
        return [self._logprob if adapter else self._base_logprob] * (len(token_ids) - 1)

    def save_adapter(self, directory: Path) -> None:
        with commit_directory(directory):
            pass

    def save_state(self, directory: Path) -> None:
        with commit_directory(directory):
            pass

    def load_state(self, directory: Path) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Holds no process."""


def _publisher(
    context: RunContext,
    engine: InMemoryInference,
    logprob: float = -0.25,
    *,
    base_logprob: float = -0.25,
    max_staleness: int = 0,
) -> Publisher:
    policy = EnginePolicy(engine, base_model=BASE.name)
    trainer = SavingTrainer(logprob, base_logprob)
    return Publisher(context, trainer, policy, max_staleness=max_staleness)


async def _step(publisher: Publisher, context: RunContext, step: int) -> None:
    probe = scored(("train", step, 0, 0), 1.0).trajectory.row.tokens
    adapter = await publisher.publish(TrainedStep(step, probe=probe))
    async with context.unit() as unit:
        await unit.jobs.commit_step(
            step,
            resume_key=adapter.state_key,
            adapter_key=adapter.adapter_key,
            usage=Usage(trained_tokens=0),
            estimated_finish=0,
        )
    await publisher.retire()


async def test_the_newest_two_versions_are_served_from_files_that_are_there(world: World) -> None:
    context = await world.context(await world.job())
    publisher = _publisher(context, world.inference)
    for step in range(1, 5):
        await _step(publisher, context, step)
    assert sorted(name.rpartition("-")[2] for name in world.inference.adapters) == ["s3", "s4"]
    assert all(path.is_dir() for path in world.inference.adapters.values())
    await publisher.close()
    assert world.inference.adapters == {}


async def test_a_mode_that_lags_behind_keeps_two_more_versions_than_it_lags(world: World) -> None:
    context = await world.context(await world.job())
    publisher = _publisher(context, world.inference, max_staleness=2)
    for step in range(1, 7):
        await _step(publisher, context, step)
    served = sorted(name.rpartition("-")[2] for name in world.inference.adapters)
    assert served == ["s3", "s4", "s5", "s6"]
    assert all(path.is_dir() for path in world.inference.adapters.values())


async def test_what_a_mode_carries_over_is_committed_with_the_step(world: World) -> None:
    context = await world.context(await world.job())
    publisher = _publisher(context, world.inference)
    carried = {"cursor": [2, 1], "tickets": [[0, 1, 3, 2]]}
    await publisher.publish(TrainedStep(1, scheduler_state=carried))
    directory = await context.step(1).fetch("scheduler")
    assert load_scheduler_state(directory) == carried
    (directory / "scheduler.json").write_text("{}")
    with pytest.raises(ManifestMismatch):
        load_scheduler_state(directory)
    await publisher.publish(TrainedStep(2))
    with pytest.raises(FileNotFoundError):
        await context.step(2).fetch("scheduler")


async def test_what_is_published_is_stored_and_no_scratch_but_the_adapter_stays(
    world: World,
) -> None:
    context = await world.context(await world.job())
    publisher = _publisher(context, world.inference)
    adapter = await publisher.publish(TrainedStep(1, scheduler_state={"cursor": 1}))
    stored = await context.objects.children(context.step_key(1))
    assert [child.name for child in stored] == ["adapter", "scheduler", "state"]
    assert (adapter.adapter_key, adapter.state_key) == (stored[0].key, stored[2].key)
    assert [path.name for path in context.step(1).path("x").parent.iterdir()] == ["adapter"]


async def test_adapters_of_a_killed_claim_leave_the_engine_with_the_next(world: World) -> None:
    job, other = await world.job(), await world.job()
    killed = await world.context(job)
    await _step(_publisher(killed, world.inference), killed, 1)
    neighbour = await world.context(other)
    await _step(_publisher(neighbour, world.inference), neighbour, 1)
    theirs = _publisher(neighbour, world.inference).engine_name(1)

    context = await world.context(job)
    publisher = _publisher(context, world.inference)
    await publisher.forget_earlier_claims()
    assert list(world.inference.adapters) == [theirs]
    async with context.unit() as unit:
        last = await unit.jobs.resume_point()
    await publisher.serve(last.step, world.settings.objects_dir / str(last.adapter_key))
    assert sorted(world.inference.adapters) == sorted([theirs, publisher.engine_name(1)])


async def test_an_unavailable_engine_does_not_delay_the_end(world: World) -> None:
    job = await world.job()
    context = await world.context(job)
    publisher = _publisher(context, world.inference)
    await _step(publisher, context, 1)
    world.inference.unavailable = True
    await publisher.forget_earlier_claims()
    await publisher.close()
    assert list(world.inference.adapters) == [publisher.engine_name(1)], "nothing was removed"
    world.inference.unavailable = False
    await _publisher(await world.context(job), world.inference).forget_earlier_claims()
    assert list(world.inference.adapters) == []


# The engine says -0.25 of every token, under adapter and base.
@pytest.mark.parametrize(
    ("logprob", "base_logprob"),
    [
        (-0.3, -0.25),  # the same precision: one step's difference is none of rounding
        (-0.251, -0.25),
        (math.nan, -0.25),
        (math.nan, math.nan),
        (-0.32, -0.26),  # more than four times the difference under the base
        (-0.26, -0.61),  # another base
        (-0.28, -0.26),  # the engine ignores what the adapter changes
    ],
)
async def test_an_engine_with_other_log_probs_ends_the_run(
    world: World, logprob: float, base_logprob: float
) -> None:
    context = await world.context(await world.job())
    publisher = _publisher(context, world.inference, logprob, base_logprob=base_logprob)
    with pytest.raises(RunFailed) as failed:
        await _step(publisher, context, 1)
    assert failed.value.code == "publish_mismatch"


@pytest.mark.parametrize(("logprob", "base_logprob"), [(-0.25005, -0.25), (-0.26, -0.26)])
async def test_an_engine_of_other_rounding_is_no_other_policy(
    world: World, logprob: float, base_logprob: float
) -> None:
    context = await world.context(await world.job())
    publisher = _publisher(context, world.inference, logprob, base_logprob=base_logprob)
    for step in (1, 2):
        await _step(publisher, context, step)
    assert len(world.inference.adapters) == 2


class RoomyEngine(InMemoryInference):
    """Refuses a prompt that leaves no room for a token, as engines do."""

    @override
    async def complete(self, model: str, prompt_token_ids: list[int], **options: Any) -> Completion:
        if len(prompt_token_ids) >= BASE.context_length:
            raise InvalidRequest("The prompt leaves no room.", param="prompt")
        return await super().complete(model, prompt_token_ids, **options)


async def test_a_probe_that_fills_the_context_leaves_room_for_a_token(world: World) -> None:
    context = await world.context(await world.job())
    asked: list[int] = []

    def script(_model: str, prompt: list[int], _seed: int) -> Completion:
        asked.append(len(prompt))
        return Completion((1,), (-0.5,), "length", (None, *[-0.25] * (len(prompt) - 1)))

    engine = RoomyEngine(script, base_models=(BASE.name,))
    publisher = _publisher(context, engine)
    await publisher.publish(TrainedStep(1, probe=[5] * BASE.context_length))
    assert asked == [BASE.context_length - 1]


class RefusingEngine(InMemoryInference):
    @override
    async def load_adapter(self, name: str, path: Path) -> None:
        raise InvalidRequest("The adapter's shapes do not fit.", param="lora_path")


async def test_an_adapter_that_the_engine_refuses_ends_the_run(world: World) -> None:
    context = await world.context(await world.job())
    engine = RefusingEngine(lambda *_: Completion((1,), (-0.5,), "stop"), base_models=(BASE.name,))
    with pytest.raises(RunFailed, match="refused the adapter of step 1") as failed:
        await _step(_publisher(context, engine), context, 1)
    assert failed.value.code == "adapter_refused"


async def test_no_name_is_used_twice_by_any_step_or_claim(world: World) -> None:
    """A name that came back with other weights would meet its old keys and values in an engine."""
    job, other = await world.job(), await world.job()
    contexts = [await world.context(job) for _ in range(3)] + [await world.context(other)]
    publishers = [_publisher(context, world.inference) for context in contexts]
    made = [publisher.engine_name(step) for publisher in publishers for step in range(1, 30)]
    assert len(set(made)) == len(made)
