"""`agent-rft up`: runs the supervisor in the foreground, or detached and connected by a pipe.

Promises: standard output contains one JSON object and nothing else; with --detach the command
returns once every process is ready, or prints the error that prevented it.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

import typer
from pydantic import ValidationError

from app.cli.console import describe
from app.domain.models.start_plans import EngineKind
from app.embedded.announcement import Announcement
from app.embedded.base_model.chosen import forget, read_chosen, refuse_missing, write_chosen
from app.embedded.base_model.preparation import Wish, prepare
from app.embedded.errors import EmbeddedError, WrongOptions
from app.embedded.layout import UpOptions
from app.embedded.state import DataDir, ownership
from app.embedded.supervisor import Supervisor, refuse_taken_port
from app.settings.host import HostSettings
from app.settings.models import ModelSettings, shipped_models
from app.settings.runs import ConfiguredRuns

_TAIL_LINES = 20


def start(data_dir: Path, options: UpOptions, *, ready_fd: int | None) -> None:
    """Supervises until a stop signal. Reports readiness or the failure to `ready_fd` if it is set,
    else readiness to standard output.
    """

    def on_ready(announcement: Announcement) -> None:
        if ready_fd is None:
            print(json.dumps(asdict(announcement)), flush=True)
        else:
            _report(ready_fd, {"ready": asdict(announcement)})

    # All that this process and its children create is for their own user.
    os.umask(0o077)
    with _failures_reported(ready_fd):
        Supervisor(DataDir.at(data_dir), options, HostSettings()).run(on_ready)


def wish_of(
    model: str | None,
    engine: Literal["cpu", "vllm"],
    *,
    cpu: bool,
    revision: str | None,
    context_length: int | None,
    engine_share: float | None,
) -> Wish | None:
    """Returns what the options of a model ask for, `None` without `--model`. Raises
    `WrongOptions`.
    """
    given = {
        "--engine": engine == "vllm",
        "--cpu": cpu,
        "--revision": revision is not None,
        "--context-length": context_length is not None,
        "--engine-share": engine_share is not None,
    }
    names = ", ".join(name for name, is_given in given.items() if is_given)
    if model is None:
        if names:
            raise WrongOptions(f"{names}: name the model too, with --model DIR or --model HUB_ID")
        return None
    if not model.strip():
        raise WrongOptions("--model is empty: name a directory or a hub id, or leave it out")
    if names and _is_shipped(model):
        raise WrongOptions(
            f"{names}: --model {model} goes back to the shipped model as it is: leave the rest out"
        )
    if revision is not None and Path(model).expanduser().is_dir():
        raise WrongOptions(f"--revision chooses a commit of the hub, and {model} is a directory")
    if cpu and engine != "vllm":
        raise WrongOptions("--cpu chooses a build of vLLM: add --engine vllm, or leave it out")
    if engine_share is not None and (cpu or engine != "vllm"):
        raise WrongOptions("--engine-share divides a GPU: use it with --engine vllm")
    kind: EngineKind = "vllm_cpu" if cpu else engine
    return Wish(
        model,
        kind,
        revision=revision,
        context_length=context_length,
        engine_share=engine_share,
    )


def with_model(data_dir: Path, options: UpOptions, wish: Wish | None, *, yes: bool) -> UpOptions:
    """Returns the options with the base model of this start: the one that is wished for, after its
    checks, else that of the last start, unless the settings name others. Raises `EmbeddedError`.
    """
    host, configured = HostSettings(), "base_models" in ModelSettings().model_fields_set
    if wish is None:
        chosen = None if configured or not data_dir.exists() else read_chosen(DataDir.at(data_dir))
        if chosen is not None:
            _refuse_settings(
                host,
                configured=False,
                cure=f"it, or name its models in AGENT_RFT_BASE_MODELS: {data_dir} was last "
                f"started with --model {chosen.hub_id or chosen.spec.path}, whose engine runs here",
            )
            refuse_missing(chosen)
        return replace(options, chosen=chosen)
    _refuse_settings(host, configured=configured, cure="either it or --model")
    refuse_taken_port(options.port)
    directory = DataDir.at(data_dir)
    with ownership(directory):
        if _is_shipped(wish.model):
            forget(directory)
            return options
        chosen = prepare(
            wish,
            host=host,
            memory=ConfiguredRuns().runs.memory,
            before=read_chosen(directory),
            consent=lambda text: yes or _asked(text),
        )
        write_chosen(directory, chosen)
    return replace(options, chosen=chosen)


def _refuse_settings(host: HostSettings, *, configured: bool, cure: str) -> None:
    """Refuses a model of one's own beside settings that name other models or another engine."""
    if configured or host.engine_url is not None:
        name = "BASE_MODELS" if configured else "ENGINE_URL"
        raise WrongOptions(f"AGENT_RFT_{name} is set: leave out {cure}")


def _is_shipped(name: str) -> bool:
    return any(model.answers_to(name) for model in shipped_models())


def _asked(text: str) -> bool:
    return sys.stdin.isatty() and typer.confirm(text, err=True)


def start_detached(data_dir: Path, options: UpOptions) -> None:
    """Starts the supervisor in its own session and waits for its report."""
    directory = DataDir.at(data_dir)
    log_file = directory.logs / "supervisor.log"
    read_end, write_end = os.pipe()
    log_file.touch(mode=0o600)
    with log_file.open("ab") as log:
        process = subprocess.Popen(  # noqa: S603 - ourselves
            (*_command(directory, options), "--ready-fd", str(write_end)),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(write_end,),
            start_new_session=True,
        )
    os.close(write_end)
    try:
        with os.fdopen(read_end) as pipe:
            text = pipe.read()
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        raise
    _relay(text, process=process, log_file=log_file)


def _relay(text: str, *, process: subprocess.Popen[bytes], log_file: Path) -> None:
    report: dict[str, Any] = json.loads(text) if text else {}
    if "ready" in report:
        print(json.dumps(report["ready"]), flush=True)
        process.returncode = 0  # the supervisor continues; Popen must not warn about a live child
        return
    process.wait()
    tail = "\n".join(log_file.read_text(errors="replace").splitlines()[-_TAIL_LINES:])
    reason = report.get("error") or f"the supervisor ended; the end of {log_file}:\n{tail}"
    print(f"agent-rft: {reason}", file=sys.stderr)
    sys.exit(report.get("exit_code", 1))


def _command(directory: DataDir, options: UpOptions) -> list[str]:
    command = [sys.executable, "-m", "app.cli.main", "up"]
    command += ["--data-dir", str(directory.root), "--port", str(options.port)]
    for endpoint in options.allow_endpoints:
        command += ["--allow-endpoint", endpoint]
    if options.lease_s is not None:
        command += ["--lease-s", str(options.lease_s)]
    return command


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
            _report(ready_fd, {"error": describe(error), "exit_code": 2})
        raise


def _report(ready_fd: int, report: dict[str, Any]) -> None:
    """Writes one report and closes the pipe. The waiting command may have ended already."""
    with contextlib.suppress(OSError), os.fdopen(ready_fd, "w") as pipe:
        json.dump(report, pipe)
