"""The page of the command line: its commands, examples and envelope are those of the code."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from app.cli.main import app
from app.cli.output import ENVELOPE_VERSION
from tests.support.cli.command_line import agent_rft

PAGE = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^    (agent-rft .+)$", PAGE, re.MULTILINE)
INSTALLATION = {"keys"}
"""Groups of commands that other pages describe."""


def _leaves() -> dict[str, Any]:
    """Returns the commands of the client, by their words: those of its groups, and those of one
    word, which take an address.
    """
    root: Any = get_command(app)
    alone = {
        noun: command
        for noun, command in root.commands.items()
        if any(option.name == "base_url" for option in command.params)
    }
    return alone | {
        f"{noun} {verb}": command
        for noun, group in root.commands.items()
        if noun not in INSTALLATION
        for verb, command in getattr(group, "commands", {}).items()
    }


def _commands(commands: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yields every command of a tree by its words."""
    for name, command in commands.items():
        inner = getattr(command, "commands", None)
        if inner is None:
            yield name, command
        else:
            yield from ((f"{name} {words}", leaf) for words, leaf in _commands(inner))


def test_the_table_lists_every_command_of_the_client() -> None:
    listed = re.findall(r"^\| `([a-z]+(?: [a-z-]+)?)` \|", PAGE, re.MULTILINE)
    assert sorted(listed) == sorted(_leaves())
    assert len(set(listed)) == len(listed) > 40


def _parse(words: list[str]) -> None:
    """Parses a call as the command would; raises for an unknown option or a missing argument."""
    leaves = _leaves()
    count = 1 if words[0] in leaves else 2
    leaves[" ".join(words[:count])].make_context("agent-rft", words[count:])


def test_every_example_of_the_page_can_be_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("train.jsonl", "valid.jsonl"):
        Path(name).touch()
    parsed = 0
    for line in EXAMPLES:
        for part in re.split(r"&&|\|", line.partition(" < ")[0]):
            words = shlex.split(part) if "agent-rft" in part else []
            if len(words) > 2:
                _parse(words[1:])
                parsed += 1
    assert parsed >= 18


def test_every_help_text_ends_in_an_example_that_can_be_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("train.jsonl", "valid.jsonl", "job.json"):
        Path(name).touch()
    Path("backup-monday").mkdir()
    root: Any = get_command(app)
    every = dict(_commands(root.commands))
    assert len(every) > len(_leaves()) + 12
    for words, command in every.items():
        found = re.search(r"\n\s*Example: agent-rft ((?:.|\n)+)$", command.help or "")
        assert found, words
        call = found[1].partition("&&")[0].partition(" < ")[0]
        assert call.startswith(words), words
        arguments = shlex.split(call)[len(words.split()) :]
        command.make_context("agent-rft", arguments, ignore_unknown_options=words == "plan")


def test_the_envelope_of_the_page_is_the_one_that_is_printed(tmp_path: Path) -> None:
    [block] = re.findall(r"```json\n(.+)\n```", PAGE)
    shown = json.loads(block)
    done = agent_rft("profiles", "list", "--json", XDG_CONFIG_HOME=str(tmp_path))
    printed = json.loads(done.stdout)
    assert list(shown) == list(printed)
    assert shown["version"] == printed["version"] == ENVELOPE_VERSION
    assert shown == {**printed, "command": "jobs list"}


@pytest.mark.parametrize(
    ("words", "found"), [("agent-rft jobs wa", "watch"), ("agent-rft jobs list --li", "--limit")]
)
def test_the_shell_completes_commands_and_options(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str, found: str
) -> None:
    for name, value in {
        "_AGENT_RFT_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        app([], prog_name="agent-rft")
    assert ended.value.code == 0
    assert capsys.readouterr().out.split() == [found]
