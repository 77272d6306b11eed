"""`agent-rft models`: the list, a checked download, and each way in which a download ends early."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from typing_extensions import override

from app.cli.downloading import DownloadFailed
from app.cli.models import download
from app.cli.output import Output
from app.cli.profiles import AddressSources
from app.cli.remote import Remote
from app.cli.terminal import ServiceError
from app.local.state import free_port
from tests.support.cli.command_line import agent_rft
from tests.support.contract.adapters import WEIGHTS, StoredModel, add_adapter, get_adapter
from tests.support.contract.service import BASE, Service
from tests.support.embedded.installation import cli
from tests.support.web.faults import FaultProxy, fault_proxy

FILES = ["README.md", "adapter_config.json", "adapter_model.safetensors", "manifest.json"]


@pytest.fixture
def model(service: Service, job: Any) -> StoredModel:
    return add_adapter(service, job.id, f"ft:{BASE}:first::{job.id[-8:]}")


@pytest.fixture
def proxy(service: Service) -> Iterator[FaultProxy]:
    with fault_proxy(service.api.base_url.removesuffix("/v1")) as running:
        yield running


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "adapter"


def run(service: Service, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    named = {"AGENT_RFT_BASE_URL": service.api.base_url, "AGENT_RFT_API_KEY": service.api.key}
    return agent_rft("models", *arguments, **{**named, **environment})


def fetch(
    service: Service, name: str, out: Path, *, url: str | None = None, force: bool = False
) -> None:
    base_url = service.api.base_url if url is None else f"{url}/v1"
    download(remote_of(base_url, service.api.key), name=name, out=out, force=force)


def remote_of(base_url: str, key: str) -> Remote:
    return Remote(AddressSources(base_url, key, None), Output("models download", as_json=False))


def check(out: Path, weights: bytes = WEIGHTS) -> None:
    """Checks a downloaded adapter, and that nothing stayed beside it."""
    assert sorted(path.name for path in out.iterdir()) == FILES
    assert (out / "adapter_model.safetensors").read_bytes() == weights
    digests = json.loads((out / "manifest.json").read_text())["sha256"]
    assert digests["adapter_model.safetensors"] == sha256(weights).hexdigest()
    assert list(out.parent.iterdir()) == [out]


def interrupt(service: Service, proxy: FaultProxy, name: str, out: Path) -> int:
    """Lets a download end in the middle. Returns the bytes that it left."""
    proxy.inject("cut")
    with pytest.raises(DownloadFailed, match=r"interrupted after \d+ bytes .* to go on"):
        fetch(service, name, out, url=proxy.url)
    assert not out.exists()
    return archive_at(out).stat().st_size


def archive_at(out: Path) -> Path:
    return out.with_name(f".{out.name}.partial") / "archive.tar"


def test_the_list_has_every_model_that_may_be_called(service: Service, model: StoredModel) -> None:
    listed = run(service, "list")
    assert listed.returncode == 0, listed.stderr
    header, *lines = listed.stdout.splitlines()
    assert header.split() == ["MODEL", "CREATED", "OWNER"]
    rows = {line.split()[0]: line.split()[1:] for line in lines}
    assert rows[BASE][-1] == "system"
    assert rows[model.name][-1] == service.project_of(service.api.key)
    as_json = json.loads(run(service, "list", "--json").stdout)
    assert {row["id"] for row in as_json["data"]} == set(rows)


def test_a_download_is_a_checked_directory_whose_path_is_printed(
    service: Service, model: StoredModel, out: Path
) -> None:
    done = run(service, "download", model.name, "--out", str(out))
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{out}\n", "")
    check(out)
    again = run(service, "download", model.name, "--out", str(out))
    assert (again.returncode, again.stdout) == (1, "")
    assert again.stderr == (
        f"agent-rft: {out} exists: pass --force to replace it, or another --out\n"
    )


@pytest.mark.parametrize(
    ("name", "environment", "code", "reported"),
    [
        (BASE, {}, 18, "answered 400: 'tiny-agent-2026-11-23' is a base model, which has no"),
        ("ft:nothing", {}, 17, "answered 404: The model 'ft:nothing' does not exist"),
        ("x", {"AGENT_RFT_API_KEY": "art_project_wrong"}, 16, "Check --api-key or AGENT_RFT_"),
        ("x", {"AGENT_RFT_API_KEY": ""}, 2, "no key is given: pass --api-key or set"),
        ("x", {"AGENT_RFT_BASE_URL": ""}, 2, "no service is named: pass --base-url or set"),
        ("x", {"AGENT_RFT_BASE_URL": "nowhere"}, 2, "--base-url is not an address: nowhere"),
        ("x", {"AGENT_RFT_BASE_URL": "localhost:8000/v1"}, 2, "begins with http:// or https://"),
        ("x", {"AGENT_RFT_BASE_URL": f"http://127.0.0.1:{free_port()}/v1"}, 15, "Is the service"),
    ],
)
def test_a_refusal_is_a_line_with_the_cure(
    service: Service, out: Path, name: str, environment: dict[str, str], code: int, reported: str
) -> None:
    done = run(service, "download", name, "--out", str(out), **environment)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("agent-rft: ")
    assert reported in done.stderr
    assert done.stderr.count("\n") == 1
    assert "art_project" not in done.stderr
    assert list(out.parent.iterdir() if out.parent.exists() else ()) == []


def test_an_interrupted_download_continues_where_it_ended(
    service: Service, proxy: FaultProxy, model: StoredModel, out: Path
) -> None:
    left = interrupt(service, proxy, model.name, out)
    etag = get_adapter(service, model.name).headers["etag"]
    assert 0 < left < len(WEIGHTS)
    proxy.inject()
    fetch(service, model.name, out, url=proxy.url)
    (request,) = proxy.seen
    assert request["headers"]["range"] == f"bytes={left}-"
    assert request["headers"]["if-range"] == etag
    check(out)


def test_a_download_begins_again_when_the_service_has_another_archive(
    service: Service, proxy: FaultProxy, model: StoredModel, out: Path
) -> None:
    interrupt(service, proxy, model.name, out)
    service.execute("UPDATE tuned_models SET step = 7 WHERE name = %s", model.name)
    fetch(service, model.name, out)
    check(out)
    assert json.loads((out / "manifest.json").read_text())["step"] == 7


def test_bytes_that_were_damaged_here_are_found_and_removed(
    service: Service, proxy: FaultProxy, model: StoredModel, out: Path
) -> None:
    left = interrupt(service, proxy, model.name, out)
    with archive_at(out).open("r+b") as file:
        file.seek(left - 9)
        file.write(b"?")
    with pytest.raises(DownloadFailed, match=r"damaged \(.*adapter_model.*\) and is removed"):
        fetch(service, model.name, out)
    assert list(out.parent.iterdir()) == []
    fetch(service, model.name, out)
    check(out)


@pytest.mark.parametrize("surplus", [b"", b"more than the service has"])
def test_a_whole_archive_that_was_not_unpacked_is_used_unless_it_is_too_long(
    service: Service, proxy: FaultProxy, model: StoredModel, out: Path, surplus: bytes
) -> None:
    interrupt(service, proxy, model.name, out)
    archive_at(out).write_bytes(get_adapter(service, model.name).content + surplus)
    proxy.inject()
    fetch(service, model.name, out, url=proxy.url)
    assert len(proxy.seen) == (2 if surplus else 1)
    check(out)


def test_only_an_earlier_download_is_replaced(
    service: Service, model: StoredModel, job: Any, out: Path
) -> None:
    fetch(service, model.name, out)
    newer = add_adapter(service, job.id, f"{model.name}:ckpt-step-3", b"newer")
    with pytest.raises(DownloadFailed, match="exists: pass --force"):
        fetch(service, newer.name, out)
    check(out)
    fetch(service, newer.name, out, force=True)
    check(out, b"newer")
    (out / "notes.txt").write_text("mine")
    with pytest.raises(DownloadFailed, match=r"not replaced.*notes\.txt"):
        fetch(service, model.name, out, force=True)
    assert (out / "notes.txt").read_text() == "mine"
    shutil.rmtree(out)
    out.mkdir()
    fetch(service, model.name, out)
    check(out)
    with pytest.raises(DownloadFailed, match="is a file"):
        fetch(service, model.name, out / "manifest.json", force=True)


def test_a_disk_without_space_is_named_and_the_download_continues_later(
    service: Service, model: StoredModel, out: Path
) -> None:
    limited = " ".join(cli("models", "download", "$0", "--out", "$1"))
    done = subprocess.run(
        ["bash", "-c", f"ulimit -f 2000 && exec {limited}", model.name, str(out)],
        env={
            **os.environ,
            "AGENT_RFT_BASE_URL": service.api.base_url,
            "AGENT_RFT_API_KEY": service.api.key,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert f"no space for the model in {out.parent}: free some" in done.stderr
    assert archive_at(out).stat().st_size == 2000 * 1024
    fetch(service, model.name, out)
    check(out)


class Quiet(SimpleHTTPRequestHandler):
    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing."""


def test_another_server_is_not_taken_for_the_service(tmp_path: Path, out: Path) -> None:
    page = tmp_path / "models" / "x" / "adapter"
    page.parent.mkdir(parents=True)
    page.write_text("hello")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        with pytest.raises(ServiceError, match="is not the archive of a model"):
            download(remote_of(url, "k"), name="x", out=out)
        with pytest.raises(ServiceError, match=r"answered 404: .* Is 127\.0\.0\.1 an agent-rft"):
            download(remote_of(url, "k"), name="y", out=out)
        server.shutdown()
    assert not out.exists()
