"""Protocol of inference engines for both planes: operations and failures.

Owns the contract and its in-memory twin. Promises: token ids and log-probs are returned exactly as
the engine sent them, and nothing is retried here, because the right reaction depends on the caller.
Must not know tensors, tenants, the wire format or the content of prompts.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from app.domain.errors import InvalidRequest, NotFound, Unavailable
from app.domain.jobs.reproducibility import EngineMachine


class EngineUnavailable(Unavailable):
    """The engine does not answer or has failed; a later call may succeed."""


class EngineFailed(EngineUnavailable):
    """The engine answered with status 500."""


class AdapterMissing(NotFound):
    """The engine does not serve that model name; loading the adapter may help."""

    default_code = "model_not_found"


@dataclass(frozen=True, slots=True)
class Completion:
    """One continuation. `token_ids` and `logprobs` have equal length N; a stop token that ended the
    continuation is included. `logprobs` are natural logs at the sampling temperature.
    """

    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish_reason: str
    """`stop` or `length`."""
    prompt_logprobs: tuple[float | None, ...] | None = None
    """Log-prob of each prompt token at temperature 1; the first one's is `None`. `None` unless
    requested.
    """


class Inference(Protocol):
    """Every call raises `EngineUnavailable`, `AdapterMissing` or `InvalidRequest`; none is
    retried.
    """

    async def complete(
        self,
        model: str,
        prompt_token_ids: list[int],
        *,
        max_tokens: int,
        temperature: float,
        seed: int,
        stop_token_ids: tuple[int, ...],
        prompt_logprobs: bool = False,
    ) -> Completion:
        """Continues token ids with a base model or an adapter, up to `max_tokens`, a stop token or
        the end of the context. Only `stop_token_ids` stop; EOS does not by itself.
        """
        ...

    async def load_adapter(self, name: str, path: Path) -> None:
        """Serves a PEFT directory under a new name. Raises `InvalidRequest` if the name is in use
        or the directory is not an adapter of the base model.
        """
        ...

    async def unload_adapter(self, name: str) -> None: ...

    async def model_names(self) -> list[str]:
        """Returns the names of base models and loaded adapters."""
        ...

    async def machine(self, model: str) -> EngineMachine | None:
        """Returns the engine's answer about its machine for a base model; `None` for an engine that
        gives none, such as vLLM.
        """
        ...

    async def response_formats(self, model: str) -> tuple[str, ...] | None:
        """Returns the types of `response_format` that the engine can give for a base model; `None`
        for an engine that does not say so, such as vLLM.
        """
        ...

    async def healthy(self) -> bool:
        """Returns true if the engine answers. Never raises."""
        ...

    async def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        """Runs a Chat Completions call whose `model` is a name in the engine. `reasoning_effort`
        reaches the chat template as `template_variables`.
        """
        ...

    def chat_stream(self, body: dict[str, Any]) -> AsyncIterator[bytes]:
        """Streams a chat completion as server-sent events. Closing the iterator cancels the
        generation.
        """
        ...

    def with_cache_namespace(self, salt: str) -> "Inference":
        """Returns a client whose prompt cache is shared only among calls with this salt, so that
        the time an answer takes reveals nothing about the prompts of others.
        """
        ...

    async def aclose(self) -> None: ...


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
