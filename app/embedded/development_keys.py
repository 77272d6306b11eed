"""The development organization, project and keys of a new installation.

Owns: asking the service for them once and remembering the answer in the state.
Promises: the keys stay the same over restarts. Must not know: how keys are made or stored.
"""

import json
import sys
from dataclasses import replace

from app.embedded.commands import CommandFailed, run_once
from app.embedded.state import State
from app.settings import Settings, inherited_environment, to_environment


def ensure_keys(state: State, settings: Settings) -> State:
    """The state with both keys. They are minted by the service's own command on the first start."""
    if state.api_key is not None and state.admin_key is not None:
        return state
    answer = run_once(
        (sys.executable, "-m", "app.cli.main", "keys", "bootstrap"),
        environment={**inherited_environment(), **to_environment(settings)},
        timeout_s=60.0,
    )
    try:
        keys = json.loads(answer)
        return replace(state, api_key=keys["api_key"], admin_key=keys["admin_key"])
    except (ValueError, KeyError) as unexpected:
        raise CommandFailed(
            "keys bootstrap did not answer with api_key and admin_key"
        ) from unexpected
