"""Files of problems that a built-in environment draws its tasks from."""

import io
import json
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from tests.support.api.application import Api
from tests.support.api.refused_jobs import refused_job
from tests.support.cases import cases
from tests.support.registry.built_in_environments import COUNTS, PARAM, call, created, rows_of


def parquet_of(rows: list[dict[str, Any]]) -> bytes:
    file = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows), file)
    return file.getvalue()


@cases("form", ["jsonl", "parquet"])
async def test_problems_of_a_file_are_used_once_each(api: Api, form: str) -> None:
    problems = [
        {"question": f"What is {number} + 1?", "answer": f"One more.\n#### {number + 1}"}
        for number in range(30)
    ]
    doubled = [*problems, *problems[:5]]
    content = "\n".join(map(json.dumps, doubled)).encode()
    if form == "parquet":
        content = parquet_of(doubled)
    file_id = (await api.upload(content, purpose="user_data")).json()["id"]
    job = await created(api, call({"type": "gsm8k", "file": file_id, **COUNTS}))
    training = await rows_of(api, job["training_file"])
    validation = await rows_of(api, job["validation_file"])
    assert sorted(row["question"] for row in (*training, *validation)) == sorted(
        problem["question"] for problem in problems
    )
    assert all(int(row["answer"]) == int(row["question"].split()[2]) + 1 for row in training)
    too_many = call({"type": "gsm8k", "file": file_id, **COUNTS, "training_tasks": 21})
    assert (await refused_job(api, too_many))[:2] == (f"{PARAM}.training_tasks", "too_few_problems")


GOOD = {"question": "a", "answer": "#### 1"}


@cases(
    ("content", "words"),
    [
        (parquet_of([GOOD, {"question": "b", "answer": "2"}]), "Row 2: 'answer'"),
        (parquet_of([{"question": "b\0", "answer": "#### 1"}]), "Row 1: holds the character"),
        (parquet_of([{"question": "b"}]), "it has no column 'answer'"),
        (parquet_of([{**GOOD, "question": "q" * 1_100_000}]), "Row 1: it is larger than"),
        (b"PAR1" + b"\xff" * 64 + b"PAR1", "it is no Parquet file"),
    ],
    ids=["no_mark", "nul", "no_column", "long", "noise"],
)
async def test_a_parquet_file_of_another_form_is_refused(
    api: Api, content: bytes, words: str
) -> None:
    file_id = (await api.upload(content, purpose="user_data")).json()["id"]
    param, code, message = await refused_job(api, call({"type": "gsm8k", "file": file_id}))
    assert (param, code) == (f"{PARAM}.file", "invalid_environment_file")
    assert words in message


async def test_a_file_without_problems_and_one_of_others_are_refused(api: Api) -> None:
    lines = b'{"question": "a", "answer": "#### 1"}\n{"question": "b", "answer": "2"}\n'
    file_id = (await api.upload(lines)).json()["id"]
    sent = call({"type": "gsm8k", "file": file_id})
    param, code, message = await refused_job(api, sent)
    assert (param, code) == (f"{PARAM}.file", "invalid_environment_file")
    assert "Line 2" in message
    foreign = (await api.upload(lines, key=api.other_key)).json()["id"]
    param, code, message = await refused_job(api, call({"type": "gsm8k", "file": foreign}))
    assert (param, code) == (f"{PARAM}.file", "file_not_found")
    assert foreign in message
