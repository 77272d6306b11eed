"""`agent-rft models export`: waits for an export, downloads and checks it."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.cli import main as command_line
from tests.support.contract.exports import add_real_adapter, make_exports, models
from tests.support.contract.service import BASE, Service


@pytest.fixture
def model(service: Service, job: Any) -> str:
    name = f"ft:{BASE}:first::{job.id[-8:]}"
    add_real_adapter(service, job.id, name)
    return name


def test_the_command_waits_for_an_export_and_checks_its_files(
    service: Service,
    model: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    slept: list[float] = []

    def working(seconds: float) -> None:
        slept.append(seconds)
        make_exports(service.database.settings)

    monkeypatch.setattr("app.cli.models.time", SimpleNamespace(sleep=working))
    monkeypatch.setenv("AGENT_RFT_BASE_URL", service.api.base_url)
    monkeypatch.setenv("AGENT_RFT_API_KEY", service.api.key)
    target = tmp_path / "merged"
    monkeypatch.setattr("sys.argv", ["agent-rft", "models", "export", model, "--out", str(target)])
    for _ in range(2):  # the second one takes the export that is there
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        assert ended.value.code in (None, 0)
        assert capsys.readouterr().out == f"{target}\n"
        assert (target / "model.safetensors").stat().st_size > 1_000_000
        monkeypatch.setattr("sys.argv", [*sys.argv, "--force"])
    assert len(slept) == 1
    assert len(models(service, "GET", f"{model}/exports").json()["data"]) == 1
