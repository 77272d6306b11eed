"""An engine whose continuations come from a script."""

import json
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

from app.jobs.results import EngineMachine
from app.kit.errors import InvalidRequest
from app.models.engine import AdapterMissing, Completion, EngineUnavailable

CompletionScript = Callable[[str, list[int], int], Completion]


class InMemoryInference:
    """In-memory twin whose continuations come from a script of (model, prompt ids, seed)."""

    def __init__(
        self, script: CompletionScript, *, base_models: tuple[str, ...] = ("base",)
    ) -> None:
        self._script = script
        self.base_models = base_models
        self.adapters: dict[str, Path] = {}
        self.unavailable = False
        self.machine_of_engine: EngineMachine | None = EngineMachine("twin", batch_invariant=True)
        self.prompts: list[tuple[str, list[int]]] = []
        self.chat_replies: list[dict[str, Any]] = []

    async def complete(
        self,
        model: str,
        prompt_token_ids: list[int],
        *,
        max_tokens: int,
        temperature: float,  # noqa: ARG002 - the script decides
        seed: int,
        stop_token_ids: tuple[int, ...],  # noqa: ARG002 - the script decides
        prompt_logprobs: bool = False,
    ) -> Completion:
        self._check(model)
        self.prompts.append((model, prompt_token_ids))
        scripted = self._script(model, prompt_token_ids, seed)
        cut = len(scripted.token_ids) > max_tokens
        return Completion(
            token_ids=scripted.token_ids[:max_tokens],
            logprobs=scripted.logprobs[:max_tokens],
            finish_reason="length" if cut else scripted.finish_reason,
            prompt_logprobs=scripted.prompt_logprobs if prompt_logprobs else None,
        )

    async def load_adapter(self, name: str, path: Path) -> None:
        self._check(None)
        if name in self.adapters:
            raise InvalidRequest(f"The adapter '{name}' is already loaded.")
        self.adapters[name] = path

    async def unload_adapter(self, name: str) -> None:
        self._check(name)
        del self.adapters[name]

    async def model_names(self) -> list[str]:
        self._check(None)
        return [*self.base_models, *self.adapters]

    async def machine(self, model: str) -> EngineMachine | None:
        self._check(model)
        return self.machine_of_engine

    async def response_formats(self, model: str) -> tuple[str, ...] | None:
        self._check(model)
        return None

    async def healthy(self) -> bool:
        return not self.unavailable

    async def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        self._check(str(body["model"]))
        return self.chat_replies.pop(0)

    async def chat_stream(self, body: dict[str, Any]) -> AsyncGenerator[bytes]:
        yield b"data: " + json.dumps(await self.chat(body)).encode() + b"\n\n"
        yield b"data: [DONE]\n\n"

    def with_cache_namespace(self, salt: str) -> "InMemoryInference":  # noqa: ARG002 - it keeps no cache
        return self

    async def aclose(self) -> None:
        self.unavailable = True

    def _check(self, model: str | None) -> None:
        if self.unavailable:
            raise EngineUnavailable("The engine is unavailable.")
        if model is not None and model not in self.base_models and model not in self.adapters:
            raise AdapterMissing(f"The model '{model}' does not exist.", param="model")
