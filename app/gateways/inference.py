"""Inference engines, as both planes speak to them: vLLM's HTTP protocol, one client for all.

Owns the wire format of vLLM 0.32's OpenAI-compatible server (`/v1/completions` with token ids in
and out, adapter loading, `/v1/models`, `/health`, chat passed through) and what its failures mean.
Promises: token ids and log-probs come back exactly as the engine gave them, and nothing is retried
here, because only the caller knows whether waiting is right. Must not know tensors, tenants or
prompts' meaning.
"""

import asyncio
import copy
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import aiohttp

from app.domain.errors import InvalidRequest, NotFound, Unavailable
from app.domain.reasoning_efforts import template_variables

CONCURRENT_REQUESTS: Final = 512
_HEALTH_TIMEOUT_S: Final = 2.0
_CONNECT_TIMEOUT_S: Final = 5.0
_OK: Final = 200
_FAILED: Final = 500


class EngineAway(Unavailable):
    """No engine answers, or it failed itself: worth waiting for."""


class EngineFailed(EngineAway):
    """It answered that it failed itself."""


class AdapterMissing(NotFound):
    """The engine does not serve that model name: worth loading the adapter (again)."""

    default_code = "model_not_found"


@dataclass(frozen=True, slots=True)
class Completion:
    """One continuation. `token_ids` and `logprobs` have equal length N; a stop token that ended it
    is the last of them. `logprobs` are natural logs at the sampling temperature.
    """

    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish_reason: str
    """`stop` or `length`."""
    prompt_logprobs: tuple[float | None, ...] | None = None
    """Per prompt token, at temperature 1; the first has none. `None` unless asked for."""


class Inference(Protocol):
    """Every call raises `EngineAway`, `AdapterMissing` or `InvalidRequest`; none is retried."""

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
        """Continue token ids under a base model's or an adapter's name, up to `max_tokens`, a stop
        token or the end of the context. No token stops that is not named.
        """
        ...

    async def load_adapter(self, name: str, path: Path) -> None:
        """Serve a PEFT directory under a new name. `InvalidRequest` when the name is taken or the
        directory is no adapter of the base.
        """
        ...

    async def unload_adapter(self, name: str) -> None: ...

    async def model_names(self) -> list[str]:
        """Base models and loaded adapters."""
        ...

    async def healthy(self) -> bool:
        """Whether the engine answers. Never raises."""
        ...

    async def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        """A Chat Completions call, its `model` already the engine's name. `reasoning_effort` is
        what the chat template is told of it (`template_variables`).
        """
        ...

    def chat_stream(self, body: dict[str, Any]) -> AsyncIterator[bytes]:
        """The same as server-sent events. Closing the iterator cancels the generation."""
        ...

    def apart(self, salt: str) -> "Inference":
        """The same engine, whose prompt cache is shared only among calls of this salt: how long an
        answer takes then tells nothing of others' prompts.
        """
        ...

    async def aclose(self) -> None: ...


class HttpInference:
    """Client of one engine. One per process and event loop; connections are pooled."""

    def __init__(self, base_url: str, *, api_key: str = "", timeout_s: float = 600.0) -> None:
        self._base_url = base_url.rstrip("/")
        self._connections = _Connections(
            {"Authorization": f"Bearer {api_key}"} if api_key else {},
            aiohttp.ClientTimeout(total=timeout_s, sock_connect=_CONNECT_TIMEOUT_S),
        )
        self._salted: dict[str, str] = {}

    def apart(self, salt: str) -> "HttpInference":
        """With the connections of this one, which alone is closed."""
        other = copy.copy(self)
        other._salted = {"cache_salt": salt}  # noqa: SLF001 - its own class
        return other

    async def aclose(self) -> None:
        await self._connections.aclose()

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
        body: dict[str, Any] = {
            "model": model,
            "prompt": prompt_token_ids,
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": seed,
            "stop_token_ids": list(stop_token_ids),
            "ignore_eos": True,  # unless it is among them
            "logprobs": 0,  # of the sampled token alone
            "return_token_ids": True,
            # Said, because a model's own generation_config would otherwise narrow the sampling.
            "top_p": 1.0,
            "top_k": 0,
            "min_p": 0.0,
            "repetition_penalty": 1.0,
            **self._salted,
        }
        if prompt_logprobs:
            body["prompt_logprobs"] = 0
        reply = await self._post("/v1/completions", body)
        try:
            return _read_completion(reply["choices"][0], prompt_token_ids, prompt_logprobs)
        except (LookupError, TypeError, ValueError) as error:
            raise EngineAway(f"The engine's reply has an unknown shape: {error!r}.") from error

    async def load_adapter(self, name: str, path: Path) -> None:
        body = {"lora_name": name, "lora_path": str(path)}
        try:
            async with self._request("POST", "/v1/load_lora_adapter", body):
                pass
        except AdapterMissing as error:  # vLLM's answer to a directory without an adapter
            raise InvalidRequest(error.message, param="lora_path") from error
        except EngineFailed as error:  # and to files it cannot use, without failing further
            if not await self.healthy():
                raise
            message = f"The engine cannot load the adapter '{name}'."
            raise InvalidRequest(message, param="lora_path") from error

    async def unload_adapter(self, name: str) -> None:
        async with self._request("POST", "/v1/unload_lora_adapter", {"lora_name": name}):
            pass

    async def model_names(self) -> list[str]:
        async with self._request("GET", "/v1/models", None) as response:
            reply = await response.json()
        return [str(model["id"]) for model in reply["data"]]

    async def healthy(self) -> bool:
        try:
            async with asyncio.timeout(_HEALTH_TIMEOUT_S), self._request("GET", "/health", None):
                return True
        except (Unavailable, NotFound, InvalidRequest, TimeoutError):
            return False

    async def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        return await self._post("/v1/chat/completions", self._chat_body(body, stream=False))

    async def chat_stream(self, body: dict[str, Any]) -> AsyncGenerator[bytes]:
        streamed = self._chat_body(body, stream=True)
        async with self._request("POST", "/v1/chat/completions", streamed) as response:
            async for chunk in response.content.iter_any():
                yield chunk

    def _chat_body(self, body: dict[str, Any], *, stream: bool) -> dict[str, Any]:
        """An engine would put an effort into words of its own; ours are those of the training."""
        told = {key: value for key, value in body.items() if key != "reasoning_effort"}
        variables = template_variables(body.get("reasoning_effort"))
        if variables:
            told["chat_template_kwargs"] = variables
        return {**told, **self._salted, "stream": stream}

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        async with self._request("POST", path, body) as response:
            try:
                reply = json.loads(await response.read(), parse_constant=_refuse_constant)
            except ValueError as error:
                raise EngineAway("The engine's reply is not JSON.") from error
        if not isinstance(reply, dict):
            raise EngineAway("The engine's reply is not an object.")
        return reply

    @asynccontextmanager
    async def _request(
        self, method: str, path: str, body: dict[str, Any] | None
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """A reply of status 200, or the error its status means."""
        try:
            async with self._connections.session().request(
                method, self._base_url + path, json=body
            ) as response:
                if response.status != _OK:
                    raise _error(response.status, await response.text(errors="replace"))
                yield response
        except TimeoutError as error:
            raise EngineAway("The engine did not answer in time.") from error
        except (aiohttp.ClientError, OSError) as error:
            raise EngineAway(f"The engine is away ({type(error).__name__}).") from error


class _Connections:
    """Opened with the first request, because a session belongs to its event loop."""

    def __init__(self, headers: dict[str, str], timeout: aiohttp.ClientTimeout) -> None:
        self._headers = headers
        self._timeout = timeout
        self._opened: aiohttp.ClientSession | None = None

    def session(self) -> aiohttp.ClientSession:
        if self._opened is None:
            self._opened = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=CONCURRENT_REQUESTS),
                headers=self._headers,
                timeout=self._timeout,
                trust_env=False,
            )
        return self._opened

    async def aclose(self) -> None:
        if self._opened is not None:
            await self._opened.close()
            self._opened = None


def _read_completion(
    choice: dict[str, Any], prompt: list[int], want_prompt_logprobs: bool
) -> Completion:
    completion = Completion(
        token_ids=tuple(choice["token_ids"]),
        logprobs=tuple(choice["logprobs"]["token_logprobs"]),
        finish_reason=choice["finish_reason"],
        prompt_logprobs=_read_prompt_logprobs(choice, prompt) if want_prompt_logprobs else None,
    )
    if len(completion.token_ids) != len(completion.logprobs):
        raise ValueError("token_ids and token_logprobs differ in length")
    return completion


def _read_prompt_logprobs(choice: dict[str, Any], prompt: list[int]) -> tuple[float | None, ...]:
    """Reads vLLM's one `{token id as text: {logprob, …}}` per token, `null` for the first."""
    entries = choice["prompt_logprobs"]
    return tuple(
        None if entry is None else float(entry[str(token)]["logprob"])
        for token, entry in zip(prompt, entries, strict=True)
    )


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


def _error(status: int, text: str) -> Exception:
    try:
        error = json.loads(text)["error"]
        message, param = str(error["message"]), error.get("param")
    except (ValueError, LookupError, TypeError):
        message, param = "", None
    if status == NotFound.status_code and message:
        # vLLM goes on to list what it serves, which is no caller's business.
        return AdapterMissing(message.partition(" Valid aliases")[0], param="model")
    if status in {400, 413, 422}:
        return InvalidRequest(message or text[:500], param=param)
    if status in {401, 403}:
        return Unavailable("The engine refused the service's key.")
    kind = EngineFailed if status == _FAILED else EngineAway
    return kind(f"The engine answered {status}.")


Script = Callable[[str, list[int], int], Completion]


class InMemoryInference:
    """Twin whose continuations come from a script of (model, prompt ids, seed)."""

    def __init__(self, script: Script, *, base_models: tuple[str, ...] = ("base",)) -> None:
        self._script = script
        self.base_models = base_models
        self.adapters: dict[str, Path] = {}
        self.away = False
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

    async def healthy(self) -> bool:
        return not self.away

    async def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        self._check(str(body["model"]))
        return self.chat_replies.pop(0)

    async def chat_stream(self, body: dict[str, Any]) -> AsyncGenerator[bytes]:
        yield b"data: " + json.dumps(await self.chat(body)).encode() + b"\n\n"
        yield b"data: [DONE]\n\n"

    def apart(self, salt: str) -> "InMemoryInference":  # noqa: ARG002 - it keeps no cache
        return self

    async def aclose(self) -> None:
        self.away = True

    def _check(self, model: str | None) -> None:
        if self.away:
            raise EngineAway("The engine is away.")
        if model is not None and model not in self.base_models and model not in self.adapters:
            raise AdapterMissing(f"The model '{model}' does not exist.", param="model")
