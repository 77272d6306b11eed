import pytest
import torch

from tests.support.engines.version_batches import World, prompt_ids
from workers.engines.cpu.batching.sequence import Sampling, Sequence
from workers.engines.cpu.batching.version_batch import IDLE_KV_POOL_BYTES, PREFILL_TOKENS
from workers.engines.cpu.models.versions import BaseModel


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def test_sequences_join_and_leave_a_running_batch(base: BaseModel) -> None:
    world = World(base)
    first = world.add(prompt_ids(5, 1), tokens=6)
    world.advance(2)
    second = world.add(prompt_ids(9, 2), tokens=2)
    world.advance()
    assert world.rows == [first, second]
    assert (first.sampled, second.sampled) == (3, 1)
    (update,) = world.advance()
    assert (update.sequence, update.finish_reason) == (second, "length")
    assert world.rows == [first]
    world.run()
    assert (first.sampled, first.finish_reason) == (6, "length")


def test_a_cancelled_sequence_frees_its_row_for_the_next(base: BaseModel) -> None:
    world = World(base, max_rows=2)
    long = [world.add(prompt_ids(20, seed), tokens=400) for seed in (1, 2)]
    waiting = world.add(prompt_ids(20, 3), tokens=1)
    world.advance(3)
    assert world.rows == long
    assert waiting.sampled == 0
    long[0].cancelled = True
    updates = world.advance()
    assert [(u.sequence, u.finish_reason) for u in updates] == [
        (long[0], "cancelled"),
        (waiting, "length"),
    ]
    assert long[0].finish_reason == "cancelled"
    assert world.rows == [long[1]]


def test_a_sequence_cancelled_while_it_waits_ends_as_cancelled(base: BaseModel) -> None:
    world = World(base, max_rows=1)
    world.add(prompt_ids(4, 1), tokens=100)
    waiting = world.add(prompt_ids(4, 2))
    world.advance()
    waiting.cancelled = True
    (update,) = world.advance()
    assert (update.sequence, update.finish_reason) == (waiting, "cancelled")


def test_memory_of_a_large_batch_is_freed_when_all_are_cancelled(base: BaseModel) -> None:
    world = World(base, max_rows=100)
    crowd = [world.add(prompt_ids(300, seed), tokens=100) for seed in range(70)]
    while len(world.rows) < len(crowd):
        world.advance()
    assert world.batch._kv_pool.bytes > IDLE_KV_POOL_BYTES
    for sequence in crowd:
        sequence.cancelled = True
    world.advance()
    assert world.batch.idle
    assert world.batch._kv_pool.bytes == 0
    again = world.add(prompt_ids(300, 1), tokens=2)
    world.run()
    assert again.finish_reason == "length"


def test_kept_prefixes_stay_within_their_limit(base: BaseModel) -> None:
    limit = 40 * base.kv_shape.bytes_per_token()
    world = World(base, prefix_bytes=limit)
    for seed in range(6):
        world.add(prompt_ids(20, seed), tokens=4)
        world.run()
        assert 0 < world.prefixes.bytes <= limit


def test_a_later_turn_replaces_the_prefix_it_continues(base: BaseModel) -> None:
    world = World(base)
    first = world.add(prompt_ids(20), tokens=20)
    world.run()
    held = world.prefixes.bytes
    second = world.add([*first.tokens, 5, 6], tokens=10)
    world.run()
    assert second.reused == len(first.tokens) - 1
    per_token = base.kv_shape.bytes_per_token()
    assert held == 39 * per_token
    assert world.prefixes.bytes == (len(second.tokens) - 1) * per_token


def test_a_long_prompt_does_not_stop_the_running_rows(base: BaseModel) -> None:
    world = World(base, max_rows=8)
    prompts = [prompt_ids(400, seed) for seed in (1, 2, 3)]
    running = world.add(prompt_ids(4, 9), tokens=30)
    world.advance()
    late = [world.add(prompt, tokens=20) for prompt in prompts]
    computed = []
    while any(sequence.sampled == 0 for sequence in late):
        before = running.sampled
        world.advance()
        computed.append([sequence.computed_tokens for sequence in late])
        assert running.sampled == before + 1
    assert computed[0] == [400, PREFILL_TOKENS - 400, 0]
    assert computed[1][1] == 400
    world.run()
    for prompt, sequence in zip(prompts, late, strict=True):
        alone = World(base)
        same = alone.add(prompt, tokens=20)
        alone.run()
        assert (sequence.tokens, sequence.logprobs) == (same.tokens, same.logprobs)


def test_a_prompt_computed_in_part_keeps_its_row_when_others_leave(base: BaseModel) -> None:
    world = World(base)
    short = [world.add(prompt_ids(10 + seed, seed), tokens=2) for seed in range(3)]
    world.advance()
    long = [world.add(prompt_ids(450, seed), tokens=12) for seed in (11, 12)]
    world.advance()  # the short ones end here; half of the second long prompt is computed
    assert [sequence.finish_reason for sequence in short] == ["length"] * 3
    assert world.rows == long
    assert 0 < long[1].computed_tokens < 450
    world.run()
    for seed, sequence in zip((11, 12), long, strict=True):
        alone = World(base)
        same = alone.add(prompt_ids(450, seed), tokens=12)
        alone.run()
        assert sequence.logprobs == same.logprobs


def test_a_prompt_cancelled_in_part_leaves(base: BaseModel) -> None:
    world = World(base)
    first, second = (world.add(prompt_ids(450, seed), tokens=3) for seed in (1, 2))
    world.advance()
    assert 0 < second.computed_tokens < 450
    second.cancelled = True
    world.run()
    assert (first.finish_reason, second.finish_reason) == ("length", "cancelled")


def test_prompt_log_probs_of_parts_are_those_of_the_whole(base: BaseModel) -> None:
    prompt = prompt_ids(500, 4)
    world = World(base)
    world.add(prompt_ids(100, 5), tokens=2)
    sequence = Sequence(
        world.batch.version, list(prompt), 500, Sampling(1, 0.0, 0, prompt_logprobs=True)
    )
    world.batch.add(sequence)
    world.advance()
    assert 0 < sequence.computed_tokens < 500
    world.run()
    alone = Sequence(
        world.batch.version, list(prompt), 500, Sampling(1, 0.0, 0, prompt_logprobs=True)
    )
    world.batch.add(alone)
    world.run()
    assert len(sequence.prompt_logprobs or []) == 500
    assert sequence.prompt_logprobs == alone.prompt_logprobs


def test_a_group_shares_what_its_first_member_computes_beyond_a_kept_start(base: BaseModel) -> None:
    world = World(base)
    start = prompt_ids(32, 1)
    world.add(start, tokens=1)
    world.run()
    group = [world.add([*start, *prompt_ids(60, 2)], seed=seed) for seed in range(4)]
    world.run()
    assert [member.reused for member in group] == [32, 91, 91, 91]


@pytest.mark.parametrize("together", [True, False])
def test_prompts_are_reused_under_the_same_salt_only(base: BaseModel, *, together: bool) -> None:
    """Otherwise the time to the first token would reveal one tenant's prompts to another."""
    world = World(base)
    prompt = prompt_ids(50)
    sequences = []
    for salt in ("a", "b", "", "a"):
        sequences.append(world.add(prompt, salt=salt))
        if not together:
            world.run()
    world.run()
    assert [sequence.reused for sequence in sequences] == [0, 0, 0, 49]
    assert len({tuple(sequence.logprobs) for sequence in sequences}) == 1
