"""The base model of a start: chosen by the command, written and read under the directory's lock."""

import sys
from pathlib import Path

import pytest

from app.cli import main as command_line
from app.cli import up
from app.local import preparation
from app.local.base_model import (
    ChosenModel,
    LastModel,
    ModelChoice,
    ModelRequest,
    ShippedModel,
    read_chosen,
    settle_base_model,
    write_chosen,
)
from app.local.layout import UpOptions
from app.local.state import DataDir, DataDirBusy, ModelNotFound, WrongOptions, free_port, ownership
from app.local.supervisor import Supervisor
from app.models.compute import StartPlan, StepPace
from app.models.models import BaseModelSpec
from app.settings import HostSettings, scholar_model


def _model(tmp_path: Path, name: str) -> Path:
    directory = tmp_path / name
    directory.mkdir()
    (directory / "config.json").write_text('{"max_position_embeddings": 2048}')
    (directory / "model.safetensors").write_bytes(b"")
    return directory


def _chosen(directory: Path) -> ChosenModel:
    spec = BaseModelSpec(name=directory.name, path=str(directory), context_length=64)
    return ChosenModel(spec=spec, engine="cpu", hub_id=f"Somebody/{directory.name}")


@pytest.fixture
def data(tmp_path: Path) -> DataDir:
    return DataDir.at(tmp_path / "data")


def test_two_starts_at_once_leave_the_model_of_the_one_that_runs(
    tmp_path: Path, data: DataDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both choose before either runs; the supervisor that gets the lock notes its own choice."""
    paces = StepPace(read=1, sampled=1, trained=1, shares_prompts=True)
    monkeypatch.setattr(
        preparation,
        "_run_planner",
        lambda command, *_: StartPlan(micro_batch_tokens=None) if command == "plan" else paces,
    )
    port = free_port()
    first, second = (
        up.choose_model(
            data.root, ModelRequest(str(_model(tmp_path, name))), port=port, yes=False, chosen=None
        )
        for name in ("first", "second")
    )
    assert read_chosen(data) is None
    with ownership(data):
        assert settle_base_model(first, data, HostSettings()) == first
        late = Supervisor(data, UpOptions(port, model=second), HostSettings())
        with pytest.raises(DataDirBusy):
            late.run(lambda _: None)
    assert read_chosen(data) == first
    assert settle_base_model(LastModel(), data, HostSettings()) == first


def test_the_shipped_model_is_the_model_of_later_starts(tmp_path: Path, data: DataDir) -> None:
    write_chosen(data, _chosen(_model(tmp_path, "m")))
    assert settle_base_model(ShippedModel(), data, HostSettings()) is None
    assert settle_base_model(LastModel(), data, HostSettings()) is None


def test_a_last_model_whose_directory_is_gone_is_named(tmp_path: Path, data: DataDir) -> None:
    directory = _model(tmp_path, "m")
    write_chosen(data, _chosen(directory))
    (directory / "config.json").unlink()
    with pytest.raises(ModelNotFound, match="start with --model Somebody/m once more"):
        settle_base_model(LastModel(), data, HostSettings())


def test_the_last_start_s_model_and_an_engine_elsewhere_contradict_each_other(
    tmp_path: Path, data: DataDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = _chosen(_model(tmp_path, "m"))
    write_chosen(data, chosen)
    assert settle_base_model(LastModel(), data, HostSettings()) == chosen
    monkeypatch.setenv("AGENT_RFT_ENGINE_URL", "http://127.0.0.1:1")
    with pytest.raises(WrongOptions, match=r"AGENT_RFT_ENGINE_URL is set: .* --model Somebody/m"):
        settle_base_model(LastModel(), data, HostSettings())
    monkeypatch.setenv("AGENT_RFT_BASE_MODELS", f"[{chosen.spec.model_dump_json()}]")
    assert settle_base_model(LastModel(), data, HostSettings()) is None, "the settings name it"


@pytest.mark.parametrize("kind", ["chosen", "shipped", "last"])
def test_a_detached_start_gets_every_option(
    tmp_path: Path, data: DataDir, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    choices: dict[str, ModelChoice] = {
        "chosen": _chosen(tmp_path / "m"),
        "shipped": ShippedModel(),
        "last": LastModel(),
    }
    sent = UpOptions(8312, allow_endpoints=("localhost:8900",), lease_s=7.5, model=choices[kind])
    started: list[tuple[Path, UpOptions, int | None]] = []
    monkeypatch.setattr(
        up, "start", lambda root, options, *, ready_fd: started.append((root, options, ready_fd))
    )
    command = up.start_command(data, sent)
    arguments = command[command.index("up") :]
    monkeypatch.setattr(sys, "argv", ["agent-rft", *arguments, "--ready-fd", "5"])
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    assert ended.value.code in (0, None)
    assert started == [(data.root, sent, 5)]


def test_a_second_shipped_model_is_chosen_by_its_name_and_kept(data: DataDir) -> None:
    choice = up.choose_model(
        data.root, ModelRequest("tiny-scholar"), port=free_port(), yes=False, chosen=None
    )
    assert choice == ChosenModel(spec=scholar_model(), engine="cpu")
    assert settle_base_model(choice, data, HostSettings()) == choice
    assert settle_base_model(LastModel(), data, HostSettings()) == choice


def test_a_shipped_model_is_found_where_this_installation_has_it(data: DataDir) -> None:
    elsewhere = scholar_model().model_copy(update={"path": "/former/installation"})
    write_chosen(data, ChosenModel(spec=elsewhere, engine="cpu"))
    assert read_chosen(data) == ChosenModel(spec=scholar_model(), engine="cpu")


def test_a_directory_that_has_the_alias_of_a_shipped_model_stays_the_users(
    tmp_path: Path, data: DataDir
) -> None:
    own = _chosen(_model(tmp_path, "tiny-scholar"))
    write_chosen(data, own)
    assert read_chosen(data) == own
