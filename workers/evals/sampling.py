"""Samples one answer of the model under evaluation through chat completions.

A call is repeated while the engine is not available; a refused request is the item's error.
"""

import asyncio
import time
from dataclasses import dataclass
from typing import Any, Final

from app.domain.errors import RequestError, RunFailed, Unavailable
from app.domain.methods.reasoning_efforts import with_trained_effort
from app.gateways.inference.inference import AdapterMissing
from app.gateways.inference.judges import EngineModel
from workers.evals.context import EvalContext, find_model

PATIENCE_S: Final = 300.0
_FIRST_DELAY_S: Final = 0.2
_MAX_DELAY_S: Final = 5.0


class SamplingRefused(Exception):
    """The engine cannot answer this item; users read the text."""


@dataclass(frozen=True, slots=True)
class SampledAnswer:
    choices: list[Any]
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int


class Sampler:
    def __init__(self, context: EvalContext, model: str) -> None:
        self._context = context
        self._name = model

    async def ask(self, messages: list[dict[str, Any]], settings: dict[str, Any]) -> SampledAnswer:
        """Samples one answer. Raises `SamplingRefused`; `RunFailed` when the project may no longer
        call the model; `Unavailable` when the engine is unavailable for too long.
        """
        give_up_at, delay_s = time.monotonic() + PATIENCE_S, _FIRST_DELAY_S
        while True:
            model = await find_model(self._context.clients, self._context.lease, self._name)
            if model is None:
                raise RunFailed(
                    f"The model '{self._name}' does not exist any more.", code="model_not_found"
                )
            body = {**settings, "model": model.engine_name, "messages": messages}
            body = with_trained_effort(body, model.reasoning_effort)
            try:
                return _read(await self._chat(model, body))
            except Unavailable:
                if time.monotonic() + delay_s > give_up_at:
                    raise
            except RequestError as error:
                message = error.message.replace(model.engine_name, model.name)
                raise SamplingRefused(message) from error
            await asyncio.sleep(delay_s)
            delay_s = min(2 * delay_s, _MAX_DELAY_S)

    async def _chat(self, model: EngineModel, body: dict[str, Any]) -> dict[str, Any]:
        clients = self._context.clients
        inference = clients.inference
        try:
            return await inference.chat(body)
        except AdapterMissing:
            await clients.adapters.load(inference, model.engine_name, object_key=model.object_key)
        try:
            return await inference.chat(body)
        except AdapterMissing as error:
            raise Unavailable("The model cannot be served at the moment.") from error


def _read(reply: dict[str, Any]) -> SampledAnswer:
    choices, usage = reply.get("choices"), reply.get("usage")
    if not isinstance(choices, list) or not choices:
        raise SamplingRefused("The engine's reply contains no choice.")
    usage = usage if isinstance(usage, dict) else {}
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return SampledAnswer(
        choices,
        int(usage.get("prompt_tokens") or 0),
        int(usage.get("completion_tokens") or 0),
        int(cached or 0),
    )
