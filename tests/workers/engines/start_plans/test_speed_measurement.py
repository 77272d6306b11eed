"""The speed of a model on this machine: measured once, then read."""

from pathlib import Path
from typing import Any

import pytest

from app.models.compute import StepPace, step_time
from app.models.models import BaseModelSpec, TrainerMemory
from tests.support.models.tiny_model import save_tiny_model
from workers.engines.start_plans import start as speed_measurement
from workers.learning.trainer import TrainerOptions, machine_options


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BaseModelSpec:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return BaseModelSpec(
        name="tiny", path=str(save_tiny_model(tmp_path / "tiny")), context_length=512
    )


async def test_it_is_measured_once_for_a_machine_and_a_shape(
    spec: BaseModelSpec, tmp_path: Path
) -> None:
    measured = await speed_measurement.pace_of(spec, TrainerMemory())
    assert min(measured.read, measured.sampled, measured.trained) > 0
    assert measured.shares_prompts, "Qwen3 packs"
    (file,) = (tmp_path / "cache" / "agent-rft" / "pace").iterdir()
    known = measured.model_copy(update={"sampled": 123.0})
    file.write_text(known.model_dump_json())
    assert await speed_measurement.pace_of(spec, TrainerMemory()) == known, "read, not measured"
    file.write_text("{")
    again = await speed_measurement.pace_of(spec, TrainerMemory())
    assert again != known, "what cannot be read is measured again"


def _file(spec: BaseModelSpec, **installed: Any) -> Path:
    options = machine_options(TrainerOptions(), spec, TrainerMemory(**installed))
    return speed_measurement.pace_file(spec, options)


@pytest.mark.parametrize(
    "other",
    [
        {"context_length": 256},
        {"dtype": "bfloat16"},
        {"checkpointing": True},
        {"micro_batch_tokens": 128},
        {"lora_rank": 8},
    ],
)
def test_a_result_is_kept_for_all_that_it_depends_on(
    spec: BaseModelSpec, other: dict[str, Any]
) -> None:
    assert _file(spec.model_copy(update=other)) != _file(spec)


def test_a_result_is_the_same_whoever_sets_the_options(spec: BaseModelSpec) -> None:
    own: dict[str, Any] = {"checkpointing": True, "micro_batch_tokens": 128}
    assert _file(spec, **own) == _file(spec.model_copy(update=own)) != _file(spec)


def test_the_time_of_a_step_by_hand() -> None:
    speeds = StepPace(read=1024, sampled=4096, trained=2048, shares_prompts=True)
    step = step_time(speeds)
    assert step.sampling == pytest.approx(8 * 256 / 1024 + 64 * 128 / 4096)
    assert step.training == pytest.approx((8 * 256 + 64 * 128) / 2048)
    assert step.tokens_per_s == pytest.approx(64 * 128 / (4 + 5))
    by_row = step_time(speeds.model_copy(update={"shares_prompts": False}))
    assert by_row.training == pytest.approx(64 * (256 + 128) / 2048)
