"""Exports of models: real adapters in a service's storage, and the worker that merges them."""

import asyncio
from typing import Any

import httpx
import torch

from app.kit.leases import Lease
from app.kit.objects import build_objects
from app.models.engine import Completion
from app.models.export_claims import export_claims
from app.settings import RetentionSettings, Settings, shipped_model_dir
from tests.support.contract.service import Service
from tests.support.engines.in_memory import InMemoryInference
from tests.support.patience import PATIENCE_S
from tests.support.twins import InMemoryJobQueue
from workers.exports.child import work
from workers.learning.adapters import adapter_parameters, attach_lora, load_base, save_adapter
from workers.leased_kinds import EXPORTS
from workers.maintenance.expiry import expire
from workers.processes.clients import open_clients, open_database
from workers.processes.dispatcher import sweep


def models(
    service: Service, method: str, path: str, *, key: str | None = None, **options: Any
) -> httpx.Response:
    """Sends a request below `/v1/models`."""
    headers = {"Authorization": f"Bearer {key or service.api.key}", **options.pop("headers", {})}
    url = f"{service.api.base_url}/models/{path}"
    return httpx.request(method, url, headers=headers, timeout=PATIENCE_S, **options)


def add_real_adapter(service: Service, job_id: str, name: str) -> str:
    """Adds a tuned model of the shipped base with an adapter that changes it. Returns its object
    key.
    """
    engine_name = f"model-real-{job_id[-8:]}"
    key = f"adapters/{engine_name}"
    base = load_base(str(shipped_model_dir()), device=torch.device("cpu"), dtype=torch.float32)
    model = attach_lora(base, rank=4, alpha=8, base_name="tiny", seed=1)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in adapter_parameters(model).values():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.05)
    save_adapter(model, service.database.settings.objects_dir / key)
    service.add_tuned_model(job_id, name, engine_name, object_key=key)
    return key


def make_exports(settings: Settings, *, attempts: int = 5) -> list[Lease]:
    """Claims and makes every export that waits, as the control worker does."""

    async def make() -> list[Lease]:
        leases: list[Lease] = []
        while (lease := await claimed(settings, max_attempts=attempts)) is not None:
            async with open_clients(settings, project_id=lease.project_id) as clients:
                await work(clients, lease)
            leases.append(lease)
        return leases

    return asyncio.run(make())


async def claimed(settings: Settings, **options: Any) -> Lease | None:
    limits = {"max_attempts": 5, "most_held": 1, **options}
    async with open_database(settings, pool_size=1) as database, export_claims(database) as unit:
        return await unit.leases.claim_next("here", 30, **limits)


def expire_all(service: Service) -> None:
    """Runs one round of the removal of expired rows and bytes."""

    async def round_of() -> None:
        settings = service.database.settings
        async with open_database(settings, pool_size=1) as database:
            inference = InMemoryInference(lambda *_: Completion((1,), (-0.5,), "stop", ()))
            await expire(database, build_objects(settings), inference)

    asyncio.run(round_of())


def sweep_exports(service: Service, retention: RetentionSettings, *, max_attempts: int) -> None:
    """Sweeps the exports once, as the control worker does."""

    async def once() -> None:
        settings = service.database.settings
        async with open_database(settings, pool_size=1) as database:
            await sweep(
                EXPORTS,
                database,
                InMemoryJobQueue(),
                max_attempts=max_attempts,
                retention=retention,
            )

    asyncio.run(once())
