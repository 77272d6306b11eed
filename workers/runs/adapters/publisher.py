"""Publishes adapters: saves each, loads it into the engine, probes it, and unloads earlier ones.

A name is never used twice: an engine's prefix cache is keyed by it. A claim unloads its versions at
its end; after a crash the next claim does.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from math import isnan
from pathlib import Path

import structlog

from app.disk.committed import directory_digest
from app.domain.errors import AgentRftError, InvalidRequest, RunFailed
from app.domain.rollouts import metrics as names
from workers.compute.compute_thread import run_on_compute_thread
from workers.engines.policy import EnginePolicy
from workers.learning.trainer import Trainer
from workers.rollout.policy import Policy
from workers.runs.adapters.adapter_names import adapter_prefix
from workers.runs.adapters.parity_probe import ProbeSides, served_share, serves_the_adapter
from workers.runs.adapters.retention import Retention
from workers.runs.context import ADAPTER, SCHEDULER, STATE, RunContext
from workers.runs.steps.scheduler_state import save_scheduler_state
from workers.runs.steps.step_outcome import PublishedAdapter, TrainedStep

log = structlog.get_logger()

PROBE_TOLERANCE = 1e-4
"""Mean |Δ log-prob| that engine and trainer may differ by in any precision; two in fp32 differ by
1e-6. One step of training moves log-probs by 1e-1 (measured with the shipped model)."""
PROBE_TOKENS = 256
KEPT_VERSIONS = 2
"""Versions kept in the engine, in addition to those that a mode may still sample from: the newest
and the one before.
"""
CLOSE_TIMEOUT_S = 5.0


class Publisher:
    def __init__(
        self,
        context: RunContext,
        trainer: Trainer,
        policy: EnginePolicy,
        *,
        max_staleness: int = 0,
    ) -> None:
        self._context = context
        self._trainer = trainer
        self._policy = policy
        self._kept_versions = KEPT_VERSIONS + max_staleness
        self._retention = Retention(context, kept_steps=self._kept_versions)
        self._published: list[int] = []
        self._prefix = adapter_prefix(context.job.project_id, context.job.id)

    async def publish(self, trained: TrainedStep) -> PublishedAdapter:
        """Saves the step's adapter and state, and makes the adapter the policy's newest version.
        Raises `RunFailed` when the engine does not serve it.
        """
        started = time.perf_counter()
        saved = await self.save(trained)
        await self._serve(trained.step, self._context.step(trained.step).path(ADAPTER))
        values = await self._probe(trained)
        values[names.TIME_PUBLISH] = time.perf_counter() - started
        return replace(saved, engine_name=self.engine_name(trained.step), values=values)

    async def save(self, trained: TrainedStep) -> PublishedAdapter:
        """Saves a step that the engine need not serve. The adapter stays in the scratch directory
        as well, for the engine.
        """
        directories = self._context.step(trained.step)
        await run_on_compute_thread(self._save, trained)
        parts = [ADAPTER, STATE] + ([SCHEDULER] if trained.scheduler_state is not None else [])
        await directories.store(*parts)
        await directories.forget(STATE, SCHEDULER)
        return PublishedAdapter(directories.key(ADAPTER), directories.key(STATE))

    async def serve(self, step: int, path: Path) -> None:
        """Serves an existing adapter under a name of this claim: the last committed one after a
        resume, or the start model's.
        """
        await self._serve(step, path)

    async def policy_of(self, step: int, adapter: Callable[[], Awaitable[Path]]) -> Policy:
        """Returns a policy that samples from a committed step. A retired step is loaded from the
        directory that `adapter` returns, under a new name.
        """
        if not self._policy.serves(step):
            await self._serve(step, await adapter(), name=f"{self.engine_name(step)}-again")
        return self._policy.at(step)

    def adapter_digest(self) -> str:
        """Returns the digest of the current adapter; empty for the base model."""
        path = self._policy.adapter
        return "" if path is None else directory_digest(path)

    async def retire(self) -> None:
        """Unloads and removes, after a commit, adapters and states that neither sampling nor a
        resume needs. A version with a running request is removed after a later commit.
        """
        for version in self._published[: -self._kept_versions]:
            if await self._policy.retire(version):
                self._published.remove(version)
        await self._retention.prune()

    async def close(self) -> None:
        """Unloads this claim's versions; tuned models are loaded again when called.

        Runs after a fault too, so it takes little time and raises no errors of its own.
        """
        self._policy.use_base()
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                while self._published:
                    await self._policy.retire(self._published.pop())
        except (AgentRftError, TimeoutError) as error:
            log.warning("adapters left in the engine", error=repr(error))

    async def forget_earlier_claims(self) -> None:
        """Unloads versions that killed claims left in the engine."""
        try:
            for name in await self._context.inference.model_names():
                fence, _, _ = name.removeprefix(self._prefix).partition("-s")
                if name.startswith(self._prefix) and int(fence) < self._context.fence:
                    await self._context.inference.unload_adapter(name)
        except AgentRftError as error:
            log.warning("earlier adapters left in the engine", error=repr(error))

    def engine_name(self, step: int) -> str:
        """Returns a name that is unguessable, because the job's id is; new for every claim and
        step.
        """
        return f"{self._prefix}{self._context.fence}-s{step}"

    async def _serve(self, step: int, path: Path, *, name: str | None = None) -> None:
        try:
            await self._policy.publish(step, path, name or self.engine_name(step))
        except InvalidRequest as error:  # it would refuse the same files again
            raise RunFailed(
                f"The engine refused the adapter of step {step}.", code="adapter_refused"
            ) from error
        self._published.append(step)

    def _save(self, trained: TrainedStep) -> None:
        directories = self._context.step(trained.step)
        self._trainer.save_adapter(directories.path(ADAPTER))
        self._trainer.save_state(directories.path(STATE))
        if trained.scheduler_state is not None:
            save_scheduler_state(directories.path(SCHEDULER), trained.scheduler_state)

    async def _probe(self, trained: TrainedStep) -> dict[str, float]:
        """Compares the engine's log-probs with the trainer's. Raises `RunFailed` if they differ."""
        # The engine samples one token after the probe, for which the context must have space.
        length = min(PROBE_TOKENS, self._context.base_model.context_length - 1)
        tokens = list(trained.probe[:length])
        if len(tokens) < 2:  # noqa: PLR2004 - a log-prob needs a token before it
            return {}
        adapted = await self._sides(tokens, base=False)
        if adapted.mean > PROBE_TOLERANCE or isnan(adapted.mean):
            # Perhaps the two compute in different precisions: under the base they then differ too.
            of_base = await self._sides(tokens, base=True)
            if not serves_the_adapter(adapted, of_base):
                share = served_share(adapted, of_base).share
                raise RunFailed(
                    f"The engine does not serve the adapter that was trained at step "
                    f"{trained.step} (mean log-prob difference {adapted.mean:.3g}, "
                    f"{of_base.mean:.3g} under the base model; it makes {share:.0%} of what the "
                    "adapter changes).",
                    code="publish_mismatch",
                )
        return {names.PROBE_MAX_DIFF: max(adapted.differences)}

    async def _sides(self, probe: list[int], *, base: bool) -> ProbeSides:
        trainer, engine = await asyncio.gather(
            run_on_compute_thread(self._trainer.logprobs, probe, adapter=not base),
            self._policy.probe(probe, base=base),
        )
        return ProbeSides(trainer, engine)
