"""The checks of the house are run by `make check`, and find what they look for."""

from importlib import import_module
from pathlib import Path

import pytest

from tests.house import lengths, reasons
from tests.house.__main__ import CHECKS, main

ROOT = Path(__file__).parents[2]


def test_make_check_runs_every_check() -> None:
    modules = [
        import_module(f"tests.house.{path.stem}")
        for path in Path(__file__).parent.glob("[a-z]*.py")
        if not path.stem.startswith("test_")
    ]
    assert {module for module in modules if hasattr(module, "violations")} == set(CHECKS)
    assert "\n\t$(BIN)/python -m tests.house\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_a_violation_fails_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main((lengths,)) == 0
    monkeypatch.setattr(lengths, "LIMITS", {"workers": 1})
    assert main((reasons, lengths)) == 1
    assert "a file here has at most 1" in capsys.readouterr().out
