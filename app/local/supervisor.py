"""Starts, watches and restarts the processes of one machine, and announces the service."""

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Final, Self, assert_never

import structlog

from app.kit.processes import running_module
from app.local import layout
from app.local.base_model import ChosenModel, checked_models, settle_base_model
from app.local.layout import HOST, PASSIVE_THREADS, UpOptions
from app.local.probes import (
    StartInterrupted,
    http_ok,
    log_size,
    processor_time,
    root_cause,
    stop_in_order,
    wait_ready,
)
from app.local.processes import (
    Child,
    ChildSpec,
    check_export,
    fingerprint,
    metrics_urls,
    record,
    rotate_full_log,
    run_once,
    stop_recorded,
    wait_gone,
    with_metrics_port,
)
from app.local.provision import Reserve, ensure_keys, make_sign_in_link, provision
from app.local.servers import PostgresServer
from app.local.state import (
    DataDir,
    InstallationState,
    PortInUse,
    accepts,
    is_free,
    load_state,
    owner_pid,
    ownership,
    save_state,
    write_private,
)
from app.settings import HostSettings, Settings, inherited_environment, to_models_json

_WORDS: Final = {
    "postgres": "database",
    "valkey": "broker",
    "api": "API",
    "runs": "worker of jobs",
    "control": "worker of short tasks",
}


class StartProgress:
    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._started = time.monotonic()
        self._ready = set[str]()

    def begun(self, names: Sequence[str], logs: Path) -> None:
        parts = ", ".join(_WORDS.get(name, name) for name in names)
        self._show(f"starting {parts or 'the API and the workers'}; logs are in {logs}")

    def ready(self, name: str) -> None:
        if name not in self._ready:
            self._ready.add(name)
            self.done(_WORDS.get(name, name))

    def done(self, part: str) -> None:
        self._show(f"{part} ready after {time.monotonic() - self._started:.1f} s")


_LOADING_S: Final = 180.0
"""Seconds for loading: half a gigabyte of libraries may come from a cold disk."""
_SILENT_S: Final = 600.0
"""Seconds without a log line: vLLM compiles and captures graphs for minutes silently."""


def engine_child(
    settings: Settings, data_dir: DataDir, port: int, *, chosen: ChosenModel | None
) -> ChildSpec:
    models = data_dir.root / "models.json"
    log = data_dir.logs / "engine.log"

    def write_models() -> None:
        models.touch(mode=0o600)
        served = tuple(spec for spec in settings.base_models if spec.refusal is None)
        models.write_text(to_models_json(served))

    on_vllm = chosen is not None and chosen.engine != "cpu"
    return ChildSpec(
        name="engine",
        command=(
            *running_module("workers.engines.vllm" if on_vllm else "workers.engines.cpu"),
            *("--host", HOST, "--port", str(port), "--models-json", str(models)),
            *(() if on_vllm else ("--compute-dir", str(data_dir.compute))),
            *_sizes(chosen, data_dir),
        ),
        environment={
            **inherited_environment(),
            **PASSIVE_THREADS,
            "OMP_NUM_THREADS": str(os.cpu_count() or 1),
            "TOKENIZERS_PARALLELISM": "false",
            "AGENT_RFT_COMPUTE": settings.compute.model_dump_json(),
            "AGENT_RFT_ENGINE_API_KEY": settings.engine_api_key.get_secret_value(),
        },
        log=log,
        prepare=write_models,
        ready=http_ok(HOST, port, "/health"),
        ready_timeout_s=_SILENT_S if on_vllm else _LOADING_S,
        progress=log_size(log),
        works=(lambda _: None) if on_vllm else processor_time,  # vLLM may hang in a loop
        cause=root_cause if on_vllm else lambda _: None,
        stop_timeout_s=20.0,
        directory=data_dir.root,
    )


def _sizes(chosen: ChosenModel | None, data_dir: DataDir) -> tuple[str, ...]:
    if chosen is None:
        return ()
    match chosen.engine:
        case "cpu":
            return () if chosen.kv_mib is None else ("--kv-pool-mib", str(chosen.kv_mib))
        case "vllm":
            share = chosen.engine_share
            return (
                *_vllm(chosen, data_dir.root),
                *(() if share is None else ("--gpu-memory-utilization", f"{share:g}")),
            )
        case "vllm_cpu":
            # In the precision of a trainer on a CPU, so that both agree to the last digits.
            sizes = () if chosen.kv_mib is None else ("--kv-cache-mib", str(chosen.kv_mib))
            return (*_vllm(chosen, data_dir.root), "--cpu", "--dtype", "float32", *sizes)
        case _:
            assert_never(chosen.engine)


def _vllm(chosen: ChosenModel, root: Path) -> tuple[str, ...]:
    return ("--python", str(chosen.vllm_python), "--cache-dir", str(root / "vllm"))


_STOP_TIMEOUT_S = 90.0  # longer than the sum of the children's own stop timeouts


def shut_down(path: Path) -> bool:
    root = path.expanduser().absolute()
    if not root.is_dir():
        return False
    data_dir = DataDir(root)
    pid = owner_pid(data_dir)
    if pid is not None:
        _stop_owner(data_dir, pid)
    elif not data_dir.children_file.exists():
        return False
    with ownership(data_dir):
        leftovers = stop_recorded(data_dir.children_file)
        remove_announcement(data_dir)
    return pid is not None or bool(leftovers)


def _stop_owner(data_dir: DataDir, pid: int) -> None:
    mark = fingerprint(pid)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    if mark is not None and not wait_gone(pid, mark, timeout_s=_STOP_TIMEOUT_S):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    while owner_pid(data_dir) == pid:
        time.sleep(0.05)


@dataclass(frozen=True, slots=True)
class Announcement:
    base_url: str
    api_key: str
    admin_key: str
    dashboard_url: str
    sign_in_url: str | None
    """Signs in to the dashboard once, with the development key; `None` when that was revoked."""
    models: tuple[str, ...]
    metrics_urls: dict[str, str]
    """Addresses that Prometheus reads, by process; empty without a monitoring key or a port."""

    @classmethod
    def of(
        cls,
        options: UpOptions,
        *,
        settings: Settings,
        state: InstallationState,
        sign_in_link: str | None,
    ) -> Self:
        return cls(
            base_url=f"{options.public_url}/v1",
            api_key=state.api_key or "",
            admin_key=state.admin_key or "",
            dashboard_url=f"{options.public_url}/",
            # Behind a #, so that the secret reaches no log.
            sign_in_url=None
            if sign_in_link is None
            else f"{options.public_url}/sign-in#link={sign_in_link}",
            models=tuple(spec.name for spec in settings.base_models),
            metrics_urls=metrics_urls(settings, state),
        )


def announce(data_dir: DataDir, announcement: Announcement, pids: Mapping[str, int]) -> None:
    write_private(
        data_dir.services_file,
        {**asdict(announcement), "supervisor": os.getpid(), "pids": dict(pids)},
    )


def remove_announcement(data_dir: DataDir) -> None:
    data_dir.services_file.unlink(missing_ok=True)


log = structlog.get_logger()
_TICK_S = 0.2
_MAINTENANCE_S = 2.0
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


# Callers stop before the servers they call; Postgres stops last, so that final writes succeed.
_STOP_WAVES = (("api", "runs", "control"), ("engine", "sandbox"), ("valkey",), ("postgres",))


class Supervisor:
    def __init__(self, data_dir: DataDir, options: UpOptions, host: HostSettings) -> None:
        self._data_dir = data_dir
        self._options = options
        self._host = host
        self._children: list[Child] = []
        self._announcement: Announcement | None = None
        self._published = True
        self._stopping = False
        self._maintained_at = 0.0
        self._progress = StartProgress(lambda _: None)
        self._reserve = Reserve(data_dir.reserve_file, minimum_bytes=0)

    def run(
        self,
        on_ready: Callable[[Announcement], None],
        *,
        on_part: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`on_part` gets a line for each part of the start that is done, with the seconds so far.
        Raises `EmbeddedError` if the first start fails; every child is stopped in this case.
        """
        with ownership(self._data_dir), _woken_by_signals(self._on_stop_signal) as wake_up:
            self._progress = StartProgress(on_part)
            stop_recorded(self._data_dir.children_file)
            refuse_taken_port(self._options.port)
            try:
                self._start()
                if self._announcement is not None:
                    on_ready(self._announcement)
                self._keep_alive(wake_up)
            except StartInterrupted:
                log.info("stopped_while_starting")
            finally:
                self._stop()

    def _start(self) -> None:
        chosen = settle_base_model(self._options.model, self._data_dir, self._host)
        state = load_state(self._data_dir).with_free_ports()
        save_state(self._data_dir, state)
        settings = layout.build_settings(
            self._options, host=self._host, state=state, data_dir=self._data_dir, chosen=chosen
        )
        if chosen is None:
            on_cpu_engine = self._host.engine_url is None
            models = checked_models(settings.base_models, on_cpu_engine=on_cpu_engine)
            settings = settings.model_copy(update={"base_models": models})
        check_export(settings)
        settings.objects_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._reserve = Reserve(self._data_dir.reserve_file, minimum_bytes=settings.min_free_bytes)
        self._reserve.keep()
        postgres = self._start_servers(state)
        servers = list(self._children)
        if sys.platform == "linux" and settings.sandbox.socket is None:
            self._launch_work(layout.sandbox_child(settings, self._data_dir))
        if self._host.engine_url is None:
            self._launch(engine_child(settings, self._data_dir, state.engine_port, chosen=chosen))
        self._progress.begun([child.spec.name for child in self._children], self._data_dir.logs)
        self._wait(servers)
        state = self._prepare_database(postgres, state, settings)
        self._progress.done("schema and keys")
        self._launch(layout.api_child(settings, self._data_dir, self._options.port))
        for queue in ("runs", "control"):
            its_own = with_metrics_port(settings, state, queue)
            self._launch_work(layout.worker_child(its_own, self._data_dir, queue))
        link = make_sign_in_link(state, settings)
        self._wait(self._children)
        self._announcement = Announcement.of(
            self._options, settings=settings, state=state, sign_in_link=link
        )
        self._publish()

    def _launch_work(self, spec: ChildSpec) -> None:
        """Launches a child of low priority: those that answer requests get the processor first."""
        self._launch(replace(spec, niceness=self._host.niceness))

    def _start_servers(self, state: InstallationState) -> PostgresServer | None:
        postgres = None
        if self._host.database_url is None:
            postgres = layout.postgres_server(state, self._data_dir, self._host)
            self._launch(postgres.child(self._data_dir.logs / "postgres.log"))
        if self._host.redis_url is None:
            valkey = layout.valkey_server(state, self._data_dir, self._host)
            self._launch(valkey.child(self._data_dir.logs / "valkey.log"))
        return postgres

    def _prepare_database(
        self, postgres: PostgresServer | None, state: InstallationState, settings: Settings
    ) -> InstallationState:
        if postgres is not None:
            provision(postgres, state)
        if settings.owner_database_url is not None:
            run_once(
                running_module("app.local.provision"),
                environment=layout.environment_of(settings),
                timeout_s=300.0,
            )
        state = ensure_keys(state, settings)
        save_state(self._data_dir, state)
        return state

    def _keep_alive(self, wake_up: int) -> None:
        while not self._stopping:
            for child in self._children:
                child.tick()
            self._maintain()
            select.select([wake_up], [], [], _TICK_S)
            _drain(wake_up)

    def _maintain(self) -> None:
        now = time.monotonic()
        if now < self._maintained_at + _MAINTENANCE_S:
            return
        self._maintained_at = now
        self._reserve.keep()
        for log in self._data_dir.logs.glob("*.log"):
            rotate_full_log(log)
        if not self._published:
            self._publish()

    def _stop(self) -> None:
        self._stopping = True
        remove_announcement(self._data_dir)
        by_name = {child.spec.name: child for child in self._children}
        stop_in_order([by_name[name] for name in wave if name in by_name] for wave in _STOP_WAVES)
        self._data_dir.children_file.unlink(missing_ok=True)
        log.info("stopped")

    def _launch(self, spec: ChildSpec) -> None:
        child = Child(spec, on_start=self._publish)
        self._children.append(child)  # before the start, so that `_stop` covers a failed start
        child.tick()

    def _wait(self, children: Sequence[Child]) -> None:
        wait_ready(
            children,
            interrupted=lambda: self._stopping,
            on_ready=lambda child: self._progress.ready(child.spec.name),
        )

    def _publish(self) -> None:
        """Writes the pids for the next start; on a full disk later."""
        pids = {child.spec.name: child.pid for child in self._children if child.pid is not None}
        try:
            record(self._data_dir.children_file, pids)
            if self._announcement is not None:
                announce(self._data_dir, self._announcement, pids)
            self._published = True
        except OSError as failure:
            self._published = False
            self._reserve.release()
            log.error("pids_not_written", reason=failure.strerror)  # noqa: TRY400 - the disk is full

    def _on_stop_signal(self) -> None:
        self._stopping = True


def refuse_taken_port(port: int) -> None:
    if accepts(HOST, port) or not is_free(HOST, port):
        raise PortInUse(f"{HOST}:{port} is in use: choose another --port")


@contextmanager
def _woken_by_signals(on_stop: Callable[[], None]) -> Iterator[int]:
    """Yields a descriptor that becomes readable at every signal, including a child's end."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        on_stop()

    def wake(_number: int, _frame: FrameType | None) -> None:
        """Does nothing; Python writes to the wakeup descriptor only if a handler exists."""

    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    os.set_blocking(write_end, False)
    before = {number: signal.signal(number, stop) for number in _STOP_SIGNALS}
    before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, wake)
    previous = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    try:
        yield read_end
    finally:
        signal.set_wakeup_fd(previous)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(read_end)
        os.close(write_end)


def _drain(descriptor: int) -> None:
    try:
        while os.read(descriptor, 512):
            pass
    except BlockingIOError:
        pass
