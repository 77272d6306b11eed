"""`agent-rft demo` beside a demo that was kept."""

import subprocess
from pathlib import Path

from app.domain.processes.interpreters import running_module


def test_a_kept_demo_is_not_replaced(tmp_path: Path) -> None:
    data = tmp_path / ".agent-rft" / "demo"
    data.mkdir(parents=True)
    (data / "kept").touch()
    (data / "made").write_text("by hand")
    command = running_module("app.cli.main", "demo")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "a demo that was kept is in .agent-rft/demo" in done.stderr
    assert "down --data-dir .agent-rft/demo && rm -r .agent-rft/demo" in done.stderr
    assert (data / "made").read_text() == "by hand"
