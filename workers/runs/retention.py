"""What of a run stays on disk: the newest two steps, and the adapters of kept checkpoints.

Called after a commit, never before: nothing that a resume or a model could point to is removed.
A claim touches only what it or an earlier claim wrote; what is written by a newer one is not its
business.
"""

import asyncio
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext

log = structlog.get_logger()

KEPT_STEPS: Final = 2
NOTES: Final = ("start", "reference", "validation")
"""Directories beside the steps', of what a run works out once: needed until it ends."""
_STEP_DIRECTORY: Final = re.compile(r"step-(\d+)-f(\d+)")


@dataclass(frozen=True, slots=True)
class RetainedObjects:
    """What is pointed to: object keys of adapters, and the last committed step with its state."""

    adapters: frozenset[str]
    step: int
    state: str | None


class Retention:
    def __init__(self, context: RunContext, *, kept_steps: int = KEPT_STEPS) -> None:
        """`kept_steps`: as many as the engine may still be asked for, should it start anew."""
        self._context = context
        self._kept_steps = kept_steps

    async def look_up(self, *, published: str | None = None) -> RetainedObjects:
        """`published` is the adapter that stays once nothing is resumed any more, in place of the
        last step's. Raises `LeaseLost`, so that a claim that was overtaken removes nothing.
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
        """After a committed step: remove what neither a resume nor a checkpoint needs."""
        kept = await self.look_up()
        await asyncio.to_thread(self._remove, kept, kept.step - self._kept_steps + 1)

    async def clear(self, kept: RetainedObjects) -> None:
        """After the end, with what was looked up before it: only adapters stay."""
        await asyncio.to_thread(self._remove, kept, sys.maxsize)
        for name in NOTES:
            path = self._context.objects.local_path(f"{self._context.job_key}/{name}")
            await asyncio.to_thread(shutil.rmtree, path, ignore_errors=True)

    def _remove(self, kept: RetainedObjects, whole_from: int) -> None:
        """Steps from `whole_from` on stay whole, unless an earlier claim left them uncommitted."""
        objects = self._context.objects
        adapters = {objects.local_path(key) for key in kept.adapters}
        state = None if kept.state is None else objects.local_path(kept.state)
        root = objects.local_path(self._context.job_key)
        for directory in sorted(root.iterdir()) if root.is_dir() else []:
            match = _STEP_DIRECTORY.fullmatch(directory.name)
            if match is None or int(match[2]) > self._context.fence:
                continue
            step, mine = int(match[1]), int(match[2]) == self._context.fence
            if step == kept.step:
                wanted = state is not None and state.parent == directory
            else:
                wanted = mine or step < kept.step
            if step < whole_from or not wanted:
                _strip(directory, adapters)


def clear_job(root: Path, adapters: set[Path]) -> None:
    """What is left of a job whose last claim is dead: only these adapters stay."""
    for directory in sorted(root.iterdir()) if root.is_dir() else []:
        if _STEP_DIRECTORY.fullmatch(directory.name):
            _strip(directory, adapters)
        elif directory.name in NOTES:
            shutil.rmtree(directory, onerror=_note)


def _strip(directory: Path, adapters: set[Path]) -> None:
    """Remove a step's directory but for an adapter that stays."""
    if directory / "adapter" not in adapters:
        shutil.rmtree(directory, onerror=_note)
        return
    for entry in directory.iterdir():
        if entry not in adapters:
            shutil.rmtree(entry, onerror=_note)


def _note(_function: object, path: str, error: object) -> None:
    """A leftover costs space, not the run."""
    log.warning("leftover not removed", name=Path(path).name, error=repr(error))
