"""Lists the processes of one machine and the configuration that each of them starts with."""

import os
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from app.kit.processes import running_module
from app.local.base_model import ChosenModel, LastModel, ModelChoice
from app.local.probes import LogLine, http_ok, processor_time, sandbox_answers
from app.local.processes import ChildSpec
from app.local.provision import database_url
from app.local.servers import PostgresServer, ValkeyServer, find_postgres, find_valkey, runnable_by
from app.local.state import DataDir, InstallationState, unprivileged_user
from app.settings import (
    APP_ROLE,
    OWNER_ROLE,
    WORKER_ROLE,
    HostSettings,
    Settings,
    inherited_environment,
    set_variables,
    to_environment,
)

HOST = "127.0.0.1"
# Idle threads sleep instead of spinning: engine, trainer and servers share the same few cores.
PASSIVE_THREADS = {"OMP_WAIT_POLICY": "PASSIVE", "KMP_BLOCKTIME": "0"}


@dataclass(frozen=True, slots=True)
class UpOptions:
    """Options of one start. `allow_endpoints` and `lease_s` apply until the next stop."""

    port: int
    allow_endpoints: tuple[str, ...] = ()
    lease_s: float | None = None
    model: ModelChoice = LastModel()  # noqa: RUF009 - frozen, and without a field

    @property
    def public_url(self) -> str:
        return f"http://{HOST}:{self.port}"


def build_settings(
    options: UpOptions,
    *,
    host: HostSettings,
    state: InstallationState,
    data_dir: DataDir,
    chosen: ChosenModel | None = None,
) -> Settings:
    """Configured URLs have priority; without `chosen` the models are those of the settings."""

    def own_url(role: str, password: str) -> str:
        return database_url(state.postgres_port, role=role, password=password)

    databases: dict[str, str] = {}  # `Settings` reads configured ones from the environment
    if host.database_url is None:
        databases = {
            "database_url": own_url(APP_ROLE, state.app_password),
            "worker_database_url": own_url(WORKER_ROLE, state.worker_password),
            "owner_database_url": own_url(OWNER_ROLE, state.owner_password),
        }
    models = {} if chosen is None else {"base_models": (chosen.spec,)}
    overrides: dict[str, object] = {
        **databases,
        **models,
        "data_dir": data_dir.root,
        "objects_dir": data_dir.objects,
        "redis_url": host.redis_url
        or f"redis://:{state.valkey_password}@{HOST}:{state.valkey_port}/0",
        "engine_url": host.engine_url or f"http://{HOST}:{state.engine_port}",
        "engine_api_key": host.engine_api_key or state.engine_api_key,
        "secret_key": host.secret_key or state.secret_key,
        "public_url": options.public_url,
    }
    settings = Settings(**overrides)  # type: ignore[arg-type]  # mypy cannot match a dict of overrides to the fields
    return _for_this_start(settings, options, chosen)


def _for_this_start(settings: Settings, options: UpOptions, chosen: ChosenModel | None) -> Settings:
    egress, lease, runs = settings.egress, settings.lease, settings.runs
    if options.allow_endpoints:
        allowed = (*egress.allow_endpoints, *options.allow_endpoints)
        egress = egress.model_validate(
            {**egress.model_dump(), "allow_endpoints": allowed, "allow_plain_http": True}
        )
    if options.lease_s is not None:
        lease = lease.model_validate({**lease.model_dump(), "lease_s": options.lease_s})
    if chosen is not None and runs.micro_batch_tokens is None:
        runs = runs.model_copy(update={"micro_batch_tokens": chosen.micro_batch_tokens})
    return settings.model_copy(update={"egress": egress, "lease": lease, "runs": runs})


_FIRST_ON_PATH: Final = ("--app-dir", sysconfig.get_path("stdlib"))
"""Uvicorn puts this folder before all others on the path of imports, by default the working
directory, whose `queue.py` or `secrets.py` would run. The standard library comes first anyway.
"""
_PROBE_API_S = 10.0
"""Seconds between two probes of the API, which is replaced after six unanswered ones."""


def api_child(settings: Settings, data_dir: DataDir, port: int) -> ChildSpec:
    hidden = ("AGENT_RFT_WORKER_DATABASE_URL", "AGENT_RFT_OWNER_DATABASE_URL")
    return ChildSpec(
        name="api",
        command=(
            *running_module("uvicorn", "app.main:create_app", "--factory", *_FIRST_ON_PATH),
            *("--host", HOST, "--port", str(port), "--timeout-graceful-shutdown", "5"),
            # The same loop whether or not a library has brought uvloop, which uvicorn would take.
            *("--http", "app.http.protocol:Protocol", "--loop", "asyncio"),
            *_trusted_proxies(),
        ),
        environment=_without(environment_of(settings), hidden),
        log=data_dir.logs / "api.log",
        # Not /readyz, which also fails while the disk is full: a restart would free no byte.
        ready=http_ok(HOST, port, "/healthz"),
        works=processor_time,
        answers=http_ok(HOST, port, "/healthz"),
        probe_every_s=_PROBE_API_S,
        directory=data_dir.root,
    )


def _trusted_proxies() -> tuple[str, ...]:
    """By itself uvicorn believes each caller on this machine, and those are our callers."""
    return () if set_variables(["FORWARDED_ALLOW_IPS"]) else ("--no-proxy-headers",)


def worker_child(settings: Settings, data_dir: DataDir, queue: str) -> ChildSpec:
    log = data_dir.logs / f"{queue}.log"
    started = LogLine(log, " ready.")
    # Without a file of its own: all tasks are intervals, and a full disk must not stop the clock.
    beat = ("-B", "--scheduler", "celery.beat:Scheduler") if queue == "control" else ()
    as_worker = settings.model_copy(update={"database_url": settings.worker_database_url})
    return ChildSpec(
        name=queue,
        command=(
            *running_module("workers.celery_command", "-A", "workers.celery_app", "worker"),
            *("-Q", queue, "-c", "1", "-n", f"{queue}@%h", "--loglevel", "INFO"),
            *("--without-mingle", "--without-gossip", *beat),
        ),
        environment={
            **_without(environment_of(as_worker), ("AGENT_RFT_OWNER_DATABASE_URL",)),
            **PASSIVE_THREADS,
            "OMP_NUM_THREADS": str(os.cpu_count() or 1),
            # A warm shutdown would wait hours for a job; a cold one re-queues its message at once.
            "REMAP_SIGTERM": "SIGQUIT",
            # Celery would write titles over its environment, which operators can read.
            "NOSETPS": "1",
        },
        log=log,
        prepare=started.prepare,
        ready=started.ready,
        works=processor_time,
        directory=data_dir.root,
    )


def sandbox_child(settings: Settings, data_dir: DataDir) -> ChildSpec:
    answers = sandbox_answers(settings.sandbox_socket)
    return ChildSpec(
        name="sandbox",
        command=running_module("workers.sandbox"),
        environment={
            "PATH": os.defpath,
            "PYTHONUNBUFFERED": "1",
            "AGENT_RFT_DATA_DIR": str(settings.data_dir),
            "AGENT_RFT_SANDBOX": settings.sandbox.model_dump_json(),
        },
        log=data_dir.logs / "sandbox.log",
        ready=answers,
        answers=answers,
        directory=data_dir.root,
        required=False,
    )


def postgres_server(
    state: InstallationState, data_dir: DataDir, host: HostSettings
) -> PostgresServer:
    run_as, binaries = unprivileged_user(), find_postgres(host.pg_bin, data_dir.postgres)
    if run_as.uid is not None:
        data_dir.root.chmod(0o711)  # the server's user may traverse the directory, not list it
        binaries = runnable_by(run_as, binaries, data_dir.root / "binaries")
    return PostgresServer(
        binaries=binaries,
        cluster=data_dir.postgres,
        port=state.postgres_port,
        password=state.superuser_password,
        run_as=run_as,
    )


def valkey_server(state: InstallationState, data_dir: DataDir, host: HostSettings) -> ValkeyServer:
    return ValkeyServer(
        find_valkey(host.valkey_bin), data_dir.valkey, state.valkey_port, state.valkey_password
    )


def environment_of(settings: Settings) -> dict[str, str]:
    return {**inherited_environment(), **to_environment(settings)}


def _without(environment: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name not in names}
