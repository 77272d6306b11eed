"""The KV pool of a version batch: what waits for it, and what a lack of memory ends."""

import pytest
import torch
from typing_extensions import override

from tests.support.engines.version_batches import World, prompt_ids
from workers.engines.cpu.models.attention import KvPool
from workers.engines.cpu.models.versions import BaseModel


def test_what_does_not_fit_the_kv_pool_waits_its_turn(base: BaseModel) -> None:
    limit = 3 * 128 * base.kv_shape.bytes_per_token()
    world = World(base, kv_pool_bytes=limit)
    prompts = [prompt_ids(60, seed) for seed in range(7)]
    crowd = [world.add(prompt, tokens=60) for prompt in prompts]
    most = 0
    while not world.batch.idle:
        world.advance()
        most = max(most, len(world.rows))
        assert world.batch._kv_pool.bytes <= limit
    assert most == 3
    for prompt, sequence in zip(prompts, crowd, strict=True):
        alone = World(base)
        same = alone.add(prompt, tokens=60)
        alone.run()
        assert (sequence.tokens, sequence.logprobs) == (same.tokens, same.logprobs)


def test_one_sequence_runs_whatever_it_takes_and_by_itself(base: BaseModel) -> None:
    per_token = base.kv_shape.bytes_per_token()
    world = World(base, kv_pool_bytes=4 * 64 * per_token)
    short = [world.add(prompt_ids(20, seed), tokens=20) for seed in (1, 2, 3)]
    long = world.add(prompt_ids(400, 4), tokens=40)
    late = world.add(prompt_ids(20, 5), tokens=20)
    world.advance()
    assert world.rows == short
    while not long.sampled:
        world.advance()
    assert world.rows == [long]
    assert world.batch._kv_pool.bytes == 448 * per_token
    world.run()
    assert (long.finish_reason, late.finish_reason) == ("length", "length")


def test_a_long_row_allocates_no_unneeded_rows(base: BaseModel) -> None:
    kv_pool = KvPool(base.kv_shape)
    kv_pool.reserve(rows=1, length=100)
    assert kv_pool.rows == 8
    kv_pool.reserve(rows=1, length=60_000)
    assert kv_pool.rows == 1
    kv_pool.reserve(rows=2, length=60_000)
    assert kv_pool.rows == 2


class FailingKvPool(KvPool):
    """Raises an allocation failure at one of its calls."""

    def __init__(self, base: BaseModel, *, reserve: int = -1, read: int = -1) -> None:
        super().__init__(base.kv_shape)
        self._left = {"reserve": reserve, "read": read}

    @override
    def reserve(self, *, rows: int, length: int) -> None:
        self._fail("reserve")
        super().reserve(rows=rows, length=length)

    @override
    def read(self, row: int, length: int) -> torch.Tensor:
        self._fail("read")
        return super().read(row, length)

    def _fail(self, name: str) -> None:
        self._left[name] -= 1
        if self._left[name] == 0:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")


@pytest.mark.parametrize("reserve", range(1, 12))
def test_every_sequence_ends_once_though_there_is_no_memory_to_join(
    base: BaseModel, reserve: int
) -> None:
    _ends_once(World(base, kv_pool=FailingKvPool(base, reserve=reserve)))


@pytest.mark.parametrize("read", range(1, 5))
def test_every_sequence_ends_once_though_there_is_no_memory_to_keep_its_prefix(
    base: BaseModel, read: int
) -> None:
    _ends_once(World(base, kv_pool=FailingKvPool(base, read=read)))


def _ends_once(world: World) -> None:
    """Runs a group that waits for its first member, and long prompts, one computed in part."""
    crowd = [world.add(prompt_ids(30, seed), tokens=3) for seed in range(3)]
    crowd += [world.add(prompt_ids(40, 9), tokens=3, seed=seed) for seed in range(4)]
    crowd += [world.add(prompt_ids(300, seed), tokens=3) for seed in (7, 8)]
    crowd[1].cancelled = True
    ended = []
    with pytest.raises(RuntimeError, match="memory"):
        for _ in range(20):
            ended += world.advance()
    ended += world.batch.abandon()
    finals = [update.sequence for update in ended if update.finish_reason is not None]
    assert sorted(map(id, finals)) == sorted(map(id, crowd))
    assert all(update.finish_reason == update.sequence.finish_reason for update in ended)
    assert "error" in {update.finish_reason for update in ended}
    assert world.batch.idle
    again = world.add(prompt_ids(30, 1), tokens=2)
    world.run()
    assert again.finish_reason == "length"
