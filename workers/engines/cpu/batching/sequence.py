"""Only the scheduler thread writes a `Sequence`; its lists only grow: others may read a prefix."""

from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from torch import Tensor

from workers.engines.cpu.models.versions import Version

FinishReason = Literal["stop", "length", "cancelled", "error"]


@dataclass(frozen=True, slots=True)
class Sampling:
    max_tokens: int
    temperature: float
    """Below 1e-5 sampling is greedy for every `top_p`, with log-probs at temperature 1."""
    seed: int
    top_p: float = 1.0
    stop_token_ids: frozenset[int] = frozenset()
    top_logprobs: int = 0
    prompt_logprobs: bool = False
    cache_salt: str = ""
    """Namespace of the prefix cache: keys and values are shared among equal salts only."""


@dataclass(slots=True, eq=False)
class Sequence:
    version: Version
    tokens: list[int]
    prompt_length: int
    sampling: Sampling
    streamed: bool = False
    background: bool = False
    """True for work without a waiting client, such as a rollout of a job."""
    logprobs: list[float] = field(default_factory=list)
    top_logprobs: list[dict[int, float]] = field(default_factory=list)
    prompt_logprobs: list[float | None] | None = None
    block_keys: list[int] = field(default_factory=list)
    computed_tokens: int = 0
    reused: int = 0
    """Number of tokens that were copied from another sequence's prefix before its first pass."""
    cancelled: bool = False
    finish_reason: FinishReason | None = None

    @property
    def owner(self) -> str:
        return self.sampling.cache_salt

    @property
    def longest(self) -> int:
        return self.prompt_length + self.sampling.max_tokens

    @property
    def sampled(self) -> int:
        return len(self.tokens) - self.prompt_length


@dataclass(frozen=True, slots=True)
class SequenceUpdate:
    sequence: Sequence
    count: int
    finish_reason: FinishReason | None


class FairQueue:
    def __init__(self) -> None:
        self._by_owner: dict[str, deque[tuple[int, Sequence]]] = {}
        self._arrived = 0

    def __len__(self) -> int:
        return sum(len(waiting) for waiting in list(self._by_owner.values()))

    def __iter__(self) -> Iterator[Sequence]:
        for waiting in self._by_owner.values():
            for _, sequence in waiting:
                yield sequence

    @property
    def owners(self) -> set[str]:
        return set(self._by_owner)

    def add(self, sequence: Sequence) -> None:
        self._arrived += 1
        waiting = self._by_owner.setdefault(sequence.owner, deque())
        waiting.append((self._arrived, sequence))

    def first(self, rows: Counter[str]) -> Sequence:
        owner = min(self._by_owner, key=lambda o: (rows[o], self._by_owner[o][0][0]))
        return self._by_owner[owner][0][1]

    def take(self, sequence: Sequence) -> tuple[int, Sequence]:
        waiting = self._by_owner[sequence.owner]
        taken = waiting.popleft()
        if not waiting:
            del self._by_owner[sequence.owner]
        return taken

    def give_back(self, taken: list[tuple[int, Sequence]]) -> None:
        for arrived, sequence in reversed(taken):
            self._by_owner.setdefault(sequence.owner, deque()).appendleft((arrived, sequence))

    def keep(self, kept: Iterable[Sequence]) -> None:
        remaining = set(kept)
        for owner, waiting in list(self._by_owner.items()):
            left = deque(entry for entry in waiting if entry[1] in remaining)
            if left:
                self._by_owner[owner] = left
            else:
                del self._by_owner[owner]


Owner = tuple[int, str]
BLOCK: Final = 16


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
