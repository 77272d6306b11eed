"""Values of customers' files that are no rows as they are: texts, findings and refusals."""

import datetime as dt
import io
import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from tests.support.api.application import Api
from tests.support.cases import cases
from tests.support.registry.curriculum_calls import (
    CALL,
    CURRICULA,
    ROWS,
    codes,
    preview_of,
    previewed,
)


def _table(values: Any) -> bytes:
    held = io.BytesIO()
    parquet.write_table(pa.table({"prompt": ["q"] * len(values), "value": values}), held)
    return held.getvalue()


async def test_values_of_parquet_that_json_has_not_are_texts(api: Api) -> None:
    when = dt.datetime(2024, 5, 6, 7, 8, 9)  # noqa: DTZ001 - a column without a zone
    found = {
        "2024-05-06": [when.date()],
        "2024-05-06T07:08:09": [when],
        "1.50": [Decimal("1.50")],
        "1 day, 0:00:00": [dt.timedelta(1)],
    }
    for text, values in found.items():
        preview = await preview_of(api, _table(values), "table.parquet")
        assert preview["first_rows"][0]["value"] == text
    nested = await preview_of(api, _table([{"image": b"\xff", "n": 1}]), "table.parquet")
    assert nested["first_rows"][0]["value"] == {"image": None, "n": 1}
    for far in (pa.array([2**61], pa.timestamp("ms")), pa.array([2**30], pa.date32())):
        preview = await preview_of(api, _table(far), "table.parquet")
        assert codes(preview)[0] == ("error", "invalid_parquet")
        assert "its column 'value' has a date" in preview["findings"][0]["message"]
        assert "out of range" in preview["findings"][0]["message"]


async def test_nanoseconds_of_parquet_are_texts(api: Api) -> None:
    nanoseconds = 1_700_000_000_123_456_789
    found = {
        "2023-11-14T22:13:20.123456789": pa.timestamp("ns"),
        "2023-11-14T22:13:20.123456789Z": pa.timestamp("ns", "UTC"),
    }
    for text, kind in found.items():
        preview = await preview_of(api, _table(pa.array([nanoseconds], kind)), "table.parquet")
        assert preview["first_rows"][0]["value"] == text
    time_of_day = _table(pa.array([86_399_999_999_999], pa.time64("ns")))
    preview = await preview_of(api, time_of_day, "table.parquet")
    assert preview["first_rows"][0]["value"] == "23:59:59.999999999"


async def test_a_missing_number_of_a_data_frame_is_null(api: Api) -> None:
    preview = await preview_of(api, _table([float("nan"), 1.5]), "table.parquet")
    assert [row.get("value") for row in preview["first_rows"]] == [None, 1.5]


@cases(
    ("values", "why"),
    [
        (pa.array([None, 2**62], pa.duration("ns")), "a time or duration in nanoseconds"),
        (pa.array([None, 2**62], pa.duration("s")), "out of range"),
        (pa.array([None, 1_700_000_000], pa.timestamp("s", "Mars/Phobos")), "a time zone"),
    ],
)
async def test_a_column_that_cannot_be_read_is_named(api: Api, *, values: Any, why: str) -> None:
    preview = await preview_of(api, _table(values), "table.parquet")
    (finding,) = [each for each in preview["findings"] if each["code"] == "invalid_parquet"]
    assert "its column 'value' has" in finding["message"]
    assert why in finding["message"]
    assert "no Parquet file" not in finding["message"]


async def test_a_number_of_400_digits_is_no_fault_of_the_service(api: Api) -> None:
    rows = b"".join(
        b'{"prompt": "q%d", "difficulty": 1%s, "tags": 1%s}\n' % (number, b"0" * 400, b"0" * 400)
        for number in range(12)
    )
    preview = await preview_of(api, rows, "rows.jsonl")
    assert (preview["rows"], codes(preview)[0]) == (0, ("error", "invalid_row"))
    assert "is out of range" in preview["findings"][0]["message"]


@cases("value", [None, " ", "NaN"])
async def test_a_reference_that_is_none_is_a_finding_with_its_line(api: Api, value: Any) -> None:
    rows = [{**row, "answer": value if at == 11 else "a"} for at, row in enumerate(ROWS)]
    preview = await previewed(api, {"type": "rows", "rows": rows})
    assert ("warning", "empty_reference") in codes(preview)
    (found,) = [each for each in preview["findings"] if each["code"] == "empty_reference"]
    assert (found["rows"], found["lines"]) == (1, [12])
    made = await api.call("POST", CURRICULA, json={"name": "c", "training": rows})
    tested = await api.call("POST", f"{CURRICULA}/{made.json()['id']}/test")
    faults = tested.json()["faults"]
    assert [(one["line"], one["param"]) for one in faults if one["code"] == "empty_reference"] == [
        (12, "training_file")
    ]


@cases("value", [2, True, "easy"])
async def test_a_difficulty_that_no_ordering_reads_is_a_finding(api: Api, value: Any) -> None:
    rows = [{**row, "difficulty": value if at % 2 else at / 24} for at, row in enumerate(ROWS)]
    preview = await previewed(api, {"type": "rows", "rows": rows})
    assert codes(preview) == [("warning", "unread_difficulty"), ("warning", "alike_rows")]
    assert (preview["findings"][0]["rows"], preview["findings"][0]["lines"][:2]) == (12, [2, 4])


async def test_validate_warns_of_difficulties_that_the_ordering_does_not_read(api: Api) -> None:
    rows = [{**row, "difficulty": True if at < 3 else 0.5} for at, row in enumerate(ROWS)]
    content = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    file_id = (await api.upload(content)).json()["id"]
    found = dict[str, list[Any]]()
    for ordering in ("uniform", "easy_to_hard", "focus"):
        inner = {**CALL["method"]["reinforcement"], "ordering": {"type": ordering}}
        body = {
            "model": "tiny-agent", "training_file": file_id, "validation_file": file_id,
            "method": {"type": "reinforcement", "reinforcement": inner},
        }  # fmt: skip
        reply = await api.call("POST", "/v1/fine_tuning/jobs/validate", json=body)
        report = reply.json()
        found[ordering] = [
            (one["severity"], one["param"], one["line"], "3 rows" in one["message"])
            for one in report["errors"] + report["warnings"]
            if one["code"] == "unread_difficulty"
        ]
    warning = [("warning", "training_file", 1, True)]
    assert found == {"uniform": [], "easy_to_hard": warning, "focus": warning}


@cases(
    ("name", "content", "code", "message"),
    [
        ("x.json", b'[\n  {"prompt": "q"}\n]', "wrong_format", "a JSON array"),
        ("x.jsonl", b"[1]\n", "invalid_row", "Line 1: not a JSON object"),
    ],
)
async def test_json_that_is_no_line_of_an_object_is_named(
    api: Api, name: str, content: bytes, code: str, message: str
) -> None:
    finding = (await preview_of(api, content, name))["findings"][0]
    assert (finding["code"], message in finding["message"]) == (code, True), finding


async def test_a_column_that_is_taken_is_not_offered(api: Api) -> None:
    source = {"type": "rows", "rows": [{"prompt": "q", "n": 1}], "columns": {"answer": "prompt"}}
    message = (await previewed(api, source))["findings"][0]["message"]
    assert "there are 'n' ('prompt' is 'answer')" in message


def _lookup(name: str, parameter: str, **schema: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {parameter: schema}, "required": [parameter]}
    function = {"name": name, "description": "d", "parameters": parameters}
    return {"type": "function", "function": function}


@cases("prompt", ["messages", "prompt"])
async def test_nulls_that_a_nested_column_filled_in_are_absent_keys(api: Api, prompt: str) -> None:
    """A struct of Parquet has the keys of every row, and null for those of other rows."""
    asked = {"role": "user", "content": "hi"}
    function = {"name": "find", "arguments": "{}"}
    call = {"id": "c", "type": "function", "function": function}
    talks = [
        [asked],
        [asked, {"role": "assistant", "tool_calls": [call]},
         {"role": "tool", "tool_call_id": "c", "content": "r"}, asked],
    ]  # fmt: skip
    tools = [[_lookup("find", "x", type="string", enum=["a", "b"])],
             [_lookup("count", "y", type="integer", minimum=0)]]  # fmt: skip
    records = [
        {prompt: talks[n % 2] if prompt == "messages" else f"q{n}", "tools": tools[n % 2], "n": n}
        for n in range(12)
    ]
    table, held = pa.Table.from_pylist(records), io.BytesIO()
    parquet.write_table(table, held)
    lines = "\n".join(map(json.dumps, table.to_pylist())).encode()
    for content, name in ((held.getvalue(), "table.parquet"), (lines, "table.jsonl")):
        preview = await preview_of(api, content, name)
        assert preview["usable"], preview["findings"]
        assert [row["tools"] for row in preview["first_rows"][:2]] == tools
        if prompt == "messages":
            assert [row["messages"] for row in preview["first_rows"][:2]] == talks
