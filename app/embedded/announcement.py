"""Announces a running installation: the object that `agent-rft up` prints, and `services.json`.

Owns: the shape of both. Promises: `services.json` (0600) exists only from the moment every child
was ready until the supervisor begins to stop; it contains the current pid of each child.
"""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Self

from app.embedded.layout import UpOptions
from app.embedded.state import DataDir, InstallationState, write_private
from app.embedded.telemetry import metrics_urls
from app.settings.settings import Settings


@dataclass(frozen=True, slots=True)
class Announcement:
    """JSON object that is printed once every child is ready."""

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
