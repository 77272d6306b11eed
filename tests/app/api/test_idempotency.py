import asyncio
import json
from typing import Any

import psycopg

from tests.support.api.application import Api
from tests.support.cases import cases
from tests.support.stack import Database

JOBS = "/v1/fine_tuning/jobs"
ROW = b'{"messages": [{"role": "user", "content": "hi"}]}\n'


def with_key(key: str = "k-1") -> dict[str, Any]:
    return {"headers": {"Idempotency-Key": key}}


def count(database: Database, table: str) -> int:
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        row = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
    assert row is not None
    return int(row[0])


async def test_the_same_call_twice_makes_one_job_and_one_answer(
    api: Api, body: dict[str, Any], database: Database
) -> None:
    first = await api.call("POST", JOBS, json=body, **with_key())
    again = await api.call("POST", JOBS, json=dict(reversed(body.items())), **with_key())
    assert (first.status_code, again.status_code) == (200, 200)
    assert again.content == first.content
    assert again.headers["content-type"] == first.headers["content-type"]
    assert again.headers["idempotent-replayed"] == "true"
    assert "idempotent-replayed" not in first.headers
    assert count(database, "fine_tuning_jobs") == 1
    assert count(database, "job_events") == 1
    assert (await api.call("GET", f"{JOBS}/{first.json()['id']}")).json() == first.json()


async def test_many_calls_at_once_make_one_job(
    api: Api, body: dict[str, Any], database: Database
) -> None:
    async def until_answered() -> Any:
        while True:
            reply = await api.call("POST", JOBS, json=body, **with_key())
            if reply.status_code != 409:
                return reply
            assert reply.json()["error"]["code"] == "idempotency_key_in_use"
            assert reply.headers["x-should-retry"] == "true"
            assert reply.headers["retry-after"] == "1"
            await asyncio.sleep(0.02)

    replies = await asyncio.gather(*(until_answered() for _ in range(20)))
    assert {reply.status_code for reply in replies} == {200}
    assert len({reply.content for reply in replies}) == 1
    assert count(database, "fine_tuning_jobs") == 1


async def test_another_request_under_the_key_is_refused(api: Api, body: dict[str, Any]) -> None:
    await api.call("POST", JOBS, json=body, **with_key())
    for path, changed in ((JOBS, {**body, "seed": 1}), ("/v1/evals", body)):
        reply = await api.call("POST", path, json=changed, **with_key())
        error = reply.json()["error"]
        assert (reply.status_code, error["code"]) == (422, "idempotency_key_reused")
        assert error["type"] == "invalid_request_error"
    assert (await api.call("POST", JOBS, json={**body, "seed": 1}, **with_key("k-2"))).is_success


async def test_a_refused_call_is_not_kept(
    api: Api, body: dict[str, Any], database: Database
) -> None:
    wrong = {**body, "model": "gpt-nothing"}
    for _ in range(2):
        reply = await api.call("POST", JOBS, json=wrong, **with_key())
        assert reply.json()["error"]["code"] == "model_not_available"
        assert "idempotent-replayed" not in reply.headers
    assert (await api.call("POST", JOBS, json=body, **with_key())).is_success
    assert count(database, "stored_responses") == 1


async def test_the_key_is_the_tenants_own(
    api: Api, body: dict[str, Any], database: Database
) -> None:
    made = await api.call("POST", "/v1/evals", json=_eval(), **with_key())
    other = await api.call("POST", "/v1/evals", json=_eval(), key=api.other_key, **with_key())
    assert (made.status_code, other.status_code) == (201, 201)
    assert made.json()["id"] != other.json()["id"]
    again = await api.call("POST", "/v1/evals", json=_eval(), **with_key())
    assert (again.status_code, again.content) == (201, made.content)
    assert count(database, "stored_responses") == 2
    del body


def _eval() -> dict[str, Any]:
    return {
        "data_source_config": {"type": "custom", "item_schema": {"type": "object"}},
        "testing_criteria": [
            {
                "type": "string_check",
                "name": "s",
                "input": "{{ item.a }}",
                "reference": "b",
                "operation": "eq",
            }
        ],
    }


@cases("key", ["", "é", "x" * 256])
async def test_an_invalid_key_is_refused(api: Api, body: dict[str, Any], key: str) -> None:
    raw = {"Idempotency-Key": key.encode("utf-8")}
    reply = await api.call("POST", JOBS, json=body, headers=raw)
    assert reply.status_code == 400
    assert reply.json()["error"]["code"] == "invalid_idempotency_key"


async def test_a_key_without_credentials_is_a_401(api: Api, body: dict[str, Any]) -> None:
    reply = await api.http.post(JOBS, json=body, **with_key())
    assert reply.json()["error"]["code"] == "missing_api_key"
    reply = await api.call("POST", JOBS, json=body, key="art_project_wrong", **with_key())
    assert reply.json()["error"]["code"] == "invalid_api_key"


async def test_a_get_ignores_idempotency_keys(
    api: Api, files: tuple[str, str], database: Database
) -> None:
    for _ in range(2):
        assert (await api.call("GET", f"/v1/files/{files[0]}", **with_key())).is_success
    assert count(database, "stored_responses") == 0


async def test_a_connection_that_breaks_before_the_commit_leaves_nothing(
    api: Api, body: dict[str, Any], database: Database
) -> None:
    """A lock delays the request between its insert and its commit; then the connection is cut."""
    with psycopg.connect(
        database.superuser_url.replace("+psycopg", ""), autocommit=True
    ) as connection:
        connection.execute(
            "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS"
            " 'BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NEW; END'"
        )
        connection.execute("GRANT EXECUTE ON FUNCTION hold() TO PUBLIC")
        connection.execute(
            "CREATE TRIGGER hold BEFORE INSERT ON stored_responses "
            "FOR EACH ROW EXECUTE FUNCTION hold()"
        )
        connection.execute("SELECT pg_advisory_lock(7)")
        asking = asyncio.create_task(api.call("POST", JOBS, json=body, **with_key()))
        waiting = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        while not (found := connection.execute(waiting).fetchall()):  # noqa: ASYNC110 - a server's
            await asyncio.sleep(0.02)
        meanwhile = await api.call("POST", JOBS, json=body, **with_key())
        assert meanwhile.status_code == 409
        connection.execute("SELECT pg_terminate_backend(%s)", found[0])
        assert (await asking).status_code == 503
        assert count(database, "fine_tuning_jobs") == 0
        connection.execute("SELECT pg_advisory_unlock(7)")
    reply = await api.call("POST", JOBS, json=body, **with_key())
    assert reply.status_code == 200
    assert count(database, "fine_tuning_jobs") == 1


async def test_a_file_sent_twice_is_one_file(api: Api, database: Database) -> None:
    first = await api.upload(ROW * 12, **with_key())
    again = await api.upload(ROW * 12, **with_key())
    assert (first.status_code, again.status_code) == (200, 200)
    assert again.content == first.content
    assert again.headers["idempotent-replayed"] == "true"
    assert count(database, "files") == 1
    objects = [p for p in database.settings.objects_dir.rglob("*") if p.is_file()]
    assert len(objects) == 1
    other = await api.upload(ROW * 13, **with_key())
    assert other.json()["error"]["code"] == "idempotency_key_reused"
    purpose = await api.upload(ROW * 12, purpose="evals", **with_key())
    assert purpose.json()["error"]["code"] == "idempotency_key_reused"
    assert len([p for p in database.settings.objects_dir.rglob("*") if p.is_file()]) == 1


async def test_a_part_sent_twice_is_one_part(api: Api, database: Database) -> None:
    described = {"filename": "r.jsonl", "purpose": "fine-tune", "bytes": 50, "mime_type": "x/y"}
    upload = (await api.call("POST", "/v1/uploads", json=described, **with_key("u"))).json()
    path = f"/v1/uploads/{upload['id']}/parts"
    parts = [
        (await api.call("POST", path, files={"data": ROW}, **with_key("p"))).json()
        for _ in range(2)
    ]
    assert parts[0] == parts[1]
    assert count(database, "upload_parts") == 1


async def test_a_call_that_makes_no_row_is_answered_alike(api: Api, database: Database) -> None:
    grader = {
        "type": "string_check",
        "name": "s",
        "input": "{{ sample.output_text }}",
        "reference": "a",
        "operation": "eq",
    }
    path, call = "/v1/fine_tuning/alpha/graders/run", {"grader": grader, "model_sample": "a"}
    first = await api.call("POST", path, json=call, **with_key())
    again = await api.call("POST", path, json=call, **with_key())
    # The time it took is in the answer, so a second run would differ.
    assert again.content == first.content
    assert again.headers["idempotent-replayed"] == "true"
    refused = await api.call("POST", path, json={"grader": {}}, **with_key("k-3"))
    assert refused.status_code == 400
    assert count(database, "stored_responses") == 1


async def test_a_mark_of_a_crashed_request_expires(api: Api, database: Database) -> None:
    path, call = (
        "/v1/fine_tuning/alpha/graders/validate",
        {"grader": _eval()["testing_criteria"][0]},
    )
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        first = await api.call("POST", path, json=call, **with_key())
        connection.execute("UPDATE stored_responses SET status = NULL, body = NULL")
        connection.commit()
        held = await api.call("POST", path, json=call, **with_key())
        connection.execute("UPDATE stored_responses SET created_at = now() - interval '11 minutes'")
        connection.commit()
    assert held.json()["error"]["code"] == "idempotency_key_in_use"
    after = await api.call("POST", path, json=call, **with_key())
    assert json.loads(after.content) == json.loads(first.content)
    assert "idempotent-replayed" not in after.headers


async def test_a_secret_shown_once_is_kept_sealed_and_shown_again_to_the_same_call(
    api: Api, database: Database
) -> None:
    path = "/v1/webhook_endpoints"
    call = {
        "name": "w",
        "url": "http://127.0.0.1:9/hook",
        "event_types": ["fine_tuning.job.succeeded"],
    }
    first = await api.call("POST", path, json=call, **with_key())
    again = await api.call("POST", path, json=call, **with_key())
    secret = first.json()["signing_secret"]
    assert again.json()["signing_secret"] == secret
    account = {"name": "robot"}
    project = (await api.call("GET", "/v1/organization/projects", key=api.admin_key)).json()
    accounts = f"/v1/organization/projects/{project['data'][0]['id']}/service_accounts"
    made = [
        (await api.call("POST", accounts, json=account, key=api.admin_key, **with_key())).json()
        for _ in range(2)
    ]
    assert made[0] == made[1]
    value = made[0]["api_key"]["value"]
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        bodies = [
            row[0] for row in connection.execute("SELECT body FROM stored_responses").fetchall()
        ]
    assert len(bodies) == 2
    for hidden in (secret.removeprefix("whsec_"), value, value[-48:]):
        assert all(hidden.encode() not in bytes(body) for body in bodies)
