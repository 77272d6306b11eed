from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from examples.records_agent import dataset
from examples.records_agent.records import build_catalogue, questions
from examples.records_agent.tools import SCHEMAS, call_tool

CATALOGUE = build_catalogue()


def load(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_command_writes_both_files(tmp_path: Path, capsys: Any) -> None:
    dataset.main(["--out", str(tmp_path), "--train", "320", "--valid", "64", "--seed", "3"])
    printed = json.loads(capsys.readouterr().out)
    rows = {name: load(Path(printed[name])) for name in ("train", "valid")}
    assert (len(rows["train"]), len(rows["valid"])) == (320, 64)
    for row in rows["train"] + rows["valid"]:
        assert row["messages"][-1]["role"] == "user"
        assert row["tools"] == list(SCHEMAS)
        assert row["reference_answer"]
    texts = [row["messages"][-1]["content"] for row in rows["train"] + rows["valid"]]
    assert len(set(texts)) == 384
    assert {row["kind"] for row in rows["valid"]} == {"arithmetic", "one_hop", "two_hop", "total"}


def test_training_and_validation_concern_different_records() -> None:
    seen: dict[str, set[str]] = {"train": set(), "validation": set()}
    for split in ("train", "validation"):
        source = questions(CATALOGUE, split, 0)
        for _ in range(2000):
            question = next(source)
            seen[split] |= set(question.records) or {question.text.rstrip("?.").split(" ", 2)[2]}
    assert len(seen["train"]) > 500
    assert not seen["train"] & seen["validation"]


def solve(text: str) -> str:
    """Answers a question with the tools alone, reading only its sentence."""

    def read(record: str, field: str) -> str:
        arguments = json.dumps({"record": record, "field": field})
        return call_tool(CATALOGUE, "lookup", arguments)

    def compute(expression: str) -> str:
        return call_tool(CATALOGUE, "calculator", json.dumps({"expression": expression}))

    ids = re.findall(r"[PS]\d+", text)
    if not ids:
        return compute(" ".join(text.rstrip("?.").split(" ")[-3:]))
    field = re.findall(r"the (\w+) of", text)[0]
    if "together" in text:
        return compute(f"{read(ids[0], field)} + {read(ids[1], field)}")
    record = read(ids[0], "supplier") if "the supplier of" in text else ids[0]
    return read(record, field)


def test_every_reference_answer_is_what_the_tools_give() -> None:
    for row in dataset.make_rows(CATALOGUE, "validation", 200, seed=5):
        assert solve(row["messages"][-1]["content"]) == row["reference_answer"]
