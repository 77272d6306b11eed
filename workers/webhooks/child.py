"""The process that delivers webhooks: `python -m workers.webhooks.child`.

It ends when no delivery was due for a while. A delivery that it had claimed can be claimed again
when its lease ends.
"""

import asyncio
import signal
import sys
from contextlib import aclosing

import structlog

from app.gateways.egress.client import build_egress
from app.gateways.secrets import build_secret_box
from app.settings.settings import Settings
from workers.processes.child import EXIT_FAULT, run_as_child
from workers.processes.clients import POOL_SIZE, open_database
from workers.webhooks.delivery import Deliverer, DeliveryPorts

log = structlog.get_logger()

IDLE_S = 60.0
"""Idle time before the process ends. A start takes about a second; steady load avoids it."""


async def _run(settings: Settings) -> int:
    async with (
        open_database(settings, pool_size=POOL_SIZE) as database,
        aclosing(build_egress(settings.egress)) as egress,
    ):
        secret_box = build_secret_box(settings)
        deliverer = Deliverer(DeliveryPorts(database, egress, secret_box))
        running = asyncio.ensure_future(deliverer.run(idle_s=IDLE_S))
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
        try:
            await running
        except (Exception, asyncio.CancelledError):  # a process boundary: beat starts another one
            log.exception("deliveries interrupted")
            return EXIT_FAULT
    return 0


if __name__ == "__main__":
    sys.exit(run_as_child(_run))
