"""Arguments, files and streams that no command can use end in a sentence, never in a traceback."""

import json
import os
import sys
from pathlib import Path
from typing import TextIO

import pytest

from app.cli import main as command_line
from app.cli.client import service
from app.cli.files import upload
from app.cli.profiles import Profile, profiles_file, write_profiles
from app.cli.terminal import ServiceError, read_stdin
from tests.support.cases import cases
from tests.support.cli.command_line import agent_rft, running_agent_rft
from tests.support.cli.scripted_service import reply, scripted_service
from tests.support.patience import PATIENCE_S

NO_TEXT = os.fsdecode(b"caf\xe9")
NAMED = ("--base-url", "http://127.0.0.1:9/v1", "--api-key", "k")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    write_profiles({"p": Profile(base_url="http://x/v1", api_key="k")})
    return str(tmp_path)


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    """Runs a command in this process. Returns the exit code."""
    monkeypatch.setattr(sys, "argv", ["agent-rft", *arguments])
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    return ended.value.code


def listed(monkeypatch: pytest.MonkeyPatch, stdout: TextIO | None) -> object:
    """Lists profiles on a standard output. Returns the exit code."""
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", stdout)
        return run(patched, "profiles", "list")


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_an_output_that_takes_nothing_is_a_failure(home: str, options: tuple[str, ...]) -> None:
    arguments = ("profiles", "list", *options)
    with running_agent_rft(*arguments, terminal="/dev/full", XDG_CONFIG_HOME=home) as running:
        done = running.process.ended.result(timeout=PATIENCE_S)
    assert done == 1


@pytest.mark.usefixtures("home")
def test_a_closed_output_is_a_failure_and_a_reader_that_left_gets_no_message(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert listed(monkeypatch, None) == 1
    assert capfd.readouterr().err == "agent-rft: standard output: Bad file descriptor\n"
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        assert listed(monkeypatch, full) == 1
    assert capfd.readouterr().err == "agent-rft: standard output: No space left on device\n"
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", encoding="utf-8") as pipe:
        assert listed(monkeypatch, pipe) == 1
    assert capfd.readouterr().err == ""


@cases(
    "arguments",
    [
        ("jobs", "resume", "ftjob-1", "--max-training-time-s", "inf"),
        ("rollouts", "list", "ftjob-1", "--min-reward", "nan"),
    ],
)
def test_a_number_that_json_has_not_is_a_wrong_option(arguments: tuple[str, ...]) -> None:
    done = agent_rft(*arguments, *NAMED)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Invalid value for" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("jobs", "show", NO_TEXT),
        ("models", "chat", "m", "-m", NO_TEXT),
    ],
)
def test_an_argument_that_is_no_text_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    assert run(monkeypatch, *arguments, *NAMED) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "agent-rft: an argument is not UTF-8 text\n")


def test_a_standard_input_that_is_no_text_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "message"
    path.write_bytes(b"caf\xe9")
    with (
        path.open(encoding="utf-8") as given,
        pytest.raises(ServiceError, match=r"^standard input is not UTF-8"),
    ):
        monkeypatch.setattr(sys, "stdin", given)
        read_stdin()


def test_a_pipe_is_no_file_to_upload(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with (
        scripted_service([reply("{}")]) as found,
        service(found.base_url, "k") as running,
        pytest.raises(ServiceError, match="is not a regular file") as refused,
    ):
        upload(running, path, purpose="fine-tune")
    assert (refused.value.exit_code, found.requests) == (2, [])


def test_a_list_of_profiles_that_fails_is_an_envelope(home: str) -> None:
    profiles_file().chmod(0o644)
    done = agent_rft("profiles", "list", "--json", XDG_CONFIG_HOME=home)
    assert done.returncode == 2
    envelope = json.loads(done.stdout)
    assert (envelope["command"], envelope["data"]) == ("profiles list", None)
    assert list(envelope["error"]) == ["message", "type", "param", "code", "status"]
    assert "others may read" in envelope["error"]["message"]
