"""The reasoning effort that a job trained its models with, kept beside their adapters.

Whoever may call a model reads it there, also a project that the model is shared with and that sees
nothing of the job. Must not know what an effort does.
"""

import json
from collections.abc import AsyncIterator
from pathlib import PurePosixPath
from typing import Any, Final

from app.gateways.objects import Objects

_FILE: Final = "prompting.json"


async def note_trained_effort(objects: Objects, job_key: str, effort: str) -> None:
    """Before the first adapter of a job is there. Writing it again changes nothing."""

    async def whole() -> AsyncIterator[bytes]:
        yield json.dumps({"reasoning_effort": effort}).encode()

    await objects.put(f"{job_key}/{_FILE}", whole())


async def trained_effort(objects: Objects, adapter_key: str) -> str | None:
    """`None` for the model's own default. `adapter_key`: `<job>/<step>/adapter`."""
    job_key = PurePosixPath(adapter_key).parent.parent
    try:
        content = b"".join([part async for part in objects.read(f"{job_key}/{_FILE}")])
    except FileNotFoundError:
        return None
    effort: str = json.loads(content)["reasoning_effort"]
    return effort


async def as_trained(
    objects: Objects, body: dict[str, Any], adapter_key: str | None
) -> dict[str, Any]:
    """A chat call with the effort of the model's training, unless it names one. `adapter_key` is
    `None` of a base model.
    """
    if adapter_key is None or body.get("reasoning_effort") is not None:
        return body
    return {**body, "reasoning_effort": await trained_effort(objects, adapter_key)}
