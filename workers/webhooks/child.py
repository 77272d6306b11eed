"""Delivers webhooks: `python -m workers.webhooks.child`. Ends when none was due for a while."""

import sys
from contextlib import aclosing

from app.kit.egress_client import build_egress
from app.kit.sealing import build_secret_box
from app.settings import Settings
from workers.processes.child import run_as_child, run_until_terminated
from workers.processes.clients import POOL_SIZE, open_database
from workers.webhooks.delivery import Deliverer, DeliveryPorts

IDLE_S = 60.0
"""Idle time before the process ends. A start takes about a second; steady load avoids it."""


async def _run(settings: Settings) -> int:
    async with (
        open_database(settings, pool_size=POOL_SIZE) as database,
        aclosing(build_egress(settings.egress)) as egress,
    ):
        secret_box = build_secret_box(settings)
        deliverer = Deliverer(DeliveryPorts(database, egress, secret_box))
        return await run_until_terminated(deliverer.run(idle_s=IDLE_S), what="deliveries")


if __name__ == "__main__":
    sys.exit(run_as_child(_run))
