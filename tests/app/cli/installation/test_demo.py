"""`agent-rft demo` beside a demo that was kept."""

from pathlib import Path

import pytest

from tests.support.cli.command_line import agent_rft


def test_a_kept_demo_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / ".agent-rft" / "demo"
    data.mkdir(parents=True)
    (data / "kept").touch()
    (data / "made").write_text("by hand")
    monkeypatch.chdir(tmp_path)
    done = agent_rft("demo")
    assert (done.returncode, done.stdout) == (1, "")
    assert "a demo that was kept is in .agent-rft/demo" in done.stderr
    assert "down --data-dir .agent-rft/demo && rm -r .agent-rft/demo" in done.stderr
    assert (data / "made").read_text() == "by hand"
