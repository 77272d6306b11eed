"""`agent-rft demo` beside a demo that was kept, and on a port of its own."""

import os
import socket
import subprocess
from pathlib import Path

from app.kit.processes import running_module
from tests.support.cases import cases

ROOT = Path(__file__).resolve().parents[4]


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


def test_the_demo_takes_the_port_that_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = running_module("app.cli.main", "demo", "--port", port)
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"127.0.0.1:{port} is in use" in done.stderr


@cases(
    ("words", "option"),
    [(["PORT=8123"], "--port 8123"), (["PORT="], "")],
    ids=["named", "empty"],
)
def test_make_demo_hands_on_the_port(words: list[str], option: str) -> None:
    # An outer make hands its own variables on, such as those of `make test ARGS=…`.
    of_make = {"PORT", "ARGS", "MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL"}
    environment = {key: value for key, value in os.environ.items() if key not in of_make}
    said = subprocess.run(
        ["make", "-n", "demo", *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    [line] = [line for line in said.splitlines() if "agent-rft demo" in line]
    assert " ".join(line.split()[2:]) == option
