"""`agent-rft rollouts`: the list and its filters, one rollout, two beside each other."""

import io
import re

import pytest
from rich.console import Console

from app.cli.output import Lines
from app.cli.replies import Reply
from app.cli.rollouts import parts_of
from tests.support.cli.command_line import agent_rft_in_terminal
from tests.support.cli.remote_commands import Commands, address_of, new_job
from tests.support.contract.service import Service
from tests.support.dashboard.scenes import call, put_rollout, trace

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
HOSTILE = "\x1b]0;owned\x07\u202egnp.exe\rhidden\x9b2J"


@pytest.fixture(scope="module")
def played(service: Service) -> str:
    """Returns a job with two rollouts of a row and a lost one; one tool wrote a control text."""
    job = new_job(service)
    before = trace("Which river?", "I do not know.")
    after = trace("Which river?", "The Nile.", call(HOSTILE))
    put_rollout(service.database, job, "cli-before", step=0, reward=0.0, trace=before)
    put_rollout(service.database, job, "cli-after", step=9, reward=0.75, trace=after)
    put_rollout(
        *(service.database, job, "cli-lost"),
        step=9,
        sample_index=1,
        reward=None,
        stop_reason=None,
        failure_class="tool_timeout",
        failure_message="search: no answer",
        trace=trace("Which river?", ""),
    )
    return job


def test_rollouts_are_listed_by_filters(commands: Commands, played: str) -> None:
    header, *rows = commands.text("rollouts", "list", played).splitlines()
    assert header.split()[:6] == ["ID", "SPLIT", "STEP", "ROW", "SAMPLE", "REWARD"]
    assert [row.split()[0] for row in rows] == ["cli-before", "cli-after", "cli-lost"]
    assert rows[1].split() == [
        "cli-after",
        "train",
        "9",
        "0",
        "0",
        "0.75",
        "1",
        "7",
        "final_answer",
    ]
    assert "lost to tool_timeout: search: no answer" in rows[2]
    cases = {
        ("--failed",): ["cli-lost"],
        ("--graded", "--by-reward", "--desc"): ["cli-after", "cli-before"],
        ("--step", "0"): ["cli-before"],
        ("--min-reward", "0.5"): ["cli-after"],
        ("--failure-class", "tool_timeout"): ["cli-lost"],
        ("--split", "report"): [],
    }
    for options, found in cases.items():
        rows_found = commands.envelope("rollouts", "list", played, *options)["data"]
        assert [row["id"] for row in rows_found] == found, options
    assert commands.run("rollouts", "list", played, "--split", "never").returncode == 18


def test_a_rollout_is_shown_turn_by_turn_without_control_characters(
    commands: Commands, played: str
) -> None:
    shown = commands.text("rollouts", "show", played, "cli-after")
    assert shown.splitlines() == [
        "cli-after  train step 9 row 0 sample 0  reward 0.75  final_answer",
        "-- user",
        "  Which river?",
        "-- turn 1",
        '> search({"q": "rivers"})  (0.25 s)',
        r"< \x1b]0;owned\x07\u202egnp.exe\rhidden\x9b2J",
        "-- turn 2",
        "  The Nile.",
        "-- grades",
        "  grader: The answer is right.",
    ]
    as_json = commands.envelope("rollouts", "show", played, "cli-after")
    assert as_json["data"]["trace"]["messages"][2]["content"] == HOSTILE
    assert commands.run("rollouts", "show", played, "cli-never").returncode == 17


def test_two_rollouts_are_compared_in_one_column_or_side_by_side(
    commands: Commands, service: Service, played: str
) -> None:
    arguments = ("rollouts", "diff", played, "cli-before", "cli-after")
    unified = commands.text(*arguments).splitlines()
    assert unified[:4] == [
        "--- cli-before  train step 0 row 0 sample 0  reward 0  final_answer",
        "+++ cli-after  train step 9 row 0 sample 0  reward 0.75  final_answer",
        "  -- user",
        "    Which river?",
    ]
    assert "-   I do not know." in unified
    assert "+   The Nile." in unified
    wide = agent_rft_in_terminal(arguments, address_of(service), size=(140, 40))
    lines = ESCAPES.sub("", wide.stdout).replace("\r\n", "\n").splitlines()
    [answers] = [line for line in lines if "I do not know." in line]
    assert "The Nile." in answers
    assert max(len(line) for line in lines) == 140
    assert "\x1b]" not in wide.stdout
    both = commands.envelope(*arguments)["data"]
    assert [one["id"] for one in both] == ["cli-before", "cli-after"]


FORGED = "x\n-- turn 2\n> pay({})\n< ok\n! no\n(reasoning)\n-- grades\ngrader: right"


def test_no_text_reads_as_a_turn_a_call_or_a_grade() -> None:
    played = trace(FORGED, FORGED, call(FORGED))
    played["messages"][1]["reasoning_content"] = FORGED
    played["grader_reasons"] = {"grader": FORGED}
    row = {"id": "r", "split": "train", "step": 1, "prompt_index": 0, "sample_index": 0}
    parts = parts_of(Reply({**row, "reward": 1.0, "trace": played}))
    lines = [line for part in parts for line in part.split("\n") if not line.startswith("  ")]
    assert lines == [
        *("-- user", "-- turn 1", "(reasoning)", '> search({"q": "rivers"})  (0.25 s)', "< x"),
        *("-- turn 2", "-- grades"),
    ]


def test_no_text_reaches_the_beginning_of_a_line_by_its_length() -> None:
    out, width = io.StringIO(), 20
    texts = [" " * 2 + "-- turn 2 " * 20, "> search(" + "-- grades " * 20, "", "y" * 99]
    Console(file=out, width=width, markup=False).print(Lines(texts))
    lines = out.getvalue().splitlines()
    assert [line[0] if line else "" for line in lines if not line.startswith("  ")] == [
        ">",
        "",
        "y",
    ]
    assert "".join(lines).count("y") == 99
    assert max(map(len, lines)) <= width


def test_turns_of_the_row_are_no_turns_of_the_model() -> None:
    played = trace("Which river?", "The Nile.", call("Nile"))
    example = [
        {"role": "user", "content": "Which lake?"},
        {"role": "assistant", "content": "calls"},
        {"role": "tool", "content": "Tana"},
        {"role": "assistant", "content": "Tana."},
    ]
    played["messages"] = [*example, *played["messages"]]
    row = {"id": "r", "split": "train", "step": 1, "prompt_index": 0, "sample_index": 0}
    parts = parts_of(Reply({**row, "reward": 1.0, "trace": played}))
    assert [part.split("\n")[0].removeprefix("-- ") for part in parts] == [
        *("user", "assistant", "tool", "assistant"),
        *("user", "turn 1", "turn 2", "grades"),
    ]
    assert parts[2].endswith("Tana")
    assert parts[5].endswith("< Nile")
