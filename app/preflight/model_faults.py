"""Faults of a call's base model that its files show, with a service and without one."""

from app.domain.errors import InvalidRequest
from app.domain.models.models import BASE_MODEL_UNSUPPORTED, BaseModelSpec
from app.rendering.tool_use import tool_use


def model_fault(base: BaseModelSpec | None) -> InvalidRequest | None:
    """Returns the error for a model that cannot call tools or play in an environment, for a job
    that does. Reads the model's files, which is slow the first time.
    """
    fault = None if base is None else tool_use(base).fault
    if fault is None or base is None:
        return None
    return InvalidRequest(
        f"Model {base.name} {fault}. Use another model, or a job without tools, MCP servers and "
        "environment.",
        param="model",
        code=BASE_MODEL_UNSUPPORTED,
    )
