"""Each command about backups and new versions is one that its program takes."""

import re
import shlex
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from typer.main import get_command

from app.cli.main import app

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
TEXT = PAGE[PAGE.index("\n## Backup\n") :]
PROGRAMS: Final = "agent-rft|make|docker"
LINES = re.findall(rf"^    ((?:{PROGRAMS}) .*)$", TEXT, re.MULTILINE)
INLINE = re.findall(rf"`((?:{PROGRAMS}) [^`]*)`", TEXT)


def _composed() -> ArgumentParser:
    """Returns a parser of the commands of docker compose that the page has."""
    parser = ArgumentParser(exit_on_error=False)
    parser.add_argument("--profile")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("stop", "start", "build", "down"):
        commands.add_parser(name).add_argument("services", nargs="*")
    up = commands.add_parser("up")
    up.add_argument("-d", action="store_true")
    up.add_argument("--wait", action="store_true")
    up.add_argument("services", nargs="*")
    for name, switches in {"exec": ("-T",), "run": ("-T", "--rm", "--no-deps")}.items():
        inner = commands.add_parser(name)
        for switch in switches:
            inner.add_argument(switch, action="store_true")
        inner.add_argument("services", nargs=1)
        inner.add_argument("program", nargs="...")
    return parser


@pytest.mark.parametrize("line", [*LINES, *INLINE])
def test_every_command_is_taken(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("BACKUP", "DIR"):
        Path(name).mkdir()
    program, *words = shlex.split(re.split(" [<>] ", line)[0])
    match program:
        case "make":
            assert re.search(rf"^{words[0]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
        case "docker":
            assert words.pop(0) == "compose"
            read = _composed().parse_args(words)
            file: Any = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
            assert set(read.services) <= set(file["services"])
            profiles = {
                name for one in file["services"].values() for name in one.get("profiles", ())
            }
            assert read.profile is None or read.profile in profiles
        case _:
            command: Any = get_command(app)
            while hasattr(command, "commands"):
                command = command.commands[words.pop(0)]
            command.make_context("agent-rft", words)


def test_the_page_shows_both_ways_from_a_backup_to_a_running_service() -> None:
    commands = [" ".join(line.split()[:3]) for line in LINES]
    assert [each for each in commands if each.startswith("agent-rft")] == [
        "agent-rft backup --data-dir",
        "agent-rft restore --from",
        "agent-rft up --data-dir",
    ]
    assert commands[-1] == "docker compose --profile"
    assert len(LINES) == len(re.findall(r"^    \w", TEXT, re.MULTILINE)), "each is checked"
