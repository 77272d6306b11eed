"""Calls that change stored completions and feedback, for the test of the audit log."""

from itertools import count
from typing import Any

from tests.support.api.organization import execute

_NUMBERS = count()
AnyCaller = Any
"""The caller of `tests.support.api.audited_calls`, which imports this module."""


async def stored_completion(caller: AnyCaller) -> str:
    """Returns the path of a stored completion, which only a chat makes."""
    name = f"chatcmpl-{next(_NUMBERS)}"
    execute(
        caller.database,
        "INSERT INTO stored_completions (id, project_id, model, request, reply, bytes)"
        " SELECT %s, id, 'm', '{\"messages\": [], \"tools\": []}', %s, 1 FROM projects"
        " WHERE name = 'p' AND organization_id IN"
        " (SELECT id FROM organizations WHERE slug = 'first')",
        *(name, '{"choices": [{"message": {"role": "assistant", "content": "a"}}]}'),
    )
    return f"/v1/chat/completions/{name}"


async def preferences(caller: AnyCaller) -> str:
    """Gives enough preferences for a build. Returns the path of the last one."""
    path = ""
    for number in range(10):
        sent = {
            "type": "preference",
            "messages": [{"role": "user", "content": f"{number}?"}],
            "chosen": "a",
            "rejected": "b",
        }
        path = await caller.made("/v1/feedback", sent)
    return path


async def new_build(caller: AnyCaller) -> Any:
    await preferences(caller)
    return await caller("POST", "/v1/feedback/builds", json={"method": "dpo", "name": "built"})


async def end_user_removal(caller: AnyCaller) -> Any:
    sent = {
        "type": "preference",
        "messages": [{"role": "user", "content": "a?"}],
        "chosen": "a",
        "rejected": "b",
        "end_user": "ann",
    }
    await caller("POST", "/v1/feedback", json=sent)
    return await caller("DELETE", "/v1/feedback/end_users/ann")
