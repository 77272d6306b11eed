"""A model is prepared with the operator's values; questions to the GPU plane are answered here."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from app.local import preparation
from app.local.base_model import ChosenModel, ModelRequest
from app.local.preparation import prepare
from app.local.state import ModelRefused, WrongOptions
from app.models.compute import StartPlan, StartRequest, StepPace
from app.models.models import TrainerMemory
from app.settings import HostSettings

PACE = StepPace(read=1, sampled=1, trained=1, shares_prompts=True)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    directory = tmp_path / "model"
    directory.mkdir()
    (directory / "config.json").write_text('{"max_position_embeddings": 2048}')
    (directory / "model.safetensors").write_bytes(b"")
    return directory


class Answers:
    """Records the questions of a start."""

    def __init__(self, planned: int | None) -> None:
        self.asked: dict[str, StartRequest] = {}
        self._planned = planned

    def __call__(self, command: str, request: StartRequest, _: type[BaseModel]) -> BaseModel:
        self.asked[command] = request
        return StartPlan(micro_batch_tokens=self._planned) if command == "plan" else PACE


def _prepared(request: ModelRequest, memory: TrainerMemory) -> ChosenModel:
    return prepare(
        request, host=HostSettings(), memory=memory, before=None, consent=lambda _: False
    )


def test_plan_and_measurement_have_the_operators_values(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = Answers(planned=None)
    monkeypatch.setattr(preparation, "_run_planner", answers)
    memory = TrainerMemory(checkpointing=True, micro_batch_tokens=700)
    chosen = _prepared(ModelRequest(str(model)), memory)
    assert [request.memory for request in answers.asked.values()] == [memory, memory]
    assert (chosen.micro_batch_tokens, chosen.spec.micro_batch_tokens) == (None, None)


def test_a_context_beyond_the_model_s_is_refused(model: Path) -> None:
    with pytest.raises(WrongOptions, match=r"--context-length 2049: .* at most 2048 tokens"):
        _prepared(ModelRequest(str(model), context_length=2049), TrainerMemory())


@pytest.mark.parametrize("wanted", [2048, None])
def test_a_default_context_below_the_model_s_is_reported(
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    wanted: int | None,
) -> None:
    (model / "config.json").write_text('{"max_position_embeddings": 40960}')
    monkeypatch.setattr(preparation, "_run_planner", Answers(planned=None))
    chosen = _prepared(ModelRequest(str(model), context_length=wanted), TrainerMemory())
    assert chosen.spec.context_length == (wanted or 4096)
    said = "rollouts hold 4,096 tokens of the model's 40,960" in capsys.readouterr().err
    assert said is (wanted is None)


@pytest.mark.parametrize(
    "config",
    [
        '{"text_config": null}',
        '{"max_position_embeddings": -1}',
    ],
)
def test_a_config_without_a_context_length_is_refused(model: Path, config: str) -> None:
    (model / "config.json").write_text(config)
    with pytest.raises(ModelRefused, match=r"no max_position_embeddings"):
        _prepared(ModelRequest(str(model)), TrainerMemory())


def test_what_is_planned_is_measured_and_kept_beside_the_model(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = Answers(planned=3000)
    monkeypatch.setattr(preparation, "_run_planner", answers)
    chosen = _prepared(ModelRequest(str(model)), TrainerMemory())
    assert answers.asked["pace"].memory.micro_batch_tokens == 3000
    assert (chosen.micro_batch_tokens, chosen.spec.micro_batch_tokens) == (3000, None)
