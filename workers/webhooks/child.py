"""The process that delivers webhooks: `python -m workers.webhooks.child`. It ends when nothing was
due for a while, or with its parent; what it had claimed returns when the leases run out.
"""

import asyncio
import signal
import sys

import structlog

from app.gateways.egress.client import build_egress
from app.gateways.secrets import SecretBox
from app.logs import log_to_stderr
from app.settings import Settings, load_settings
from app.store.database import Database
from workers.processes.parent_watch import end_with_parent
from workers.webhooks.delivery import Deliverer, DeliveryPorts

log = structlog.get_logger()

EXIT_FAULT = 1
EXIT_ORPHANED = 4
IDLE_S = 60.0
"""A start costs about a second; a busy service keeps the process."""
POOL_SIZE = 4


def main() -> int:
    end_with_parent(EXIT_ORPHANED)
    log_to_stderr()
    return asyncio.run(_run(load_settings()))


async def _run(settings: Settings) -> int:
    ports = DeliveryPorts(
        database=Database(settings.worker_database_url, pool_size=POOL_SIZE),
        egress=build_egress(settings.egress),
        secret_box=SecretBox(settings.secret_key.get_secret_value()),
    )
    working = asyncio.ensure_future(Deliverer(ports).run(idle_s=IDLE_S))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, working.cancel)
    try:
        await working
    except (Exception, asyncio.CancelledError):  # a process boundary: the clock starts another one
        log.exception("deliveries broken off")
        return EXIT_FAULT
    finally:
        await ports.egress.aclose()
        await ports.database.dispose()
    return 0


if __name__ == "__main__":
    sys.exit(main())
