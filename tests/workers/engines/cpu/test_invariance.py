"""Batch invariance: the bits of a request do not depend on other requests."""

import random
from collections.abc import Iterator

import pytest
import torch

from tests.support.models.tiny_model import VOCAB_SIZE
from workers.engines.cpu.batching.sequence import PrefixStore, Sampling, Sequence
from workers.engines.cpu.batching.version_batch import BatchShape, VersionBatch
from workers.engines.cpu.models.versions import BaseModel, Version


@pytest.fixture(autouse=True)
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    wanted: int = getattr(request, "param", 1)
    before = torch.get_num_threads()
    torch.set_num_threads(wanted)
    yield wanted
    torch.set_num_threads(before)


def _batch(base: BaseModel, threads: int, *, prefix_bytes: int = 64 << 20) -> VersionBatch:
    shape = BatchShape(max_rows=40, threads=threads, invariant=True)
    return VersionBatch(Version("tiny", base), PrefixStore(prefix_bytes), shape)


def _run(
    batch: VersionBatch, *sequences: Sequence, arrivals: dict[int, Sequence] | None = None
) -> None:
    """Runs all sequences to their ends; `arrivals` join at an iteration."""
    late = dict(arrivals or {})
    for sequence in sequences:
        batch.add(sequence)
    iteration = 0
    with torch.inference_mode():
        while late or not batch.idle:
            if iteration in late:
                batch.add(late.pop(iteration))
            batch.advance(batch.version.base.weights)
            iteration += 1


def _sequence(batch: VersionBatch, prompt: list[int], seed: int, tokens: int = 40) -> Sequence:
    return Sequence(batch.version, list(prompt), len(prompt), Sampling(tokens, 1.0, seed))


def _prompt(rng: random.Random, length: int) -> list[int]:
    return [rng.randrange(VOCAB_SIZE) for _ in range(length)]


@pytest.mark.parametrize(
    ("length", "tokens", "threads"),
    [(1, 40, 1), (63, 40, 1), (190, 40, 1), (300, 40, 1), (40, 5, 2)],
    indirect=["threads"],
)
def test_alone_and_in_a_crowd_the_bits_are_the_same(
    base: BaseModel, threads: int, length: int, tokens: int
) -> None:
    rng = random.Random(length)
    prompt = _prompt(rng, length)
    batch = _batch(base, threads)
    alone = _sequence(batch, prompt, seed=7, tokens=tokens)
    _run(batch, alone)
    crowded = _batch(base, threads)
    watched = _sequence(crowded, prompt, seed=7, tokens=tokens)
    others = [
        _sequence(crowded, _prompt(rng, rng.randint(1, 350)), seed, tokens=rng.randint(1, tokens))
        for seed in range(tokens // 3)
    ]
    late = {
        1 + 4 * i: _sequence(crowded, _prompt(rng, rng.randint(1, 200)), i, tokens=tokens // 2)
        for i in range(tokens // 5)
    }
    half = len(others) // 2
    _run(crowded, *others[:half], watched, *others[half:], arrivals=late)
    assert watched.tokens == alone.tokens
    assert watched.logprobs == alone.logprobs


@pytest.mark.parametrize("kept", [5, 16, 17, 63, 64, 65, 130])
def test_a_prefix_that_was_sampled_equals_one_that_was_computed(
    base: BaseModel, threads: int, kept: int
) -> None:
    """The second turn reuses keys and values written by decoding, or computes them all."""
    batch = _batch(base, threads)
    first = _sequence(batch, _prompt(random.Random(kept), 30), seed=1, tokens=kept)
    _run(batch, first)
    longer = [*first.tokens, 5, 6, 7]
    reusing = _sequence(batch, longer, seed=2)
    _run(batch, reusing)
    assert reusing.reused == len(first.tokens) - 1
    forgetful = _batch(base, threads, prefix_bytes=0)
    computing = _sequence(forgetful, longer, seed=2)
    _run(forgetful, computing)
    assert computing.reused == 0
    assert (computing.tokens, computing.logprobs) == (reusing.tokens, reusing.logprobs)


def test_a_group_that_shares_its_prompt_equals_its_members_alone(
    base: BaseModel, threads: int
) -> None:
    prompt = _prompt(random.Random(0), 77)
    batch = _batch(base, threads)
    group = [_sequence(batch, prompt, seed) for seed in range(8)]
    _run(batch, *group)
    assert [member.reused for member in group] == [0] + [76] * 7
    for seed in (0, 3, 7):
        single = _batch(base, threads)
        alone = _sequence(single, prompt, seed)
        _run(single, alone)
        assert (alone.tokens, alone.logprobs) == (group[seed].tokens, group[seed].logprobs)


def test_prompt_log_probs_have_the_bits_of_sampled_ones(base: BaseModel, threads: int) -> None:
    batch = _batch(base, threads)
    sampled = _sequence(batch, _prompt(random.Random(1), 20), seed=1, tokens=60)
    _run(batch, sampled)
    scored = Sequence(
        batch.version,
        list(sampled.tokens),
        len(sampled.tokens),
        Sampling(1, 0.0, 0, prompt_logprobs=True),
    )
    _run(batch, scored)
    assert scored.prompt_logprobs is not None
    assert scored.prompt_logprobs[20:] == pytest.approx(sampled.logprobs, abs=1e-6)


def test_padding_is_in_whole_fours_per_thread() -> None:
    assert [BatchShape(threads=1).padded(n) for n in (1, 3, 4, 5, 8, 9, 33)] == [
        4,
        4,
        4,
        8,
        8,
        9,
        33,
    ]
    assert [BatchShape(threads=2).padded(n) for n in (1, 9, 15, 16, 17)] == [8, 16, 16, 16, 17]
    free = BatchShape(threads=2, invariant=False)
    assert [free.padded(n) for n in (1, 9)] == [1, 9]
