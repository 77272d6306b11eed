"""Opens the clients that a worker process uses, and closes them at its end."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

from app.gateways.egress.client import build_egress
from app.gateways.egress.egress import Egress
from app.gateways.endpoints.signing import cache_salt
from app.gateways.inference.adapters import AdapterCache, build_adapter_cache
from app.gateways.inference.http import HttpInference
from app.gateways.inference.inference import Inference
from app.gateways.inference.judges import build_judge_egress
from app.gateways.objects import Objects, build_objects
from app.settings.settings import Settings
from app.store.database import Database
from workers.progress import PROGRESS

POOL_SIZE = 4


@dataclass(frozen=True, slots=True)
class Clients:
    """The settings of a process and its clients, for work of one project."""

    settings: Settings
    database: Database
    objects: Objects
    egress: Egress
    judge_egress: Egress
    """Egress to the operator's own judge models."""
    inference: Inference
    """Client of the engine, with a prompt cache that only prompts of the same project share."""

    @property
    def adapters(self) -> AdapterCache:
        """Returns the cache of adapters of tuned models for the engine."""
        return build_adapter_cache(self.settings, self.objects)


@asynccontextmanager
async def open_database(settings: Settings, *, pool_size: int) -> AsyncIterator[Database]:
    """Opens the database in the worker's role. A transaction of a stopped process ends no later
    than the lease under which it may have begun.
    """
    database = Database(
        settings.worker_database_url,
        pool_size=pool_size,
        idle_in_transaction_s=settings.lease.lease_s,
    )
    try:
        yield database
    finally:
        await database.dispose()


def open_inference(settings: Settings) -> HttpInference:
    key = settings.engine_api_key.get_secret_value()
    return HttpInference(
        settings.engine_url,
        api_key=key,
        on_progress=lambda: PROGRESS.mark("engine at work"),
        background=True,
    )


@asynccontextmanager
async def open_clients(settings: Settings, *, project_id: str) -> AsyncIterator[Clients]:
    namespace = cache_salt(settings.secret_key.get_secret_value(), project_id)
    async with (
        open_database(settings, pool_size=POOL_SIZE) as database,
        aclosing(open_inference(settings)) as inference,
        aclosing(
            build_judge_egress(settings.judges, settings.egress, embeddings=settings.embeddings)
        ) as judge_egress,
        aclosing(build_egress(settings.egress)) as egress,
    ):
        yield Clients(
            settings=settings,
            database=database,
            objects=build_objects(settings),
            egress=egress,
            judge_egress=judge_egress,
            inference=inference.with_cache_namespace(namespace),
        )
