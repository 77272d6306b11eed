"""HTTP client of inference engines that implement vLLM's protocol."""

import asyncio
import copy
import json
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import aiohttp

from app.jobs.response_formats import template_variables
from app.jobs.results import EngineMachine
from app.kit.errors import InvalidRequest, NotFound, Unavailable
from app.kit.strict_json import refuse_constant
from app.models.chat import CONTEXT_LENGTH_EXCEEDED
from app.models.engine import (
    AdapterMissing,
    Completion,
    Connections,
    EngineFailed,
    EngineUnavailable,
)

_HEALTH_TIMEOUT_S: Final = 2.0
_CONNECT_TIMEOUT_S: Final = 5.0
_UNLIMITED: Final = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_TIMEOUT_S)
_UNTIL_READ: Final = aiohttp.ClientTimeout(
    total=None, sock_connect=_CONNECT_TIMEOUT_S, sock_read=600.0
)
"""Timeouts of a stream: none for the whole, one between two chunks."""
_OK: Final = 200
_FAILED: Final = 500
_BACKGROUND: Final = 1
"""The priority of background work; that of all other requests is 0, and lower goes first."""
_TOO_LONG: Final = "maximum context length"


class HttpInference:
    """Client of one engine. One per process and event loop; connections are pooled."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str = "",
        timeout_s: float = 600.0,
        still_s: float = 60.0,
        on_progress: Callable[[], None] = lambda: None,
        background: bool = False,
    ) -> None:
        """`timeout_s` is for requests without sampling; others end when the engine has computed
        nothing for `still_s`. `on_progress` is called whenever it computes. In the `background`,
        people go first.
        """
        self._base_url = base_url.rstrip("/")
        self._connections = Connections(
            {"Authorization": f"Bearer {api_key}"} if api_key else {},
            aiohttp.ClientTimeout(total=timeout_s, sock_connect=_CONNECT_TIMEOUT_S),
        )
        self._watch = EngineWatch(self._sign_of_life, still_s=still_s, on_progress=on_progress)
        self._ranked: dict[str, int] = {"priority": _BACKGROUND} if background else {}
        self._salted: dict[str, str] = {}

    def with_cache_namespace(self, salt: str) -> "HttpInference":
        """Returns a client that shares this client's connections; only this one is closed."""
        other = copy.copy(self)
        other._salted = {"cache_salt": salt}  # noqa: SLF001 - its own class
        return other

    async def aclose(self) -> None:
        await self._watch.aclose()
        await self._connections.aclose()

    async def _sign_of_life(self) -> str | None:
        """Returns the engine's counters, or a new text if it has none and its probe answers."""
        try:
            async with (
                asyncio.timeout(_HEALTH_TIMEOUT_S),
                self._request("GET", "/metrics", None) as response,
            ):
                counted = counters(await response.text())
        except (Unavailable, NotFound, InvalidRequest, TimeoutError):
            counted = ""
        if counted:
            return counted
        return str(time.monotonic()) if await self.healthy() else None

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
            "ignore_eos": True,  # EOS stops only if `stop_token_ids` contains it
            "logprobs": 0,  # only of the sampled token
            "return_token_ids": True,
            # Explicit, because a model's own generation_config would otherwise change the sampling.
            "top_p": 1.0,
            "top_k": 0,
            "min_p": 0.0,
            "repetition_penalty": 1.0,
            **self._ranked,
            **self._salted,
        }
        if prompt_logprobs:
            body["prompt_logprobs"] = 0
        reply = await self._post("/v1/completions", body)
        try:
            return _read_completion(reply["choices"][0], prompt_token_ids, prompt_logprobs)
        except (LookupError, TypeError, ValueError) as error:
            raise EngineUnavailable(
                f"The engine's reply has an unknown shape: {error!r}."
            ) from error

    async def load_adapter(self, name: str, path: Path) -> None:
        body = {"lora_name": name, "lora_path": str(path)}
        try:
            async with self._request("POST", "/v1/load_lora_adapter", body):
                pass
        except AdapterMissing as error:  # vLLM: the directory contains no adapter
            raise InvalidRequest(error.message, param="lora_path") from error
        except EngineFailed as error:  # vLLM also answers 500 for unusable files, and stays healthy
            if not await self.healthy():
                raise
            message = f"The engine cannot load the adapter '{name}'."
            raise InvalidRequest(message, param="lora_path") from error

    async def unload_adapter(self, name: str) -> None:
        async with self._request("POST", "/v1/unload_lora_adapter", {"lora_name": name}):
            pass

    async def model_names(self) -> list[str]:
        return [str(model["id"]) for model in await self._models()]

    async def machine(self, model: str) -> EngineMachine | None:
        for served in await self._models():
            machine = served.get("machine")
            if served["id"] == model and isinstance(machine, dict):
                processor, invariant = machine.get("processor"), machine.get("batch_invariant")
                return EngineMachine(str(processor), batch_invariant=invariant is True)
        return None

    async def response_formats(self, model: str) -> tuple[str, ...] | None:
        for served in await self._models():
            formats = served.get("response_formats")
            if served["id"] == model and isinstance(formats, list):
                return tuple(map(str, formats))
        return None

    async def _models(self) -> list[dict[str, Any]]:
        async with self._request("GET", "/v1/models", None) as response:
            reply = await response.json()
        models: list[dict[str, Any]] = reply["data"]
        return models

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
        path = "/v1/chat/completions"
        async with self._request("POST", path, streamed, lasting=_UNTIL_READ) as response:
            async for chunk in response.content.iter_any():
                yield chunk

    def _chat_body(self, body: dict[str, Any], *, stream: bool) -> dict[str, Any]:
        chat = {key: value for key, value in body.items() if key != "reasoning_effort"}
        variables = template_variables(body.get("reasoning_effort"))
        if variables:
            chat["chat_template_kwargs"] = variables
        return {**chat, **self._ranked, **self._salted, "stream": stream}

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        try:
            async with (
                self._watch.waiting(),
                self._request("POST", path, body, lasting=_UNLIMITED) as response,
            ):
                text = await response.read()
        except TimeoutError as error:
            raise EngineUnavailable(
                "The engine did not answer in time: it computes nothing."
            ) from error
        try:
            reply = json.loads(text, parse_constant=refuse_constant)
        except ValueError as error:
            raise EngineUnavailable("The engine's reply is not JSON.") from error
        if not isinstance(reply, dict):
            raise EngineUnavailable("The engine's reply is not an object.")
        return reply

    @asynccontextmanager
    async def _request(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None,
        *,
        lasting: aiohttp.ClientTimeout | None = None,
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        session = self._connections.session()
        limits = session.timeout if lasting is None else lasting
        try:
            async with session.request(
                method, self._base_url + path, json=body, timeout=limits
            ) as response:
                if response.status != _OK:
                    raise _error(response.status, await response.text(errors="replace"))
                yield response
        except TimeoutError as error:
            raise EngineUnavailable("The engine did not answer in time.") from error
        except (aiohttp.ClientError, OSError) as error:
            raise EngineUnavailable(
                f"The engine is unavailable ({type(error).__name__})."
            ) from error


def _read_completion(
    choice: dict[str, Any], prompt: list[int], with_prompt_logprobs: bool
) -> Completion:
    completion = Completion(
        token_ids=tuple(choice["token_ids"]),
        logprobs=tuple(choice["logprobs"]["token_logprobs"]),
        finish_reason=choice["finish_reason"],
        prompt_logprobs=_read_prompt_logprobs(choice, prompt) if with_prompt_logprobs else None,
    )
    if len(completion.token_ids) != len(completion.logprobs):
        raise ValueError("token_ids and token_logprobs differ in length")
    return completion


def _read_prompt_logprobs(choice: dict[str, Any], prompt: list[int]) -> tuple[float | None, ...]:
    entries = choice["prompt_logprobs"]
    return tuple(
        None if entry is None else float(entry[str(token)]["logprob"])
        for token, entry in zip(prompt, entries, strict=True)
    )


def _error(status: int, text: str) -> Exception:
    try:
        error = json.loads(text)["error"]
        message, param, code = str(error["message"]), error.get("param"), error.get("code")
    except (ValueError, LookupError, TypeError):
        message, param, code = "", None, None
    if status == NotFound.status_code and message:
        # vLLM appends a list of its model names, which may belong to other tenants.
        return AdapterMissing(message.partition(" Valid aliases")[0], param="model")
    if status in {400, 413, 422}:
        if _TOO_LONG in message:  # vLLM has no code for it
            code = CONTEXT_LENGTH_EXCEEDED
        named = code if isinstance(code, str) else None
        return InvalidRequest(message or text[:500], param=param, code=named)
    if status in {401, 403}:
        return Unavailable("The engine refused the service's key.")
    kind = EngineFailed if status == _FAILED else EngineUnavailable
    return kind(f"The engine answered {status}.")


_GAUGE: Final = re.compile(r"# TYPE \S+ gauge")
_NAME_END: Final = re.compile(r"[{ ]")
_READS: Final = 12
Read = Callable[[], Awaitable[str | None]]
"""Returns a text that changes whenever the engine computes; `None` while it reports no work."""


class EngineWatch:
    def __init__(self, read: Read, *, still_s: float, on_progress: Callable[[], None]) -> None:
        self._read = read
        self._still_s = still_s
        self._on_progress = on_progress
        self._waiting: set[asyncio.Timeout] = set()
        self._reading: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def waiting(self) -> AsyncGenerator[None]:
        """Ends the block with `TimeoutError` when the engine has computed nothing for too long."""
        async with asyncio.timeout(self._still_s) as deadline:
            self._waiting.add(deadline)
            if self._reading is None or self._reading.done():
                self._reading = asyncio.create_task(self._follow())
            try:
                yield
            finally:
                self._waiting.discard(deadline)

    async def aclose(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            with suppress(asyncio.CancelledError):
                await self._reading

    async def _follow(self) -> None:
        before: str | None = None
        while self._waiting:
            await asyncio.sleep(self._still_s / _READS)
            now = await self._read()
            if now is not None and now != before:
                before = now
                self._on_progress()
                later = asyncio.get_running_loop().time() + self._still_s
                for deadline in list(self._waiting):
                    if not deadline.expired():
                        deadline.reschedule(later)


def counters(metrics: str) -> str:
    """Returns the lines that count an engine's work; gauges change in a stuck engine, too."""
    lines = metrics.splitlines()
    gauges = {line.split()[2] for line in lines if _GAUGE.fullmatch(line)}
    return "\n".join(
        line
        for line in lines
        if line.startswith("vllm:")
        and "_created" not in line
        and _NAME_END.split(line, maxsplit=1)[0] not in gauges
    )
