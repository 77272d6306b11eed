"""What a run's adapters are called in the engine: told by the job's id, guessed by nobody."""

import hashlib
from collections.abc import Sequence

from app.domain.errors import AgentRftError
from app.gateways.inference.inference import Inference


def adapter_prefix(project_id: str, job_id: str) -> str:
    """Of all names of a job; the fence of the claim follows."""
    job = f"{project_id}/{job_id}"
    return f"adapter-{hashlib.sha256(job.encode()).hexdigest()[:24]}-f"


async def unload_all(inference: Inference, prefixes: Sequence[str]) -> AgentRftError | None:
    """Unload what has one of these prefixes; returns what was in the way."""
    try:
        for name in await inference.model_names():
            if name.startswith(tuple(prefixes)):
                await inference.unload_adapter(name)
    except AgentRftError as error:
        return error
    return None
