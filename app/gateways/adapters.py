"""Has an engine load a tuned model that it lacks. Must not know tenants."""

from app.domain.errors import InvalidRequest
from app.gateways.inference import Inference
from app.gateways.objects import Objects


async def load_missing(
    inference: Inference, objects: Objects, engine_name: str, *, object_key: str | None
) -> None:
    """`object_key` is where the adapter lies, `None` of a base model. Raises `Unavailable`."""
    if object_key is None:
        return
    try:
        await inference.load_adapter(engine_name, objects.local_path(object_key))
    except InvalidRequest:
        # Another call has loaded it meanwhile, or nobody can: the next chat will tell.
        return
