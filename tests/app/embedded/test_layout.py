"""The settings of a start: what its plan adds, and what the operator has set."""

import socket
from pathlib import Path

import pytest
import uvicorn

from app.local.base_model import ChosenModel
from app.local.layout import UpOptions, api_child, build_settings
from app.local.state import DataDir, InstallationState, free_port
from app.models.models import BaseModelSpec
from app.settings import HostSettings

SPEC = BaseModelSpec(name="m", path="/models/m", context_length=2048)


@pytest.mark.parametrize(("operators", "runs_with"), [(None, 3000), ("500", 500)])
def test_the_planned_micro_batch_gives_way_to_the_operators(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operators: str | None, runs_with: int
) -> None:
    if operators is not None:
        monkeypatch.setenv("AGENT_RFT_RUNS__MICRO_BATCH_TOKENS", operators)
    chosen = ChosenModel(spec=SPEC, engine="cpu", micro_batch_tokens=3000)
    settings = build_settings(
        UpOptions(8310),
        host=HostSettings(),
        state=InstallationState(1, 2, 3),
        data_dir=DataDir(tmp_path),
        chosen=chosen,
    )
    assert settings.runs.memory.of(settings.base_models[0]).micro_batch_tokens == runs_with


def test_an_api_that_does_not_answer_is_noticed(tmp_path: Path) -> None:
    data_dir = DataDir(tmp_path)
    settings = build_settings(
        UpOptions(8310),
        host=HostSettings(),
        state=InstallationState(1, 2, 3),
        data_dir=data_dir,
        chosen=None,
    )
    port = free_port()
    child = api_child(settings, data_dir, port)
    assert child.answers is not None
    assert not child.answers(1)
    with socket.create_server(("127.0.0.1", port)):  # a frozen process accepts connections too
        assert not child.answers(1)


@pytest.mark.parametrize(("named", "believed"), [(None, False), ("10.0.0.7", True)])
def test_the_api_believes_only_proxies_that_the_operator_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str | None, believed: bool
) -> None:
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    if named is not None:
        monkeypatch.setenv("FORWARDED_ALLOW_IPS", named)
    data_dir = DataDir(tmp_path)
    settings = build_settings(
        UpOptions(8310),
        host=HostSettings(),
        state=InstallationState(1, 2, 3),
        data_dir=data_dir,
        chosen=None,
    )
    child = api_child(settings, data_dir, 8310)
    options = child.command[child.command.index("uvicorn") + 1 :]
    read = uvicorn.main.make_context("uvicorn", [*options])
    assert read.params["proxy_headers"] is believed
    assert child.environment.get("FORWARDED_ALLOW_IPS") == named
