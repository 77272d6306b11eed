"""Keys and values kept after a sequence ended, for prompts that begin the same way.

Owns copies of finished rows per owner (a model version and a request's cache salt), found by blocks
of tokens, the least recently used dropped past a byte limit. Promises that a hit is an exact match
of tokens under the same owner: neither other weights' nor another tenant's.
Serves the next turn of a rollout; siblings of a group that start together share through the version
batch.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from torch import Tensor

Owner = tuple[int, str]
"""A version's number and a cache salt."""
BLOCK: Final = 16
"""Prefixes are looked up in steps of this many tokens."""


@dataclass(slots=True, eq=False)
class KeptPrefix:
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
    """One chained hash per whole block; equal keys only hint at equal tokens."""
    keys, key = [], hash(("version", version_number, salt))
    for end in range(BLOCK, len(tokens) + 1, BLOCK):
        key = hash((key, *tokens[end - BLOCK : end]))
        keys.append(key)
    return keys


class PrefixStore:
    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._bytes = 0
        self._by_block: dict[int, KeptPrefix] = {}
        self._used: OrderedDict[int, KeptPrefix] = OrderedDict()

    def keep(self, prefix: KeptPrefix) -> None:
        """Drops the prefixes that it continues: it includes them."""
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

    def find(self, owner: Owner, tokens: list[int], keys: list[int]) -> KeptPrefix | None:
        """The kept row sharing the longest start with `tokens`, whose block keys are `keys`."""
        for key in reversed(keys):
            kept = self._by_block.get(key)
            if (
                kept is not None
                and kept.owner == owner
                and shared_length(kept.tokens, tokens) >= BLOCK
            ):
                self._used.move_to_end(id(kept))
                return kept
        return None

    def forget(self, version_number: int) -> None:
        for kept in [k for k in self._used.values() if k.owner[0] == version_number]:
            self._drop(kept)

    def _drop(self, kept: KeptPrefix) -> None:
        del self._used[id(kept)]
        self._bytes -= kept.bytes
        for key in kept.block_keys():
            if self._by_block.get(key) is kept:
                del self._by_block[key]


def shared_length(left: list[int], right: list[int]) -> int:
    """Length of the common start of two token lists."""
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
