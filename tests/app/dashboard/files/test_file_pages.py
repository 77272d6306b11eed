"""Pages of files: the list, the first rows, and the statistics that validation computes."""

import json

from app.files.service import HEAD_BYTES
from tests.support.api.application import Api
from tests.support.dashboard.scenes import HOSTILE
from tests.support.dashboard.visits import Visit, rows_of, texts_of


def chat_row(question: str, **fields: object) -> bytes:
    row = {"messages": [{"role": "user", "content": question}], **fields}
    return json.dumps(row).encode() + b"\n"


async def uploaded(api: Api, content: bytes, purpose: str = "fine-tune", name: str = "rows") -> str:
    reply = await api.call(
        "POST", "/v1/files", files={"file": (name, content)}, data={"purpose": purpose}
    )
    assert reply.status_code == 200, reply.text
    return str(reply.json()["id"])


async def test_the_list_shows_files_of_a_purpose(api: Api, visit: Visit) -> None:
    assert "No file yet" in (await visit.get("/files")).text
    rows = await uploaded(api, chat_row("hi"), name=f"{HOSTILE}.jsonl")
    other = await uploaded(api, b"\x89PNG\x00\xff", purpose="vision", name="picture.png")
    page = (await visit.get("/files")).text
    listed = rows_of(page, "Files")[1:]
    assert [row[1:3] for row in listed] == [["vision", "6"], ["fine-tune", "50"]]
    assert listed[0][0] == f"picture.png {other}"
    assert "<script>alert" not in page
    chosen = rows_of((await visit.get("/files?purpose=fine-tune")).text, "Files")[1:]
    assert [row[0].rpartition(" ")[2] for row in chosen] == [rows]
    assert "No such files" in (await visit.get("/files?purpose=batch")).text
    assert (await visit.get("/files?purpose=novel")).status_code == 400
    assert "The file is not text" in (await visit.get(f"/files/{other}")).text


async def test_a_file_shows_its_first_rows_as_text(api: Api, visit: Visit) -> None:
    content = b"\xef\xbb\xbf" + chat_row(HOSTILE) + b"\n" + chat_row("second") * 11
    page = (await visit.get(f"/files/{await uploaded(api, content)}")).text
    assert texts_of(page, "h3")[:3] == ["Line 1", "Line 3", "Line 4"]
    assert len(texts_of(page, "h3")) == 10
    assert "The first 10 rows" in page
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    long = chat_row("€" * HEAD_BYTES)
    page = (await visit.get(f"/files/{await uploaded(api, long)}")).text
    assert texts_of(page, "h3") == ["Line 1"]
    assert "more characters" in page
    assert len(page) < 40_000


async def test_statistics_are_those_of_validation(api: Api, visit: Visit) -> None:
    rows = [chat_row("Which river?", answer="Nile"), chat_row("Which lake?", answer="Baikal")]
    tool = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}
    content = b"".join([*rows * 6, b'{"messages": []}\n', chat_row("Which sea?", tools=[tool])])
    file_id = await uploaded(api, content)
    page = (await visit.get(f"/files/{file_id}?method=reinforcement&model=")).text
    grader = {"type": "string_check", "name": "g", "operation": "eq"}
    grader |= {"input": "{{sample.output_text}}", "reference": "x"}
    body = {
        "model": "tiny-agent",
        "training_file": file_id,
        "method": {"type": "reinforcement", "reinforcement": {"grader": grader}},
    }
    report = (await api.call("POST", "/v1/fine_tuning/jobs/validate", json=body)).json()
    found = report["training_file"]
    facts = dict(zip(texts_of(page, "dt"), texts_of(page, "dd"), strict=True))
    assert facts["Rows"] == str(found["rows"]) == "14"
    assert facts["Rows with a fault"] == str(found["faulty_rows"]) == "1"
    assert facts["Rows that repeat a prompt"] == str(found["duplicate_rows"]) == "10"
    tokens = found["tokens"]
    assert facts["Half are at most"] == str(tokens["p50"])
    assert facts["Longest"] == f"{tokens['max']} of {tokens['context_length']:,}"
    assert facts["Rows that offer a tool"] == "search 1"
    issues = rows_of(page, "Issues")[1:]
    assert [row for row in issues if row[0] == "error"] == [
        ["error", str(one["line"]), one["message"]]
        for one in report["errors"]
        if one["param"] == "training_file"
    ]
    assert ["error", "13"] in [row[:2] for row in issues]
    assert (await visit.get(f"/files/{file_id}?method=novel")).status_code == 400
    missing = (await visit.get(f"/files/{file_id}?method=dpo&model=never")).text
    assert "never" in " ".join(row[2] for row in rows_of(missing, "Issues"))
