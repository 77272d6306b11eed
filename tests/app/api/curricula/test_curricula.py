import hashlib
import json
from typing import Any

import pytest

from tests.support.api.application import Api

CURRICULA = "/v1/curricula"


def row(question: str, *tools: str) -> dict[str, Any]:
    offered = [{"type": "function", "function": {"name": name}} for name in tools]
    return {
        "messages": [{"role": "user", "content": question}],
        "answer": f"to {question}",
        **({"tools": offered} if offered else {}),
    }


ROWS = [row(f"question {number}") for number in range(12)]


def lines(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


async def made(api: Api, **body: Any) -> dict[str, Any]:
    reply = await api.call("POST", CURRICULA, json={"name": "capitals", **body})
    assert reply.status_code == 200, reply.text
    curriculum: dict[str, Any] = reply.json()
    return curriculum


async def test_a_curriculum_of_files_is_counted_and_hashed(api: Api) -> None:
    content = lines(ROWS[:5]) + b"\n  \n" + lines(ROWS[5:]).rstrip()
    training = (await api.upload(content)).json()["id"]
    validation = (await api.upload(lines(ROWS))).json()["id"]
    curriculum = await made(
        api, training_file=training, validation_file=validation, metadata={"a": "b"}
    )
    assert curriculum["id"].startswith("curr_")
    assert curriculum == {
        "id": curriculum["id"],
        "object": "curriculum",
        "created_at": curriculum["created_at"],
        "updated_at": curriculum["created_at"],
        "version": 1,
        "name": "capitals",
        "metadata": {"a": "b"},
        "training_file": training,
        "validation_file": validation,
        "training_rows": 12,
        "validation_rows": 12,
        "training_sha256": hashlib.sha256(content).hexdigest(),
        "validation_sha256": hashlib.sha256(lines(ROWS)).hexdigest(),
    }
    path = f"{CURRICULA}/{curriculum['id']}"
    assert (await api.call("GET", path)).json() == curriculum
    assert (await api.call("GET", CURRICULA)).json()["data"] == [curriculum]
    without = (await api.call("POST", path, json={"validation_file": None})).json()
    assert (without["version"], without["validation_file"]) == (2, None)
    assert (without["training_file"], without["validation_rows"]) == (training, None)
    echoed = (await api.call("POST", path, json={**without, "metadata": None})).json()
    assert (echoed["version"], echoed["metadata"]) == (3, None)
    assert echoed["training_file"] == training
    assert (await api.call("GET", path, params={"version": 1})).json() == curriculum
    assert (await api.call("GET", f"{path}/versions")).json()["data"] == [
        echoed, without, curriculum,
    ]  # fmt: skip
    deleted = (await api.call("DELETE", path)).json()
    assert deleted == {"id": curriculum["id"], "object": "curriculum", "deleted": True}
    assert (await api.call("GET", path)).json()["error"]["code"] == "curriculum_not_found"
    assert (await api.call("GET", f"/v1/files/{training}")).status_code == 200


async def test_inline_rows_become_files(api: Api) -> None:
    curriculum = await made(api, training=ROWS, validation=ROWS[:2])
    assert (curriculum["training_rows"], curriculum["validation_rows"]) == (12, 2)
    file = (await api.call("GET", f"/v1/files/{curriculum['training_file']}")).json()
    assert file["purpose"] == "fine-tune"
    content = (await api.call("GET", f"/v1/files/{file['id']}/content")).content
    assert [json.loads(line) for line in content.splitlines()] == ROWS
    assert hashlib.sha256(content).hexdigest() == curriculum["training_sha256"]
    path = f"{CURRICULA}/{curriculum['id']}"
    second = (await api.call("POST", path, json={"training": ROWS[:3]})).json()
    assert (second["version"], second["training_rows"], second["validation_rows"]) == (2, 3, 2)
    assert second["training_file"] != curriculum["training_file"]
    assert (await api.call("GET", f"/v1/files/{file['id']}")).status_code == 200


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({}, "training_file", "missing_required_parameter"),
        ({"training": []}, "training", "invalid_value"),
        ({"training": [5]}, "training[0]", "invalid_value"),
        ({"training": ROWS, "validation": [{"foo": 1}]}, "validation[0]", "invalid_value"),
        ({"training": [*ROWS, {"a": 1}]}, f"training[{len(ROWS)}]", "invalid_value"),
        ({"training": ROWS, "training_file": "file-x"}, "training", "invalid_value"),
        ({"training_file": "file-unknown"}, "training_file", "file_not_found"),
        ({"training": ROWS, "name": "taken"}, "name", "name_taken"),
    ],
)
async def test_a_wrong_curriculum_leaves_no_file_behind(
    api: Api, body: dict[str, Any], param: str, code: str
) -> None:
    taken = await made(api, name="taken", training=ROWS)
    reply = await api.call("POST", CURRICULA, json={"name": "n", **body})
    error = reply.json()["error"]
    assert (reply.status_code, error["param"], error["code"]) == (400, param, code), error
    assert [file["id"] for file in (await api.call("GET", "/v1/files")).json()["data"]] == [
        taken["training_file"]
    ]


async def test_a_file_of_another_purpose_or_tenant_is_refused(api: Api) -> None:
    other_purpose = (await api.upload(lines(ROWS), purpose="batch")).json()["id"]
    foreign = (await api.upload(lines(ROWS), key=api.other_key)).json()["id"]
    for file_id in (other_purpose, foreign):
        reply = await api.call("POST", CURRICULA, json={"name": "n", "training_file": file_id})
        assert (reply.status_code, reply.json()["error"]["param"]) == (400, "training_file")


async def test_a_test_reports_every_fault_with_line_and_pointer(api: Api) -> None:
    rows = [*ROWS, ROWS[3], row("with a tool", "search")]
    broken = b'{"messages": [{"role": "user", "content": 5}]}\n{"messages": []}\n'
    training = (await api.upload(lines(rows) + broken)).json()["id"]
    curriculum = await made(api, training_file=training, validation=ROWS[:10])
    path = f"{CURRICULA}/{curriculum['id']}/test"
    report = (await api.call("POST", path)).json()
    assert (report["object"], report["passed"], report["version"]) == ("curriculum.test", False, 1)
    assert report["training"] == {
        "file_id": training,
        "rows": 16,
        "faulty_rows": 2,
        "duplicate_rows": 1,
        "duplicate_lines": [{"first": 4, "second": 13}],
        "tools": {"search": 1},
    }
    assert report["validation"]["rows"] == 10
    assert report["overlapping_rows"] == 10
    assert report["overlapping_lines"][0] == {"first": 1, "second": 1}
    faults = [(fault["line"], fault["pointer"]) for fault in report["faults"]]
    assert faults[:2] == [(15, "/messages/0/content"), (16, "/messages")]
    assert [fault["code"] for fault in report["faults"][2:]] == [
        "duplicate_rows", "overlapping_rows",
    ]  # fmt: skip
    named = (await api.call("POST", path, json={"tools": ["other"]})).json()
    assert (14, "/tools/0/function/name") in [
        (fault["line"], fault["pointer"]) for fault in named["faults"]
    ]
    assert named["training"]["faulty_rows"] == 3


async def test_a_sound_curriculum_passes(api: Api) -> None:
    validation = [row(f"another {number}") for number in range(10)]
    curriculum = await made(api, training=ROWS, validation=validation)
    report = (await api.call("POST", f"{CURRICULA}/{curriculum['id']}/test", json={})).json()
    assert (report["passed"], report["faults"], report["overlapping_rows"]) == (True, [], 0)


async def test_equal_faults_are_one_that_counts_them(api: Api) -> None:
    training = (await api.upload(b'{"no": "messages"}\n' * 250)).json()["id"]
    curriculum = await made(api, training_file=training)
    report = (await api.call("POST", f"{CURRICULA}/{curriculum['id']}/test")).json()
    assert report["training"]["faulty_rows"] == 250
    [fault] = [fault for fault in report["faults"] if fault["line"] is not None]
    assert (fault["line"], "250 times" in fault["message"]) == (1, True), fault


async def test_a_deleted_file_is_reported(api: Api) -> None:
    curriculum = await made(api, training=ROWS)
    await api.call("DELETE", f"/v1/files/{curriculum['training_file']}")
    reply = await api.call("POST", f"{CURRICULA}/{curriculum['id']}/test")
    error = reply.json()["error"]
    assert (reply.status_code, error["code"]) == (400, "file_not_found")
    assert (await api.call("GET", f"{CURRICULA}/{curriculum['id']}")).json() == curriculum


async def test_other_tenants_find_nothing_and_forged_keys_are_ignored(api: Api) -> None:
    forged = {
        "id": "curr_x", "version": 5, "created_at": 1, "project_id": "p", "training_rows": 9,
        "training_sha256": "00",
    }  # fmt: skip
    curriculum = await made(api, training=ROWS, **forged)
    assert (curriculum["version"], curriculum["training_rows"]) == (1, 12)
    assert curriculum["id"] != "curr_x"
    path = f"{CURRICULA}/{curriculum['id']}"
    for method, tail in (
        ("GET", ""), ("GET", "/versions"), ("POST", ""), ("DELETE", ""), ("POST", "/test"),
    ):  # fmt: skip
        sent: dict[str, Any] = {"json": {}} if method == "POST" else {}
        reply = await api.call(method, path + tail, key=api.other_key, **sent)
        assert (reply.status_code, reply.json()["error"]["code"]) == (404, "curriculum_not_found")


PAIR = {
    "input": {"messages": [{"role": "user", "content": "Which?"}]},
    "preferred_output": [{"role": "assistant", "content": "this"}],
    "non_preferred_output": [{"role": "assistant", "content": "that"}],
}
ANSWERED = {"messages": [*ROWS[0]["messages"], {"role": "assistant", "content": "yes"}]}


@pytest.mark.parametrize(
    ("rows", "method"), [(PAIR, "dpo"), (ANSWERED, "supervised"), (ROWS[0], "reinforcement")]
)
async def test_rows_are_tested_for_the_job_that_they_fit(
    api: Api, rows: dict[str, Any], method: str
) -> None:
    path = f"{CURRICULA}/{(await made(api, training=[rows] * 10))['id']}/test"
    report = (await api.call("POST", path)).json()
    assert (report["method"], report["passed"], report["training"]["faulty_rows"]) == (
        method, True, 0,
    )  # fmt: skip
    other = "dpo" if method != "dpo" else "supervised"
    refused = (await api.call("POST", path, json={"method": other})).json()
    assert (refused["method"], refused["training"]["faulty_rows"]) == (other, 10)
