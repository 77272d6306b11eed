"""The plan of a start has the trainer that a run will have."""

from pathlib import Path

import pytest

from app.models.compute import StartRequest
from app.models.models import BaseModelSpec, TrainerMemory
from tests.support.models.tiny_model import save_tiny_model
from workers.engines.start_plans import start
from workers.engines.start_plans.start import plan_start
from workers.learning.memory.plan import GIB


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "free_memory", lambda: 16 * GIB)
    monkeypatch.setattr(start, "is_accelerated", lambda: False)


def _request(directory: Path, memory: TrainerMemory, **own: object) -> StartRequest:
    path = str(save_tiny_model(directory))
    values = {"name": "tiny", "path": path, "context_length": 512, **own}
    return StartRequest(spec=BaseModelSpec.model_validate(values), engine="cpu", memory=memory)


@pytest.mark.parametrize(("own", "planned"), [(None, 6000), (700, 700)])
def test_the_micro_batch_is_the_base_model_s_or_the_operator_s(
    tmp_path: Path, own: int | None, planned: int
) -> None:
    memory = TrainerMemory(micro_batch_tokens=6000)
    plan = plan_start(_request(tmp_path, memory, micro_batch_tokens=own))
    assert any(f"trainer: micro-batch of {planned:,} tokens" in line for line in plan.lines)
    assert plan.micro_batch_tokens is None, "the plan replaces no number that is set"


def test_an_absent_micro_batch_is_planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert plan_start(_request(tmp_path, TrainerMemory())).micro_batch_tokens is None
    monkeypatch.setattr(start, "free_memory", lambda: 31 * GIB // 10)
    plan = plan_start(_request(tmp_path, TrainerMemory()))
    assert plan.problems == ()
    assert plan.micro_batch_tokens is not None
    assert 512 <= plan.micro_batch_tokens < 4096


def test_checkpointing_is_the_base_model_s_or_the_operator_s(tmp_path: Path) -> None:
    def tables(memory: TrainerMemory, own: bool | None) -> tuple[str, ...]:
        return plan_start(_request(tmp_path, memory, checkpointing=own)).lines

    saving, plain = TrainerMemory(checkpointing=True), TrainerMemory()
    assert tables(saving, None) == tables(plain, True) != tables(plain, None)
    assert tables(saving, False) == tables(plain, None)
