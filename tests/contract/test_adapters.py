"""`GET /v1/models/{model}/adapter` over a real socket: the whole archive, parts, and refusals."""

import json
from hashlib import sha256
from typing import Any

import httpx
import pytest

from agent_rft import AgentRFT
from agent_rft_client.api.models import download_adapter
from agent_rft_client.types import File
from tests.support.contract.adapters import WEIGHTS, StoredModel, add_adapter, get_adapter, unpacked
from tests.support.contract.service import BASE, Service
from tests.support.contract.siblings import SiblingProject
from tests.support.patience import PATIENCE_S


@pytest.fixture
def model(service: Service, job: Any) -> StoredModel:
    return add_adapter(service, job.id, f"ft:{BASE}:first::{job.id[-8:]}:ckpt-step-1")


def refused(service: Service, status: int, name: str, **options: str) -> dict[str, Any]:
    reply = get_adapter(service, name, **options)
    assert reply.status_code == status, reply.text
    error: dict[str, Any] = reply.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    return error


def test_the_archive_has_the_stored_files_a_card_and_all_checksums(
    service: Service, model: StoredModel
) -> None:
    reply = get_adapter(service, model.name)
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "application/x-tar"
    assert int(reply.headers["content-length"]) == len(reply.content)
    assert model.name.replace(":", "%3A") + ".tar" in reply.headers["content-disposition"]
    files = unpacked(reply.content)
    assert list(files) == [
        "manifest.json",
        "README.md",
        "adapter_config.json",
        "adapter_model.safetensors",
    ]
    assert files["adapter_model.safetensors"] == WEIGHTS
    checksum = sha256(files["manifest.json"]).hexdigest()
    assert reply.headers["x-manifest-sha256"] == checksum
    assert reply.headers["etag"] == f'"{checksum}"'
    manifest = json.loads(files.pop("manifest.json"))
    assert manifest.pop("sha256") == {
        name: sha256(content).hexdigest() for name, content in files.items()
    }
    assert manifest.pop("created_at") > 1_700_000_000
    assert manifest == {
        "model": model.name,
        "base_model": BASE,
        "base_weights": None,
        "step": 1,
        "reasoning_effort": None,
    }
    card = files["README.md"].decode()
    assert f"# {model.name}\n" in card
    assert f"A LoRA adapter for `{BASE}`" in card
    shown = reply.content + str(reply.headers).encode()
    assert b"adapters/" not in shown, "no key or path of the service"
    assert str(service.database.settings.objects_dir).encode() not in shown


def test_a_part_continues_where_an_earlier_answer_ended(
    service: Service, model: StoredModel
) -> None:
    whole = get_adapter(service, model.name)
    size, etag = len(whole.content), whole.headers["etag"]
    for wanted, start, stop in (
        ("bytes=0-", 0, size),
        ("bytes=1000000-", 1_000_000, size),
        ("bytes=700-1699", 700, 1_700),
        (f"bytes=5-{10 * size}", 5, size),
        ("bytes=-1024", size - 1024, size),
    ):
        part = get_adapter(service, model.name, range=wanted, if_range=etag)
        assert part.status_code == 206, wanted
        assert part.content == whole.content[start:stop], wanted
        assert part.headers["content-range"] == f"bytes {start}-{stop - 1}/{size}"
        assert part.headers["etag"] == etag


def test_a_range_that_cannot_be_served_is_ignored_or_refused(
    service: Service, model: StoredModel
) -> None:
    whole = get_adapter(service, model.name).content
    for wanted in ("bytes=0-1,5-6", "bytes=9-3", "rows=1-2", "bytes=", "bytes=-", "bytes=٣-"):
        reply = httpx.get(
            f"{service.api.base_url}/models/{model.name}/adapter",
            headers={
                b"Authorization": f"Bearer {service.api.key}".encode(),
                b"Range": wanted.encode(),
            },
            timeout=PATIENCE_S,
        )
        assert (reply.status_code, reply.content == whole) == (200, True), wanted
    other = get_adapter(service, model.name, range="bytes=5-", if_range='"of another archive"')
    assert (other.status_code, other.content == whole) == (200, True)
    for beyond in (f"bytes={len(whole)}-", "bytes=-0", "bytes=999999999999999999-"):
        error = refused(service, 416, model.name, range=beyond)
        assert error["code"] == "range_not_satisfiable"
        reply = get_adapter(service, model.name, range=beyond)
        assert reply.headers["content-range"] == f"bytes */{len(whole)}"


def test_a_base_model_has_no_adapter(service: Service) -> None:
    for name in (BASE, "tiny-agent"):
        error = refused(service, 400, name)
        assert (error["code"], error["param"]) == ("base_model", "model")
        assert "was not trained here" in error["message"]


def test_an_adapter_is_for_those_who_may_chat_with_its_model(
    service: Service, sibling: SiblingProject, model: StoredModel
) -> None:
    unknown_name = f"ft:{BASE}:first::00000000"
    unknown = refused(service, 404, unknown_name)
    assert unknown["code"] == "model_not_found"
    for key in (sibling.key, service.api.other_key):
        foreign = refused(service, 404, model.name, key=key)
        assert foreign["code"] == "model_not_found"
        assert foreign["message"] == unknown["message"].replace(unknown_name, model.name)
    permissions = service.client().fine_tuning.checkpoints.permissions
    granted = permissions.create(model.name, project_ids=[sibling.project_id]).data[0]
    shared = get_adapter(service, model.name, key=sibling.key)
    assert unpacked(shared.content)["adapter_model.safetensors"] == WEIGHTS
    permissions.delete(granted.id, fine_tuned_model_checkpoint=model.name)
    assert refused(service, 404, model.name, key=sibling.key)["code"] == "model_not_found"
    assert refused(service, 401, model.name, key="art_project_x")["code"] == "invalid_api_key"
    service.client().models.delete(model.name)
    assert refused(service, 404, model.name)["code"] == "model_not_found"


def test_a_name_with_a_slash_reaches_its_adapter(service: Service, job: Any) -> None:
    model = add_adapter(service, job.id, f"ft:hub/base:first::{job.id[-8:]}", b"w")
    for spelled in (model.name, model.name.replace("/", "%2F").replace(":", "%3A")):
        files = unpacked(get_adapter(service, spelled).content)
        assert files["adapter_model.safetensors"] == b"w"
    assert service.client().models.retrieve(model.name).id == model.name


@pytest.mark.parametrize("name", ["manifest.json", "adapter_model.safetensors"])
def test_files_that_are_gone_are_a_404_with_the_cure(
    service: Service, model: StoredModel, name: str
) -> None:
    (model.directory / name).unlink()
    error = refused(service, 404, model.name)
    assert error["code"] == "adapter_gone"
    assert "Ask the operator to restore them, or train again." in error["message"]
    assert "adapters/" not in error["message"]


def test_damaged_weights_never_arrive_whole(service: Service, model: StoredModel) -> None:
    weights = model.directory / "adapter_model.safetensors"
    weights.chmod(0o644)
    weights.write_bytes(WEIGHTS[:-1] + b"?")
    with pytest.raises(httpx.RemoteProtocolError, match="without sending complete message body"):
        get_adapter(service, model.name)


def test_the_generated_client_downloads_it(service: Service, model: StoredModel) -> None:
    with AgentRFT(service.api.base_url, service.api.key) as client:
        file = client.call(download_adapter.sync, File, model.name)
        assert unpacked(file.payload.read())["adapter_model.safetensors"] == WEIGHTS
        part = client.call(download_adapter.sync, File, model.name, range_="bytes=0-99")
        assert len(part.payload.read()) == 100
