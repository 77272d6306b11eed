"""Delivers what the application has committed, as the worker of an installation does."""

from app.database import Database as Store
from app.kit.egress import EgressPolicy
from app.kit.egress_client import EgressClient
from app.kit.sealing import build_secret_box
from tests.support.endpoints import EndpointServer
from tests.support.stack import Database
from workers.webhooks.delivery import Deliverer, DeliveryPorts


async def deliver(database: Database, receiver: EndpointServer) -> None:
    """Sends every delivery that is due to the receiver."""
    store = Store(database.worker_url, pool_size=2)
    policy = EgressPolicy(allow_endpoints=frozenset({receiver.host_port}), allow_plain_http=True)
    egress = EgressClient(policy)
    ports = DeliveryPorts(store, egress, build_secret_box(database.settings))
    await Deliverer(ports).run(idle_s=0)
    await egress.aclose()
    await store.dispose()
