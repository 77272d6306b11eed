"""`/v1/models/{model}/exports` over a real socket, with the worker's own code behind it."""

import asyncio
import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.kit.directories import FreeSpace
from app.kit.errors import LeaseLost
from app.kit.leases import Lease
from app.settings import RetentionSettings
from tests.support.contract.adapters import unpacked
from tests.support.contract.exports import (
    add_real_adapter,
    claimed,
    expire_all,
    make_exports,
    models,
    sweep_exports,
)
from tests.support.contract.service import BASE, Service
from tests.support.contract.siblings import SiblingProject
from workers.exports.child import work
from workers.processes.clients import open_clients


@pytest.fixture
def model(service: Service, job: Any) -> str:
    name = f"ft:{BASE}:first::{job.id[-8:]}"
    add_real_adapter(service, job.id, name)
    return name


def error(reply: httpx.Response) -> tuple[int, str]:
    body = reply.json()["error"]
    assert set(body) == {"message", "type", "param", "code"}
    return reply.status_code, body["code"]


def exported(service: Service, model: str) -> dict[str, Any]:
    made: dict[str, Any] = models(service, "POST", f"{model}/exports", json={}).json()
    make_exports(service.database.settings)
    made = models(service, "GET", f"{model}/exports/{made['id']}").json()
    assert made["status"] == "completed", made
    return made


def stored(service: Service, export_id: str) -> list[Path]:
    return sorted(service.database.settings.objects_dir.glob(f"projects/*/exports/{export_id}/*"))


def test_an_export_is_made_in_the_background_and_downloaded(service: Service, model: str) -> None:
    path = f"{model}/exports"
    made = models(service, "POST", path)
    assert made.status_code == 201, made.text
    export = made.json()
    assert (export["object"], export["status"], export["kind"]) == (
        "model.export",
        "queued",
        "merged",
    )
    assert (export["stage"], export["error"]) == (None, None)
    one = f"{path}/{export['id']}"
    assert error(models(service, "GET", f"{one}/content")) == (400, "invalid_state")
    assert [lease.id for lease in make_exports(service.database.settings)] == [export["id"]]
    done = models(service, "GET", one).json()
    assert (done["status"], done["stage"]) == ("completed", None)
    assert done["expires_at"] - done["finished_at"] == 7 * 24 * 3600

    whole = models(service, "GET", f"{one}/content")
    files = unpacked(whole.content)
    manifest = json.loads(files.pop("manifest.json"))
    assert manifest["sha256"] == {
        name: sha256(content).hexdigest() for name, content in files.items()
    }
    assert (manifest["model"], manifest["base_model"]) == (model, BASE)
    assert {"README.md", "config.json", "model.safetensors", "tokenizer.json"} <= files.keys()
    assert done["bytes"] >= sum(map(len, files.values()))
    weights = len(files["model.safetensors"])
    assert abs(export["bytes"] - weights) < weights / 50, "the estimate"
    assert str(service.database.settings.objects_dir).encode() not in whole.content
    part = models(
        *(service, "GET", f"{one}/content"),
        headers={"Range": "bytes=1000000-", "If-Range": whole.headers["etag"]},
    )
    assert (part.status_code, part.content) == (206, whole.content[1_000_000:])
    listed = models(service, "GET", path).json()
    assert [each["id"] for each in listed["data"]] == [export["id"]]
    assert not list((service.database.settings.work_dir / "runs").iterdir())


def test_an_export_that_cannot_succeed_is_refused(
    service: Service, model: str, sibling: SiblingProject
) -> None:
    for name in (BASE, "tiny-agent"):
        assert error(models(service, "POST", f"{name}/exports")) == (400, "base_model")
    assert error(models(service, "POST", "ft:unknown/exports")) == (404, "model_not_found")
    for key in (sibling.key, service.api.other_key):
        assert error(models(service, "POST", f"{model}/exports", key=key)) == (
            404,
            "model_not_found",
        )
    bodies: list[Any] = [{"kind": "gguf"}, {"kind": None}, {"other": 1}, [], "merged", 7]
    for body in bodies:
        refused = models(service, "POST", f"{model}/exports", json=body)
        assert refused.status_code == 400, body
    service.execute("UPDATE tuned_models SET base_model = 'gone' WHERE name = %s", model)
    assert error(models(service, "POST", f"{model}/exports")) == (400, "base_not_offered")
    assert models(service, "GET", f"{model}/exports").json()["data"] == []


def test_one_export_of_a_model_is_open_at_a_time_and_keeps_the_model(
    service: Service, model: str
) -> None:
    export = models(service, "POST", f"{model}/exports").json()
    assert error(models(service, "POST", f"{model}/exports")) == (400, "export_in_progress")
    refused = models(service, "DELETE", model)
    assert error(refused) == (400, "model_in_use")
    cure = f"DELETE /v1/models/{model}/exports/{export['id']}"
    assert refused.json()["error"]["message"] == (
        f"Model '{model}' is used by export {export['id']}, which has not ended. Wait for the end, "
        f"or end it: {cure} ends the export."
    )
    deleted = models(service, "DELETE", f"{model}/exports/{export['id']}")
    assert deleted.json() == {"id": export["id"], "object": "model.export", "deleted": True}
    assert make_exports(service.database.settings) == []
    assert models(service, "DELETE", model).status_code == 200


def test_creates_at_the_same_instant_make_one_export(service: Service, model: str) -> None:
    with ThreadPoolExecutor(12) as pool:
        replies = list(pool.map(lambda _: models(service, "POST", f"{model}/exports"), range(12)))
    assert Counter(reply.status_code for reply in replies) == {201: 1, 400: 11}
    [export] = models(service, "GET", f"{model}/exports").json()["data"]
    with ThreadPoolExecutor(4) as pool:
        path = f"{model}/exports/{export['id']}"
        replies = list(pool.map(lambda _: models(service, "DELETE", path), range(4)))
    assert Counter(reply.status_code for reply in replies) == {200: 1, 404: 3}


@pytest.mark.parametrize(
    "export_id", ["x", "%00", "%2e%2e%2fcontent", "export_" + "a" * 4_000, "export_%F0%9F%92%A5"]
)
def test_an_id_of_no_export_is_not_found(service: Service, model: str, export_id: str) -> None:
    for method, rest in (("GET", ""), ("GET", "/content"), ("DELETE", "")):
        reply = models(service, method, f"{model}/exports/{export_id}{rest}")
        assert 400 <= reply.status_code < 500, reply.text
        assert set(reply.json()["error"]) == {"message", "type", "param", "code"}


def test_another_project_has_no_part_in_an_export(
    service: Service, model: str, sibling: SiblingProject
) -> None:
    export = exported(service, model)
    one = f"{model}/exports/{export['id']}"
    for key in (sibling.key, service.api.other_key):
        for path in (one, f"{one}/content", f"{model}/exports"):
            assert error(models(service, "GET", path, key=key)) == (404, "model_not_found")
        assert error(models(service, "DELETE", one, key=key)) == (404, "export_not_found")
    assert error(models(service, "GET", f"other/exports/{export['id']}")) == (
        404,
        "model_not_found",
    )
    assert models(service, "GET", one).status_code == 200


def test_an_export_ends_with_the_permission_and_with_the_model(
    service: Service, model: str, sibling: SiblingProject
) -> None:
    permissions = service.client().fine_tuning.checkpoints.permissions
    granted = permissions.create(model, project_ids=[sibling.project_id]).data[0]
    made = models(service, "POST", f"{model}/exports", json={}, key=sibling.key).json()
    own = exported(service, model)
    theirs = f"{model}/exports/{made['id']}"
    assert models(service, "GET", f"{theirs}/content", key=sibling.key).status_code == 200
    permissions.delete(granted.id, fine_tuned_model_checkpoint=model)
    for path in (theirs, f"{theirs}/content", f"{model}/exports"):
        assert error(models(service, "GET", path, key=sibling.key)) == (404, "model_not_found")
    assert models(service, "DELETE", theirs, key=sibling.key).status_code == 200
    service.client().models.delete(model)
    for path in (f"{model}/exports/{own['id']}/content", f"{model}/exports"):
        assert error(models(service, "GET", path)) == (404, "model_not_found")


def test_exports_count_toward_stored_bytes_until_they_are_deleted(
    service: Service, model: str
) -> None:
    project = service.project_of(service.api.key)
    export = exported(service, model)
    set_quota = "UPDATE projects SET max_stored_bytes = %s WHERE id = %s"
    try:
        held = service.value(
            "SELECT coalesce(sum(bytes), 0) FROM model_exports WHERE project_id = %s"
            " AND deleted_at IS NULL",
            project,
        )
        service.execute(set_quota, int(held), project)
        refused = models(service, "POST", f"{model}/exports")
        assert error(refused) == (429, "insufficient_quota")
        assert "quota of stored_bytes" in refused.json()["error"]["message"]
    finally:
        service.execute(set_quota, None, project)
    service.execute("UPDATE projects SET max_queued_exports = 0 WHERE id = %s", project)
    refused = models(service, "POST", f"{model}/exports")
    service.execute("UPDATE projects SET max_queued_exports = NULL WHERE id = %s", project)
    assert "quota of queued_exports" in refused.json()["error"]["message"]
    assert models(service, "DELETE", f"{model}/exports/{export['id']}").status_code == 200


def test_a_failure_has_its_reason(service: Service, model: str, job: Any) -> None:
    export = models(service, "POST", f"{model}/exports").json()
    key = f"adapters/model-real-{job.id[-8:]}"
    weights = service.database.settings.objects_dir / key / "adapter_model.safetensors"
    weights.chmod(0o600)
    weights.write_bytes(b"damaged")
    make_exports(service.database.settings)
    failed = models(service, "GET", f"{model}/exports/{export['id']}").json()
    assert (failed["status"], failed["bytes"]) == ("failed", 0)
    assert failed["error"]["code"] == "adapter_gone"
    assert error(models(service, "GET", f"{model}/exports/{export['id']}/content")) == (
        400,
        "invalid_state",
    )
    assert stored(service, export["id"]) == []


def test_an_export_whose_workers_crashed_expires_after_the_retention_of_exports(
    service: Service, model: str
) -> None:
    export = models(service, "POST", f"{model}/exports").json()
    service.execute(
        "UPDATE model_exports SET attempts = 2, lease_until = now() - interval '1s' WHERE id = %s",
        export["id"],
    )
    sweep_exports(service, RetentionSettings(exports_days=2), max_attempts=2)
    failed = models(service, "GET", f"{model}/exports/{export['id']}").json()
    assert (failed["status"], failed["error"]["code"]) == ("failed", "worker_lost")
    assert failed["expires_at"] - failed["finished_at"] == 2 * 86_400


def test_too_little_space_fails_the_export_and_refuses_the_next(
    service: Service, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = models(service, "POST", f"{model}/exports").json()

    def only_without_more(_: FreeSpace, *, more_bytes: int = 0) -> bool:
        return more_bytes > 0

    monkeypatch.setattr(FreeSpace, "lacks", only_without_more)
    make_exports(service.database.settings)
    failed = models(service, "GET", f"{model}/exports/{export['id']}").json()
    assert failed["error"]["code"] == "insufficient_storage"
    assert "too little free disk space" in failed["error"]["message"]
    assert stored(service, export["id"]) == []
    refused = models(service, "POST", f"{model}/exports")
    assert error(refused) == (503, "insufficient_storage")


def test_a_claim_that_lost_its_lease_changes_nothing(service: Service, model: str) -> None:
    """The first claim is frozen; a second one makes the export; then the first continues."""
    export = models(service, "POST", f"{model}/exports").json()
    settings = service.database.settings

    async def first_claim() -> Lease:
        lease = await claimed(settings)
        assert lease is not None
        return lease

    frozen = asyncio.run(first_claim())
    service.execute("UPDATE model_exports SET lease_until = now() - interval '1s'")
    [second] = make_exports(settings)
    assert second.fence == frozen.fence + 1
    before = models(service, "GET", f"{model}/exports/{export['id']}").json()
    with pytest.raises(LeaseLost):
        asyncio.run(_work(settings, frozen))
    assert models(service, "GET", f"{model}/exports/{export['id']}").json() == before
    assert [path.name for path in stored(service, export["id"])] == [f"f{second.fence}"]


async def _work(settings: Any, lease: Lease) -> None:
    async with open_clients(settings, project_id=lease.project_id) as clients:
        await work(clients, lease)


def test_expired_and_deleted_exports_go_with_their_bytes(service: Service, model: str) -> None:
    kept = exported(service, model)
    old = exported(service, model)
    gone = exported(service, model)
    assert models(service, "DELETE", f"{model}/exports/{gone['id']}").status_code == 200
    expire_all(service)
    assert len(stored(service, gone["id"])) == 1, "a claim may still run"
    for export in (old, gone):
        service.execute(
            "UPDATE model_exports SET expires_at = now() - interval '11 minutes' WHERE id = %s",
            export["id"],
        )
    listed = models(service, "GET", f"{model}/exports").json()["data"]
    assert [each["id"] for each in listed] == [kept["id"]]
    expire_all(service)
    assert [len(stored(service, each["id"])) for each in (kept, old, gone)] == [1, 0, 0]
    left = service.value("SELECT count(*) FROM model_exports WHERE model = %s", model)
    assert left == 1
