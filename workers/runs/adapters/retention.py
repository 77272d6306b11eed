"""Removes objects that a run no longer needs: the newest two steps and the adapters of kept
checkpoints stay.

Called after a commit, never before, so that no object of a resume or a model is removed. A claim
removes only objects that it or an earlier claim wrote.
"""

import asyncio
import re
import sys
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from app.gateways.objects import Objects
from app.gateways.objects.disk import remove
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import ADAPTER, RunContext

KEPT_STEPS: Final = 2
NOTES: Final = ("start", "reference", "validation")
"""Directories with results that a run computes once; needed until it ends."""
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
        """Returns the retained objects. `published`: the adapter of an ended job, instead of the
        last step's. Raises `LeaseLost`, so that an overtaken claim removes nothing.
        """

        async def read() -> RetainedObjects:
            async with self._context.unit() as unit:
                last = await unit.jobs.resume_point()
                checkpoints = await unit.checkpoints.object_keys(self._context.job.id)
            own = published or last.adapter_key
            return RetainedObjects(
                checkpoints | {own} if own else checkpoints, last.step, last.state_key
            )

        return await retry_while_unavailable(read)

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
        """Removes earlier steps. Steps from `whole_from` on stay whole, except uncommitted ones of
        an earlier claim.
        """
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
        """Returns whether only a retained adapter is left, so that no call to the storage is
        needed.
        """
        return directory in self._stripped and f"{directory}/{ADAPTER}" in kept.adapters

    def _remove_scratch(self, whole_from: int) -> None:
        """Removes local adapters of steps that the engine will not load any more."""
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
    """Removes a step's directory except a retained adapter."""
    if f"{directory}/{ADAPTER}" not in adapters:
        await objects.delete(directory)
        return
    for child in await objects.children(directory):
        if child.key not in adapters:
            await objects.delete(child.key)
