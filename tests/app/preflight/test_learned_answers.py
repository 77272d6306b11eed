"""Answers that do not fit into the context are found before a job, by the rule of its run."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.files.rows import DatasetError
from app.jobs.dataset_checks import inspect
from app.jobs.preflight import InspectionRequest
from app.jobs.supervised import OfflineMethodType
from app.rollouts.renderer import Renderer
from app.settings import shipped_models
from workers.methods.supervised.examples import ExampleRow, preference_examples, supervised_examples

BASE = shipped_models()[0]
LIMIT = BASE.context_length


def row_of(method: str, *, asked: int, answer: int) -> dict[str, Any]:
    """Returns a row with a question and an answer of about so many tokens."""
    messages = [{"role": "user", "content": "b" * 3 * asked}]
    said = [{"role": "assistant", "content": "c" * 3 * answer}]
    if method == "supervised":
        return {"messages": [*messages, *said]}
    other = [{"role": "assistant", "content": "no"}]
    return {
        "input": {"messages": messages},
        "preferred_output": other,
        "non_preferred_output": said,
    }


def by_the_run(method: str, row: dict[str, Any]) -> str:
    renderer = Renderer(BASE.path, tool_parser=BASE.tool_parser, chat_template=BASE.chat_template)
    make = (
        supervised_examples(renderer, limit=LIMIT, train_on="all")
        if method == "supervised"
        else preference_examples(renderer, limit=LIMIT)
    )
    try:
        return "cut" if make(ExampleRow(3, row)).cut else "whole"
    except DatasetError as fault:
        return str(fault)


@pytest.mark.parametrize("method", ["supervised", "dpo"])
def test_the_rows_of_a_file_are_judged_as_a_run_judges_them(
    tmp_path: Path, method: OfflineMethodType
) -> None:
    seen = set[str]()
    for asked in (10, 1010, 1015, 1020, 1025):
        for answer in (1, 5, 1300):
            row = row_of(method, asked=asked, answer=answer)
            rows = [row_of(method, asked=n + 1, answer=2) for n in range(11)]
            rows[2] = row
            path = tmp_path / "rows.jsonl"
            path.write_text("\n".join(map(json.dumps, rows)))
            request = InspectionRequest(
                method=method, training=path, validation=None, job_tools=None, base_model=BASE
            )
            found = [one for one in inspect(request).issues if one.code != "duplicate_rows"]
            expected = by_the_run(method, row)
            seen.add(expected)
            match expected:
                case "whole":
                    assert found == []
                case "cut":
                    [issue] = found
                    assert (issue.severity, issue.code) == ("warning", "answers_cut")
                    assert issue.message.startswith("1 of 11 measured training examples are longer")
                case _:
                    [issue] = found
                    assert (issue.severity, issue.code) == ("error", "invalid_training_file")
                    assert (issue.message, issue.line) == (expected, 3)
    assert len(seen) == 3, "each way to end was met"
