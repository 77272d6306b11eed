"""Starts and supervises every process of the single-machine default.

Owns: start order, readiness, restarts, ordered stop, and `services.json`, which contains the
addresses of a running installation.
Promises: one supervisor for each data directory; a child that ends for any reason is restarted on
the same port with the same password; no process survives an ordered stop.
Must not know: jobs, files or models.
"""

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType

import structlog

from app.domain.processes.interpreters import running_module
from app.embedded import layout
from app.embedded.announcement import Announcement, announce, remove_announcement
from app.embedded.base_model.choice import settle_base_model
from app.embedded.base_model.refusals import checked_models
from app.embedded.children.log_files import rotate_full_log
from app.embedded.children.orphans import record, stop_recorded
from app.embedded.children.processes import Child, ChildSpec
from app.embedded.children.readiness import StartInterrupted, stop_in_order, wait_ready
from app.embedded.commands import run_once
from app.embedded.development_keys import ensure_keys, make_sign_in_link
from app.embedded.engines import engine_child
from app.embedded.errors import PortInUse
from app.embedded.layout import HOST, UpOptions
from app.embedded.ports import accepts, is_free
from app.embedded.provision import provision
from app.embedded.reserve import Reserve
from app.embedded.servers.postgres import PostgresServer
from app.embedded.start_progress import StartProgress
from app.embedded.state import DataDir, InstallationState, load_state, ownership, save_state
from app.embedded.telemetry import check_export, with_metrics_port
from app.settings.host import HostSettings
from app.settings.settings import Settings

_log = structlog.get_logger()
_TICK_S = 0.2
_MAINTENANCE_S = 2.0
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


# Callers stop before the servers they call; Postgres stops last, so that final writes succeed.
_STOP_WAVES = (("api", "runs", "control"), ("engine", "sandbox"), ("valkey",), ("postgres",))


class Supervisor:
    """Runs one start of one data directory, from stopping leftovers to the ordered stop."""

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
        """Starts every child, reports once, restarts children until a stop signal, stops in order.
        `on_part` gets a line for each part of the start that is done, with the seconds so far.

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
                _log.info("stopped_while_starting")
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
        """Starts Postgres and Valkey unless a URL is configured; does not wait for readiness."""
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
        """Creates roles, the newest schema and the development keys while the engine loads."""
        if postgres is not None:
            provision(postgres, state)
        if settings.owner_database_url is not None:
            run_once(
                running_module("app.embedded.migrate"),
                environment=layout.owner_environment(settings),
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
        """Bounds logs, keeps the reserve, and writes pids that could not be written before."""
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
        _log.info("stopped")

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
        """Writes the pids to `children.json` for the next start, and to `services.json`. On a full
        disk the former files stay, and the new ones are written later.
        """
        pids = {child.spec.name: child.pid for child in self._children if child.pid is not None}
        try:
            record(self._data_dir.children_file, pids)
            if self._announcement is not None:
                announce(self._data_dir, self._announcement, pids)
            self._published = True
        except OSError as failure:
            self._published = False
            self._reserve.release()
            _log.error("pids_not_written", reason=failure.strerror)

    def _on_stop_signal(self) -> None:
        self._stopping = True


def refuse_taken_port(port: int) -> None:
    """Raises `PortInUse`."""
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
