"""Plans a start with one base model on this machine: the abilities, memory and speed of the
model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, assert_never

import torch
from transformers import AutoConfig

from app.models.compute import EngineKind, StartPlan, StartRequest
from workers.compute import is_accelerated
from workers.engines.base_model_check import BaseModelReport, check_base_model
from workers.engines.start_plans.cpu_memory import (
    MIB,
    CpuEngine,
    CpuNeeds,
    free_memory,
    plan_cpu_memory,
    share_for_engine,
)
from workers.learning.memory.__main__ import DTYPES, table
from workers.learning.memory.plan import MemoryPlan, PlanInputs, plan_memory
from workers.learning.memory.training_counts import Counts, UncountableModel, count
from workers.learning.options import CPU_BATCH_TOKENS, TrainerOptions, machine_options

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
    lines += _unused(request.engine)
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
    if report.verdict == "refused":
        return "; ".join(report.reasons)
    match engine:
        case "cpu":
            return None if report.cpu_engine else "; ".join(report.reasons)
        case "vllm":
            return None if torch.cuda.is_available() else _NO_GPU
        case "vllm_cpu":
            return None
        case _:
            assert_never(engine)


def _unused(engine: EngineKind) -> list[str]:
    match engine:
        case "cpu":
            return [_UNUSED_GPU] if is_accelerated() else []
        case "vllm" | "vllm_cpu":
            return []
        case _:
            assert_never(engine)


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
    """Returns the counted bytes of the model. Raises `UncountableModel`."""
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
    gpu = [_on_gpu(request, counts)] if is_accelerated() else []
    match request.engine:
        case "vllm":
            return gpu
        case "cpu" | "vllm_cpu":
            return [*gpu, _on_cpu(request, counts, request.engine)]
        case _:
            assert_never(request.engine)


def _on_gpu(request: StartRequest, counts: Counts) -> _PlannedMemory:
    """Plans the GPU, for the trainer alone unless vLLM uses it too."""
    free, _ = torch.cuda.mem_get_info()
    context = request.spec.context_length
    tokens = _options(request).max_batch_tokens
    match request.engine:
        case "vllm":
            share: float | None = request.engine_share or share_for_engine(
                free, counts, context_length=context, micro_batch_tokens=tokens
            )
        case "cpu" | "vllm_cpu":
            share = None
        case _:
            assert_never(request.engine)
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
