"""Texts of a service reach a terminal without control characters."""

import io

import pytest
from rich.console import Console
from rich.text import Text

from app.cli import main as command_line
from app.cli.downloading import DownloadFailed
from app.cli.output import columns, fields
from app.cli.terminal import ServiceError, printable, printable_lines
from tests.support.cases import cases

HOSTILE = {
    "\x1b]0;title\x07": r"\x1b]0;title\x07",
    "\x1b]52;c;cm0gLXJm\x1b\\": r"\x1b]52;c;cm0gLXJm\x1b" + "\\",
    "\x9b31m": r"\x9b31m",
    "fine\rnot fine": r"fine\rnot fine",
    "\u202etxt.exe\u202c": r"\u202etxt.exe\u202c",
    "\ud800": r"\ud800",
    "\x00\x7f": r"\x00\x7f",
    "[bold]": "[bold]",
}


@cases(("text", "shown"), HOSTILE.items())
def test_a_control_character_is_shown_by_its_code(text: str, shown: str) -> None:
    assert printable(text) == printable_lines(text) == shown
    out = io.StringIO()
    Console(file=out, width=200, markup=False, force_terminal=True, color_system=None).print(
        Text(printable(text))
    )
    assert out.getvalue() == f"{shown}\n"


def test_names_of_columns_and_fields_are_shown_by_their_codes() -> None:
    out = io.StringIO()
    shown = Console(file=out, width=200, markup=False)
    shown.print(columns(["STEP", "\x1b[2Jreward"], [[1, 2]]))
    shown.print(fields([("\x1b]0;t\x07", "v")]))
    assert r"\x1b[2Jreward" in out.getvalue()
    assert r"\x1b]0;t\x07" in out.getvalue()
    assert "\x1b" not in out.getvalue()


def test_every_failure_is_printed_without_control_characters(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise DownloadFailed("the download was damaged (\x1b[2J\nagent-rft: fine)")

    monkeypatch.setattr(command_line, "app", fail)
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    assert ended.value.code == 1
    reported = r"agent-rft: the download was damaged (\x1b[2J\nagent-rft: fine)"
    assert capsys.readouterr().err == f"{reported}\n"


def test_letters_of_any_script_stay() -> None:
    text = "Größe 水 שלום سلام नमस्ते 👩‍🔬 é"
    assert printable(text) == text


def test_line_breaks_stay_in_lines_alone() -> None:
    assert printable("a\r\nb\tc\n") == r"a\r\nb\tc\n"
    assert printable_lines("a\r\nb\tc\n") == "a\nb\tc\n"
    assert printable_lines("a\rb") == r"a\rb"


def test_a_failure_is_one_line_however_long_the_service_writes() -> None:
    failure = str(ServiceError("no\n\x1b[31m" + "x" * 1_000_000))
    assert failure.startswith(r"no\n\x1b[31mxxx")
    assert len(failure) == 2001
