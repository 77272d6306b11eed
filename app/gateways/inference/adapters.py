"""Has an engine load a tuned model that it lacks, and forget one. Must not know tenants."""

import asyncio
from typing import Final

import structlog

from app.domain.errors import AgentRftError, InvalidRequest
from app.gateways.inference.inference import AdapterMissing, Inference
from app.gateways.objects import Objects

log = structlog.get_logger()

_UNLOAD_TIMEOUT_S: Final = 5.0


async def load_missing(
    inference: Inference, objects: Objects, engine_name: str, *, object_key: str | None
) -> None:
    """`object_key` is where the adapter lies, `None` of a base model. Raises `Unavailable`."""
    if object_key is None:
        return
    try:
        await inference.load_adapter(engine_name, objects.local_path(object_key))
    except InvalidRequest:
        # Another call has loaded it meanwhile, or nobody can: the next chat will tell.
        return


async def unload_unused(inference: Inference, engine_name: str) -> None:
    """Best effort: an engine that is away or has never loaded it is no error, and one that stays
    loaded only takes room.
    """
    try:
        async with asyncio.timeout(_UNLOAD_TIMEOUT_S):
            await inference.unload_adapter(engine_name)
    except AdapterMissing:
        return
    except (AgentRftError, TimeoutError) as error:
        log.warning("a deleted model stays in the engine", error=repr(error))
