"""Makes the tracker of an integration: on a thread, or in a process of its own."""

import asyncio
import json
import os
import shutil
import signal
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from pathlib import Path
from typing import Final

from app.database import Database
from app.jobs.claims import job_reader
from app.jobs.integrations import is_installed, is_local, local_directory
from app.jobs.jobs import Job
from app.jobs.results import restored_integrations
from app.kit.errors import SecretsLost
from app.kit.fields import Json
from app.kit.processes import running_module
from app.kit.sealing import build_secret_box
from app.settings import Settings, set_variables
from workers.trackers.tracker import (
    Assignment,
    LibraryRun,
    Tracker,
    TrackerFault,
    TrackerUpdate,
    WandbAccount,
    WriteReport,
)
from workers.trackers.update_reader import TrackedIntegration


async def open_tracker(
    database: Database, settings: Settings, tracked: TrackedIntegration
) -> Tracker:
    """Raises `TrackerFault`, or an error of the system."""
    if not is_installed(tracked.kind):
        missing = f"pip install 'agent-rft[{tracked.kind}]'"
        raise TrackerFault(f"its library is not installed here: {missing}")
    if tracked.kind != "tensorboard":
        return await WriterProcess.start(await _assignment(database, settings, tracked))
    from workers.trackers.libraries.event_files import EventFiles  # noqa: PLC0415 - an optional library

    return ThreadTracker(EventFiles(_directory(settings, tracked)))


async def _assignment(
    database: Database, settings: Settings, tracked: TrackedIntegration
) -> Assignment:
    async with job_reader(database, tracked.job.project_id) as unit:
        job = await unit.job(tracked.job.id)
        sealed = await unit.secrets(tracked.job.id)
    integration = _whole(settings, job, sealed)[tracked.position]
    options: Json = integration[tracked.kind]
    operators = settings.wandb
    key = operators.api_key.get_secret_value()
    account = WandbAccount(key, operators.base_url, operators.offline)
    name = options.get("name") or options.get("run_name") or job.suffix or job.id
    return Assignment(
        kind=tracked.kind,
        directory=str(_directory(settings, tracked)),
        run_id=f"{job.id}-{tracked.position}" if tracked.position else job.id,
        name=name,
        options=options,
        is_local=is_local(integration),
        allow_endpoints=settings.egress.allow_endpoints,
        allow_plain_http=settings.egress.allow_plain_http,
        wandb=account if tracked.kind == "wandb" else None,
    )


def _whole(settings: Settings, job: Job, sealed: bytes | None) -> list[Json]:
    try:
        opened: Json = {}
        if sealed is not None:
            box = build_secret_box(settings)
            opened = box.open(sealed, project_id=job.project_id, row_id=job.id)
        return restored_integrations(job.integrations, opened)
    except SecretsLost as error:
        raise TrackerFault("its stored credentials cannot be read any more") from error


def _directory(settings: Settings, tracked: TrackedIntegration) -> Path:
    job = tracked.job
    return settings.trackers_dir / local_directory(
        tracked.kind, tracked.position, project_id=job.project_id, job_id=job.id
    )


class ThreadTracker:
    wants_all = False

    def __init__(self, run: LibraryRun) -> None:
        self._run = run

    async def write(self, update: TrackerUpdate) -> WriteReport:
        return await asyncio.to_thread(self._run.write, update)

    async def close(self) -> None:
        await asyncio.to_thread(self._run.close)

    async def abandon(self) -> None:
        """Closes the run; a thread that still writes fails, and the next try opens it anew."""
        await self.close()


_MODULE: Final = "workers.trackers.libraries"
_CERTIFICATES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
_SYSTEM: Final = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "TZ", *_CERTIFICATES)
_PROXIES: Final = ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy")
_MLFLOW: Final = {
    "MLFLOW_TRACKING_TOKEN": "token",
    "MLFLOW_TRACKING_USERNAME": "username",
    "MLFLOW_TRACKING_PASSWORD": "password",
}
_REPLY_LIMIT: Final = 1024**2
_TO_CLOSE_S: Final = 20.0


class WriterProcess:
    def __init__(self, process: Process, scratch: Path, *, wants_all: bool) -> None:
        self._process = process
        self._scratch = scratch
        self.wants_all = wants_all

    @classmethod
    async def start(cls, assignment: Assignment) -> "WriterProcess":
        process = await asyncio.create_subprocess_exec(
            *running_module(_MODULE),
            stdin=PIPE,
            stdout=PIPE,
            env=_environment(assignment),
            start_new_session=True,
            limit=_REPLY_LIMIT,
        )
        writer = cls(process, assignment.scratch, wants_all=assignment.kind == "wandb")
        try:
            await writer._ask(assignment.to_json())
        except BaseException:
            await writer.abandon()
            raise
        return writer

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    async def write(self, update: TrackerUpdate) -> WriteReport:
        # An update of every step has up to 40 MB: other trackers do not wait until it is encoded.
        line = await asyncio.to_thread(lambda: _line(update.to_json()))
        reply = await self._answer(line)
        self.wants_all = False
        return WriteReport(reply.get("url"), tuple(reply.get("notes", ())))

    async def close(self) -> None:
        try:
            async with asyncio.timeout(_TO_CLOSE_S):
                await self._ask({"close": True})
        except (TimeoutError, TrackerFault):  # it is opened anew if there is more to write
            pass
        finally:
            await self.abandon()

    async def abandon(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        if self._process.stdin is not None:
            self._process.stdin.close()
        await self._process.wait()
        await asyncio.to_thread(shutil.rmtree, self._scratch, ignore_errors=True)

    async def _ask(self, message: Json) -> Json:
        return await self._answer(_line(message))

    async def _answer(self, sent: bytes) -> Json:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise TrackerFault("its process has no pipes")
        line = b""
        with suppress(ConnectionError):
            stdin.write(sent)
            await stdin.drain()
            line = await stdout.readline()
        if not line.endswith(b"\n"):
            raise TrackerFault("its process ended")
        reply: Json = json.loads(line)
        if "fault" in reply:
            raise TrackerFault(reply["fault"])
        return reply


def _line(message: Json) -> bytes:
    return json.dumps(message).encode() + b"\n"


def _environment(assignment: Assignment) -> dict[str, str]:
    """Without any configuration of the operator's, in it or in its home."""
    base = set_variables(_SYSTEM)
    base |= {"HOME": assignment.directory, "TMPDIR": str(assignment.scratch)}
    match assignment.kind:
        case "wandb":
            return base | set_variables(_PROXIES) | {"WANDB_ERROR_REPORTING": "false"}
        case "mlflow":
            return base | {
                "MLFLOW_DISABLE_TELEMETRY": "true",
                "MLFLOW_ALLOW_HTTP_REDIRECTS": "false",
                "MLFLOW_ENABLE_PROXY_MULTIPART_UPLOAD": "false",
                "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
                "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
                "GIT_PYTHON_REFRESH": "quiet",
                **{
                    name: assignment.options[key]
                    for name, key in _MLFLOW.items()
                    if assignment.options.get(key)
                },
            }
        case "trackio":
            return base | {"TRACKIO_DIR": assignment.directory, "HF_HUB_OFFLINE": "1"}
        case "tensorboard":
            return base
