"""Plans the memory of a machine whose processors serve a base model, train it, or both.

Pure: takes counted bytes; returns the parts, the sizes that fit, and, for what does not fit, the
setting to change.
"""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from workers.learning.memory.plan import (
    GIB,
    MemoryPart,
    MemoryPlan,
    PlanInputs,
    plan_memory,
    total_bytes,
)
from workers.learning.memory.training_counts import Counts
from workers.learning.options import CPU_BATCH_TOKENS
from workers.learning.token_scores import ADAPTER_COPIES

MIB: Final = 2**20
SERVICES_BYTES: Final = 900 * MIB
"""Memory of Postgres, Valkey, the API and two idle workers."""
PROCESS_BYTES: Final = 500 * MIB
"""Memory of a process with torch and transformers before its first tensor."""
VLLM_BYTES: Final = 2560 * MIB
"""Memory of the processes of vLLM's CPU build before its weights."""
CPU_KV_ITEM: Final = 2
"""Bytes of a key or value on a CPU, where it takes 32 bits; `Counts` assumes 16."""
MOST_ROWS: Final = 64
"""Largest number of whole contexts for which the cache is planned."""
FEWEST_ROWS: Final = 4
PREFIX_BYTES: Final = 256 * MIB
LARGEST_CACHE: Final = 4 * GIB
SMALLEST_CONTEXT: Final = 512
CpuEngine = Literal["cpu", "vllm_cpu"]


@dataclass(frozen=True, slots=True)
class CpuNeeds:
    free_bytes: int
    context_length: int
    counts: Counts
    engine: CpuEngine | None
    """`None` when the engine runs elsewhere."""
    trains: bool
    """True if the trainer computes on the processors too."""
    micro_batch_tokens: int | None = None
    """The operator's size of a micro-batch; `None` selects the largest that fits, up to
    `CPU_BATCH_TOKENS`.
    """

    @property
    def least_tokens(self) -> int:
        """Smallest micro-batch: the operator's, but at least one whole rollout, which cannot be
        divided.
        """
        return max(self.context_length, self.micro_batch_tokens or 0)


@dataclass(frozen=True, slots=True)
class CpuMemoryPlan:
    memory: MemoryPlan
    kv_bytes: int


def plan_cpu_memory(needs: CpuNeeds) -> CpuMemoryPlan:
    fixed = _fixed(needs)
    least_kv = _kv(needs, FEWEST_ROWS)
    least_batch = _batch(needs, needs.least_tokens)
    room = needs.free_bytes - total_bytes(fixed) - least_kv - least_batch
    problems = () if room >= 0 else (_problem(needs, fixed, -room),)
    tokens, rest = needs.least_tokens, max(0, room)
    if needs.trains and needs.micro_batch_tokens is None and tokens < CPU_BATCH_TOKENS:
        tokens = _largest_batch(needs, least_batch + rest)
        rest -= _batch(needs, tokens) - least_batch
    # The cache grows by copying, so half of what is left is for the copy.
    kv = min(_kv(needs, MOST_ROWS), LARGEST_CACHE, least_kv + rest // 2)
    kv = max(kv, least_kv)
    parts = fixed
    if needs.engine is not None:
        parts = (*parts, MemoryPart("engine", "KV cache", kv))
    if needs.trains:
        parts = (
            *parts,
            MemoryPart("trainer", f"micro-batch of {tokens:,} tokens", _batch(needs, tokens)),
        )
    plan = MemoryPlan(
        parts,
        tokens if needs.trains else 0,
        kv // (CPU_KV_ITEM * needs.counts.kv_a_token) if needs.engine is not None else None,
        needs.free_bytes - total_bytes(parts),
        problems=problems,
    )
    return CpuMemoryPlan(plan, kv)


def _fixed(needs: CpuNeeds) -> tuple[MemoryPart, ...]:
    counts = needs.counts
    parts = [MemoryPart("service", "database, broker, API, workers", SERVICES_BYTES)]
    match needs.engine:
        case "cpu":
            parts += [
                MemoryPart("engine", "process", PROCESS_BYTES),
                MemoryPart("engine", "weights, plain and packed", 2 * counts.weights),
                # The version in use, and the next one while it is merged.
                MemoryPart("engine", "two merged adapters", 2 * counts.weights),
                MemoryPart("engine", "prefix cache", PREFIX_BYTES),
            ]
        case "vllm_cpu":
            parts += [
                MemoryPart("engine", "processes", VLLM_BYTES),
                MemoryPart("engine", "weights", counts.weights),
            ]
        case None:
            pass
    if needs.trains:
        parts += [
            MemoryPart("trainer", "process", PROCESS_BYTES),
            MemoryPart("trainer", "weights", counts.weights),
            MemoryPart(
                "trainer", "adapter, gradients, moments", (1 + ADAPTER_COPIES) * counts.adapter
            ),
            MemoryPart("trainer", "chunk of logits", counts.head),
        ]
    return tuple(parts)


def _problem(needs: CpuNeeds, fixed: tuple[MemoryPart, ...], missing: int) -> str:
    room = needs.free_bytes - total_bytes(fixed)
    message = (
        f"{missing / GIB:.1f} GiB of memory are missing, of {needs.free_bytes / GIB:.1f} GiB that "
        "are free"
    )
    tokens = needs.context_length
    if needs.trains and tokens < needs.least_tokens:
        if _kv(needs, FEWEST_ROWS) + _batch(needs, tokens) <= room:
            return (
                f"{message}, with the {needs.least_tokens:,} tokens of "
                "AGENT_RFT_RUNS__MICRO_BATCH_TOKENS: lower it, or leave it out."
            )
        message += "; leave out AGENT_RFT_RUNS__MICRO_BATCH_TOKENS, and then"
        needs = replace(needs, micro_batch_tokens=None)
    cure = "take a smaller model, or stop other programs"
    shorter = needs.context_length // 2
    while shorter >= SMALLEST_CONTEXT:
        smaller = replace(needs, context_length=shorter)
        if _kv(smaller, FEWEST_ROWS) + _batch(smaller, smaller.least_tokens) <= room:
            cure = f"lower --context-length to {shorter}, {cure}"
            break
        shorter //= 2
    return f"{message}: {cure}."


def _kv(needs: CpuNeeds, rows: int) -> int:
    if needs.engine is None:
        return 0
    return rows * needs.context_length * CPU_KV_ITEM * needs.counts.kv_a_token


def _batch(needs: CpuNeeds, tokens: int) -> int:
    return needs.counts.batch_bytes(tokens, longest=needs.context_length) if needs.trains else 0


def _largest_batch(needs: CpuNeeds, room: int) -> int:
    tokens = needs.counts.batch_tokens(room, longest=needs.context_length)
    return max(needs.context_length, min(CPU_BATCH_TOKENS, tokens))


LARGEST_SHARE: Final = 0.9
"""Largest share to plan; the remainder is for the driver and for fragments."""
STEP: Final = 0.05
BATCH_TOKENS: Final = 16_384
"""Tokens of a micro-batch beyond which a GPU gains little speed."""


def share_for_engine(
    gpu_bytes: int, counts: Counts, *, context_length: int, micro_batch_tokens: int | None = None
) -> float:
    """Returns the largest share that leaves the trainer its micro-batch: the operator's, one of
    `BATCH_TOKENS`, or at least one whole rollout. Without such a share, returns the smallest one
    into which the engine fits.
    """
    shares = [
        round(LARGEST_SHARE - STEP * number, 2) for number in range(int(LARGEST_SHARE / STEP))
    ]
    plans = {
        share: plan_memory(PlanInputs(gpu_bytes, context_length, engine_share=share), counts)
        for share in shares
    }
    served = {
        share: plan for share, plan in plans.items() if (plan.kv_tokens or 0) >= context_length
    }
    for wanted in (max(micro_batch_tokens or BATCH_TOKENS, context_length), context_length):
        for share, plan in served.items():
            if plan.micro_batch_tokens >= wanted:
                return share
    return min(served, default=LARGEST_SHARE)


_MEMINFO: Final = Path("/proc/meminfo")
_CGROUP: Final = Path("/sys/fs/cgroup")


def free_memory(*, meminfo: Path = _MEMINFO, cgroup: Path = _CGROUP) -> int:
    """Returns the bytes that the kernel reports as available, limited by what remains of a
    container's limit. Elsewhere than on Linux it is half of the machine's memory.
    """
    if not meminfo.exists():
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    available = next(
        int(line.split()[1]) * 1024
        for line in meminfo.read_text().splitlines()
        if line.startswith("MemAvailable:")
    )
    return min(available, _rest_of_limit(cgroup, available))


def _rest_of_limit(cgroup: Path, default: int) -> int:
    try:
        limit = int((cgroup / "memory.max").read_text())
        used = int((cgroup / "memory.current").read_text())
        cached = next(
            int(line.split()[1])
            for line in (cgroup / "memory.stat").read_text().splitlines()
            if line.startswith("inactive_file ")
        )
    except (OSError, ValueError, StopIteration):  # no container, or one without a limit
        return default
    return limit - used + cached
