"""The plan of a machine's memory, by hand."""

from dataclasses import replace
from pathlib import Path

from tests.support.cases import cases
from workers.engines.start_plans.start import (
    MIB,
    PREFIX_BYTES,
    PROCESS_BYTES,
    SERVICES_BYTES,
    CpuEngine,
    CpuNeeds,
    free_memory,
    plan_cpu_memory,
)
from workers.learning.memory.plan import GIB, Counts

COUNTS = Counts(
    weights=512 * MIB,
    engine_weights=256 * MIB,
    adapter=8 * MIB,
    a_token=256 * 1024,
    a_batch=0,
    head=64 * MIB,
    kv_a_token=16 * 1024,
)
NEEDS = CpuNeeds(8 * GIB, 2048, COUNTS, "cpu", trains=True)


def _parts(needs: CpuNeeds) -> dict[str, int]:
    plan = plan_cpu_memory(needs)
    return {f"{part.owner}: {part.name}": part.bytes for part in plan.memory.parts}


def test_every_part_by_hand() -> None:
    plan = plan_cpu_memory(NEEDS)
    assert plan.memory.fits
    parts = _parts(NEEDS)
    assert parts["engine: weights, plain and packed"] == 1024 * MIB
    assert parts["engine: prefix cache"] == PREFIX_BYTES
    assert parts["trainer: weights"] == 512 * MIB
    assert parts["trainer: adapter, gradients, moments"] == 40 * MIB
    assert parts["trainer: micro-batch of 4,096 tokens"] == 4096 * 256 * 1024
    assert sum(parts.values()) + plan.memory.free_bytes == 8 * GIB
    assert plan.memory.kv_tokens == plan.kv_bytes // (2 * 16 * 1024)
    assert plan.kv_bytes >= 4 * 2048 * 2 * 16 * 1024, "at least four whole contexts"


@cases(
    ("engine", "trains", "absent", "owners"),
    [
        ("cpu", False, "trainer", {"engine", "service"}),
        (None, True, "engine", {"trainer", "service"}),
        ("vllm_cpu", True, "prefix cache", {"engine", "trainer", "service"}),
    ],
)
def test_only_what_computes_here_is_planned(
    engine: CpuEngine | None, *, trains: bool, absent: str, owners: set[str]
) -> None:
    parts = _parts(replace(NEEDS, engine=engine, trains=trains))
    assert any(absent in name for name in _parts(NEEDS))
    assert not any(absent in name for name in parts)
    assert {name.partition(":")[0] for name in parts} == owners


def test_a_smaller_memory_makes_the_micro_batch_smaller_before_it_refuses() -> None:
    fixed = SERVICES_BYTES + 2 * PROCESS_BYTES + 5 * 512 * MIB + PREFIX_BYTES + 104 * MIB
    kv, batch = 4 * 2048 * 2 * 16 * 1024, 2048 * 256 * 1024
    least = fixed + kv + batch
    plan = plan_cpu_memory(replace(NEEDS, free_bytes=least + 64 * MIB))
    assert plan.memory.fits
    assert 2048 <= plan.memory.micro_batch_tokens < 4096
    refused = plan_cpu_memory(replace(NEEDS, free_bytes=least - 1))
    (problem,) = refused.memory.problems
    assert "lower --context-length to 1024" in problem
    followed = replace(NEEDS, free_bytes=least - 1, context_length=1024)
    assert plan_cpu_memory(followed).memory.fits


def test_the_operators_micro_batch_is_planned_and_named_where_it_does_not_fit() -> None:
    plan = plan_cpu_memory(replace(NEEDS, micro_batch_tokens=6000))
    assert (plan.memory.micro_batch_tokens, plan.memory.fits) == (6000, True)
    assert plan_cpu_memory(replace(NEEDS, micro_batch_tokens=5)).memory.micro_batch_tokens == 2048
    (problem,) = plan_cpu_memory(replace(NEEDS, micro_batch_tokens=60_000)).memory.problems
    assert "60,000 tokens of AGENT_RFT_RUNS__MICRO_BATCH_TOKENS: lower it" in problem
    small = replace(NEEDS, free_bytes=GIB, micro_batch_tokens=60_000)
    (problem,) = plan_cpu_memory(small).memory.problems
    assert "leave out AGENT_RFT_RUNS__MICRO_BATCH_TOKENS, and then: take a smaller" in problem


def test_a_model_that_no_context_helps_needs_a_smaller_one() -> None:
    (problem,) = plan_cpu_memory(replace(NEEDS, free_bytes=GIB)).memory.problems
    assert "take a smaller model" in problem
    assert "--context-length" not in problem


def test_the_limit_of_a_container_counts(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:       900 kB\nMemAvailable:       800 kB\n")
    assert free_memory(meminfo=meminfo, cgroup=tmp_path) == 800 * 1024
    (tmp_path / "memory.max").write_text("600000\n")
    (tmp_path / "memory.current").write_text("500000\n")
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 100000\n")
    assert free_memory(meminfo=meminfo, cgroup=tmp_path) == 200_000
    (tmp_path / "memory.max").write_text("max\n")
    assert free_memory(meminfo=meminfo, cgroup=tmp_path) == 800 * 1024
