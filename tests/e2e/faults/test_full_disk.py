"""A disk that is full in the middle of a job: nothing ends for good, and the job continues by
itself once there is space, to the adapter of an uninterrupted run.

The installation lies on a small file system of its own, which needs the right to mount one.
"""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from tests.support.e2e.main_job import Endpoints
from tests.support.e2e.quiet_job import TRAIN_ROWS, VALID_ROWS, QuietJob, create, outcome
from tests.support.embedded.installation import Installation, installation
from tests.support.embedded.jobs import upload, upload_dataset
from tests.support.patience import PATIENCE_S, wait_for

MINIMUM_BYTES = 24_000_000

pytestmark = pytest.mark.chaos


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400m,mode=0700", "none", str(disk)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip(f"A FULL DISK IS NOT TESTED: no right to mount one ({mounted.stderr.strip()})")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def _children(pid: int) -> dict[int, str]:
    """Command lines of the direct children of a process, which no full disk can hide."""
    found = {}
    for pids in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in pids.read_text().split():
            line = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            found[int(child)] = line
    return found


def _readiness(live: Installation) -> Any:
    try:
        reply = httpx.get(live.base_url.removesuffix("/v1") + "/readyz", timeout=PATIENCE_S)
    except httpx.HTTPError:
        return None
    return reply.json()


def _fill(filler: Path) -> None:
    """Takes every byte of the disk, also those that were freed in the meantime."""
    with filler.open("ab", buffering=0) as file:
        for size in (1 << 20, 4096):
            while True:
                try:
                    if file.write(bytes(size)) < size:
                        break
                except OSError:
                    break


def _kill(pid: int, line: str, logs: Path) -> None:
    """Kills a process. Fails with the ends of the logs when it has ended already."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        ends = {path.name: path.read_text()[-1000:] for path in logs.glob("*.log")}
        pytest.fail(f"{line} ended on the full disk: {ends}")


def test_a_full_disk_ends_nothing_for_good(
    small_disk: Path, tmp_path: Path, endpoints: Endpoints, quiet: QuietJob
) -> None:
    address = endpoints.good.removeprefix("http://")
    with installation(
        small_disk / "data",
        allow=[address],
        MIN_FREE_BYTES=str(MINIMUM_BYTES),
        LEASE__LEASE_S="6",
        LEASE__SWEEP_INTERVAL_S="1",
    ) as live:
        client = live.client()
        files = upload_dataset(client, tmp_path, train=TRAIN_ROWS, valid=VALID_ROWS)
        job_id = create(client, endpoints.good, files)
        live.wait_for_step(job_id, 1)
        supervisor = live.supervisor()
        before = _children(supervisor)
        _fill(small_disk / "filler")
        wait_for(
            lambda: (_readiness(live) or {}).get("error", {}).get("param") in {"disk", "database"},
            what="the part that fails",
        )
        with pytest.raises(openai.InternalServerError):
            upload(client.with_options(max_retries=0), tmp_path / "train.jsonl")

        victims = [pid for pid, line in before.items() if "celery" in line or "uvicorn" in line]
        assert len(victims) == 3
        for pid in victims:
            _kill(pid, before[pid], small_disk / "data" / "logs")
        wait_for(
            lambda: (
                len(_children(supervisor)) == len(before)
                and not set(victims) & set(_children(supervisor))
            ),
            what="the restart of three children on a full disk",
        )
        _fill(small_disk / "filler")  # what the reserve gave back is gone, too

        (small_disk / "filler").unlink()
        wait_for(
            lambda: (_readiness(live) or {}).get("status") in {"ok", "degraded"},
            what="a ready service",
        )
        assert outcome(live, job_id, killed=True) == quiet.outcome
        assert live.supervisor() == supervisor
