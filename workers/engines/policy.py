"""A policy whose versions are adapters served by an engine.

Owns which engine name is the newest version, where each version's files are, and what to do when
the engine is away or has forgotten them. Promises that a sample is under one version from its first
token to its last, and that an engine restart costs time, not samples. Must not know tensors.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import structlog
from typing_extensions import override

from app.domain.errors import InvalidRequest
from app.gateways.inference.inference import AdapterMissing, Completion, EngineAway, Inference
from workers.rollout.busy_clock import BusyClock
from workers.rollout.policy import SampledTurn, SamplingParams, VersionedPolicy

log = structlog.get_logger()

ResultT = TypeVar("ResultT")
_FIRST_WAIT_S: Final = 0.1
_LONGEST_WAIT_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class ServedVersion:
    version: int
    name: str
    path: Path | None
    """`None` for the base model, version 0."""


class EnginePolicy(VersionedPolicy):
    def __init__(
        self, inference: Inference, *, base_model: str, away_deadline_s: float = 300.0
    ) -> None:
        """`away_deadline_s`: how long an engine may be away from one call before `EngineAway`."""
        self._inference = inference
        self._deadline_s = away_deadline_s
        self._newest = ServedVersion(0, base_model, None)
        self._base = self._newest
        self._served: dict[int, ServedVersion] = {0: self._newest}
        self._users: Counter[int] = Counter()
        self._loading = asyncio.Lock()
        self.busy = BusyClock()
        """Runs while a request for samples is at the engine."""

    @property
    def version(self) -> int:
        """The version that samples now."""
        return self._newest.version

    @property
    def adapter(self) -> Path | None:
        """Directory of the version that samples now; `None` of the base model."""
        return self._newest.path

    @override
    async def sample(self, prompt_token_ids: list[int], params: SamplingParams) -> SampledTurn:
        """Continue a prompt under the newest version.

        Raises `EngineAway` past the deadline and `InvalidRequest` for a prompt no engine takes.
        """
        return await self.sample_at(self._newest.version, prompt_token_ids, params)

    @override
    async def sample_at(
        self, version: int, prompt_token_ids: list[int], params: SamplingParams
    ) -> SampledTurn:
        served = self._served[version]
        self._users[version] += 1
        try:
            with self.busy:
                completion = await self._complete(served, prompt_token_ids, params)
        finally:
            self._users[version] -= 1
        return SampledTurn(
            token_ids=completion.token_ids,
            logprobs=completion.logprobs,
            finish_reason=completion.finish_reason,
            policy_version=served.version,
        )

    async def probe(self, token_ids: list[int], *, base: bool = False) -> list[float]:
        """Log-probs, at temperature 1 under the newest version or the base model, of each token but
        the first: length T-1 for T tokens.
        """
        served = self._base if base else self._newest
        params = SamplingParams(max_tokens=1, temperature=0, seed=0, stop_token_ids=())
        completion = await self._complete(served, token_ids, params, prompt_logprobs=True)
        return [value for value in completion.prompt_logprobs or () if value is not None]

    async def publish(self, version: int, adapter_dir: Path, name: str) -> None:
        """Serve an adapter and sample from it. `name` and directory must never have been used."""
        served = ServedVersion(version, name, adapter_dir)
        await self._patiently(lambda: self._load(served))
        self._served[version] = served
        self._newest = served

    async def retire(self, version: int) -> bool:
        """Unload a version; `False` while it is the newest one or a request is under it. Unknown
        ones and what the engine has forgotten are no errors.
        """
        served = self._served.get(version)
        if served is None or served.path is None:
            return True
        if served is self._newest or self._users[version]:
            return False
        del self._served[version]
        try:
            await self._inference.unload_adapter(served.name)
        except (AdapterMissing, EngineAway) as error:
            log.info("adapter was gone already", name=served.name, error=str(error))
        return True

    def use_base(self) -> None:
        """Sample from the base model again, e.g. for a baseline; published versions stay."""
        self._newest = self._base

    def use(self, version: int) -> None:
        """Sample from a version that was published and not retired. Raises `KeyError`."""
        self._newest = self._served[version]

    async def _complete(
        self,
        served: ServedVersion,
        prompt_token_ids: list[int],
        params: SamplingParams,
        *,
        prompt_logprobs: bool = False,
    ) -> Completion:
        async def call() -> Completion:
            return await self._inference.complete(
                served.name,
                prompt_token_ids,
                max_tokens=params.max_tokens,
                temperature=params.temperature,
                seed=params.seed,
                stop_token_ids=params.stop_token_ids,
                prompt_logprobs=prompt_logprobs,
            )

        async def call_or_reload() -> Completion:
            try:
                return await call()
            except AdapterMissing:
                if served.path is None:
                    raise
                await self._load(served)
                return await call()

        return await self._patiently(call_or_reload)

    async def _load(self, served: ServedVersion) -> None:
        """Load unless it is served already: an answer may have been lost, or another call won."""
        if served.path is None:
            raise AdapterMissing(f"The engine does not serve the base model '{served.name}'.")
        async with self._loading:
            if served.name in await self._inference.model_names():
                return
            try:
                await self._inference.load_adapter(served.name, served.path)
            except InvalidRequest as error:
                # This process made the request: the text is about its files, not a caller's prompt.
                log.warning("engine refused an adapter", name=served.name, error=error.message)
                raise

    async def _patiently(self, call: Callable[[], Awaitable[ResultT]]) -> ResultT:
        """Repeat a call that finds no engine, once one answers `/health`, up to the deadline.

        The clock starts when the engine was first missed: the time a call takes is not absence.
        """
        deadline: float | None = None
        wait_s = _FIRST_WAIT_S
        while True:
            try:
                return await call()
            except EngineAway as error:
                deadline = deadline or time.monotonic() + self._deadline_s
                if time.monotonic() + wait_s > deadline:
                    raise
                log.info("waiting for the engine", error=error.message, wait_s=wait_s)
            while True:
                await asyncio.sleep(wait_s * random.uniform(0.5, 1.0))
                wait_s = min(wait_s * 2, _LONGEST_WAIT_S)
                if time.monotonic() > deadline or await self._inference.healthy():
                    break
