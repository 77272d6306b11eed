"""The rows of sources: labels from named columns, and limits that count over a source."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.curricula.curricula import (
    Columns,
    CurriculumOptions,
    CurriculumSplit,
    HubSource,
    SplitOptions,
)
from app.curricula.rollout_rows import RolloutFiles
from app.curricula.source_rows import (
    CollectedSource,
    HubFiles,
    PlayedRollouts,
    TableFile,
    collect_rows,
)
from app.curricula.split_files import CollectedRows, CurriculumFinding
from app.files.hub_data_sets import HubLocation
from app.files.table_formats import SourceFile
from app.jobs.supervised import MethodType
from app.kit.egress import EgressPolicy

NAME = "own/trivia"


def row(number: int, **fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": f"question {number}"}], **fields}


def flat(number: int) -> dict[str, Any]:
    return {"prompt": f"question {number}", "answer": str(number)}


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def gathered(
    directory: Path, *sources: CollectedSource, method: MethodType = "reinforcement"
) -> CollectedRows:
    return collect_rows(sources, CurriculumOptions(method=method), directory)


def table(directory: Path, rows: list[dict[str, Any]], **options: Any) -> TableFile:
    path = written(directory / "sent.jsonl", rows)
    return TableFile(0, SourceFile(path, "sent.jsonl"), **options)


def data_set(directory: Path, *files: int, limit: int | None) -> HubFiles:
    """Writes a data set whose files have so many rows."""
    for number, rows in enumerate(files):
        written(
            directory / "sets" / NAME / f"train-{number}.jsonl",
            [flat(1_000 * number + each) for each in range(rows)],
        )
    wanted = HubSource(type="huggingface", data_set=NAME, limit=limit)
    hub = HubLocation("https://hub.invalid", EgressPolicy(), directory / "sets")
    return HubFiles(0, wanted, hub)


def messages(found: CollectedRows) -> list[tuple[str, str]]:
    return [(each.code, each.message) for each in found.findings.listed()]


def error_of(found: CollectedRows) -> CurriculumFinding:
    assert found.findings.error is not None
    return found.findings.error


def test_named_columns_label_rows_of_a_jobs_file(tmp_path: Path) -> None:
    columns = Columns(tags="category", difficulty="level", answer="gold")
    rows = [row(n, category="billing; refund", level="0.25", gold=str(n)) for n in range(10)]
    found = gathered(tmp_path, table(tmp_path, rows, columns=columns))
    assert found.first_rows[3] == row(
        3, category="billing; refund", level="0.25", gold="3",
        tags=["billing", "refund"], difficulty=0.25, answer="3",
    )  # fmt: skip
    assert found.tags == {"billing": [10, 0], "refund": [10, 0]}
    assert found.readings[0].columns == {
        "tags": "category", "difficulty": "level", "answer": "gold",
    }  # fmt: skip


def test_rows_of_a_jobs_file_stay_as_they_are_if_no_column_is_named(tmp_path: Path) -> None:
    rows = [row(n, category="billing", label="x", tags=["own"]) for n in range(10)]
    found = gathered(tmp_path, table(tmp_path, rows))
    assert found.first_rows == rows[:5]
    assert found.readings[0].columns is None


def test_pairs_and_rows_from_feedback_take_labels(tmp_path: Path) -> None:
    answers = [{"role": "assistant", "content": text} for text in ("yes", "no")]
    pair = {
        "input": {"messages": row(0)["messages"]}, "preferred_output": answers[:1],
        "non_preferred_output": answers[1:], "area": "law",
    }  # fmt: skip
    sent = table(tmp_path, [pair], columns=Columns(tags="area"))
    assert gathered(tmp_path, sent, method="dpo").first_rows == [{**pair, "tags": ["law"]}]
    learned = {"messages": [*row(0)["messages"], answers[0]], "area": "law"}
    sent = table(tmp_path, [learned], columns=Columns(tags="area"), from_feedback=True)
    found = gathered(tmp_path, sent, method="supervised")
    assert found.first_rows == [{**learned, "tags": ["law"]}]


@pytest.mark.parametrize("role", ["tags", "system"])
def test_a_named_column_that_does_not_exist_is_an_error(tmp_path: Path, role: str) -> None:
    columns = Columns.model_validate({role: "no_such_column"})
    error = error_of(gathered(tmp_path, table(tmp_path, [row(0, level=1)], columns=columns)))
    assert error.code == "unusable_columns"
    assert error.message == (
        f"'sent.jsonl': there is no column 'no_such_column' for '{role}'; "
        "the columns are 'messages', 'level'."
    )


@pytest.mark.parametrize(
    ("method", "columns"),
    [
        ("reinforcement", Columns(tags="level", chosen="level")),
        ("supervised", Columns(answer="level")),
    ],
)
def test_a_column_that_such_rows_do_not_take_is_an_error(
    tmp_path: Path, method: MethodType, columns: Columns
) -> None:
    found = gathered(tmp_path, table(tmp_path, [row(0, level="x")], columns=columns), method=method)
    assert error_of(found).code == "unusable_columns"
    assert f"rows of a '{method}' job already" in error_of(found).message


def test_rows_from_feedback_are_never_mapped(tmp_path: Path) -> None:
    sent = table(tmp_path, [row(0)], columns=Columns(messages="messages"), from_feedback=True)
    error = error_of(gathered(tmp_path, sent, method="supervised"))
    assert "take no column for 'messages'" in error.message


def test_flat_records_beside_rows_have_their_own_columns(tmp_path: Path) -> None:
    rows = [row(0, kind="a"), {"question": "question 1", "gold": "1", "kind": "b"}]
    found = gathered(tmp_path, table(tmp_path, rows, columns=Columns(tags="kind")))
    assert [each["tags"] for each in found.first_rows] == [["a"], ["b"]]
    assert found.first_rows[1]["messages"] == row(1)["messages"]
    assert found.readings[0].columns == {"prompt": "question", "answer": "gold", "tags": "kind"}


@pytest.mark.parametrize(
    ("limit", "files", "rows", "limited"),
    [
        (25, (20, 20), 25, True),
        (20, (20,), 20, False),
        (39, (20, 20), 39, True),
        (None, (20, 20), 40, False),
    ],
)
def test_the_limit_of_a_data_set_counts_over_its_files(
    tmp_path: Path, limit: int | None, files: tuple[int, ...], rows: int, limited: bool
) -> None:
    found = gathered(tmp_path, data_set(tmp_path, *files, limit=limit))
    said = [("limited", f"Only the first {limit} rows are read: 'limit' says so.")]
    others = [each for each in messages(found) if each[0] != "alike_rows"]
    assert (found.rows, others) == (rows, said if limited else [])
    assert sum(reading.rows for reading in found.readings) == rows


@pytest.mark.parametrize(("limit", "limited"), [(11, True), (12, False)])
def test_the_limit_of_each_source_is_its_own(tmp_path: Path, limit: int, limited: bool) -> None:
    first = table(tmp_path, [row(n) for n in range(12)])
    path = written(tmp_path / "second.jsonl", [row(100 + n) for n in range(12)])
    second = TableFile(1, SourceFile(path, "second.jsonl"), limit=limit)
    found = gathered(tmp_path, first, second)
    assert found.rows == 12 + limit
    assert [each.source for each in found.findings.listed() if each.code == "limited"] == (
        [1] if limited else []
    )


def test_a_record_beyond_the_limit_is_in_no_finding(tmp_path: Path) -> None:
    rows = [{"prompt": f"={n}", "answer": "x"} for n in range(12)]
    found = gathered(tmp_path, table(tmp_path, rows, limit=10))
    (formulas,) = [each for each in found.findings.listed() if each.code == "formula_like_text"]
    assert formulas.rows == 10


def test_rows_are_made_of_rollouts_first(tmp_path: Path) -> None:
    played: dict[CurriculumSplit, Path] = {
        "training": written(tmp_path / "train.jsonl", [row(0), row(1)])
    }
    rollouts = written(
        tmp_path / "rollouts.jsonl",
        [
            {"split": "train", "prompt_index": index, "reward": reward, "messages": []}
            for index, reward in ((0, 1.0), (0, 0.0), (1, 0.0), (1, 0.0))
        ],
    )
    made = PlayedRollouts(0, RolloutFiles(rollouts, played), tmp_path / "made.jsonl", "job.jsonl")
    found = gathered(tmp_path, made)
    assert found.first_rows == [
        row(0, difficulty=0.5, spread=1.0), row(1, difficulty=1.0, spread=0.0),
    ]  # fmt: skip
    assert found.readings[0].filename == "job.jsonl"


def test_a_conversation_with_a_call_that_was_not_parsed_is_a_row(tmp_path: Path) -> None:
    """Its `tool` message answers no call, and a chat takes it for the mark."""
    played: dict[CurriculumSplit, Path] = {"training": written(tmp_path / "train.jsonl", [row(0)])}
    told = {"role": "tool", "tool_call_id": "call_1", "name": "(unparsable)", "content": "Error: …"}
    said = [{"role": "assistant", "content": text} for text in ("<tool_call>", "42")]
    messages = [*row(0)["messages"], said[0], told, said[1]]
    rollout = {"split": "train", "prompt_index": 0, "reward": 1.0, "messages": messages}
    rollouts = written(tmp_path / "rollouts.jsonl", [rollout])
    made = PlayedRollouts(0, RolloutFiles(rollouts, played), tmp_path / "made.jsonl", "job.jsonl")
    found = gathered(tmp_path, made, method="supervised")
    [learned] = found.first_rows
    assert learned["messages"][1]["tool_call_error"]["tool_call_id"] == "call_1"
    assert found.findings.error is None


def test_one_row_more_than_a_curriculum_has_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.curricula.source_rows.MAX_ROWS", 12)
    exact = gathered(tmp_path, table(tmp_path, [row(n) for n in range(12)]))
    assert (exact.rows, exact.findings.error) == (12, None)
    found = gathered(tmp_path, table(tmp_path, [row(n) for n in range(14)]))
    assert (found.rows, error_of(found).code) == (12, "too_many_rows")
    assert error_of(found).message.startswith("Line 13 of 'sent.jsonl' is one row too many")


@pytest.mark.parametrize(("rows", "found"), [(9, ["too_few_rows"]), (10, [])])
def test_fewer_rows_than_a_job_needs_are_reported(
    tmp_path: Path, rows: int, found: list[str]
) -> None:
    options = CurriculumOptions(split=SplitOptions(validation_share=0))
    sources = (table(tmp_path, [row(n) for n in range(rows)]),)
    assert [code for code, _ in messages(collect_rows(sources, options, tmp_path))] == found


def test_repeats_are_counted_and_kept(tmp_path: Path) -> None:
    rows = [tagged(n % 10) for n in range(13)]
    found = gathered(tmp_path, table(tmp_path, rows))
    assert ("duplicate_rows", "3 rows repeat an earlier row.") in messages(found)
    assert (found.rows, found.clusters) == (13, 10)


def test_no_more_than_a_thousand_tags_are_counted(tmp_path: Path) -> None:
    rows = [row(n, tags=[f"t{n}x{each}" for each in range(20)]) for n in range(51)]
    assert len(gathered(tmp_path, table(tmp_path, rows)).tags) == 1_000


def tagged(number: int) -> dict[str, Any]:
    """A row whose prompt is like no other one."""
    words = " ".join(f"word{number}x{each}" for each in range(8))
    return {
        "messages": [{"role": "user", "content": words}],
        "tags": [("easy", "hard")[number % 4 == 0]],
    }
