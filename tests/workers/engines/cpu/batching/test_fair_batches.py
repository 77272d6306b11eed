"""Chats beside others: the steps that they wait, and the order of admission, are counted."""

import pytest
import torch

from tests.support.engines.version_batches import World, prompt_ids
from workers.engines.cpu.batching.scheduler import CHAT_STEPS, SMALL, Limits, Scheduler
from workers.engines.cpu.batching.sequence import Sampling, Sequence, SequenceUpdate
from workers.engines.cpu.batching.version_batch import ALONE_STEPS, StepLimit
from workers.engines.cpu.models.versions import BaseModel, Version, Versions


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def same_alone(base: BaseModel, sequence: Sequence, prompt: list[int]) -> bool:
    """Returns whether the sequence has the bits that it has without others."""
    world, sampling = World(base), sequence.sampling
    alone = world.add(prompt, tokens=sampling.max_tokens, seed=sampling.seed)
    world.run()
    return (alone.tokens, alone.logprobs) == (sequence.tokens, sequence.logprobs)


def test_a_tenants_first_chat_is_computed_without_the_rows_of_another(base: BaseModel) -> None:
    world = World(base)
    crowd = [world.add(prompt_ids(9, n), tokens=30, seed=n, salt="crowd") for n in range(8)]
    world.advance(3)
    before = [sequence.sampled for sequence in crowd]
    prompt = prompt_ids(12, 99)
    chat = world.add(prompt, tokens=4, seed=5, salt="neighbour")
    world.advance()
    assert chat.sampled == 1
    assert [sequence.sampled for sequence in crowd] == before
    world.advance()
    assert (chat.sampled, crowd[0].sampled) == (2, before[0] + 1)
    world.run()
    assert same_alone(base, chat, prompt)
    for n, sequence in enumerate(crowd):
        assert same_alone(base, sequence, prompt_ids(9, n))


def test_newcomers_without_end_do_not_stop_the_running_rows(base: BaseModel) -> None:
    world = World(base)
    crowd = [world.add(prompt_ids(9, n), tokens=10, salt="crowd") for n in range(8)]
    world.advance()
    for step in range(9 * (ALONE_STEPS + 1)):
        world.add(prompt_ids(9, 100 + step), tokens=1, salt=f"neighbour {step}")
        world.advance()
    assert {sequence.finish_reason for sequence in crowd} == {"length"}


def test_a_tenant_alone_is_batched_as_ever(base: BaseModel) -> None:
    world = World(base)
    crowd = [world.add(prompt_ids(9, n), tokens=30, salt="crowd") for n in range(8)]
    world.advance()
    late = world.add(prompt_ids(9, 50), tokens=2, salt="crowd")
    world.advance()
    assert (late.sampled, crowd[0].sampled) == (1, 2)


def test_the_owner_with_the_fewest_rows_gets_the_next_one(base: BaseModel) -> None:
    world = World(base, max_rows=4)
    crowd = [world.add(prompt_ids(9, n), tokens=2 + n, salt="crowd") for n in range(20)]
    world.advance()
    chats = [world.add(prompt_ids(9, 70 + n), tokens=1, salt="neighbour") for n in range(3)]
    while any(chat.finish_reason is None for chat in chats):
        world.advance()
    # The first row that became free went to the neighbour's chats in kind, not to the 16 before.
    assert [sequence.sampled > 0 for sequence in crowd] == [n < 4 for n in range(20)]


def test_a_short_chat_overtakes_the_rest_of_a_long_prompt(base: BaseModel) -> None:
    world = World(base)
    long, prompt = prompt_ids(450, 1), prompt_ids(12, 2)
    rollout = world.add(long, tokens=3, salt="crowd")
    chat = None
    with torch.inference_mode():
        weights = world.batch.version.base.weights
        world.batch.advance(weights, StepLimit(prompt_tokens=200))
        assert rollout.computed_tokens == 200
        chat = world.add(prompt, tokens=3, salt="neighbour")
        world.batch.advance(weights, StepLimit(prompt_tokens=200))
    assert (chat.sampled, rollout.computed_tokens) == (1, 200)
    world.run()
    assert same_alone(base, chat, prompt)
    assert same_alone(base, rollout, long)


def test_a_small_step_has_prompts_or_some_of_the_rows_in_turn(base: BaseModel) -> None:
    world, limit = World(base), StepLimit(prompt_tokens=30, rows=3)
    rows = [world.add(prompt_ids(9, n), tokens=6, seed=n) for n in range(7)]
    steps = []
    with torch.inference_mode():
        while not world.batch.idle:
            before = [(s.sampled, s.computed_tokens) for s in rows]
            world.batch.advance(world.batch.version.base.weights, limit)
            now = [(s.sampled, s.computed_tokens) for s in rows]
            steps.append(sum(new != old for new, old in zip(now, before, strict=True)))
    assert max(steps) == 4  # prompts of 9 tokens: three and a part of the fourth
    assert steps[:4] == [4, 3, 4, 3]
    for n, sequence in enumerate(rows):
        assert (sequence.sampled, sequence.finish_reason) == (6, "length")
        assert same_alone(base, sequence, prompt_ids(9, n))


class Engine:
    """A scheduler that a test advances step by step."""

    def __init__(self, base: BaseModel) -> None:
        self.updates: list[SequenceUpdate] = []
        versions = Versions([base])
        self._base = base
        self._scheduler = Scheduler(versions, self.updates.extend, Limits(threads=1))
        self.version: Version = versions.get(base.spec.name)

    def add(self, length: int, seed: int, *, tokens: int, background: bool) -> Sequence:
        prompt, sampling = prompt_ids(length, seed), Sampling(tokens, 1.0, seed)
        sequence = Sequence(self.version, prompt, length, sampling, background=background)
        self._scheduler.submit(sequence)
        return sequence

    def add_of_another_version(self, seed: int, *, tokens: int, owner: str) -> Sequence:
        sampling = Sampling(tokens, 1.0, seed, cache_salt=owner)
        version = Version(f"version {seed}", self._base)
        sequence = Sequence(version, prompt_ids(9, seed), 9, sampling, background=True)
        self._scheduler.submit(sequence)
        return sequence

    def advance(self) -> None:
        with torch.inference_mode():
            self._scheduler.advance()


def test_a_chat_beside_many_rollouts_waits_for_one_step_at_most(base: BaseModel) -> None:
    engine = Engine(base)
    rollouts = [engine.add(40, n, tokens=40, background=True) for n in range(100)]
    for _ in range(12):
        engine.advance()
    for seed in range(200, 210):
        chat = engine.add(9, seed, tokens=1, background=False)
        engine.advance()
        steps = 1
        while chat.finish_reason is None:
            engine.advance()
            steps += 1
        # Mostly its own step; each CHAT_STEPS chats, one small step of rollouts goes before it.
        assert steps <= 2
    chat = engine.add(9, 300, tokens=20, background=False)
    before = sum(rollout.sampled for rollout in rollouts)
    steps = 0
    while chat.finish_reason is None:
        engine.advance()
        steps += 1
    assert steps <= 20 + 20 // CHAT_STEPS + 1
    sampled = sum(rollout.sampled for rollout in rollouts) - before
    assert 0 < sampled <= (20 // CHAT_STEPS + 1) * (SMALL.rows or 0)


def test_a_tenants_one_version_has_as_many_steps_as_the_ten_of_another(base: BaseModel) -> None:
    engine = Engine(base)
    crowd = [engine.add_of_another_version(n, tokens=50, owner="crowd") for n in range(10)]
    for _ in range(20):
        engine.advance()
    rollout = engine.add_of_another_version(99, tokens=10, owner="neighbour")
    steps = 0
    while rollout.finish_reason is None:
        engine.advance()
        steps += 1
    assert steps <= 2 * 10
    assert {sequence.sampled for sequence in crowd} == {2, 3}


def test_rollouts_have_the_same_bits_beside_chats(base: BaseModel) -> None:
    engine = Engine(base)
    rollouts = [engine.add(30 + n, n, tokens=10, background=True) for n in range(40)]
    kind = 0
    while any(rollout.finish_reason is None for rollout in rollouts):
        if kind % 3 == 0:
            engine.add(9, 500 + kind, tokens=3, background=False)
        engine.advance()
        kind += 1
    for n, rollout in enumerate(rollouts):
        assert same_alone(base, rollout, prompt_ids(30 + n, n))
