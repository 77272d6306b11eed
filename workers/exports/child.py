"""The process that works on one claim of an export: `python -m workers.exports.child EXPORT PROJECT
FENCE`.
"""

import sys
from datetime import timedelta

import structlog

from app.kit.errors import NoFreeSpace, RunFailed
from app.kit.leases import Lease
from app.kit.telemetry import SPANS
from app.models.export_claims import leased_export
from workers.exports.export_work import ExportWork
from workers.leased_kinds import EXPORTS
from workers.processes.child import run_dispatched
from workers.processes.clients import Clients
from workers.processes.retry import retry_while_unavailable

log = structlog.get_logger()


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
