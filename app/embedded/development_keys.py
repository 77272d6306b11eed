"""Creates the development organization, project and keys of a new installation, and the link that
signs in to its dashboard.

Owns: the calls of the service's own commands, and the storage of the keys in the state.
Promises: the keys do not change over restarts. Must not know: how keys are generated or stored.
"""

import json
from dataclasses import replace

import structlog

from app.domain.processes.interpreters import running_module
from app.embedded.commands import CommandFailed, run_once
from app.embedded.state import InstallationState
from app.settings.environment import inherited_environment, to_environment
from app.settings.settings import Settings

_log = structlog.get_logger()


def make_sign_in_link(state: InstallationState, settings: Settings) -> str | None:
    """Returns the secret of a link that signs in once with the development key; `None` when that
    key has been revoked.
    """
    try:
        output = run_once(
            running_module("app.cli.main", "keys", "sign-in-link"),
            environment={**inherited_environment(), **to_environment(settings)},
            text_in=state.api_key,
            timeout_s=60.0,
        )
    except CommandFailed as failure:
        _log.warning("no_sign_in_link", reason=str(failure).splitlines()[-1])
        return None
    return output.strip()


def ensure_keys(state: InstallationState, settings: Settings) -> InstallationState:
    """Returns the state with both keys; the service's own command creates them on the first
    start.
    """
    if state.api_key is not None and state.admin_key is not None:
        return state
    output = run_once(
        running_module("app.cli.main", "keys", "bootstrap"),
        environment={**inherited_environment(), **to_environment(settings)},
        timeout_s=60.0,
    )
    try:
        keys = json.loads(output)
        return replace(state, api_key=keys["api_key"], admin_key=keys["admin_key"])
    except (ValueError, KeyError) as unexpected:
        raise CommandFailed("keys bootstrap did not print api_key and admin_key") from unexpected
