"""The completions endpoint: token ids in, token ids and log-probs out."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from app.models.engine_http import HttpInference
from tests.support.engines.contract import KEY, TOLERANCE, World, complete, worst


@pytest.mark.parametrize("temperature", [1.0, 0.6])
async def test_log_probs_are_the_trainers_at_the_sampling_temperature(
    world: World,
    inference: HttpInference,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
    temperature: float,
) -> None:
    tuned = world.tuned(tmp_path / "adapter", seed=1, temperature=temperature)
    await inference.load_adapter("v1", tuned.path)
    prompts = world.prompts(24, seed=0)
    for model in (world.spec.name, "v1"):
        done = await asyncio.gather(
            *(
                complete(inference, model, prompt, seed=seed, temperature=temperature)
                for seed, prompt in enumerate(prompts)
            )
        )
        differences = []
        for prompt, completion in zip(prompts, done, strict=True):
            assert len(completion.token_ids) == 24
            everything = [*prompt, *completion.token_ids]
            said = tuned.trainer.logprobs(everything, adapter=model == "v1")
            differences.append(worst(completion.logprobs, said[len(prompt) - 1 :]))
        record_property(f"max_abs_dlogp {model} T={temperature}", max(differences))
        assert max(differences) <= TOLERANCE


async def test_prompt_log_probs_are_the_trainers_at_temperature_1(
    world: World, inference: HttpInference, tmp_path: Path
) -> None:
    tuned = world.tuned(tmp_path / "adapter", seed=1)
    await inference.load_adapter("v1", tuned.path)
    for prompt in world.prompts(6, seed=3, low=40, high=200):
        done = await complete(
            inference, "v1", prompt, max_tokens=1, temperature=0.5, prompt_logprobs=True
        )
        assert done.prompt_logprobs is not None
        first, *rest = done.prompt_logprobs
        assert first is None
        scores = tuple(value for value in rest if value is not None)
        assert worst(scores, tuned.trainer.logprobs(prompt)) <= TOLERANCE


async def test_background_work_has_the_same_tokens(world: World, inference: HttpInference) -> None:
    background = HttpInference(world.url, api_key=KEY, background=True)
    [prompt] = world.prompts(1, seed=8)
    chats = (
        complete(client, world.spec.name, prompt, seed=3) for client in (inference, background)
    )
    mine, behind = await asyncio.gather(*chats)
    await background.aclose()
    assert mine.token_ids == behind.token_ids
    assert worst(mine.logprobs, behind.logprobs) <= TOLERANCE


async def test_a_seed_gives_the_same_tokens_alone_and_in_a_crowd(
    world: World, inference: HttpInference
) -> None:
    base, prompts = world.spec.name, world.prompts(32, seed=1)
    alone = [await complete(inference, base, prompt, seed=7) for prompt in prompts[:6]]
    crowd = await asyncio.gather(*(complete(inference, base, p, seed=7) for p in prompts))
    assert [a.token_ids for a in alone] == [c.token_ids for c in crowd[:6]]
    others = [await complete(inference, base, prompts[0], seed=seed) for seed in (8, 2**63 - 1)]
    assert len({alone[0].token_ids, *(other.token_ids for other in others)}) == 3


async def test_greedy_takes_the_most_likely_token(world: World, inference: HttpInference) -> None:
    model = AutoModelForCausalLM.from_pretrained(world.spec.path, dtype=torch.float32)
    for prompt in world.prompts(4, seed=2):
        done = await complete(inference, world.spec.name, prompt, temperature=0)
        ids_1T = torch.tensor([[*prompt, *done.token_ids]])
        with torch.inference_mode():
            logits_TV = model(ids_1T).logits[0, len(prompt) - 1 : -1]
        assert tuple(logits_TV.argmax(-1).tolist()) == done.token_ids
        chosen_T1 = logits_TV.log_softmax(-1).gather(1, ids_1T[0, len(prompt) :, None])
        assert worst(done.logprobs, chosen_T1[:, 0].tolist()) <= TOLERANCE


async def test_only_the_named_tokens_stop_and_are_part_of_the_turn(
    world: World, inference: HttpInference
) -> None:
    base, (prompt,) = world.spec.name, world.prompts(1, seed=6)
    free = await complete(inference, base, prompt, seed=9)
    stop = free.token_ids[5]
    first = free.token_ids.index(stop)
    done = await complete(inference, base, prompt, seed=9, stop_token_ids=(stop,))
    assert done.token_ids == free.token_ids[: first + 1]
    assert done.logprobs == pytest.approx(free.logprobs[: first + 1], abs=TOLERANCE)
    assert (done.finish_reason, free.finish_reason) == ("stop", "length")


async def test_the_models_own_end_of_turn_stops_only_where_it_is_named(
    world: World, inference: HttpInference
) -> None:
    base, end, prompts = world.spec.name, 2, world.prompts(48, seed=4)
    free = await asyncio.gather(
        *(complete(inference, base, prompt, seed=3, max_tokens=80) for prompt in prompts)
    )
    assert {len(completion.token_ids) for completion in free} == {80}
    spoken = [i for i, c in enumerate(free) if end in c.token_ids[:-1]]
    assert spoken
    named = await complete(
        inference, base, prompts[spoken[0]], seed=3, max_tokens=80, stop_token_ids=(end,)
    )
    assert (named.token_ids[-1], named.finish_reason) == (end, "stop")


async def test_the_end_of_the_context_ends_a_turn(world: World, inference: HttpInference) -> None:
    (prompt,) = world.prompts(1, seed=5, low=world.spec.context_length - 9, high=1015)
    done = await complete(inference, world.spec.name, prompt, max_tokens=200)
    assert len(done.token_ids) == world.spec.context_length - len(prompt)
    assert done.finish_reason == "length"


async def test_more_prompts_at_once_than_one_step_computes(
    world: World, inference: HttpInference
) -> None:
    """Sends forty prompts of two hundred tokens each, all with seeds."""
    trainer, prompts = world.trainer(), world.prompts(40, seed=11, low=200, high=230)
    done = await asyncio.gather(
        *(complete(inference, world.spec.name, p, seed=i) for i, p in enumerate(prompts))
    )
    for prompt, completion in zip(prompts, done, strict=True):
        said = trainer.logprobs([*prompt, *completion.token_ids])[len(prompt) - 1 :]
        assert worst(completion.logprobs, said) <= TOLERANCE
    again = await complete(inference, world.spec.name, prompts[-1], seed=39)
    assert again.token_ids == done[-1].token_ids


async def test_the_next_turn_agrees_though_it_reuses_the_last_one(
    world: World, inference: HttpInference
) -> None:
    trainer = world.trainer()
    (conversation,) = world.prompts(1, seed=10, low=100, high=101)
    for turn in range(4):
        done = await complete(inference, world.spec.name, conversation, seed=turn)
        said = trainer.logprobs([*conversation, *done.token_ids])[len(conversation) - 1 :]
        assert worst(done.logprobs, said) <= TOLERANCE
        conversation = [*conversation, *done.token_ids, 17, 18, 19]
