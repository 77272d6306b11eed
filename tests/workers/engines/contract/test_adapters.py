"""Loading and sampling adapters by name, and errors as the client's classes."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from app.kit.errors import InvalidRequest, Unavailable
from app.models.adapters import CONFIG_FILE, WEIGHTS_FILE
from app.models.engine import AdapterMissing, Completion
from app.models.engine_http import HttpInference
from tests.support.engines.contract import TOLERANCE, VLLM, TunedAdapter, World, complete, worst
from workers.engines.policy import EnginePolicy
from workers.rollout.environment import SamplingParams


@pytest.fixture(scope="module")
def tuned(world: World, tmp_path_factory: pytest.TempPathFactory) -> list[TunedAdapter]:
    root = tmp_path_factory.mktemp("adapters")
    return [world.tuned(root / f"adapter{seed}", seed=seed) for seed in (1, 2)]


async def test_two_adapters_and_the_base_at_once(
    world: World, inference: HttpInference, tuned: list[TunedAdapter]
) -> None:
    await inference.load_adapter("v1", tuned[0].path)
    await inference.load_adapter("v2", tuned[1].path)
    assert sorted(await inference.model_names()) == sorted([world.spec.name, "v1", "v2"])
    (prompt,) = world.prompts(1, seed=7, low=20)
    trainers = {"v1": tuned[0].trainer, "v2": tuned[1].trainer, world.spec.name: tuned[0].trainer}
    names = [name for name in trainers for _ in range(8)]
    done = await asyncio.gather(
        *(complete(inference, name, prompt, seed=seed) for seed, name in enumerate(names))
    )
    for name, completion in zip(names, done, strict=True):
        expected = trainers[name].logprobs(
            [*prompt, *completion.token_ids], adapter=name != world.spec.name
        )
        assert worst(completion.logprobs, expected[len(prompt) - 1 :]) <= TOLERANCE


async def test_unloading_lets_what_is_under_way_finish(
    world: World, inference: HttpInference, tuned: list[TunedAdapter]
) -> None:
    await inference.load_adapter("v1", tuned[0].path)
    (prompt,) = world.prompts(1, seed=8)
    running = asyncio.create_task(complete(inference, "v1", prompt, max_tokens=400))
    beside = asyncio.create_task(complete(inference, "v1", prompt, max_tokens=1))
    await asyncio.wait((running, beside), return_when=asyncio.FIRST_COMPLETED)
    assert beside.done(), "the engine has read both requests and has most of one before it"
    await inference.unload_adapter("v1")
    with pytest.raises(AdapterMissing):
        await complete(inference, "v1", prompt)
    done = await running
    assert len(done.token_ids) == 400
    assert worst(done.logprobs, tuned[0].logprobs(prompt, done.token_ids)) <= TOLERANCE


@pytest.mark.parametrize("same_directory", [True, False])
async def test_where_new_weights_meet_old_keys_and_values(
    world: World,
    inference: HttpInference,
    tuned: list[TunedAdapter],
    tmp_path: Path,
    same_directory: bool,
) -> None:
    """Documents that vLLM's prefix cache is keyed by an adapter's name and directory: other weights
    under the same ones give stale log-probs without an error. Versions of a job's policy are never
    published in this way; if this test fails because vLLM was fixed, no other code has to change.
    """
    (prompt,) = world.prompts(1, seed=9, low=200, high=220)
    directory = tmp_path / "adapter"
    shutil.copytree(tuned[0].path, directory)
    await inference.load_adapter("same", directory)
    await complete(inference, "same", prompt)
    await inference.unload_adapter("same")
    second = directory if same_directory else tmp_path / "second"
    shutil.copytree(tuned[1].path, second, dirs_exist_ok=True)
    await inference.load_adapter("same", second)
    done = await complete(inference, "same", prompt)
    difference = worst(done.logprobs, tuned[1].logprobs(prompt, done.token_ids))
    if world.kind == VLLM and same_directory:
        assert difference > 100 * TOLERANCE
    else:
        assert difference <= TOLERANCE


async def test_published_versions_never_meet_old_keys_and_values(
    world: World, inference: HttpInference, tuned: list[TunedAdapter]
) -> None:
    policy = EnginePolicy(inference, base_model=world.spec.name)
    (prompt,) = world.prompts(1, seed=9, low=200, high=220)
    params = SamplingParams(max_tokens=24, temperature=1.0, seed=1, stop_token_ids=())
    await policy.sample(prompt, params)
    for version, adapter in enumerate(tuned, start=1):
        await policy.publish(version, adapter.path, f"job-s{version}")
        turn = await policy.sample(prompt, params)
        assert turn.policy_version == version
        assert worst(turn.logprobs, adapter.logprobs(prompt, turn.token_ids)) <= TOLERANCE
        probe = [*prompt, *turn.token_ids]
        expected = adapter.trainer.logprobs(probe)
        assert worst(tuple(await policy.probe(probe)), expected) <= TOLERANCE
    await policy.retire(1)
    assert "job-s1" not in await inference.model_names()


async def test_more_versions_than_fit_a_batch(
    world: World, inference: HttpInference, tuned: list[TunedAdapter], tmp_path: Path
) -> None:
    """Samples twelve adapters at once, with two alternating sets of weights."""
    prompts = world.prompts(12, seed=12)
    for index in range(12):
        directory = tmp_path / str(index)
        shutil.copytree(tuned[index % 2].path, directory)
        await inference.load_adapter(f"v{index}", directory)
    done: list[Completion] = await asyncio.gather(
        *(complete(inference, f"v{index}", prompt) for index, prompt in enumerate(prompts))
    )
    for index, (prompt, completion) in enumerate(zip(prompts, done, strict=True)):
        expected = tuned[index % 2].logprobs(prompt, completion.token_ids)
        assert worst(completion.logprobs, expected) <= TOLERANCE


async def test_a_loaded_name_is_not_loaded_again(
    inference: HttpInference, tuned: list[TunedAdapter]
) -> None:
    await inference.load_adapter("v1", tuned[0].path)
    with pytest.raises(InvalidRequest, match="already been loaded"):
        await inference.load_adapter("v1", tuned[1].path)


async def test_unknown_names_are_missing(world: World, inference: HttpInference) -> None:
    with pytest.raises(AdapterMissing, match=r"The model `nobody` does not exist\.$"):
        await complete(inference, "nobody", [5])
    with pytest.raises(AdapterMissing):
        await inference.unload_adapter("nobody")
    with pytest.raises((AdapterMissing, InvalidRequest)):
        await inference.unload_adapter(world.spec.name)
    assert await inference.model_names() == [world.spec.name]


async def test_what_is_no_adapter_of_the_base_is_refused(
    world: World, inference: HttpInference, tuned: list[TunedAdapter], tmp_path: Path
) -> None:
    torn, wide, foreign = (tmp_path / name for name in ("torn", "wide", "foreign"))
    for directory in (torn, wide, foreign):
        shutil.copytree(tuned[0].path, directory)
    (torn / WEIGHTS_FILE).write_bytes(b"\x80\x04}q")
    config = json.loads((wide / CONFIG_FILE).read_text())
    (wide / CONFIG_FILE).write_text(json.dumps({**config, "r": 4096}))
    tensors = load_file(foreign / WEIGHTS_FILE)
    save_file({f"{name}.other": tensor for name, tensor in tensors.items()}, foreign / WEIGHTS_FILE)
    for directory in (tmp_path / "nowhere", tmp_path, torn, wide, foreign):
        with pytest.raises(InvalidRequest):
            await inference.load_adapter("bad", directory)
    assert await inference.model_names() == [world.spec.name]
    assert await inference.healthy()


async def test_bad_prompts_are_invalid_requests(world: World, inference: HttpInference) -> None:
    for prompt in ([], [5, 10**6], [-1], [5] * (world.spec.context_length + 1)):
        with pytest.raises(InvalidRequest):
            await complete(inference, world.spec.name, prompt)
    for changes in ({"max_tokens": 0}, {"temperature": -1}, {"seed": 2**70}):
        with pytest.raises(InvalidRequest):
            await complete(inference, world.spec.name, [5], **changes)


async def test_a_wrong_key_is_the_services_fault(world: World) -> None:
    client = HttpInference(world.url, api_key="wrong")
    assert await client.healthy()
    with pytest.raises(Unavailable, match="key"):
        await complete(client, world.spec.name, [5])
    await client.aclose()


async def test_cancelled_requests_free_the_engine(world: World, inference: HttpInference) -> None:
    """`tests/workers/engines/cpu/http/test_completions.py` looks at the CPU engine's sequences."""
    base = world.spec.name
    long = [
        asyncio.create_task(complete(inference, base, prompt, max_tokens=900))
        for prompt in world.prompts(40, seed=13, high=9)
    ]
    await complete(inference, base, [5], max_tokens=1)
    for task in long:
        task.cancel()
    await asyncio.gather(*long, return_exceptions=True)
    done = await complete(inference, base, [5], max_tokens=100)
    assert len(done.token_ids) == 100
