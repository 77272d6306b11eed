"""Plans the memory of one GPU that a trainer has, alone or beside an engine.

Pure: takes counted bytes; returns the parts of the plan and, for what does not fit, the setting to
change.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from workers.learning.memory.training_counts import Counts
from workers.learning.token_scores import ADAPTER_COPIES

GIB: Final = 2**30
PROCESS_BYTES: Final = 600 * 2**20
"""Memory of a process on a GPU before its first tensor: context and libraries."""
ENGINE_WORK_BYTES: Final = 2 * GIB
"""Activations and captured graphs of an engine; an estimate for batches of 8,192 tokens."""


@dataclass(frozen=True, slots=True)
class PlanInputs:
    gpu_bytes: int
    context_length: int
    engine_share: float = 0.0
    """Share of the GPU that the engine takes; 0 if it runs elsewhere."""
    micro_batch_tokens: int | None = None
    """Tokens of a micro-batch; `None` selects as many as fit."""


@dataclass(frozen=True, slots=True)
class MemoryPart:
    owner: str
    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    parts: tuple[MemoryPart, ...]
    micro_batch_tokens: int
    """Tokens of a micro-batch; 0 if none fits."""
    kv_tokens: int | None
    """Tokens in the engine's cache; `None` without an engine on this GPU."""
    free_bytes: int
    problems: tuple[str, ...] = field(default=())

    @property
    def fits(self) -> bool:
        return not self.problems


def plan_memory(
    given: PlanInputs, counts: Counts, *, checkpointed: Counts | None = None
) -> MemoryPlan:
    """`checkpointed`: the counts with checkpointing where it is off, for the advice."""
    engine = _engine(given, counts) if given.engine_share else ()
    kv_tokens = engine[-1].bytes // counts.kv_a_token if engine else None
    fixed = (
        MemoryPart("trainer", "process", PROCESS_BYTES),
        MemoryPart("trainer", "weights", counts.weights),
        MemoryPart("trainer", "adapter, gradients, moments", (1 + ADAPTER_COPIES) * counts.adapter),
        MemoryPart("trainer", "chunk of logits", counts.head),
    )
    room = given.gpu_bytes - total_bytes((*engine, *fixed))
    longest = given.context_length
    tokens = given.micro_batch_tokens or counts.batch_tokens(room, longest=longest)
    batch_bytes = counts.batch_bytes(tokens, longest=longest)
    batch = MemoryPart("trainer", f"micro-batch of {tokens:,} tokens", batch_bytes)
    parts = (*engine, *fixed, batch)
    problems = [
        *_engine_problems(given, engine, kv_tokens),
        *_trainer_problems(given, counts, checkpointed, room=room, tokens=tokens),
    ]
    return MemoryPlan(
        parts, tokens, kv_tokens, given.gpu_bytes - total_bytes(parts), problems=tuple(problems)
    )


def _engine(given: PlanInputs, counts: Counts) -> tuple[MemoryPart, ...]:
    share = int(given.engine_share * given.gpu_bytes)
    work = PROCESS_BYTES + ENGINE_WORK_BYTES
    return (
        MemoryPart("engine", "process, activations, graphs", work),
        MemoryPart("engine", "weights, 16 bits", counts.engine_weights),
        MemoryPart("engine", "KV cache", max(0, share - work - counts.engine_weights)),
    )


def total_bytes(parts: tuple[MemoryPart, ...]) -> int:
    return sum(part.bytes for part in parts)


def _engine_problems(
    given: PlanInputs, engine: tuple[MemoryPart, ...], kv_tokens: int | None
) -> Iterator[str]:
    if kv_tokens is not None and kv_tokens < given.context_length:
        needed = total_bytes(engine[:-1]) / given.gpu_bytes
        yield (
            f"The engine's share of {given.engine_share:.0%} leaves {kv_tokens:,} tokens of KV "
            f"cache, less than one context of {given.context_length:,}. Its process and weights "
            f"take {needed:.0%} of the GPU: raise --engine-share, lower --context-length, or run "
            "the engine on a GPU of its own."
        )


def _trainer_problems(
    given: PlanInputs, counts: Counts, checkpointed: Counts | None, *, room: int, tokens: int
) -> Iterator[str]:
    if room <= 0:
        yield (
            f"The trainer's weights and adapter need {-room / GIB:.1f} GiB more than the GPU has: "
            "lower --engine-share, run the engine on a GPU of its own, or take a smaller model."
        )
        return
    context = given.context_length
    longest = counts.batch_tokens(room, longest=context)
    needed = counts.batch_bytes(tokens, longest=context)
    if given.micro_batch_tokens is not None and needed > room:
        yield (
            f"A micro-batch of {tokens:,} tokens needs {needed / GIB:.1f} GiB and {room / GIB:.1f} "
            f"GiB are free: lower --micro-batch to {longest:,}, or leave it out. An "
            "installation has AGENT_RFT_RUNS__MICRO_BATCH_TOKENS."
        )
    if longest >= context:
        return
    if checkpointed is not None and checkpointed.batch_tokens(room, longest=context) >= context:
        cure = "turn on checkpointing, with which it fits"
    else:
        cure = f"lower --engine-share, or lower --context-length to {longest:,}"
    yield (
        f"A rollout of {context:,} tokens, which no micro-batch can divide, needs "
        f"{counts.batch_bytes(context, longest=context) / GIB:.1f} GiB, and {room / GIB:.1f} GiB "
        f"are free: {cure}."
    )
