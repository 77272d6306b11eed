"""Chat completions: maps a tenant's model name to the engine's and has its adapter loaded.

A caller never names an adapter or a path: the tenant's own row does.
"""

import json
from collections.abc import AsyncIterator
from typing import Any

from app.gateways.inference import AdapterMissing, Inference
from app.gateways.objects import Objects
from app.services.models import CallableModel, ModelService


class CompletionService:
    def __init__(self, models: ModelService, inference: Inference, objects: Objects) -> None:
        self._models = models
        self._inference = inference
        self._objects = objects

    async def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        model = await self._models.get(str(body["model"]))
        forwarded = {**body, "model": model.engine_name}
        try:
            reply = await self._inference.chat(forwarded)
        except AdapterMissing:
            await self._load(model)
            reply = await self._inference.chat(forwarded)
        return {**reply, "model": model.name}

    async def chat_stream(self, body: dict[str, Any]) -> AsyncIterator[bytes]:
        """Server-sent events. The first chunk is awaited, so that errors still have a status."""
        model = await self._models.get(str(body["model"]))
        forwarded = {**body, "model": model.engine_name}
        try:
            first, rest = await self._open(forwarded)
        except AdapterMissing:
            await self._load(model)
            first, rest = await self._open(forwarded)
        return _renamed(first, rest, engine_name=model.engine_name, name=model.name)

    async def _open(self, body: dict[str, Any]) -> tuple[bytes, AsyncIterator[bytes]]:
        chunks = self._inference.chat_stream(body)
        return await anext(chunks, b""), chunks

    async def _load(self, model: CallableModel) -> None:
        if model.object_key is None:
            raise AdapterMissing(f"The engine does not serve base model '{model.name}'.")
        path = self._objects.local_path(model.object_key)
        await self._inference.load_adapter(model.engine_name, path)


async def _renamed(
    first: bytes, rest: AsyncIterator[bytes], *, engine_name: str, name: str
) -> AsyncIterator[bytes]:
    """Whole events with the engine's name for the model replaced by the tenant's."""
    old, new = json.dumps(engine_name).encode(), json.dumps(name).encode()
    pending = first
    async for chunk in rest:
        *events, pending = (pending + chunk).split(b"\n\n")
        for event in events:
            yield event.replace(old, new) + b"\n\n"
    if pending:
        yield pending.replace(old, new)
