"""Faults of a call's base model that its files show, with a service and without one."""

from app.domain.errors import InvalidRequest
from app.domain.models.models import BASE_MODEL_UNSUPPORTED, BaseModelSpec
from app.rendering.tool_use import tool_use


def model_fault(base: BaseModelSpec | None, *, runs_calls: bool) -> InvalidRequest | None:
    """Returns the error for a model that cannot be trained here, or, for a job that calls tools or
    plays in an environment, that cannot do so. Reads the model's files for such a job, which is
    slow the first time.
    """
    if base is None:
        return None
    if base.refusal is not None:
        return _unsupported(f"Model {base.name} cannot be trained here: {base.refusal}")
    fault = tool_use(base).fault if runs_calls else None
    if fault is None:
        return None
    return _unsupported(
        f"Model {base.name} {fault}. Use another model, or a job without tools, MCP servers and "
        "environment."
    )


def _unsupported(message: str) -> InvalidRequest:
    return InvalidRequest(message, param="model", code=BASE_MODEL_UNSUPPORTED)
