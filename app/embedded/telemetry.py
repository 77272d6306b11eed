"""Where the processes of one machine show their figures, and the check of the export of spans.

Must not know what the figures are.
"""

from app.embedded.errors import WrongOptions
from app.embedded.state import InstallationState
from app.settings.settings import Settings
from app.telemetry.span_export import ExporterMissing, check_installed

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
    """Returns the port on which the worker of a queue shows its figures: the configured one for
    `runs` and the next for `control`; else one of this directory, if there is a key to read it.
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
    """Returns the address of each process that shows figures, by its name."""
    urls = {}
    if settings.monitoring_key is not None:
        urls["api"] = f"{settings.public_url}/metrics"
        urls["engine"] = f"{settings.engine_url}/metrics"
    for queue in ("runs", "control"):
        port = metrics_port(settings, state, queue)
        if port is not None:
            urls[queue] = f"http://{_HOST}:{port}/metrics"
    return urls
