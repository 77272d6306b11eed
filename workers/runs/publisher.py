"""Saves, loads, probes, unloads adapters. No name is used twice: prefix caches are keyed by it."""

import asyncio
import hashlib
import re
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from math import inf, isnan, sqrt
from pathlib import Path
from statistics import fmean, median
from typing import Final

import structlog

from app.database import RunUnitOfWork
from app.kit.directories import directory_digest
from app.kit.errors import AgentRftError, InvalidRequest, RunFailed
from app.kit.objects import Objects, remove
from app.models.engine import Inference
from app.rollouts import metrics as names
from workers.compute import run_on_compute_thread
from workers.engines.policy import EnginePolicy
from workers.learning.trainer import Trainer
from workers.rollout.environment import Policy
from workers.runs.context import ADAPTER, SCHEDULER, STATE, RunContext
from workers.runs.step_outcome import PublishedAdapter, TrainedStep, save_scheduler_state


def adapter_prefix(project_id: str, job_id: str) -> str:
    job = f"{project_id}/{job_id}"
    return f"adapter-{hashlib.sha256(job.encode()).hexdigest()[:24]}-f"


async def unload_all(inference: Inference, prefixes: Sequence[str]) -> AgentRftError | None:
    """Unloads the adapters with one of these prefixes; returns the error that prevented it."""
    try:
        for name in await inference.model_names():
            if name.startswith(tuple(prefixes)):
                await inference.unload_adapter(name)
    except AgentRftError as error:
        return error
    return None


NOISE_FACTOR: Final = 4.0
"""Factor by which the change may differ more than the base model does."""
LARGEST_NOISE: Final = 0.25
"""Largest median difference under the base model; an engine that differs more serves another one.
"""
LARGEST_MISS: Final = 0.5
"""Distance from 1 that may be rounding; without the adapter the share is about 0."""
SURE: Final = 5.0
"""In standard errors: chance causes one miss in a million probes."""


@dataclass(frozen=True, slots=True)
class ProbeSides:
    trainer: Sequence[float]
    engine: Sequence[float]

    @property
    def differences(self) -> list[float]:
        return [abs(a - b) for a, b in zip(self.trainer, self.engine, strict=True)]

    @property
    def mean(self) -> float:
        return fmean(self.differences)


@dataclass(frozen=True, slots=True)
class ServedShare:
    """Share of the trainer's change that the engine makes, by least squares over the tokens."""

    share: float
    error: float
    """Standard error of the share; infinite if the trainer changes nothing."""

    @property
    def misses(self) -> bool:
        return abs(self.share - 1) > max(LARGEST_MISS, SURE * self.error)


def served_share(adapted: ProbeSides, of_base: ProbeSides) -> ServedShare:
    expected, found = _changes(adapted, of_base)
    size = sum(a * a for a in expected)
    if size == 0 or len(expected) < 2:  # noqa: PLR2004 - an error needs two values
        return ServedShare(1.0, inf)
    share = sum(a * b for a, b in zip(expected, found, strict=True)) / size
    rest = sum((b - share * a) ** 2 for a, b in zip(expected, found, strict=True))
    return ServedShare(share, sqrt(rest / (len(expected) - 1) / size))


def serves_the_adapter(adapted: ProbeSides, of_base: ProbeSides) -> bool:
    """As the trainer does. False if any value is not a number."""
    expected, found = _changes(adapted, of_base)
    missing = fmean(abs(a - b) for a, b in zip(expected, found, strict=True))
    is_the_base = median(of_base.differences) <= LARGEST_NOISE
    is_near = missing <= NOISE_FACTOR * of_base.mean
    return is_the_base and is_near and not served_share(adapted, of_base).misses


def _changes(adapted: ProbeSides, of_base: ProbeSides) -> tuple[list[float], list[float]]:
    """The change of each token's log-prob by the adapter, in the trainer and in the engine."""
    pairs = ((adapted.trainer, of_base.trainer), (adapted.engine, of_base.engine))
    of_trainer, of_engine = (
        [a - b for a, b in zip(side, base, strict=True)] for side, base in pairs
    )
    return of_trainer, of_engine


log = structlog.get_logger()

PROBE_TOLERANCE = 1e-4
"""Mean |Δ log-prob| that engine and trainer may differ by in any precision; two in fp32 differ by
1e-6. One step of training moves log-probs by 1e-1 (measured with the shipped model)."""
PROBE_TOKENS = 256
KEPT_VERSIONS = 2
CLOSE_TIMEOUT_S = 5.0


class Publisher:
    def __init__(
        self, context: RunContext, trainer: Trainer, policy: EnginePolicy, *, max_staleness: int = 0
    ) -> None:
        self._context = context
        self._trainer = trainer
        self._policy = policy
        self._kept_versions = KEPT_VERSIONS + max_staleness
        self._retention = Retention(context, kept_steps=self._kept_versions)
        self._published: list[int] = []
        self._prefix = adapter_prefix(context.job.project_id, context.job.id)

    async def publish(self, trained: TrainedStep) -> PublishedAdapter:
        """Makes it the newest version. Raises `RunFailed` if the engine does not serve it."""
        started = time.perf_counter()
        saved = await self.save(trained)
        await self.serve(trained.step, self._context.step(trained.step).path(ADAPTER))
        values = await self._probe(trained)
        values[names.TIME_PUBLISH] = time.perf_counter() - started
        return replace(saved, engine_name=self.engine_name(trained.step), values=values)

    async def save(self, trained: TrainedStep) -> PublishedAdapter:
        """For a step that the engine need not serve; the adapter stays in the scratch directory."""
        directories = self._context.step(trained.step)
        await run_on_compute_thread(self._save, trained)
        parts = [ADAPTER, STATE] + ([SCHEDULER] if trained.scheduler_state is not None else [])
        await directories.store(*parts)
        await directories.forget(STATE, SCHEDULER)
        return PublishedAdapter(directories.key(ADAPTER), directories.key(STATE))

    async def policy_of(self, step: int, adapter: Callable[[], Awaitable[Path]]) -> Policy:
        """A retired step is loaded from the directory that `adapter` returns, under a new name."""
        if not self._policy.serves(step):
            await self.serve(step, await adapter(), name=f"{self.engine_name(step)}-again")
        return self._policy.at(step)

    def adapter_digest(self) -> str:
        path = self._policy.adapter
        return "" if path is None else directory_digest(path)

    async def retire(self) -> None:
        """After a commit. A version with a running request is removed after a later one."""
        for version in self._published[: -self._kept_versions]:
            if await self._policy.retire(version):
                self._published.remove(version)
        await self._retention.prune()

    async def close(self) -> None:
        """Also after a fault, so it takes little time and raises no errors of its own."""
        self._policy.use_base()
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                while self._published:
                    await self._policy.retire(self._published.pop())
        except (AgentRftError, TimeoutError) as error:
            log.warning("adapters left in the engine", error=repr(error))

    async def forget_earlier_claims(self) -> None:
        try:
            for name in await self._context.inference.model_names():
                fence, _, _ = name.removeprefix(self._prefix).partition("-s")
                if name.startswith(self._prefix) and int(fence) < self._context.fence:
                    await self._context.inference.unload_adapter(name)
        except AgentRftError as error:
            log.warning("earlier adapters left in the engine", error=repr(error))

    def engine_name(self, step: int) -> str:
        return f"{self._prefix}{self._context.fence}-s{step}"

    async def serve(self, step: int, path: Path, *, name: str | None = None) -> None:
        """An existing adapter: the last committed one after a resume, or the start model's."""
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


KEPT_STEPS: Final = 2
NOTES: Final = ("start", "reference", "validation")
_STEP_DIRECTORY: Final = re.compile(r"step-(\d+)-f(\d+)")


@dataclass(frozen=True, slots=True)
class RetainedObjects:
    """The objects that rows point to: adapters, and the state of the last committed step."""

    adapters: frozenset[str]
    step: int
    state: str | None


class Retention:
    def __init__(self, context: RunContext, *, kept_steps: int = KEPT_STEPS) -> None:
        """`kept_steps`: the number of steps that a restarted engine may have to load."""
        self._context = context
        self._kept_steps = kept_steps
        self._stripped: set[str] = set()

    async def look_up(self, *, published: str | None = None) -> RetainedObjects:
        """`published`: an ended job's adapter. Raises `LeaseLost`, so removes nothing then."""

        async def read(unit: RunUnitOfWork) -> RetainedObjects:
            last = await unit.jobs.resume_point()
            checkpoints = await unit.checkpoints.object_keys(self._context.job.id)
            own = published or last.adapter_key
            return RetainedObjects(
                checkpoints | {own} if own else checkpoints, last.step, last.state_key
            )

        return await self._context.in_unit(read)

    async def prune(self) -> None:
        """Removes, after a committed step, objects that neither a resume nor a checkpoint needs."""
        kept = await self.look_up()
        await self._remove(kept, kept.step - self._kept_steps + 1)

    async def clear(self, kept: RetainedObjects) -> None:
        """Removes, after the end, all objects but the adapters that were looked up before it."""
        await self._remove(kept, sys.maxsize)
        for name in NOTES:
            await self._context.objects.delete(f"{self._context.job_key}/{name}")

    async def _remove(self, kept: RetainedObjects, whole_from: int) -> None:
        """Steps from `whole_from` on stay whole, except uncommitted ones of an earlier claim."""
        await asyncio.to_thread(self._remove_scratch, whole_from)
        objects = self._context.objects
        for child in await objects.children(self._context.job_key):
            match = _STEP_DIRECTORY.fullmatch(child.name)
            if match is None or int(match[2]) > self._context.fence:
                continue
            step, mine = int(match[1]), int(match[2]) == self._context.fence
            if step == kept.step:
                wanted = kept.state is not None and kept.state.startswith(f"{child.key}/")
            else:
                wanted = mine or step < kept.step
            if (step < whole_from or not wanted) and not self._is_stripped(child.key, kept):
                await _strip(objects, child.key, kept.adapters)
                self._stripped.add(child.key)

    def _is_stripped(self, directory: str, kept: RetainedObjects) -> bool:
        """Then no call to the storage is needed."""
        return directory in self._stripped and f"{directory}/{ADAPTER}" in kept.adapters

    def _remove_scratch(self, whole_from: int) -> None:
        for path in self._context.scratch.glob("step-*"):
            if int(path.name.removeprefix("step-")) < whole_from:
                remove(path)


async def clear_job(objects: Objects, job_key: str, adapters: AbstractSet[str]) -> None:
    """Removes all objects but these adapters of a job whose last claim has ended."""
    for child in await objects.children(job_key):
        if _STEP_DIRECTORY.fullmatch(child.name):
            await _strip(objects, child.key, adapters)
        elif child.name in NOTES:
            await objects.delete(child.key)


async def _strip(objects: Objects, directory: str, adapters: AbstractSet[str]) -> None:
    if f"{directory}/{ADAPTER}" not in adapters:
        await objects.delete(directory)
        return
    for child in await objects.children(directory):
        if child.key not in adapters:
            await objects.delete(child.key)
