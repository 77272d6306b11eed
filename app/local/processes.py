"""Programs that this installation runs: those that end, its children with their logs, and children
that an earlier, killed supervisor did not stop.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal

import structlog

from app.kit.processes import lower_priority, signal_at_parent_end
from app.kit.span_export import ExporterMissing, check_installed
from app.local.state import (
    AS_OURSELVES,
    ChildFailed,
    EmbeddedError,
    InstallationState,
    RunAs,
    WrongOptions,
)
from app.settings import Settings, inherited_environment

log = structlog.get_logger()

LOG_BYTES: Final = 10_000_000
KEPT: Final = 3


def create(log: Path) -> None:
    log.touch(mode=0o600)


def rotate_full_log(full: Path, *, limit_bytes: int = LOG_BYTES) -> None:
    """Never raises; on a full disk the content is dropped. A child keeps its file open and appends,
    so the log is copied and truncated, not renamed. Lines written during the copy may be lost.
    """
    try:
        if not full.exists() or full.stat().st_size < limit_bytes:
            return
        kept = [full.with_name(f"{full.name}.{number}") for number in range(1, KEPT + 1)]
        try:
            for newer, older in reversed(list(pairwise(kept))):
                if newer.exists():
                    newer.replace(older)
            create(kept[0])
            shutil.copyfile(full, kept[0])
        except OSError:
            kept[0].unlink(missing_ok=True)
        with full.open("r+b") as file:
            file.truncate(0)
    except OSError as failure:
        log.warning("log_not_bounded", log=full.name, reason=failure.strerror)


_FIRST_DELAY_S = 0.1
_LONGEST_DELAY_S = 10.0
_MISSES = 6  # probes that a ready child fails, one after another, before it is replaced
_COMPARED_LINES = 5
_COMPARED_BYTES = 16_384
_NUMBER = re.compile(r"(?:0x[0-9a-f]+|\d+)")
_BUSY_STARTS = 10  # times `ready_timeout_s` that a start may take which does nothing but work
_STEADY_S = 10.0  # the backoff of a child that was ready this long is reset

ProcessState = Literal["down", "starting", "ready", "stopped"]


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """Command and probes of a child. `ready` and `answers` receive the pid and must return quickly.
    `ready_timeout_s` counts from the last change of what `progress` returns.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    log: Path
    ready: Callable[[int], bool]
    answers: Callable[[int], bool] | None = None
    """Probe of a ready child, called every `probe_every_s`; a hung one is restarted."""
    probe_every_s: float = 5.0
    prepare: Callable[[], None] = lambda: None
    ready_timeout_s: float = 60.0
    progress: Callable[[], object] = lambda: None
    works: Callable[[int], object] = lambda _: None
    """Measures the work of a starting child. While it changes, the child may take ten times
    `ready_timeout_s` in total: a start on a busy machine is slow, but a child may also work without
    end.
    """
    stop_signal: signal.Signals = signal.SIGTERM
    stop_timeout_s: float = 10.0
    orphan_signal: signal.Signals = signal.SIGTERM  # the kernel sends it when the supervisor ends
    run_as: RunAs = AS_OURSELVES
    directory: Path | None = None  # working directory
    cause: Callable[[str], str | None] = lambda _: None
    """Finds the reason of a failed start in the log, for a child whose log does not end with it."""
    niceness: int = 0
    required: bool = True
    """False for a child that a start does not need: it is restarted, at growing intervals."""


class Child:
    """State machine of one child. Call `tick()` often; it never blocks longer than a probe."""

    def __init__(self, spec: ChildSpec, *, on_start: Callable[[], None] = lambda: None) -> None:
        self.spec = spec
        self.state: ProcessState = "down"
        self.was_ready = False
        self.failures = 0
        self.starts = 0
        self._on_start = on_start
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at = 0.0
        self._moved_at = 0.0
        self._progress: object = None
        self._worked_at = 0.0
        self._work: object = None
        self._probed_at = 0.0
        self._misses = 0
        self._given_up = False
        self._retry_at = 0.0
        self._stop_signalled_at = 0.0
        self._not_started = ""
        self._log_start = 0
        self._last_lines: tuple[object, ...] = ()
        self._repeats = False

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def tick(self) -> None:
        now = time.monotonic()
        if self.state == "stopped":
            return
        if self._process is None:
            if now >= self._retry_at:
                self._start()
            return
        if self._process.poll() is not None:
            self._ended(now)
        elif self.state == "starting":
            self._probe(now)
        elif self.spec.answers is not None and now >= self._probed_at + self.spec.probe_every_s:
            self._probe_answer(self._process.pid, self.spec.answers)

    def signal_stop(self) -> None:
        self.state = "stopped"
        self._stop_signalled_at = time.monotonic()
        if self._process is not None and self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, self.spec.stop_signal)

    def wait_stopped(self) -> None:
        """Waits for the child to end after `signal_stop`, then kills the rest of its group."""
        if self._process is None:
            return
        try:
            self._process.wait(self.spec.stop_timeout_s)
        except subprocess.TimeoutExpired:
            log.warning("child_killed", child=self.spec.name, after_s=self.spec.stop_timeout_s)
        kill_group(self._process.pid)
        self._process.wait()
        self._process = None
        duration_s = round(time.monotonic() - self._stop_signalled_at, 2)
        log.info("child_stopped", child=self.spec.name, after_s=duration_s)

    def log_tail(self) -> str:
        try:
            text = self.spec.log.read_text(errors="replace")
        except OSError:
            return ""
        cause = self.spec.cause(text)
        end = text.splitlines()[-_TAIL_LINES:]
        return "\n".join(end if cause is None else [f"the cause: {cause}", *end])

    def is_hopeless(self, tries: int) -> bool:
        return not self.was_ready and (self.failures >= tries or self._repeats)

    def raise_if_hopeless(self, tries: int) -> None:
        if self.spec.required and self.is_hopeless(tries):
            raise ChildFailed(
                f"{self.spec.name} did not become ready; the end of {self.spec.log}:\n"
                f"{self._not_started or self.log_tail()}"
            )

    def _start(self) -> None:
        try:
            self.spec.prepare()
            self._process = self._popen()
        except (EmbeddedError, OSError) as failure:  # a full disk refuses to create a file
            if not self.was_ready and isinstance(failure, EmbeddedError):
                raise
            self.failures += 1
            self._not_started = str(failure)
            self._retry_at = time.monotonic() + self._delay_s()
            log.warning("child_not_prepared", child=self.spec.name, reason=str(failure))
            return
        self._not_started = ""
        self.state = "starting"
        self._given_up = False
        self._misses = 0
        self.starts += 1
        self._started_at = self._moved_at = time.monotonic()  # preparing may take a while
        log.info("child_started", child=self.spec.name, pid=self._process.pid, start=self.starts)
        self._on_start()

    def _popen(self) -> subprocess.Popen[bytes]:
        create(self.spec.log)
        self._log_start = self.spec.log.stat().st_size
        with self.spec.log.open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - our own commands, no shell
                (*self.spec.run_as.prefix, *self.spec.command),
                env=dict(self.spec.environment),
                cwd=self.spec.directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_in_child(self.spec),  # noqa: PLW1509 - one thread here
                **self.spec.run_as.popen_arguments(),
            )

    def _probe(self, now: float) -> None:
        if self._process is None or self._given_up:  # it was killed and has not ended yet
            return
        if self.spec.ready(self._process.pid):
            self.state = "ready"
            self.was_ready = True
            log.info("child_ready", child=self.spec.name, after_s=round(now - self._started_at, 2))
        elif (progress := self.spec.progress()) != self._progress:
            self._progress, self._moved_at = progress, now
        elif self._is_stuck(self._process.pid, now):
            after_s = round(now - self._started_at, 2)
            log.warning("child_not_ready", child=self.spec.name, after_s=after_s)
            self._given_up = True
            kill_group(self._process.pid)

    def _is_stuck(self, pid: int, now: float) -> bool:
        limit_s = self.spec.ready_timeout_s
        if (work := self.spec.works(pid)) != self._work:
            self._work, self._worked_at = work, now
        if now - self._moved_at > _BUSY_STARTS * limit_s:
            return True
        return now - max(self._moved_at, self._worked_at) > limit_s

    def _probe_answer(self, pid: int, answers: Callable[[int], bool]) -> None:
        """Counts unanswered probes: after a machine's sleep, time would say nothing."""
        self._misses = 0 if answers(pid) else self._misses + 1
        self._probed_at = time.monotonic()
        if self._misses >= _MISSES:
            log.warning("child_hangs", child=self.spec.name, probes=self._misses)
            self._misses = 0
            kill_group(pid)

    def _delay_s(self) -> float:
        doublings = min(self.failures - 1, 16)
        return min(_FIRST_DELAY_S * float(2**doublings), _LONGEST_DELAY_S)

    def _ended(self, now: float) -> None:
        if self._process is None:
            return
        words = (self._process.returncode, *self._words())
        self._repeats = bool(words[1:]) and words == self._last_lines
        self._last_lines = words
        steady = self.state == "ready" and now - self._started_at > _STEADY_S
        self.failures = 1 if steady else self.failures + 1
        delay_s = self._delay_s()
        log.warning(
            "child_ended",
            child=self.spec.name,
            status=self._process.returncode,
            restart_in_s=delay_s,
        )
        kill_group(self._process.pid)
        self._process = None
        self.state = "down"
        self._retry_at = now + delay_s

    def _words(self) -> list[str]:
        """Returns the last lines of this start's output, without numbers (times, process ids)."""
        try:
            with self.spec.log.open("rb") as log:
                log.seek(max(self._log_start, log.seek(0, os.SEEK_END) - _COMPARED_BYTES))
                lines = log.read().decode(errors="replace").splitlines()
        except OSError:
            return []
        return [_NUMBER.sub("0", line) for line in lines if line.strip()][-_COMPARED_LINES:]


def kill_group(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _in_child(spec: ChildSpec) -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    parent = os.getpid()

    def in_child() -> None:
        signal_at_parent_end(spec.orphan_signal)
        if os.getppid() != parent:  # the supervisor crashed before the line above
            os._exit(1)
        lower_priority(spec.niceness)

    return in_child


_TAIL_LINES = 15


class CommandFailed(EmbeddedError):
    """A program could not be started, took too long or ended with a non-zero status."""


def run_once(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    run_as: RunAs = AS_OURSELVES,
    text_in: str | None = None,
    timeout_s: float = 60.0,
) -> str:
    line = (*run_as.prefix, *command)
    try:
        result = subprocess.run(  # noqa: S603 - programs found by this package, no shell
            line,
            env={**inherited_environment(), **(environment or {})},
            input=text_in,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            **run_as.popen_arguments(),
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise CommandFailed(f"{command[0]}: {failure}") from failure
    if result.returncode != 0:
        tail = "\n".join((result.stderr or result.stdout).splitlines()[-_TAIL_LINES:])
        raise CommandFailed(f"{command[0]} ended with status {result.returncode}:\n{tail}")
    return result.stdout


def check_export(settings: Settings) -> None:
    """Raises `WrongOptions` if spans are to be exported and cannot be."""
    if settings.telemetry.span_export() is None:
        return
    try:
        check_installed()
    except ExporterMissing as error:
        raise WrongOptions(str(error)) from None


def metrics_port(settings: Settings, state: InstallationState, queue: str) -> int | None:
    configured, is_control = settings.telemetry.metrics_port, queue == "control"
    if configured is not None:
        return configured + is_control
    if settings.monitoring_key is None:
        return None
    return state.control_metrics_port if is_control else state.runs_metrics_port


def with_metrics_port(settings: Settings, state: InstallationState, queue: str) -> Settings:
    telemetry = settings.telemetry.model_copy(
        update={"metrics_port": metrics_port(settings, state, queue)}
    )
    return settings.model_copy(update={"telemetry": telemetry})


def metrics_urls(settings: Settings, state: InstallationState) -> dict[str, str]:
    urls = {}
    if settings.monitoring_key is not None:
        urls["api"] = f"{settings.public_url}/metrics"
        urls["engine"] = f"{settings.engine_url}/metrics"
    for queue in ("runs", "control"):
        port = metrics_port(settings, state, queue)
        if port is not None:
            urls[queue] = f"http://127.0.0.1:{port}/metrics"
    return urls


_STOP_TIMEOUT_S = 3.0
_CHECKPOINT_TIMEOUT_S = 30.0
_STAT_STATE = 0
_STAT_STARTED = 19


def fingerprint(pid: int) -> str | None:
    """Returns the identity of a live process, `None` if it has ended or is a zombie."""
    if Path("/proc/self/stat").exists():
        return _fingerprint_from_proc(pid)
    try:
        return run_once(("ps", "-o", "lstart=", "-p", str(pid)), timeout_s=5).strip() or None
    except CommandFailed:
        return None


def _fingerprint_from_proc(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()  # the program's name before it may contain spaces
    if fields[_STAT_STATE] in "ZX":
        return None
    return f"{boot}/{fields[_STAT_STARTED]}"


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        pass
    try:
        return run_once(("ps", "-o", "command=", "-p", str(pid)), timeout_s=5).strip()
    except CommandFailed:
        return ""


def record(path: Path, pids: Mapping[str, int]) -> None:
    entries = {name: [pid, fingerprint(pid)] for name, pid in pids.items()}
    scratch = path.with_suffix(".new")
    try:
        scratch.touch(mode=0o600)
        scratch.write_text(json.dumps(entries))
        scratch.replace(path)
    except OSError:
        scratch.unlink(missing_ok=True)
        raise


def stop_recorded(path: Path) -> list[str]:
    """Returns their names. Postgres gets long, to write a checkpoint; the others do not, since a
    worker whose broker crashed at the same moment may wait for it forever.
    """
    try:
        entries: dict[str, tuple[int, str | None]] = json.loads(path.read_text())
    except (OSError, ValueError):
        return []
    running = {
        name: (pid, mark) for name, (pid, mark) in entries.items() if _is_recorded(pid, mark)
    }
    for name, (pid, _) in running.items():
        log.warning("leftover_stopped", child=name, pid=pid)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT if name == "postgres" else signal.SIGTERM)
    signalled_at = time.monotonic()
    for name, (pid, mark) in running.items():
        timeout_s = _STOP_TIMEOUT_S if name != "postgres" else _CHECKPOINT_TIMEOUT_S
        remaining_s = timeout_s - (time.monotonic() - signalled_at)
        if mark is not None:
            wait_gone(pid, mark, timeout_s=remaining_s)
        kill_group(pid)
    path.unlink(missing_ok=True)
    return list(running)


def _is_recorded(pid: int, mark: str | None) -> bool:
    """The kernel does not assign the number of a group that has members to a new process, so a
    group without its leader is still the recorded group.
    """
    if mark is None:
        return False
    current = fingerprint(pid)
    if current is not None:
        return current == mark
    same_boot = (fingerprint(os.getpid()) or "").partition("/")[0] == mark.partition("/")[0]
    return same_boot and _group_exists(pid)


def _group_exists(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except OSError:
        return False
    return True


def wait_gone(pid: int, mark: str, *, timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while fingerprint(pid) == mark:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
