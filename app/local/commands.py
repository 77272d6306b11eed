"""Runs short-lived programs: initdb, psql, version checks."""

import subprocess
from collections.abc import Mapping, Sequence

from app.kit.span_export import ExporterMissing, check_installed
from app.local.state import AS_OURSELVES, EmbeddedError, InstallationState, RunAs, WrongOptions
from app.settings import Settings, inherited_environment

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
    """Runs a program to its end and returns its standard output. Raises `CommandFailed`."""
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


_HOST = "127.0.0.1"


def check_export(settings: Settings) -> None:
    """Raises `WrongOptions` if spans are to be exported and cannot be."""
    if settings.telemetry.span_export() is None:
        return
    try:
        check_installed()
    except ExporterMissing as error:
        raise WrongOptions(str(error)) from None


def metrics_port(settings: Settings, state: InstallationState, queue: str) -> int | None:
    """Returns the port on which the worker of a queue serves its metrics: the configured one
    for `runs` and the next for `control`; else one of this directory, if there is a key to read it.
    """
    configured, is_control = settings.telemetry.metrics_port, queue == "control"
    if configured is not None:
        return configured + is_control
    if settings.monitoring_key is None:
        return None
    return state.control_metrics_port if is_control else state.runs_metrics_port


def with_metrics_port(settings: Settings, state: InstallationState, queue: str) -> Settings:
    """Returns the settings of the worker of a queue."""
    telemetry = settings.telemetry.model_copy(
        update={"metrics_port": metrics_port(settings, state, queue)}
    )
    return settings.model_copy(update={"telemetry": telemetry})


def metrics_urls(settings: Settings, state: InstallationState) -> dict[str, str]:
    """Returns the address of each process that serves metrics, by its name."""
    urls = {}
    if settings.monitoring_key is not None:
        urls["api"] = f"{settings.public_url}/metrics"
        urls["engine"] = f"{settings.engine_url}/metrics"
    for queue in ("runs", "control"):
        port = metrics_port(settings, state, queue)
        if port is not None:
            urls[queue] = f"http://{_HOST}:{port}/metrics"
    return urls
