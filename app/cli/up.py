"""`agent-rft up` and `plan`: chooses the base model, checks it, and starts the supervisor."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

import typer
from pydantic import ValidationError

from app.cli.remote import describe
from app.kit.processes import FAILED, WRONG_OPTIONS, running_module
from app.local.base_model import (
    LastModel,
    ModelChoice,
    ModelRequest,
    from_argument,
    read_chosen,
    refuse_settings,
    shipped_choice,
    to_arguments,
)
from app.local.layout import UpOptions
from app.local.preparation import prepare
from app.local.state import DataDir, EmbeddedError, ownership
from app.local.supervisor import Announcement, Supervisor, refuse_taken_port
from app.settings import TOYS, ConfiguredRuns, HostSettings


def plan(arguments: Sequence[str]) -> int:
    """Passes the arguments on; returns 0 if everything fits, else a code of `exit_codes`."""
    command = running_module("workers.learning.memory", *arguments)
    return subprocess.run(command, check=False).returncode  # noqa: S603 - our own program, no shell


def check_base_models(models_json: str) -> int:
    """Prints what each model can do and returns the exit code: 9 if one is refused."""
    command = running_module("workers.engines.base_model_check", "--models-json", "-")
    done = subprocess.run(command, input=models_json, capture_output=True, text=True, check=False)  # noqa: S603 - ourselves
    for line in done.stdout.splitlines():
        report = json.loads(line)
        print(f"{report['model']}: {report['verdict']}")
        for name in ("tool_parser", "reasoning", "cpu_engine", "vllm", "packs", "targets"):
            if report["verdict"] != "refused":
                print(f"  {name}: {report[name]}")
        for reason in report["reasons"]:
            print(f"  {reason}")
    if not done.stdout:
        print(done.stderr, file=sys.stderr)
    return done.returncode


_TAIL_LINES = 20


def start(data_dir: Path, options: UpOptions, *, ready_fd: int | None) -> None:
    """Supervises until a stop signal. Reports to `ready_fd` if it is set."""

    def on_ready(announcement: Announcement) -> None:
        if ready_fd is None:
            _announce(asdict(announcement))
        else:
            _report(ready_fd, {"ready": asdict(announcement)})

    def on_part(line: str) -> None:
        if ready_fd is None:
            _show(line)
        else:
            _report(ready_fd, {"progress": line})

    # All that this process and its children create is for their own user.
    os.umask(0o077)
    with _failures_reported(ready_fd):
        Supervisor(DataDir.at(data_dir), options, HostSettings()).run(on_ready, on_part=on_part)


def choose_model(
    data_dir: Path, request: ModelRequest | None, *, port: int, yes: bool, chosen: str | None
) -> ModelChoice:
    """Returns the choice of this start: the requested model after its checks, or the model passed
    by the command that starts this one detached. Writes nothing: the supervisor writes it under the
    directory's lock. Raises `EmbeddedError`.
    """
    if chosen is not None:
        return from_argument(chosen)
    if request is None:
        return LastModel()
    host = HostSettings()
    refuse_settings(host, cure="either it or --model")
    refuse_taken_port(port)
    directory = DataDir.at(data_dir)
    # A busy directory is reported before weights are downloaded.
    with ownership(directory):
        if request.shipped is not None:
            return shipped_choice(request.shipped)
        return prepare(
            request,
            host=host,
            memory=ConfiguredRuns().runs.memory,
            before=read_chosen(directory),
            consent=lambda text: yes or (sys.stdin.isatty() and typer.confirm(text, err=True)),
        )


def start_detached(data_dir: Path, options: UpOptions) -> None:
    directory = DataDir.at(data_dir)
    log_file = directory.logs / "supervisor.log"
    read_end, write_end = os.pipe()
    log_file.touch(mode=0o600)
    with log_file.open("ab") as log:
        process = subprocess.Popen(  # noqa: S603 - ourselves
            (*start_command(directory, options), "--ready-fd", str(write_end)),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(write_end,),
            start_new_session=True,
        )
    os.close(write_end)
    try:
        with os.fdopen(read_end) as pipe:
            report = _followed(pipe)
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        raise
    _relay(report, process=process, log_file=log_file)


def _followed(pipe: TextIO) -> dict[str, Any]:
    for line in pipe:
        report: dict[str, Any] = json.loads(line)
        if "progress" not in report:
            return report
        _show(str(report["progress"]))
    return {}


def _show(line: str) -> None:
    # A terminal that was closed must not end the start.
    with contextlib.suppress(OSError):
        print(f"agent-rft: {line}", file=sys.stderr, flush=True)


def _announce(announcement: dict[str, Any]) -> None:
    for name, knows in TOYS.items():
        if name in announcement["models"]:
            _show(
                f"{name.rsplit('-', 3)[0]} is a toy to try the service with: it knows only "
                f"{knows}; --model serves a model of your own"
            )
    print(json.dumps(announcement), flush=True)


def _relay(report: dict[str, Any], *, process: subprocess.Popen[bytes], log_file: Path) -> None:
    if "ready" in report:
        _announce(report["ready"])
        process.returncode = 0  # the supervisor continues; Popen must not warn about a live child
        return
    process.wait()
    tail = "\n".join(log_file.read_text(errors="replace").splitlines()[-_TAIL_LINES:])
    reason = report.get("error") or f"the supervisor ended; the end of {log_file}:\n{tail}"
    print(f"agent-rft: {reason}", file=sys.stderr)
    sys.exit(report.get("exit_code", FAILED))


def start_command(directory: DataDir, options: UpOptions) -> list[str]:
    command = [*running_module("app.cli.main", "up")]
    command += ["--data-dir", str(directory.root), "--port", str(options.port)]
    for endpoint in options.allow_endpoints:
        command += ["--allow-endpoint", endpoint]
    if options.lease_s is not None:
        command += ["--lease-s", str(options.lease_s)]
    return [*command, *to_arguments(options.model)]


@contextlib.contextmanager
def _failures_reported(ready_fd: int | None) -> Iterator[None]:
    try:
        yield
    except EmbeddedError as failure:
        if ready_fd is not None:
            _report(ready_fd, {"error": str(failure), "exit_code": failure.exit_code})
        raise
    except ValidationError as error:
        if ready_fd is not None:
            _report(ready_fd, {"error": describe(error), "exit_code": WRONG_OPTIONS})
        raise


def _report(ready_fd: int, report: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        os.write(ready_fd, f"{json.dumps(report)}\n".encode())
