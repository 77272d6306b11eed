"""The asynchronous interface to the compute thread. A sequence ends when its consumer stops."""

import asyncio
import os
import secrets
from collections import Counter
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import structlog
import torch
import torch.nn.functional as F
from torch import Tensor

from app.jobs.results import EngineMachine
from app.kit.errors import InvalidRequest, Unavailable
from app.models.chat import CONTEXT_LENGTH_EXCEEDED
from app.models.compute import ComputeChoice
from app.models.models import BaseModelSpec
from app.rollouts.renderer import Renderer
from workers.autotuning import Autotuning, Work, ways
from workers.compute import attends, describe_computation, model_widths
from workers.engines.cpu.batching.scheduler import Limits, Scheduler
from workers.engines.cpu.batching.sequence import Sampling, Sequence, SequenceUpdate
from workers.engines.cpu.batching.version_batch import BatchShape
from workers.engines.cpu.models.attention import FEWEST_ROWS
from workers.engines.cpu.models.decoder import LinearLayer
from workers.engines.cpu.models.versions import BaseModel, Version, Versions, load_model, serve

log = structlog.get_logger()


@dataclass(slots=True)
class EndedWork:
    prompt_tokens: int = 0
    generation_tokens: int = 0
    reused: int = 0
    ended: Counter[str] = field(default_factory=Counter)

    def add(self, sequence: Sequence, reason: str) -> None:
        self.prompt_tokens += sequence.prompt_length
        self.generation_tokens += sequence.sampled
        self.reused += sequence.reused
        self.ended[reason] += 1


# Largest log-prob difference that rounding can cause, by the precision of the weights.
_TOLERANCE: Final = {torch.float32: 1e-3, torch.bfloat16: 0.1}
_PROBE_LENGTHS: Final = (23, 9)


class Engine:
    def __init__(self, specs: list[BaseModelSpec], limits: Limits) -> None:
        LinearLayer.packs = limits.products == "onednn"
        self._references = [load_served(spec, limits.dtype) for spec in specs]
        self.versions = Versions(
            [base for base, _ in self._references],
            merged_bytes=limits.merged_bytes,
            adapter_bytes=limits.adapter_bytes,
        )
        self._limits = limits
        self._scheduler = Scheduler(self.versions, self._deliver, limits)
        # Single-threaded, like the event loop's thread: with more OpenMP threads in a process than
        # cores, waiting threads sleep between operations, and the compute thread is a quarter
        # slower.
        self._loader = ThreadPoolExecutor(1, "loader", torch.set_num_threads, (1,))
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiters: dict[Sequence, asyncio.Queue[SequenceUpdate]] = {}
        self._machines: dict[str, EngineMachine] = {}
        self.work = EndedWork()

    async def start(self) -> None:
        """Starts the compute thread and compares each base model with transformers. Raises
        `ValueError` where log-probs differ, and for a type of weights that the processor cannot
        compute.
        """
        self._loop = asyncio.get_running_loop()
        self._scheduler.start()
        if not attends(self._limits.dtype):
            raise ValueError(
                f"this processor, as torch may use it, cannot compute {self._limits.dtype}. Start "
                "the engine with --dtype float32"
            )
        for base, reference in self._references:
            await self._check(base, reference)
            invariant = self._limits.invariant and await self.invariant(base)
            if self._limits.invariant and not invariant:
                log.warning("results depend on the batch on this machine", model=base.spec.name)
            self._machines[base.spec.name] = EngineMachine(
                describe_computation(self._way), batch_invariant=invariant
            )
        self._references.clear()

    @property
    def _way(self) -> ComputeChoice:
        return ComputeChoice(products=self._limits.products, threads=self._limits.threads)

    @property
    def iterations(self) -> int:
        return self._scheduler.iterations

    @property
    def unended(self) -> int:
        return len(self._waiters)

    @property
    def waiting(self) -> int:
        return self._scheduler.waiting

    def machine(self, base_model: str) -> EngineMachine:
        return self._machines[base_model]

    async def stop(self) -> None:
        await asyncio.to_thread(self._scheduler.stop)
        self._loader.shutdown()

    async def load_adapter(self, name: str, path: Path) -> Version:
        """Loads and merges an adapter while sequences run. Raises `InvalidRequest`."""
        return await asyncio.get_running_loop().run_in_executor(
            self._loader, self._load, name, path
        )

    def _load(self, name: str, path: Path) -> Version:
        version = self.versions.load(name, path)
        self.versions.merge(version)
        return version

    def sequence(
        self,
        version: Version,
        prompt: list[int],
        sampling: Sampling,
        *,
        streamed: bool = False,
        background: bool = False,
    ) -> Sequence:
        base = version.base
        remaining = base.context_length - len(prompt)
        if remaining < 1:
            raise InvalidRequest(
                f"This model's maximum context length is {base.context_length} tokens. However, "
                f"the prompt has {len(prompt)} tokens, which leaves none for an answer.",
                param="prompt",
                code=CONTEXT_LENGTH_EXCEEDED,
            )
        if not 0 <= min(prompt) <= max(prompt) < base.vocab_size:
            raise InvalidRequest("prompt: a token id is not in the vocabulary.", param="prompt")
        fitted = replace(sampling, max_tokens=min(sampling.max_tokens, remaining))
        return Sequence(version, list(prompt), len(prompt), fitted, streamed, background)

    async def finish(self, sequences: list[Sequence]) -> None:
        await asyncio.gather(*(self._finish(sequence) for sequence in sequences))

    async def _finish(self, sequence: Sequence) -> None:
        async for _ in self.updates(sequence):
            pass

    async def updates(self, sequence: Sequence) -> AsyncGenerator[SequenceUpdate]:
        """Runs a sequence and yields its updates. Closing the generator cancels the sequence."""
        queue: asyncio.Queue[SequenceUpdate] = asyncio.Queue()
        self._waiters[sequence] = queue
        self._scheduler.submit(sequence)
        try:
            while True:
                update = await queue.get()
                if update.finish_reason == "error":
                    raise Unavailable("The engine failed while computing this request.")
                yield update
                if update.finish_reason is not None:
                    return
        finally:
            del self._waiters[sequence]
            if sequence.finish_reason is None:
                self._scheduler.cancel(sequence)

    def _deliver(self, updates: list[SequenceUpdate]) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._dispatch, updates)

    def _dispatch(self, updates: list[SequenceUpdate]) -> None:
        for update in updates:
            if update.finish_reason is not None:
                self.work.add(update.sequence, update.finish_reason)
            queue = self._waiters.get(update.sequence)
            if queue is not None:
                queue.put_nowait(update)

    async def _check(self, base: BaseModel, reference: list[list[float]]) -> None:
        version = self.versions.get(base.spec.name)
        sampling = Sampling(max_tokens=1, temperature=0, seed=0, prompt_logprobs=True)
        prompts = _probe_prompts(base.vocab_size, base.context_length)
        probes = [self.sequence(version, prompt, sampling) for prompt in prompts]
        try:
            await self.finish(probes)
        except Unavailable as error:
            raise ValueError(
                f"{base.spec.name}: this processor cannot compute {base.kv_shape.dtype}; the cause "
                "is in the log above. Start the engine with --dtype float32"
            ) from error
        for probe, expected in zip(probes, reference, strict=True):
            actual = [value for value in probe.prompt_logprobs or [] if value is not None]
            worst = max(abs(a - b) for a, b in zip(actual, expected, strict=True))
            if not worst < _TOLERANCE[base.kv_shape.dtype]:
                raise ValueError(
                    f"{base.spec.name}: log-probs differ from transformers' by {worst:g}; "
                    "this architecture cannot be served here"
                )

    async def invariant(self, base: BaseModel) -> bool:
        """Returns true if a sequence has the same bits alone and in a batch, on this machine."""
        version = self.versions.get(base.spec.name)
        sampling = Sampling(max_tokens=4, temperature=1, seed=0, prompt_logprobs=True)
        prompts = _probe_prompts(base.vocab_size, base.context_length)
        prompts += [prompt[: 1 + index] for index, prompt in enumerate(prompts * 4)]
        alone = self.sequence(version, prompts[0], sampling)
        await self.finish([alone])
        crowd = [self.sequence(version, prompt, sampling) for prompt in prompts]
        await self.finish(crowd)
        beside = crowd[0]
        return (alone.logprobs, alone.prompt_logprobs) == (beside.logprobs, beside.prompt_logprobs)


def random_seed() -> int:
    return secrets.randbits(63)


def choice_seed(seed: int | None, choice: int) -> int:
    base = random_seed() if seed is None else seed
    return (base + choice * 0xD1342543DE82EF95) & 0xFFFF_FFFF_FFFF_FFFF


def _probe_prompts(vocab_size: int, context_length: int) -> list[list[int]]:
    lengths = [min(length, context_length - 1) for length in _PROBE_LENGTHS]
    return [[(7 * i + n) % vocab_size for i in range(n)] for n in lengths]


def load_served(spec: BaseModelSpec, dtype: torch.dtype) -> tuple[BaseModel, list[list[float]]]:
    model: Any = load_model(spec, dtype)
    renderer = Renderer(spec.path, tool_parser=spec.tool_parser, chat_template=spec.chat_template)
    context_length = min(spec.context_length, renderer.context_length)
    reference = []
    vocab_size = model.get_input_embeddings().num_embeddings
    with torch.inference_mode():
        for prompt in _probe_prompts(vocab_size, context_length):
            ids_1T = torch.tensor([prompt])
            logprobs_TV = torch.log_softmax(model(ids_1T).logits[0, :-1].float(), dim=-1)
            reference.append(logprobs_TV.gather(1, ids_1T[0, 1:, None])[:, 0].tolist())
    return serve(spec, model, renderer), reference


# Half the cores: on two busy cores, each small operation with two threads waits for the operating
# system's scheduler twice. Measured beside other work: 4,150 tokens/s with one thread, 2,850 with
# two.
ASSUMED_THREADS: Final = max(1, (os.cpu_count() or 1) // 2)
_ROWS: Final = (32, 4)
_PASSES: Final = 16


def engine_autotuning(
    specs: list[BaseModelSpec], *, dtype: torch.dtype, invariant: bool
) -> Autotuning:
    """For the widest model. With `invariant`, a row's bits must not depend on other rows."""
    widths = max(map(model_widths, specs))
    candidates = [
        way
        for way in ways(("onednn", "torch"), (ASSUMED_THREADS, os.cpu_count() or 1))
        if not invariant or way.products == "onednn" or rows_are_independent(way, widths, dtype)
    ]
    return Autotuning("engine", widths, tuple(candidates), lambda way: _work(way, widths, dtype))


def rows_are_independent(way: ComputeChoice, widths: tuple[int, int], dtype: torch.dtype) -> bool:
    """Returns whether a row of a product has the same bits beside few rows and beside many."""
    shape, before = BatchShape(threads=way.threads), torch.get_num_threads()
    torch.set_num_threads(way.threads)
    try:
        layers = _layers(way, widths, dtype)
        most = 4 * FEWEST_ROWS * way.threads
        hidden_NI = _hidden(most, widths, dtype)
        with torch.inference_mode():
            whole_NI = _passed(hidden_NI, layers)
            return all(
                torch.equal(_passed(hidden_NI[:rows], layers), whole_NI[:rows])
                for rows in {shape.padded(count) for count in range(1, most)}
            )
    finally:
        torch.set_num_threads(before)


def _layers(
    way: ComputeChoice, widths: tuple[int, int], dtype: torch.dtype
) -> tuple[LinearLayer, LinearLayer]:
    generator = torch.Generator().manual_seed(0)
    packs = way.products == "onednn"
    model, inner = widths
    up_OI = torch.randn(inner, model, generator=generator).to(dtype)
    down_OI = torch.randn(model, inner, generator=generator).to(dtype)
    return (
        LinearLayer(up_OI, None, mergeable=False, packs=packs),
        LinearLayer(down_OI, None, mergeable=False, packs=packs),
    )


def _hidden(rows: int, widths: tuple[int, int], dtype: torch.dtype) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(rows, widths[0], generator=generator).to(dtype)


def _passed(hidden_NI: Tensor, layers: tuple[LinearLayer, LinearLayer]) -> Tensor:
    up, down = layers
    normed_NI = F.rms_norm(hidden_NI, hidden_NI.shape[-1:])
    return down.added_to(hidden_NI, F.silu(up(normed_NI)))


def _work(way: ComputeChoice, widths: tuple[int, int], dtype: torch.dtype) -> Work:
    layers = _layers(way, widths, dtype)
    batches = [_hidden(rows, widths, dtype) for rows in _ROWS]

    def work() -> None:
        with torch.inference_mode():
            for hidden_NI in batches * _PASSES:
                _passed(hidden_NI, layers)

    return work
