"""The child of one claim of an export: `python -m workers.exports.child EXPORT PROJECT FENCE`."""

import asyncio
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import structlog

from app.kit.directories import FreeSpace, ManifestMismatch, commit_directory
from app.kit.errors import NoFreeSpace, RunFailed
from app.kit.leases import Lease
from app.kit.objects import room_needed
from app.kit.telemetry import SPANS
from app.models.adapters import CARD, ExportStage, ModelExport, export_directory, merged_card
from app.models.export_claims import ExportUnitOfWork, leased_export
from app.models.models import BaseModelSpec, TunedModel, find_base_model
from workers.leased_kinds import EXPORTS
from workers.processes.child import run_dispatched
from workers.processes.clients import Clients
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import claim_scratch

log = structlog.get_logger()


class ExportWork:
    def __init__(self, clients: Clients, lease: Lease) -> None:
        self._clients = clients
        self._lease = lease

    async def run(self) -> None:
        export, tuned = await retry_while_unavailable(self._read)
        base = self._base(export)
        lease, settings = self._lease, self._clients.settings
        with claim_scratch(settings.work_dir, lease.id, lease.fence) as scratch:
            await self._fetch(tuned, scratch / "adapter")
            await self._reach("merging")
            merged = scratch / "merged"
            await on_daemon_thread(
                lambda: _merge(
                    base, tuned, adapter=scratch / "adapter", merged=merged, fits=self._fits
                )
            )
            await self._reach("storing")
            key = f"{export_directory(lease.project_id, lease.id)}/f{lease.fence}"
            await self._clients.objects.put_directory(key, merged)
            size = sum(path.stat().st_size for path in merged.iterdir())
        keep = timedelta(days=settings.retention.exports_days)

        async def complete() -> None:
            async with self._unit() as unit:
                await unit.export.complete(key, size=size, keep=keep)

        await retry_while_unavailable(complete)
        log.info("export completed", bytes=size)

    def _unit(self) -> ExportUnitOfWork:
        return leased_export(self._clients.database, self._lease)

    async def _read(self) -> tuple[ModelExport, TunedModel]:
        async with self._unit() as unit:
            export = await unit.export.get()
            tuned = await unit.models.get(export.model)
            await unit.export.reach("loading")
        if tuned is None:
            raise RunFailed(
                f"The model '{export.model}' was deleted before its export ended.",
                code="model_not_found",
            )
        return export, tuned

    def _base(self, export: ModelExport) -> BaseModelSpec:
        base = find_base_model(self._clients.settings.base_models, export.base_model)
        if base is None:
            raise RunFailed(
                f"The base model '{export.base_model}' is not offered any more. Download the "
                "adapter instead.",
                code="base_not_offered",
            )
        return base

    async def _fetch(self, tuned: TunedModel, directory: Path) -> None:
        try:
            await self._clients.objects.fetch_directory(tuned.object_key, directory)
        except (FileNotFoundError, ManifestMismatch) as error:
            raise RunFailed(
                f"The adapter of '{tuned.name}' is gone from the object storage or damaged there.",
                code="adapter_gone",
            ) from error

    async def _reach(self, stage: ExportStage) -> None:
        async def reach() -> None:
            async with self._unit() as unit:
                await unit.export.reach(stage)

        await retry_while_unavailable(reach)

    def _fits(self, size: int) -> None:
        if FreeSpace.of(self._clients.settings).lacks(more_bytes=2 * size):
            raise NoFreeSpace(
                f"The service has too little free disk space for 2 × {size / 1e9:.1f} GB of merged "
                "weights. Ask the operator, or download the adapter."
            )


def _merge(
    base: BaseModelSpec,
    tuned: TunedModel,
    *,
    adapter: Path,
    merged: Path,
    fits: Callable[[int], None],
) -> None:
    from workers.learning.adapters import BaseNotMergeable, merge_adapter  # noqa: PLC0415 - loads torch, on this thread

    try:
        with room_needed(), commit_directory(merged) as partial:
            merge_adapter(
                *(base.path, adapter, partial), chat_template=base.chat_template, fits=fits
            )
            card = merged_card(tuned.name, base.name, step=tuned.step)
            (partial / CARD).write_text(card, encoding="utf-8")
    except BaseNotMergeable as error:
        raise RunFailed(
            f"'{tuned.name}' cannot be merged: {error}. Download the adapter and load it beside "
            "the base model.",
            code="base_not_mergeable",
        ) from error


async def on_daemon_thread(work: Callable[[], None]) -> None:
    """The process does not wait for the thread, so a claim that lost its lease ends at once."""
    loop, done = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()

    def end(error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    def run() -> None:
        error: BaseException | None = None
        try:
            work()
        except BaseException as caught:  # noqa: BLE001 - the awaiting task gets it
            error = caught
        loop.call_soon_threadsafe(end, error)

    threading.Thread(target=run, name="merging", daemon=True).start()
    await done


async def work(clients: Clients, lease: Lease) -> None:
    """Makes the export under its lease. Raises `LeaseLost` once it was deleted or claimed again."""
    try:
        await ExportWork(clients, lease).run()
    except NoFreeSpace as error:
        await _fail(clients, lease, RunFailed(error.message, code=error.default_code))
    except RunFailed as failure:
        await _fail(clients, lease, failure)


async def _fail(clients: Clients, lease: Lease, failure: RunFailed) -> None:
    keep = timedelta(days=clients.settings.retention.exports_days)

    async def fail() -> None:
        async with leased_export(clients.database, lease) as unit:
            await unit.export.fail(failure.code, failure.message, keep=keep)

    await retry_while_unavailable(fail)
    SPANS.mark_failed(failure.code)
    log.warning("export failed", code=failure.code)


if __name__ == "__main__":
    sys.exit(run_dispatched(EXPORTS, work))
