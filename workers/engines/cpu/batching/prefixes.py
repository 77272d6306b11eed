"""The prefix cache: keys and values of ended sequences, for prompts with a common prefix.

Owns copies of finished rows per owner (a model version and a request's cache salt), indexed by
blocks of tokens; beyond a byte limit the least recently used are dropped. Promises that a hit is an
exact match of tokens under the same owner, never under other weights or another tenant.
Serves the next turn of a rollout; samples of a group that start together share their prompt in the
version batch instead.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from torch import Tensor

Owner = tuple[int, str]
"""A version's number and a cache salt."""
BLOCK: Final = 16
"""Tokens per block, the unit of look-ups."""


@dataclass(slots=True, eq=False)
class CachedPrefix:
    owner: Owner
    tokens: list[int]
    kv_PLHTD: Tensor

    @property
    def bytes(self) -> int:
        return self.kv_PLHTD.numel() * self.kv_PLHTD.element_size()

    def block_keys(self) -> list[int]:
        version_number, salt = self.owner
        return block_keys(version_number, self.tokens, salt)


def block_keys(version_number: int, tokens: list[int], salt: str = "") -> list[int]:
    """Returns one chained hash per complete block. Equal keys do not prove equal tokens."""
    keys, key = [], hash(("version", version_number, salt))
    for end in range(BLOCK, len(tokens) + 1, BLOCK):
        key = hash((key, *tokens[end - BLOCK : end]))
        keys.append(key)
    return keys


class PrefixStore:
    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._bytes = 0
        self._by_block: dict[int, CachedPrefix] = {}
        self._used: OrderedDict[int, CachedPrefix] = OrderedDict()

    def add(self, prefix: CachedPrefix) -> None:
        """Adds a prefix and drops a cached one that it extends."""
        if len(prefix.tokens) < BLOCK or prefix.bytes > self._limit:
            return
        keys = prefix.block_keys()
        older = self.find(prefix.owner, prefix.tokens, keys)
        if older is not None and older.tokens == prefix.tokens[: len(older.tokens)]:
            self._drop(older)
        self._used[id(prefix)] = prefix
        self._bytes += prefix.bytes
        for key in keys:
            self._by_block[key] = prefix
        while self._bytes > self._limit:
            self._drop(next(iter(self._used.values())))

    @property
    def bytes(self) -> int:
        return self._bytes

    def find(self, owner: Owner, tokens: list[int], keys: list[int]) -> CachedPrefix | None:
        """Returns the cached prefix with the longest common start, if any. `keys`: of `tokens`."""
        for key in reversed(keys):
            cached = self._by_block.get(key)
            if (
                cached is not None
                and cached.owner == owner
                and shared_length(cached.tokens, tokens) >= BLOCK
            ):
                self._used.move_to_end(id(cached))
                return cached
        return None

    def drop_version(self, version_number: int) -> None:
        for cached in [k for k in self._used.values() if k.owner[0] == version_number]:
            self._drop(cached)

    def _drop(self, cached: CachedPrefix) -> None:
        del self._used[id(cached)]
        self._bytes -= cached.bytes
        for key in cached.block_keys():
            if self._by_block.get(key) is cached:
                del self._by_block[key]


def shared_length(left: list[int], right: list[int]) -> int:
    """Returns the length of the common prefix of two token lists."""
    shortest = min(len(left), len(right))
    if left[:shortest] == right[:shortest]:
        return shortest
    low, high = 0, shortest
    while low < high:
        middle = (low + high + 1) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
