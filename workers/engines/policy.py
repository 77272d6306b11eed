"""A policy whose versions are adapters served by an engine, which may restart at any time."""

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

from app.kit.errors import InvalidRequest
from app.models.engine import AdapterMissing, Completion, EngineUnavailable, Inference
from workers.rollout.environment import (
    BusyClock,
    Policy,
    SampledTurn,
    SamplingParams,
    VersionedPolicy,
)

log = structlog.get_logger()

ResultT = TypeVar("ResultT")
_MIN_WAIT_S: Final = 0.1
_MAX_WAIT_S: Final = 2.0
_PATIENCE_S: Final = 900.0
"""Longer than vLLM may be silent while it starts: a restart must not use up a job's attempts."""


@dataclass(frozen=True, slots=True)
class _FixedPolicy(Policy):
    served: "ServedVersion"
    sample_version: Callable[["ServedVersion", list[int], SamplingParams], Awaitable[SampledTurn]]

    @override
    async def sample(self, prompt_token_ids: list[int], params: SamplingParams) -> SampledTurn:
        return await self.sample_version(self.served, prompt_token_ids, params)


@dataclass(frozen=True, slots=True)
class ServedVersion:
    version: int
    name: str
    path: Path | None


class EnginePolicy(VersionedPolicy):
    def __init__(
        self, inference: Inference, *, base_model: str, patience_s: float = _PATIENCE_S
    ) -> None:
        """`patience_s`: seconds that a call waits for an absent engine."""
        self._inference = inference
        self._deadline_s = patience_s
        self._current = ServedVersion(0, base_model, None)
        self._base = self._current
        self._served: dict[int, ServedVersion] = {0: self._current}
        self._active_requests: Counter[int] = Counter()
        self._loading = asyncio.Lock()
        self.busy = BusyClock()
        """Measures the time during which the engine processes sampling requests."""

    @property
    def version(self) -> int:
        return self._current.version

    @property
    def adapter(self) -> Path | None:
        return self._current.path

    @property
    def base(self) -> Policy:
        """A policy that samples from the base model, even when version 0 is a tuned model."""
        return _FixedPolicy(self._base, self._sample)

    @override
    async def sample(self, prompt_token_ids: list[int], params: SamplingParams) -> SampledTurn:
        """Raises `EngineUnavailable` after the deadline, `InvalidRequest` for a refused prompt."""
        return await self._sample(self._current, prompt_token_ids, params)

    @override
    async def sample_at(
        self, version: int, prompt_token_ids: list[int], params: SamplingParams
    ) -> SampledTurn:
        return await self._sample(self._served[version], prompt_token_ids, params)

    async def _sample(
        self, served: ServedVersion, prompt_token_ids: list[int], params: SamplingParams
    ) -> SampledTurn:
        self._active_requests[served.version] += 1
        try:
            with self.busy:
                completion = await self._complete(served, prompt_token_ids, params)
        finally:
            self._active_requests[served.version] -= 1
        return SampledTurn(
            token_ids=completion.token_ids,
            logprobs=completion.logprobs,
            finish_reason=completion.finish_reason,
            policy_version=served.version,
        )

    def at(self, version: int) -> Policy:
        return _FixedPolicy(self._served[version], self._sample)

    def serves(self, version: int) -> bool:
        return version in self._served

    async def probe(self, token_ids: list[int], *, base: bool = False) -> list[float]:
        """The T-1 log-probs of all tokens but the first, at temperature 1."""
        served = self._base if base else self._current
        params = SamplingParams(max_tokens=1, temperature=0, seed=0, stop_token_ids=())
        completion = await self._complete(served, token_ids, params, prompt_logprobs=True)
        return [value for value in completion.prompt_logprobs or () if value is not None]

    async def publish(self, version: int, adapter_dir: Path, name: str) -> None:
        """Loads an adapter and samples from it. Neither `name` nor the directory may be reused."""
        served = ServedVersion(version, name, adapter_dir)
        await self._retry_while_away(lambda: self._load(served))
        self._served[version] = served
        self._current = served

    async def retire(self, version: int) -> bool:
        """Unloads a version; `False` if it is the current one or a request uses it."""
        served = self._served.get(version)
        if served is None or served.path is None:
            return True
        if served is self._current or self._active_requests[version]:
            return False
        del self._served[version]
        try:
            await self._inference.unload_adapter(served.name)
        except (AdapterMissing, EngineUnavailable) as error:
            log.info("adapter was already unloaded", name=served.name, error=str(error))
        return True

    def use_base(self) -> None:
        """Makes the base model current, e.g. for a baseline; published versions stay loaded."""
        self._current = self._base

    def use(self, version: int) -> None:
        self._current = self._served[version]

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

        return await self._retry_while_away(call_or_reload)

    async def _load(self, served: ServedVersion) -> None:
        """Loads an adapter unless the engine serves it, e.g. after a lost reply or another call."""
        if served.path is None:
            raise AdapterMissing(f"The engine does not serve the base model '{served.name}'.")
        async with self._loading:
            if served.name in await self._inference.model_names():
                return
            try:
                await self._inference.load_adapter(served.name, served.path)
            except InvalidRequest as error:
                # The text is about this process's files, not a caller's prompt, so it is logged.
                log.warning("engine refused an adapter", name=served.name, error=error.message)
                raise

    async def _retry_while_away(self, call: Callable[[], Awaitable[ResultT]]) -> ResultT:
        """Repeats a call each time `/health` succeeds, until a deadline from the first failure."""
        deadline: float | None = None
        wait_s = _MIN_WAIT_S
        while True:
            try:
                return await call()
            except EngineUnavailable as error:
                deadline = deadline or time.monotonic() + self._deadline_s
                if time.monotonic() + wait_s > deadline:
                    raise
                log.info("waiting for the engine", error=error.message, wait_s=wait_s)
            while True:
                await asyncio.sleep(wait_s * random.uniform(0.5, 1.0))
                wait_s = min(wait_s * 2, _MAX_WAIT_S)
                if time.monotonic() > deadline or await self._inference.healthy():
                    break
