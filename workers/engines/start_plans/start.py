"""Plans a start with one base model on this machine: abilities, memory and speed of the model."""

import asyncio
import hashlib
import json
import os
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

import structlog
import torch
from pydantic import ValidationError
from transformers import AutoConfig

from app.models.compute import (
    GROUP_SIZE,
    PROMPT_TOKENS,
    SAMPLED_TOKENS,
    EngineKind,
    StartPlan,
    StartRequest,
    StepPace,
)
from app.models.models import BaseModelSpec, TrainerMemory
from app.settings import cache_directory
from workers.compute import describe_processor, is_accelerated
from workers.engines.base_model_check import BaseModelReport, check_base_model
from workers.engines.cpu.batching.scheduler import Limits
from workers.engines.cpu.batching.sequence import Sampling
from workers.engines.cpu.engine import ASSUMED_THREADS, Engine
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.memory.__main__ import DTYPES, table
from workers.learning.memory.plan import (
    GIB,
    Counts,
    MemoryPart,
    MemoryPlan,
    PlanInputs,
    UncountableModel,
    count,
    plan_memory,
    total_bytes,
)
from workers.learning.token_scores import ADAPTER_COPIES
from workers.learning.trainer import (
    CPU_BATCH_TOKENS,
    TrainerOptions,
    TrainingSample,
    machine_options,
)

MIB: Final = 2**20
SERVICES_BYTES: Final = 900 * MIB
PROCESS_BYTES: Final = 500 * MIB
VLLM_BYTES: Final = 2560 * MIB
"""Memory of the processes of vLLM's CPU build before its weights."""
CPU_KV_ITEM: Final = 2
"""Bytes of a key or value on a CPU, where it takes 32 bits; `Counts` assumes 16."""
MOST_ROWS: Final = 64
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
    trains: bool
    micro_batch_tokens: int | None = None
    """`None` selects the largest micro-batch that fits, up to `CPU_BATCH_TOKENS`."""

    @property
    def least_tokens(self) -> int:
        """The operator's micro-batch, but at least one whole rollout, which cannot be divided."""
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
    """What the kernel has available, within a container's limit; elsewhere half of the memory."""
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


_NO_GPU: Final = (
    "no NVIDIA GPU is found here: add --cpu for vLLM's CPU build, or leave out --engine for the "
    "CPU engine"
)
_UNUSED_GPU: Final = "this machine has a GPU, which samples much faster: --engine vllm"


@dataclass(frozen=True, slots=True)
class _PlannedMemory:
    memory: MemoryPlan
    free_bytes: int
    where: str
    engine_share: float | None = None
    kv_mib: int | None = None
    micro_batch_tokens: int | None = None

    @property
    def shown(self) -> list[str]:
        return table(self.memory, self.free_bytes, memory=f"{self.where}, free now")


def plan_start(request: StartRequest) -> StartPlan:
    report = check_base_model(request.spec)
    refusal = _refusal(report, request.engine)
    if refusal is not None:
        return StartPlan(refusal=refusal)
    lines = _verdict(report)
    if request.engine == "cpu" and is_accelerated():
        lines.append(_UNUSED_GPU)
    try:
        counts = _counts(request)
    except UncountableModel as error:
        lines.append(f"its memory cannot be counted from its config, so it is not planned: {error}")
        return StartPlan(lines=tuple(lines), engine_share=request.engine_share)
    plans = _plans(request, counts)
    return StartPlan(
        lines=(*lines, *(line for plan in plans for line in plan.shown)),
        problems=tuple(problem for plan in plans for problem in plan.memory.problems),
        engine_share=next((plan.engine_share for plan in plans if plan.engine_share), None),
        kv_mib=next((plan.kv_mib for plan in plans if plan.kv_mib), None),
        micro_batch_tokens=next(
            (plan.micro_batch_tokens for plan in plans if plan.micro_batch_tokens), None
        ),
    )


def _refusal(report: BaseModelReport, engine: EngineKind) -> str | None:
    if report.verdict == "refused" or (engine == "cpu" and not report.cpu_engine):
        return "; ".join(report.reasons)
    return _NO_GPU if engine == "vllm" and not torch.cuda.is_available() else None


def _verdict(report: BaseModelReport) -> list[str]:
    lines = [f"{report.model}: {report.verdict}", *(f"  {reason}" for reason in report.reasons)]
    engines = [name for name, has in (("CPU", report.cpu_engine), ("vLLM", report.vllm)) if has]
    lines.append(f"  engines: {', '.join(engines) or 'none that is known'}")
    if report.tool_parser is not None:
        lines.append(f"  tool calls: {report.tool_parser}")
    if report.reasoning is not None:
        lines.append(f"  reasoning: {report.reasoning}")
    return lines


def _options(request: StartRequest) -> TrainerOptions:
    return machine_options(TrainerOptions(), request.spec, request.memory)


def _counts(request: StartRequest) -> Counts:
    options, cpu = _options(request), not is_accelerated()
    config = AutoConfig.from_pretrained(request.spec.path)
    return count(
        config,
        dtype=DTYPES[options.dtype_on(cpu=cpu)],
        rank=request.spec.lora_rank,
        checkpointing=options.checkpointing_on(cpu=cpu),
        longest=request.spec.context_length,
    )


def _plans(request: StartRequest, counts: Counts) -> Sequence[_PlannedMemory]:
    plans = [_on_gpu(request, counts)] if is_accelerated() else []
    if request.engine != "vllm":
        plans.append(_on_cpu(request, counts, request.engine))
    return plans


def _on_gpu(request: StartRequest, counts: Counts) -> _PlannedMemory:
    free, _ = torch.cuda.mem_get_info()
    context = request.spec.context_length
    tokens = _options(request).max_batch_tokens
    share: float | None = None
    if request.engine == "vllm":
        share = request.engine_share or share_for_engine(
            free, counts, context_length=context, micro_batch_tokens=tokens
        )
    given = PlanInputs(free, context, engine_share=share or 0.0, micro_batch_tokens=tokens)
    return _PlannedMemory(plan_memory(given, counts), free, "GPU", engine_share=share)


def _on_cpu(request: StartRequest, counts: Counts, engine: CpuEngine) -> _PlannedMemory:
    free = free_memory()
    trains = not is_accelerated()
    given = _options(request).max_batch_tokens
    needs = CpuNeeds(
        free, request.spec.context_length, counts, engine, trains=trains, micro_batch_tokens=given
    )
    plan = plan_cpu_memory(needs)
    tokens = plan.memory.micro_batch_tokens
    is_planned = trains and given is None and tokens != CPU_BATCH_TOKENS
    return _PlannedMemory(
        plan.memory,
        free,
        "memory",
        kv_mib=plan.kv_bytes // MIB,
        micro_batch_tokens=tokens if is_planned else None,
    )


log = structlog.get_logger()

VERSION: Final = 1
"""Rises with every change of engine or trainer that makes older results wrong."""
ENOUGH_S: Final = 2.0
"""Seconds after which a measurement is long enough; a shorter one is repeated with more rows."""
ROWS: Final = (2, 16, 64)
NEW_TOKENS: Final = 8
_FEW_IDS: Final = 50
_LOGPROB: Final = -5.0


async def pace_of(spec: BaseModelSpec, memory: TrainerMemory) -> StepPace:
    """Returns the stored pace, or measures it, which takes ten seconds to a few minutes."""
    options = machine_options(TrainerOptions(threads=os.cpu_count()), spec, memory)
    kept = pace_file(spec, options)
    try:
        return StepPace.model_validate_json(kept.read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        log.info("speed is measured", model=spec.name)
    read, sampled = await _engine_speeds(spec)
    trained, shares = await asyncio.to_thread(_trainer_speed, spec, options)
    pace = StepPace(read=read, sampled=sampled, trained=trained, shares_prompts=shares)
    _keep(kept, pace)
    return pace


def pace_file(spec: BaseModelSpec, options: TrainerOptions) -> Path:
    cpu = not is_accelerated()
    caches = cache_directory()
    facts = {
        "version": VERSION,
        "processor": describe_processor(),
        "cores": os.cpu_count(),
        "cuda": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "config": (Path(spec.path) / "config.json").read_text(encoding="utf-8"),
        "rank": spec.lora_rank,
        "context_length": spec.context_length,
        "dtype": options.dtype_on(cpu=cpu),
        "checkpointing": options.checkpointing_on(cpu=cpu),
        "micro_batch_tokens": options.max_batch_tokens or (CPU_BATCH_TOKENS if cpu else None),
    }
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    return caches / "agent-rft" / "pace" / f"{digest[:32]}.json"


def _keep(file: Path, pace: StepPace) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        scratch = file.with_suffix(f".{os.getpid()}")
        scratch.write_text(pace.model_dump_json(), encoding="utf-8")
        scratch.replace(file)
    except OSError as error:  # the measurement is good for this start all the same
        log.warning("the speed is not kept", reason=str(error))


async def _engine_speeds(spec: BaseModelSpec) -> tuple[float, float]:
    engine = Engine([spec], Limits(threads=ASSUMED_THREADS))
    await engine.start()
    try:
        read = sampled = 0.0
        for rows in ROWS:
            started = time.perf_counter()
            read = await _tokens_per_s(engine, spec, rows=rows, new=1)
            sampled = await _tokens_per_s(engine, spec, rows=rows, new=NEW_TOKENS)
            if time.perf_counter() - started > ENOUGH_S:
                break
        return read, sampled
    finally:
        await engine.stop()


async def _tokens_per_s(engine: Engine, spec: BaseModelSpec, *, rows: int, new: int) -> float:
    """Tokens per second on prompts when one new token is requested, otherwise of sampling."""
    version = engine.versions.get(spec.name)
    generator = random.Random(rows)
    length = min(PROMPT_TOKENS, spec.context_length - NEW_TOKENS) // (1 if new == 1 else 16)
    prompts = [_tokens(generator, version.base.vocab_size, max(2, length)) for _ in range(rows)]
    sequences = [
        engine.sequence(version, prompt, Sampling(max_tokens=new, temperature=1, seed=number))
        for number, prompt in enumerate(prompts)
    ]
    started = time.perf_counter()
    await engine.finish(sequences)
    seconds = time.perf_counter() - started
    tokens = sum(map(len, prompts)) if new == 1 else rows * new
    return tokens / seconds


def _trainer_speed(spec: BaseModelSpec, options: TrainerOptions) -> tuple[float, bool]:
    """Tokens per second of a whole update, and whether rows share their prompt's computation."""
    trainer = LoraTrainer(
        spec.path,
        base_name=spec.name,
        rank=spec.lora_rank,
        alpha=spec.lora_alpha,
        learning_rate=spec.learning_rate,
        seed=0,
        options=options,
    )
    speed = 0.0
    for rows in (1, GROUP_SIZE):
        samples = _group(spec, rows)
        length = len(samples[0].tokens)
        prompt = length * PROMPT_TOKENS // (PROMPT_TOKENS + SAMPLED_TOKENS)
        tokens = rows * length - (rows - 1) * prompt * trainer.packs
        started = time.perf_counter()
        trainer.update(samples)
        seconds = time.perf_counter() - started
        speed = tokens / seconds
        if seconds > ENOUGH_S:
            break
    return speed, trainer.packs


def _group(spec: BaseModelSpec, rows: int) -> list[TrainingSample]:
    generator = random.Random(rows)
    length = min(PROMPT_TOKENS + SAMPLED_TOKENS, spec.context_length)
    prompt = length * PROMPT_TOKENS // (PROMPT_TOKENS + SAMPLED_TOKENS)
    start = _tokens(generator, _FEW_IDS, prompt)
    own = length - prompt
    return [
        TrainingSample(
            [*start, *_tokens(generator, _FEW_IDS, own)],
            [0] * prompt + [1] * own,
            [_LOGPROB] * length,
            1.0 - 2 * (row % 2),
            group=0,
        )
        for row in range(rows)
    ]


def _tokens(generator: random.Random, vocabulary: int, count: int) -> list[int]:
    return [generator.randrange(vocabulary) for _ in range(count)]
