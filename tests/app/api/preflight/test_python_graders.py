"""Python graders that could grade nothing are found before a job exists, in a real sandbox."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.support.api.application import Api, running
from tests.support.api.preflight import validate_call
from tests.support.cases import cases
from tests.support.sandbox.running import RunningSandbox
from tests.support.stack import Database


@pytest.fixture
async def api(database: Database, sandbox: RunningSandbox) -> AsyncIterator[Api]:
    async with running(database, sandbox=sandbox.socket) as api:
        yield api


def python(*body: str) -> dict[str, Any]:
    source = "\n".join(["def grade(sample, item):", *(f"    {line}" for line in body)])
    return {"type": "python", "name": "own", "source": source}


async def call_with(api: Api, grader: dict[str, Any], *, rows: int = 10) -> dict[str, Any]:
    files = []
    for name in "ab":
        lines = [
            {"messages": [{"role": "user", "content": f"{name}{n}"}], "answer": f"{n}"}
            for n in range(rows)
        ]
        lines[0].pop("answer")
        made = await api.upload("\n".join(map(json.dumps, lines)).encode())
        files.append(made.json()["id"])
    return {
        "model": "tiny-agent",
        "training_file": files[0],
        "validation_file": files[1],
        "method": {"type": "reinforcement", "reinforcement": {"grader": grader}},
    }


SOUND = python("return float(sample['output_text'] == item.get('answer'))")
MULTI = {"type": "multi", "name": "both", "calculate_output": "a + b"}


@cases(
    ("grader", "found"),
    [
        (SOUND, []),
        (python("return item['reference']"),
         [("error", "grader_always_fails", "grader.source", "KeyError: 'reference' (line 2")]),
        (python("return len(item['answer'])"),
         [("warning", "grader_fails", "grader.source", "2 of the 10 rows")]),
        (python("import re", "label = re.search('LABEL: (.+)', sample['output_text'])",
                "return {'yes': 1, 'no': 0}[label.group(1) if label else None]"),
         [("warning", "grader_fails", "grader.source", "KeyError: None")]),
        ({**MULTI, "graders": {"a": SOUND, "b": python("return item['nothing']")}},
         [("error", "grader_always_fails", "grader.graders.b.source", "KeyError: 'nothing'")]),
        (python("return 1e10"), [("error", "grader_always_fails", "grader.source",
                                  "the score 1e+10 is beyond ±1e+09")]),
        (python("return 1.0 if sample['output_text'] == '42' else None"), []),
        (python("return (1"),
         [("error", "invalid_value", "grader.source", "line 2")]),
    ],
)  # fmt: skip
async def test_a_python_grader_is_tried_on_rows_of_both_files(
    api: Api, grader: dict[str, Any], found: list[tuple[str, str, str, str]]
) -> None:
    report = await validate_call(api, await call_with(api, grader))
    faults = [*report["errors"], *report["warnings"]]
    assert [(fault["severity"], fault["code"], fault["param"]) for fault in faults] == [
        (severity, code, f"method.reinforcement.{path}") for severity, code, path, _ in found
    ]
    for fault, (_, code, _, words) in zip(faults, found, strict=True):
        assert words in fault["message"]
        if code != "invalid_value":
            assert fault["line"] == 1
            assert "training_file line 1" in fault["message"]
            assert "POST /v1/fine_tuning/alpha/graders/run" in fault["message"]
    assert report["valid"] == (not report["errors"])


async def test_a_part_that_no_formula_uses_is_not_tried(api: Api) -> None:
    parts = {"a": SOUND, "b": python("return item['nothing']")}
    grader = {**MULTI, "graders": parts, "calculate_output": "a"}
    report = await validate_call(api, await call_with(api, grader))
    assert report["errors"] == []
    assert [warning["code"] for warning in report["warnings"]] == ["unused_grader"]


async def test_without_a_sandbox_a_warning_reports_that_nothing_was_tried(
    database: Database,
) -> None:
    async with running(database) as api:
        report = await validate_call(api, await call_with(api, SOUND))
    assert report["valid"] is True
    assert [fault["code"] for fault in report["warnings"]] == ["grader_not_tried"]
