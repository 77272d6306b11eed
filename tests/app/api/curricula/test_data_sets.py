"""Data sets of a hub over real sockets, and of a directory of the operator's."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from app.settings import HubSettings
from tests.support.api.application import Api, running
from tests.support.cases import cases
from tests.support.models.data_set_hub import data_set_hub
from tests.support.registry.curriculum_calls import CURRICULA, codes, made_from, previewed, rows_of
from tests.support.stack import Database

NAME = "own/trivia"
QUESTIONS = [f"Which {word} is number {n}?" for n, word in enumerate("abcdefghijklmnopqrstuvwx")]
ROWS = [{"question": text, "answer": f"a{n}"} for n, text in enumerate(QUESTIONS)]


def lines(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def table(rows: list[dict[str, Any]]) -> bytes:
    held = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows), held)
    return held.getvalue()


def asked(rows: list[dict[str, Any]]) -> list[str]:
    return [row["messages"][-1]["content"] for row in rows]


async def _refused(api: Api, **source: Any) -> tuple[str, str]:
    source = {"type": "huggingface", "data_set": NAME, **source}
    reply = await api.call("POST", CURRICULA, json={"name": "x", "sources": [source]})
    error = reply.json()["error"]
    assert reply.status_code == 400
    return error["code"], error["message"]


async def test_a_data_set_is_pinned_to_its_commit(database: Database) -> None:
    nested = [{"input": row["question"], "output": row["answer"], "meta": {"n": 1}} for row in ROWS]
    files = {
        "data/train-00000.parquet": table(nested[:12]),
        "data/train-00001.parquet": table(nested[12:]),
        "data/test.csv": b"question,answer\nq,a\n",
        "README.md": b"",
    }
    with data_set_hub(NAME, files) as hub:
        async with running(database, hub.url[7:], hub=HubSettings(endpoint=hub.url)) as api:
            source = {"type": "huggingface", "data_set": NAME, "revision": "v1"}
            made = await made_from(api, source, split={"validation_share": 0})
            assert asked(await rows_of(api, made["training_file"])) == QUESTIONS
            (origin,) = made["made_from"]["sources"]
            assert origin == {
                "type": "huggingface", "data_set": NAME, "revision": hub.commit,
            }  # fmt: skip
            test = await previewed(api, {**source, "split": "test"})
            assert (test["rows"], test["files"][0]["revision"]) == (1, hub.commit)
            assert (await _refused(api, revision="nope"))[0] == "revision_not_found"
            assert (await _refused(api, data_set="own/other"))[0] == "data_set_not_found"
            code, message = await _refused(api, split="dev")
            assert (code, "'data/test.csv'" in message) == ("split_not_found", True)
            assert hub.authorized == []


async def test_no_more_than_the_limit_needs_is_fetched(database: Database) -> None:
    long = lines([{"question": f"{row['question']} {'x' * 1000}"} for row in ROWS * 400])
    with data_set_hub(NAME, {"train.jsonl": long, "train2.csv": b"x" * 100}) as hub:
        async with running(database, hub.url[7:], hub=HubSettings(endpoint=hub.url)) as api:
            source = {"type": "huggingface", "data_set": NAME, "limit": 24}
            preview = await previewed(api, source)
    assert (preview["rows"], codes(preview)[-1]) == (24, ("info", "limited"))
    assert sum(size for _, size in hub.sent) < len(long) / 2
    assert {name for name, _ in hub.sent} == {"train.jsonl"}


async def test_configurations_of_the_card_choose_the_files(database: Database) -> None:
    configs = [
        {"config_name": "easy", "data_files": [{"split": "train", "path": "easy/*.jsonl"}]},
        {"config_name": "hard", "data_files": [{"split": "train", "path": ["hard/a.jsonl"]}]},
        {"config_name": "evil", "data_files": "https://127.0.0.1/steal.jsonl"},
        {"config_name": "up", "data_files": ["../../../etc/passwd"]},
        {"config_name": "zip", "data_files": "all.zip"},
    ]
    files = {
        "easy/b.jsonl": lines(ROWS[:3]),
        "hard/a.jsonl": lines(ROWS[3:]),
        "hard/b.jsonl": lines(ROWS),
        "all.zip": b"PK\x03\x04",
    }
    with data_set_hub(NAME, files, configs=configs) as hub:
        async with running(database, hub.url[7:], hub=HubSettings(endpoint=hub.url)) as api:
            source = {"type": "huggingface", "data_set": NAME}
            rows = {
                name: (await previewed(api, {**source, "config": name}))["rows"]
                for name in ("easy", "hard")
            }
            refusals = {
                config: (await _refused(api, **({} if config is None else {"config": config})))[0]
                for config in (None, "none", "evil", "up", "zip")
            }
    assert rows == {"easy": 3, "hard": 21}
    assert refusals == {
        None: "config_not_found", "none": "config_not_found", "evil": "path_refused",
        "up": "path_refused", "zip": "format_refused",
    }  # fmt: skip


async def test_only_addresses_that_are_allowed_are_dialled(database: Database) -> None:
    with (
        data_set_hub("own/inner", {"train.jsonl": lines(ROWS)}) as inner,
        data_set_hub(NAME, {"train.jsonl": lines(ROWS)}, redirects_to=f"{inner.url}/secret") as hub,
    ):
        async with running(database, hub=HubSettings(endpoint=hub.url)) as api:
            code, message = await _refused(api)
            assert (code, "private address" in message) == ("hub_refused", True)
        async with running(database, hub.url[7:], hub=HubSettings(endpoint=hub.url)) as api:
            code, message = await _refused(api)
            assert (code, inner.url[7:] in message) == ("hub_refused", True)
    assert inner.sent == []


async def _unavailable(api: Api) -> str:
    """Returns the message of the finding and of the refusal, which are the same."""
    preview = await previewed(api, {"type": "huggingface", "data_set": NAME})
    assert codes(preview)[0] == ("error", "hub_unavailable")
    code, message = await _refused(api)
    assert (code, message) == ("hub_unavailable", preview["findings"][0]["message"])
    for kind in ("/v1/files", CURRICULA):
        assert (await api.call("GET", kind)).json()["data"] == []
    return message


async def test_a_hub_that_does_not_answer_as_one_is_a_finding(database: Database) -> None:
    with data_set_hub(NAME, {"train.jsonl": lines(ROWS)}) as hub:
        async with running(database, hub.url[7:], hub=HubSettings(endpoint=hub.url)) as api:
            said = f"The data set '{NAME}' cannot be read: {hub.url} does not answer as a hub."
            broken = (
                *(b"<html>Please log in</html>", b"[]", b'{"siblings": [{}]}'),
                b'{"id": "own/trivia", "sha": "0", "cardData": [], "siblings": 5}',
            )
            for hub.describes_with in broken:
                message = await _unavailable(api)
                assert message == said or "names no commit" in message
            hub.breaks_off = True
            assert await _unavailable(api) == said


async def test_a_hub_whose_name_does_not_resolve_is_a_finding(database: Database) -> None:
    hub = HubSettings(endpoint="https://hub.invalid")
    async with running(database, hub=hub) as api:
        assert "https://hub.invalid does not answer" in await _unavailable(api)


@pytest.mark.parametrize("name", ["train.jsonl", "train.parquet"])
async def test_a_hub_that_fails_while_a_file_is_read_is_a_finding(
    database: Database, name: str
) -> None:
    with data_set_hub(NAME, {name: lines(ROWS)}) as hub:
        hub.redirects_to = f"{hub.url}/datasets/{NAME}/resolve/{hub.commit}/{name}"
        async with running(database, hub.url[7:], hub=HubSettings(endpoint=hub.url)) as api:
            assert "the hub broke off" in await _unavailable(api)


@cases("name", ["trivia", "../etc", "/etc/passwd"])
async def test_a_name_that_is_a_path_is_refused(api: Api, name: str) -> None:
    body = {"sources": [{"type": "huggingface", "data_set": name}]}
    reply = await api.call("POST", f"{CURRICULA}/preview", json=body)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, "sources[0].data_set")


async def test_a_directory_is_read_without_a_hub(database: Database, tmp_path: Path) -> None:
    directory = tmp_path / "sets" / NAME
    (directory / "data").mkdir(parents=True)
    (directory / "data" / "train.csv").write_text(
        "question,answer\n" + "".join(f"{row['question']},{row['answer']}\n" for row in ROWS)
    )
    (directory / "README.md").write_text("# no card\n")
    hub = HubSettings(endpoint="https://hub.invalid", data_sets_dir=tmp_path / "sets")
    async with running(database, hub=hub) as api:
        source = {"type": "huggingface", "data_set": NAME}
        made = await made_from(api, source, split={"validation_share": 0})
        assert asked(await rows_of(api, made["training_file"])) == QUESTIONS
        assert made["made_from"]["sources"][0]["revision"].startswith("local-")
        assert (await _refused(api, revision="main"))[0] == "revision_not_found"
        secret = tmp_path / "secret.csv"
        secret.write_text("question,answer\ncanary,x\n")
        (directory / "data" / "train-link.csv").symlink_to(secret)
        code, message = await _refused(api)
        assert (code, "'data/train-link.csv' is a link" in message) == ("link_refused", True)


def test_offline_mode_is_kept(tmp_path: Path) -> None:
    program = """
from app.curricula.curricula import HubSource
from app.kit.egress import EgressPolicy
from app.files.hub_data_sets import HubLocation, open_data_set
from app.kit.hub import DataSetFault
try:
    open_data_set(
        HubSource(type="huggingface", data_set="own/trivia"),
        HubLocation("https://hub.invalid", EgressPolicy(), None),
    )
except DataSetFault as fault:
    print(fault.code)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "hub_offline"
