import torch
from hypothesis import given
from hypothesis import strategies as st

from workers.engines.cpu.batching.sequence import (
    BLOCK,
    CachedPrefix,
    PrefixStore,
    block_keys,
    shared_length,
)


def _kept(version: int, tokens: list[int]) -> CachedPrefix:
    return CachedPrefix((version, ""), tokens, torch.zeros(2, 1, 1, len(tokens), 1))


def _find(store: PrefixStore, version: int, tokens: list[int]) -> CachedPrefix | None:
    return store.find((version, ""), tokens, block_keys(version, tokens))


def test_the_longest_shared_start_is_found() -> None:
    store = PrefixStore(1 << 20)
    short, long = _kept(0, list(range(20))), _kept(0, list(range(60)))
    store.add(long)
    store.add(short)
    assert _find(store, 0, [*range(50), 7]) is long
    assert _find(store, 0, [*range(18), 99, 99]) in (short, long)
    assert _find(store, 0, [9, *range(50)]) is None
    assert _find(store, 0, list(range(BLOCK - 1))) is None


def test_versions_never_share() -> None:
    store = PrefixStore(1 << 20)
    store.add(_kept(1, list(range(40))))
    assert _find(store, 2, list(range(40))) is None
    store.drop_version(1)
    assert _find(store, 1, list(range(40))) is None
    assert (store._bytes, store._by_block) == (0, {})


def test_the_least_recently_used_go_first() -> None:
    prefix_bytes = _kept(0, [1] * 32).bytes
    store = PrefixStore(2 * prefix_bytes)
    first, second = _kept(0, [1] * 32), _kept(0, [2] * 32)
    store.add(first)
    store.add(second)
    assert _find(store, 0, [1] * 32) is first  # used: now the second is the older one
    store.add(_kept(0, [3] * 32))
    assert _find(store, 0, [2] * 32) is None
    assert _find(store, 0, [1] * 32) is first


def test_what_is_larger_than_the_limit_is_not_kept() -> None:
    store = PrefixStore(10)
    store.add(_kept(0, list(range(40))))
    assert store._bytes == 0


@given(st.lists(st.integers(0, 2), max_size=40), st.lists(st.integers(0, 2), max_size=40))
def test_shared_length_is_that_of_the_common_start(left: list[int], right: list[int]) -> None:
    expected = 0
    while expected < min(len(left), len(right)) and left[expected] == right[expected]:
        expected += 1
    assert shared_length(left, right) == expected
