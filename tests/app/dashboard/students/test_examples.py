"""Examples from files and forms: what is wrong is said with its cure, and nothing is stored."""

import json
from typing import Any

import httpx
import pytest

from tests.support.api.application import Api
from tests.support.dashboard.scenes import HOSTILE
from tests.support.dashboard.teaching import QUESTIONS, make_examples, pasted, rows
from tests.support.dashboard.visits import ORIGIN, Visit, texts_of


async def drop(
    visit: Visit, content: bytes, *, filename: str = "examples.jsonl", **fields: str
) -> httpx.Response:
    """Drops a file on the form of examples."""
    token = await visit.form_token("/teach")
    sent = {"form_token": token, "kind": "words", "name": "File", **fields}
    file = {"file": (filename, content)}
    reply = await visit.http.post(
        "/teach/examples", data=sent, files=file, headers={"origin": ORIGIN}
    )
    return await visit.get(reply.headers["location"]) if reply.status_code == 303 else reply


def lines(*made: Any) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in made)


def every_row() -> list[dict[str, object]]:
    return [row for part in rows().values() for row in part]


async def test_a_file_becomes_a_curriculum(visit: Visit, api: Api) -> None:
    made = await drop(visit, lines(*every_row()))
    assert made.status_code == 200, made.text
    assert "Every example can be read" in made.text
    assert all(row["tags"] == ["orders"] for row in await stored_rows(api))
    [curriculum] = (await api.call("GET", "/v1/curricula")).json()["data"]
    assert (curriculum["training_rows"], curriculum["validation_rows"]) == (14, 10)


async def test_tests_that_were_practised_are_found(visit: Visit, api: Api) -> None:
    made = {"training": every_row(), "validation": every_row()[:10]}
    sent = await api.call("POST", "/v1/curricula", json={"name": "Memory", **made})
    page = await visit.get(f"/teach/examples/{sent.json()['id']}")
    assert "10 questions of the tests are practised too" in page.text
    sent = await api.call("POST", "/v1/curricula", json={"name": "None", "training": every_row()})
    page = await visit.get(f"/teach/examples/{sent.json()['id']}")
    assert "No examples are kept for tests" in page.text


async def test_findings_name_the_line_and_the_cure(visit: Visit, api: Api) -> None:
    good = every_row()
    pair = {"messages": good[0]["messages"], "answer": 4}
    content = lines(*good) + b"{broken\n" + lines({"messages": []}, pair, [1], {"fact": HOSTILE})
    page = await drop(visit, content)
    assert page.status_code == 400
    found = texts_of(page.text, "li")
    for line, cure in (
        ("Line 25: not valid JSON", "Each line is one example"),
        ("Line 27: It is of another kind than the first line.", "Make one file per kind."),
        ("Line 28: not a JSON object", "Each line is one example"),
        ("Line 29: must be a list with at least one message", "Each line is one example"),
    ):
        assert any(line in each and cure in each for each in found), (line, found)
    assert "<script>alert" not in page.text
    assert (await api.call("GET", "/v1/curricula")).json()["data"] == []
    assert (await api.call("GET", "/v1/files")).json()["data"] == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe\x00", "not UTF-8"),
        (b'{"messages": [{"role": "user", "content": "x"}]}\n', "Nothing in the line says"),
        (b'{"a":' * 50_000, "nested too deeply"),
    ],
)
async def test_no_file_is_too_bad_for_an_answer(visit: Visit, content: bytes, said: str) -> None:
    page = await drop(visit, content)
    assert page.status_code == 400, page.text
    assert said in page.text


async def test_typed_examples_are_kept_in_the_form_until_they_are_right(visit: Visit) -> None:
    cells = {"question-1": HOSTILE, "answer-1": "", "topic-1": "money", "lines": "3"}
    page = await make_examples(visit, "Typed", pasted="one\n", **cells)
    assert page.status_code == 400
    found = texts_of(page.text, "li")
    assert any("Line 1: “Words of a right answer” is empty." in each for each in found)
    assert any("Pasted lines: No line has a tab" in each for each in found)
    tabbed = await make_examples(visit, "Typed", pasted="one\t\n", **cells)
    found = texts_of(tabbed.text, "li")
    assert any("Pasted line 1: “Words of a right answer” is empty." in each for each in found)
    assert "<script>alert" not in page.text
    assert 'value="money"' in page.text
    more = await make_examples(visit, "Typed", more="yes", **cells)
    assert 'name="question-13"' in more.text
    assert 'name="question-14"' not in more.text


async def test_numbers_and_pairs_are_typed_too(visit: Visit, api: Api) -> None:
    table = "\n".join(f"{each}\t{at}" for at, each in enumerate(QUESTIONS))
    numbers = await make_examples(visit, "Numbers", kind="number", pasted=table)
    assert numbers.status_code == 200, numbers.text
    wrong = await make_examples(visit, "Wrong", kind="number", pasted=pasted("many"))
    assert "“many” is not a number" in wrong.text
    table = "\n".join(f"{each}\tYes, of course.\tNo." for each in QUESTIONS)
    pairs = await make_examples(visit, "Pairs", kind="better", pasted=table)
    assert "better: Yes, of course." in pairs.text
    named = await make_examples(visit, "Pairs", kind="better", pasted=table)
    assert (named.status_code, "Nothing is stored yet" in named.text) == (400, True)
    found = (await api.call("GET", "/v1/curricula")).json()["data"]
    row = await api.call("GET", f"/v1/files/{found[0]['training_file']}/content")
    first = json.loads(row.text.splitlines()[0])
    assert first["non_preferred_output"] == [{"role": "assistant", "content": "No."}]


async def stored_rows(api: Api) -> list[dict[str, Any]]:
    """Returns all rows of the only curriculum."""
    [made] = (await api.call("GET", "/v1/curricula")).json()["data"]
    files = [made["training_file"], made["validation_file"]]
    replies = [await api.call("GET", f"/v1/files/{file}/content") for file in files]
    return [json.loads(line) for reply in replies for line in reply.content.splitlines()]


@pytest.mark.parametrize(
    ("delimiter", "titles"), [(",", ("Topic", "Question", "Answer")), (";", None)]
)
async def test_a_table_becomes_a_curriculum(
    visit: Visit, api: Api, delimiter: str, titles: tuple[str, ...] | None
) -> None:
    """Its titles name the columns in any order; without titles they are those of the form."""
    quoted = [f'"{each}, please"' for each in QUESTIONS]
    topics = '"orders; returns"'  # as the service divides the cells of every table
    made = [(topics, each, "yes") if titles else (each, "yes", topics) for each in quoted]
    content = "\r\n".join(delimiter.join(row) for row in [*filter(None, [titles]), *made])
    page = await drop(
        visit, content.encode("cp1252"), filename="table.csv", instructions="Be kind."
    )
    assert "Every example can be read" in page.text, page.text
    stored = await stored_rows(api)
    assert {row["messages"][1]["content"] for row in stored} == {f"{q}, please" for q in QUESTIONS}
    assert all((row["fact"], row["tags"]) == ("yes", ["orders", "returns"]) for row in stored)
    assert stored[0]["messages"][0] == {"role": "system", "content": "Be kind."}


async def test_the_titles_of_a_table_name_its_kind(visit: Visit, api: Api) -> None:
    rows = [f"{each},Yes.,No.,7" for each in QUESTIONS]
    content = "\n".join(["prompt,chosen,rejected,length", *rows]).encode()
    page = await drop(visit, content, filename="pairs.csv")
    assert "better: Yes." in page.text, page.text
    assert all(row["non_preferred_output"][0]["content"] == "No." for row in await stored_rows(api))


@pytest.mark.parametrize(
    ("content", "where", "said"),
    [
        ("question,colour\n" + "a,b\n" * 20, "The file",
         "its columns are “question”, “colour”, and these examples have “question”, “answer”"),
        ("question,answer\na,b,c\n" + "q,\n", "Line 2", "There are 3 cells"),
        ("question,answer\na,b\n" + '"open,b\n', "Line 3", "it is no CSV"),
        ("PK\x03\x04", "The file", "it is a ZIP archive or an Excel workbook"),
    ],
)  # fmt: skip
async def test_a_table_that_cannot_be_read_states_where(
    visit: Visit, api: Api, content: str, where: str, said: str
) -> None:
    page = await drop(visit, content.encode(), filename="table.csv")
    found = texts_of(page.text, "li")
    assert any(f"{where}: " in each and said in each for each in found), found
    assert (await api.call("GET", "/v1/files")).json()["data"] == []


async def test_a_pasted_cell_keeps_its_line_breaks(visit: Visit, api: Api) -> None:
    odd = '"What is the fee\r\nfor a refund?"\t"5 ""euro"""\tbilling\r\n'
    odd += "How long\u2028is it?\t3 days\n"
    made = await make_examples(visit, "Odd", pasted=odd + pasted())
    assert made.status_code == 200, made.text
    found = {row["messages"][0]["content"]: row for row in await stored_rows(api)}
    assert len(found) == len(QUESTIONS) + 2
    broken = found["What is the fee\nfor a refund?"]
    assert (broken["fact"], broken["tags"]) == ('5 "euro"', ["billing"])
    assert found["How long\u2028is it?"]["fact"] == "3 days"
    open_quote = await make_examples(visit, "Open", pasted=f'a\tb\n"{"x" * 2_000_000}')
    assert open_quote.status_code == 400
    assert any(
        "Pasted line 2: A cell is too long" in each for each in texts_of(open_quote.text, "li")
    )


async def test_pasted_lines_are_read_as_they_were_meant(visit: Visit, api: Api) -> None:
    """Titles are no example; an open quotation mark and a surplus column are found."""
    titled = await make_examples(visit, "Titled", pasted=f"Question\tAnswer\tTopic\n{pasted()}")
    assert titled.status_code == 200, titled.text
    stored = await stored_rows(api)
    assert {row["messages"][0]["content"] for row in stored} == set(QUESTIONS)
    each = pasted().splitlines()
    swallowed = [*each[:10], 'Where is it?\t"shelf 0 (ditto\torders', *each[10:]]
    opened = await make_examples(visit, "Opened", pasted="\n".join(swallowed))
    assert opened.status_code == 400
    found = texts_of(opened.text, "li")
    assert any("Pasted line 11: A cell has other lines in it" in one for one in found)
    numbered = "\n".join(f"{at}\t{question}\tYes\torders" for at, question in enumerate(QUESTIONS))
    shifted = await make_examples(visit, "Shifted", pasted=numbered)
    assert shifted.status_code == 400
    found = texts_of(shifted.text, "li")
    assert any("Pasted line 1: There are 4 cells" in one for one in found)


async def test_a_form_that_is_too_large_or_foreign_is_refused(visit: Visit) -> None:
    assert (await drop(visit, b"x" * (8 * 1024 * 1024))).status_code == 413
    assert (await drop(visit, b"", form_token="0")).status_code == 403
    assert (await drop(visit, b"", kind="nonsense")).status_code == 400
    assert (await make_examples(visit, "x", question="\x00")).status_code == 400
