"""A version batch that a test drives step by step."""

import random

import torch

from tests.support.models.tiny_model import VOCAB_SIZE
from workers.engines.cpu.batching.sequence import PrefixStore, Sampling, Sequence, SequenceUpdate
from workers.engines.cpu.batching.version_batch import BatchShape, VersionBatch
from workers.engines.cpu.models.attention import KV_POOL_BYTES, KvPool
from workers.engines.cpu.models.versions import BaseModel, Version


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

    def advance(self, times: int = 1) -> list[SequenceUpdate]:
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


def prompt_ids(length: int, seed: int = 0) -> list[int]:
    rng = random.Random(seed)
    return [rng.randrange(VOCAB_SIZE) for _ in range(length)]
