import random

import pytest
import torch
from typing_extensions import override

from app.domain.models.models import BaseModelSpec
from tests.support.tiny_model import CONTEXT_LENGTH, VOCAB_SIZE, save_tiny_model
from workers.engines.cpu.engine import load_served
from workers.engines.cpu.kv_pool import KV_POOL_BYTES, KvPool
from workers.engines.cpu.prefixes import PrefixStore
from workers.engines.cpu.sequence import Sampling, Sequence, Update
from workers.engines.cpu.version_batch import (
    IDLE_KV_POOL_BYTES,
    PREFILL_TOKENS,
    BatchShape,
    VersionBatch,
)
from workers.engines.cpu.versions import BaseModel, Version


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> BaseModel:
    path = save_tiny_model(tmp_path_factory.mktemp("model"))
    spec = BaseModelSpec(name="tiny", path=str(path), context_length=CONTEXT_LENGTH)
    return load_served(spec, torch.float32)[0]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


class World:
    def __init__(
        self,
        base: BaseModel,
        *,
        max_rows: int = 40,
        prefix_bytes: int = 64 << 20,
        kv_pool_bytes: int = KV_POOL_BYTES,
        kv_pool: KvPool | None = None,
    ) -> None:
        self.prefixes = PrefixStore(prefix_bytes)
        shape = BatchShape(max_rows, kv_pool_bytes=kv_pool_bytes)
        self.batch = VersionBatch(Version("tiny", base), self.prefixes, shape, kv_pool=kv_pool)

    def add(self, prompt: list[int], *, tokens: int = 8, seed: int = 0, salt: str = "") -> Sequence:
        sampling = Sampling(tokens, 1.0, seed, cache_salt=salt)
        sequence = Sequence(self.batch.version, list(prompt), len(prompt), sampling)
        self.batch.add(sequence)
        return sequence

    def advance(self, times: int = 1) -> list[Update]:
        with torch.inference_mode():
            return [
                u for _ in range(times) for u in self.batch.advance(self.batch.version.base.weights)
            ]

    def run(self) -> None:
        while not self.batch.idle:
            self.advance()

    @property
    def rows(self) -> list[Sequence]:
        return self.batch._rows.sequences


def _prompt(length: int, seed: int = 0) -> list[int]:
    rng = random.Random(seed)
    return [rng.randrange(VOCAB_SIZE) for _ in range(length)]


def test_sequences_join_and_leave_a_running_batch(base: BaseModel) -> None:
    world = World(base)
    first = world.add(_prompt(5, 1), tokens=6)
    world.advance(2)
    second = world.add(_prompt(9, 2), tokens=2)
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
    long = [world.add(_prompt(20, seed), tokens=400) for seed in (1, 2)]
    waiting = world.add(_prompt(20, 3), tokens=1)
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
    world.add(_prompt(4, 1), tokens=100)
    waiting = world.add(_prompt(4, 2))
    world.advance()
    waiting.cancelled = True
    (update,) = world.advance()
    assert (update.sequence, update.finish_reason) == (waiting, "cancelled")


def test_memory_of_a_large_batch_is_freed_when_all_are_cancelled(base: BaseModel) -> None:
    world = World(base, max_rows=100)
    crowd = [world.add(_prompt(300, seed), tokens=100) for seed in range(70)]
    while len(world.rows) < len(crowd):
        world.advance()
    assert world.batch._kv_pool.bytes > IDLE_KV_POOL_BYTES
    for sequence in crowd:
        sequence.cancelled = True
    world.advance()
    assert world.batch.idle
    assert world.batch._kv_pool.bytes == 0
    again = world.add(_prompt(300, 1), tokens=2)
    world.run()
    assert again.finish_reason == "length"


def test_what_does_not_fit_the_kv_pool_waits_its_turn(base: BaseModel) -> None:
    limit = 3 * 128 * base.kv_shape.bytes_per_token()
    world = World(base, kv_pool_bytes=limit)
    prompts = [_prompt(60, seed) for seed in range(7)]
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
    short = [world.add(_prompt(20, seed), tokens=20) for seed in (1, 2, 3)]
    long = world.add(_prompt(400, 4), tokens=40)
    late = world.add(_prompt(20, 5), tokens=20)
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
    crowd = [world.add(_prompt(30, seed), tokens=3) for seed in range(3)]
    crowd += [world.add(_prompt(40, 9), tokens=3, seed=seed) for seed in range(4)]
    crowd += [world.add(_prompt(300, seed), tokens=3) for seed in (7, 8)]
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
    again = world.add(_prompt(30, 1), tokens=2)
    world.run()
    assert again.finish_reason == "length"


def test_kept_prefixes_stay_within_their_limit(base: BaseModel) -> None:
    limit = 40 * base.kv_shape.bytes_per_token()
    world = World(base, prefix_bytes=limit)
    for seed in range(6):
        world.add(_prompt(20, seed), tokens=4)
        world.run()
        assert 0 < world.prefixes.bytes <= limit


def test_a_later_turn_replaces_the_prefix_it_continues(base: BaseModel) -> None:
    world = World(base)
    first = world.add(_prompt(20), tokens=20)
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
    prompts = [_prompt(400, seed) for seed in (1, 2, 3)]
    running = world.add(_prompt(4, 9), tokens=30)
    world.advance()
    late = [world.add(prompt, tokens=20) for prompt in prompts]
    computed = []
    while any(sequence.sampled == 0 for sequence in late):
        before = running.sampled
        world.advance()
        computed.append([sequence.computed for sequence in late])
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
    short = [world.add(_prompt(10 + seed, seed), tokens=2) for seed in range(3)]
    world.advance()
    long = [world.add(_prompt(450, seed), tokens=12) for seed in (11, 12)]
    world.advance()  # the short ones end here; half of the second long prompt is computed
    assert [sequence.finish_reason for sequence in short] == ["length"] * 3
    assert world.rows == long
    assert 0 < long[1].computed < 450
    world.run()
    for seed, sequence in zip((11, 12), long, strict=True):
        alone = World(base)
        same = alone.add(_prompt(450, seed), tokens=12)
        alone.run()
        assert sequence.logprobs == same.logprobs


def test_a_prompt_cancelled_in_part_leaves(base: BaseModel) -> None:
    world = World(base)
    first, second = (world.add(_prompt(450, seed), tokens=3) for seed in (1, 2))
    world.advance()
    assert 0 < second.computed < 450
    second.cancelled = True
    world.run()
    assert (first.finish_reason, second.finish_reason) == ("length", "cancelled")


def test_prompt_log_probs_of_parts_are_those_of_the_whole(base: BaseModel) -> None:
    prompt = _prompt(500, 4)
    world = World(base)
    world.add(_prompt(100, 5), tokens=2)
    sequence = Sequence(
        world.batch.version, list(prompt), 500, Sampling(1, 0.0, 0, prompt_logprobs=True)
    )
    world.batch.add(sequence)
    world.advance()
    assert 0 < sequence.computed < 500
    world.run()
    alone = Sequence(
        world.batch.version, list(prompt), 500, Sampling(1, 0.0, 0, prompt_logprobs=True)
    )
    world.batch.add(alone)
    world.run()
    assert len(sequence.prompt_logprobs or []) == 500
    assert sequence.prompt_logprobs == alone.prompt_logprobs


def test_a_group_shares_what_its_first_member_computes_beyond_a_kept_start(
    base: BaseModel,
) -> None:
    world = World(base)
    start = _prompt(32, 1)
    world.add(start, tokens=1)
    world.run()
    group = [world.add([*start, *_prompt(60, 2)], seed=seed) for seed in range(4)]
    world.run()
    assert [member.reused for member in group] == [32, 91, 91, 91]


@pytest.mark.parametrize("together", [True, False])
def test_prompts_are_reused_under_the_same_salt_only(base: BaseModel, *, together: bool) -> None:
    """Otherwise the time to the first token would reveal one tenant's prompts to another."""
    world = World(base)
    prompt = _prompt(50)
    sequences = []
    for salt in ("a", "b", "", "a"):
        sequences.append(world.add(prompt, salt=salt))
        if not together:
            world.run()
    world.run()
    assert [sequence.reused for sequence in sequences] == [0, 0, 0, 49]
    assert len({tuple(sequence.logprobs) for sequence in sequences}) == 1
