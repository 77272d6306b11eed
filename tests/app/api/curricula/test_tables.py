"""CSV files as sources: their mapping, their form, and hostile ones."""

import csv
import io
import json
import zipfile
from typing import Any

import pytest

from tests.support.api.application import Api
from tests.support.cases import cases
from tests.support.registry.curriculum_calls import (
    codes,
    file_count,
    made_from,
    preview_of,
    previewed,
    rows_of,
    uploaded,
)

QUESTIONS = [f"What is the capital of country number {number}?" for number in range(30)]
RECORDS = "".join(f"{text},city {n},r{n % 2}\n" for n, text in enumerate(QUESTIONS))
TABLE = f"question,answer,region\n{RECORDS}"


async def test_a_preview_shows_the_mapping_and_makes_nothing(api: Api) -> None:
    preview = await preview_of(api, TABLE.encode())
    (file,) = preview["files"]
    assert file["columns"] == {
        "prompt": "question", "answer": "answer", "system": None, "chosen": None,
        "rejected": None, "messages": None, "tags": None, "difficulty": None,
    }  # fmt: skip
    assert (file["format"], file["encoding"], file["delimiter"]) == ("csv", "utf-8", ",")
    assert (file["header"], file["rows"]) == (["question", "answer", "region"], 30)
    assert preview["first_rows"][1] == {
        "region": "r1",
        "messages": [{"role": "user", "content": QUESTIONS[1]}],
        "answer": "city 1",
    }
    assert (preview["usable"], codes(preview)) == (True, [("warning", "alike_rows")])
    assert (preview["training_rows"], preview["validation_rows"]) == (20, 10)
    assert await file_count(api) == 1
    assert (await api.call("GET", "/v1/curricula")).json()["data"] == []


async def test_a_table_becomes_the_two_files_of_a_curriculum(api: Api) -> None:
    file_id = await uploaded(api, TABLE.encode())
    source = {"type": "file", "file_id": file_id, "columns": {"tags": "region"}}
    made = await made_from(api, source)
    training = await rows_of(api, made["training_file"])
    validation = await rows_of(api, made["validation_file"])
    assert (made["training_rows"], made["validation_rows"]) == (len(training), len(validation))
    asked = [row["messages"][0]["content"] for row in [*training, *validation]]
    assert sorted(asked) == sorted(QUESTIONS)
    assert [row["tags"] for row in validation].count(["r0"]) == 5
    origin = made["made_from"]
    assert origin["tags"]["r1"] == {"training_rows": 10, "validation_rows": 5}
    assert (origin["method"], origin["rows"], origin["row_groups"]) == ("reinforcement", 30, 30)
    assert origin["sources"][0]["columns"] == {"tags": "region"}
    assert (await api.call("GET", f"/v1/curricula/{made['id']}")).json() == made
    report = (await api.call("POST", f"/v1/curricula/{made['id']}/test")).json()
    assert (report["passed"], report["overlapping_rows"]) == (True, 0)
    path = f"/v1/curricula/{made['id']}"
    replaced = (await api.call("POST", path, json={"validation_file": None})).json()
    assert "made_from" not in replaced


@cases("delimiter", [";", "\t", ":"])
async def test_each_delimiter_is_recognised(api: Api, delimiter: str) -> None:
    lines = [["prompt", "answer"], *([f"say {n}, or; not", f"n{n}"] for n in range(12))]
    content = "".join(f'"{a}"{delimiter}{b}\n' for a, b in lines)
    preview = await preview_of(api, content.encode())
    assert (preview["files"][0]["delimiter"], preview["rows"]) == (delimiter, 12)
    assert preview["first_rows"][3]["messages"][0]["content"] == "say 3, or; not"


@cases(
    ("encoding", "shown", "guessed"),
    [
        ("utf-8-sig", "utf-8-sig", False),
        ("utf-16", "utf-16", False),
        ("cp1252", "cp1252", True),
    ],
)
async def test_an_encoding_is_recognised_or_marked_as_a_guess(
    api: Api, encoding: str, shown: str, guessed: bool
) -> None:
    text = "Frage;Antwort\n" + "".join(
        f"Wie heißt die Straße Nummer {n} in München?;Königsallee für Gäste {n}\n"
        for n in range(12)
    )
    columns = {"prompt": "Frage", "answer": "Antwort"}
    preview = await preview_of(api, text.encode(encoding), columns=columns)
    file = preview["files"][0]
    assert (file["encoding"], file["encoding_guessed"], preview["rows"]) == (shown, guessed, 12)
    assert preview["first_rows"][0]["answer"] == "Königsallee für Gäste 0"
    assert (("warning", "encoding_guessed") in codes(preview)) == guessed


async def test_a_named_encoding_is_used_and_checked(api: Api) -> None:
    text = "prompt,answer\n" + "".join(f"вопрос {n},ответ\n" for n in range(12))
    named = await preview_of(api, text.encode("koi8-r"), encoding="KOI8-R")
    assert named["first_rows"][2]["answer"] == "ответ"
    wrong = await preview_of(api, text.encode("koi8-r"), encoding="utf-8")
    assert codes(wrong) == [("error", "wrong_encoding")]
    for name in ("zlib_codec", "unicode_escape", "idna", "../../etc/passwd", "no-such"):
        refused = await preview_of(api, text.encode(), encoding=name)
        assert codes(refused) == [("error", "unknown_encoding")], name


async def test_quotes_line_feeds_and_formulas_stay_text(api: Api) -> None:
    cells = ['=HYPERLINK("http://x","y")', "+1+1", "-2", "@SUM(A1)", "a\r\nb"]
    table = io.StringIO(newline="")
    csv.writer(table).writerows([["prompt", "answer"], *([cell, "x"] for cell in cells)])
    preview = await preview_of(api, table.getvalue().encode())
    asked = [row["messages"][0]["content"] for row in preview["first_rows"]]
    assert asked == cells
    (found,) = [one for one in preview["findings"] if one["code"] == "formula_like_text"]
    assert (found["severity"], found["rows"], found["lines"]) == ("info", 4, [2, 3, 4, 5])


async def test_a_table_without_a_header_has_numbered_columns(api: Api) -> None:
    content = "".join(f"question {n},{n}\n" for n in range(12)).encode()
    columns = {"prompt": "column_1", "answer": "column_2"}
    preview = await preview_of(api, content, header=False, columns=columns)
    assert (preview["rows"], preview["first_rows"][0]["answer"]) == (12, "0")
    first = await preview_of(api, content)
    assert codes(first) == [("error", "unusable_columns")]
    assert "'question 0'" in first["findings"][0]["message"]


def _zip() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("../../etc/passwd", "prompt,answer\na,b\n")
    return held.getvalue()


def _tar() -> bytes:
    return b"rows.csv".ljust(257, b"\0") + b"ustar\x0000".ljust(300, b"\0")


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        (b"", "empty_file", "is empty"),
        (_zip(), "archive_refused", "a ZIP archive or an Excel workbook"),
        (_tar(), "archive_refused", "a tar archive"),
        (b'prompt,answer\n"a,b\nc,d\n', "invalid_csv", "unexpected end of data"),
        (b"prompt,prompt\na,b\n", "unusable_columns", "two columns are named 'prompt'"),
        (b"colour,size\nred,1\n", "unusable_columns", "no column is named like 'prompt'"),
        (b"prompt,answer\na,b,c\n", "invalid_row", "Line 2: it has 3 values"),
        (b"prompt,answer\n  ,b\n", "invalid_row", "the column 'prompt' is empty"),
        (b"prompt,answer\na\x00b,c\n", "invalid_row", "U+0000"),
        (b"," * 1001 + b"\n", "too_many_columns", "more than 1000 columns"),
        (b"prompt\n" + b"a" * 9_000_000, "invalid_csv", "longer than"),
        (b'prompt\n"' + b"a\n" * 4_600_000, "invalid_csv", "field larger than"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)
async def test_a_hostile_table_is_refused_by_name(
    api: Api, content: bytes, code: str, words: str
) -> None:
    preview = await preview_of(api, content, encoding="utf-8")
    errors = [found for found in preview["findings"] if found["severity"] == "error"]
    assert [found["code"] for found in errors] == [code], errors
    assert words in errors[0]["message"]
    file_id = (await api.call("GET", "/v1/files")).json()["data"][0]["id"]
    source = {"type": "file", "file_id": file_id, "encoding": "utf-8"}
    body = {"name": "hostile", "sources": [source]}
    error = (await api.call("POST", "/v1/curricula", json=body)).json()["error"]
    assert (error["code"], error["param"]) == (
        code,
        None if code == "no_rows" else "sources[0]",
    ) or (error["param"] == "sources")
    assert await file_count(api) == 1


async def test_invalid_rows_are_skipped_only_on_request(api: Api) -> None:
    content = TABLE.encode() + b"too,many,values,here\n"
    file_id = await uploaded(api, content)
    source = {"type": "file", "file_id": file_id}
    made = await made_from(api, source, invalid_rows="skip")
    assert (made["made_from"]["skipped_rows"], made["made_from"]["rows"]) == (1, 30)
    preview = await previewed(api, source, invalid_rows="skip")
    (found,) = (each for each in preview["findings"] if each["code"] != "alike_rows")
    assert (found["code"], found["lines"]) == ("skipped_row", [32])


async def test_a_limit_is_reported(api: Api) -> None:
    preview = await preview_of(api, TABLE.encode(), limit=12)
    assert (preview["rows"], codes(preview)[-1]) == (12, ("info", "limited"))


@cases(
    "file_id",
    ["/etc/passwd", "../secrets.csv", "file:///etc/passwd"],
)
async def test_a_path_instead_of_an_id_is_refused(api: Api, file_id: str) -> None:
    body = {"sources": [{"type": "file", "file_id": file_id}]}
    reply = await api.call("POST", "/v1/curricula/preview", json=body)
    error = reply.json()["error"]
    assert (reply.status_code, error["param"]) == (400, "sources[0].file_id")
    assert "upload the file" in error["message"]


@cases(
    ("body", "param"),
    [
        ({"sources": [{"type": "file", "file_id": "file-x"}]}, "sources[0].file_id"),
        ({"sources": [{"type": "rows", "rows": [5]}]}, "sources[0].rows[0]"),
        ({"sources": [{"type": "rows", "rows": [{}], "colums": {}}]}, "sources[0].colums"),
    ],
)
async def test_a_wrong_call_names_the_parameter(api: Api, body: Any, param: str) -> None:
    reply = await api.call("POST", "/v1/curricula/preview", json=body)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, param), reply.text


async def test_json_lines_with_flat_objects_are_mapped_too(api: Api) -> None:
    rows = [json.dumps({"Query": f"q {n}", "gold": n}) for n in range(12)]
    content = "\n".join(rows).encode()
    preview = await preview_of(api, content, "rows.jsonl")
    assert preview["files"][0]["format"] == "jsonl"
    assert preview["first_rows"][3] == {
        "messages": [{"role": "user", "content": "q 3"}],
        "answer": 3,
    }
    supervised = await preview_of(api, content, "rows.jsonl", options={"method": "supervised"})
    assert supervised["first_rows"][3]["messages"][1] == {"role": "assistant", "content": "3"}
