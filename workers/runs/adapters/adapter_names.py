"""Names of a run's adapters in the engine: derived from the job's id, so they cannot be guessed."""

import hashlib
from collections.abc import Sequence

from app.domain.errors import AgentRftError
from app.gateways.inference.inference import Inference


def adapter_prefix(project_id: str, job_id: str) -> str:
    """Returns the prefix of all names of a job; the fence of the claim follows."""
    job = f"{project_id}/{job_id}"
    return f"adapter-{hashlib.sha256(job.encode()).hexdigest()[:24]}-f"


async def unload_all(inference: Inference, prefixes: Sequence[str]) -> AgentRftError | None:
    """Unloads the adapters with one of these prefixes; returns the error that prevented it."""
    try:
        for name in await inference.model_names():
            if name.startswith(tuple(prefixes)):
                await inference.unload_adapter(name)
    except AgentRftError as error:
        return error
    return None
