"""Integrations of a job, which are stored and echoed; nothing is sent to them."""

from typing import Any, Final

WANDB_NOT_SENT: Final = (
    "'integrations': nothing is sent to Weights & Biases, because the service holds no key of your "
    "account. Every curve is at GET /v1/fine_tuning/jobs/{id}/metrics and in 'result_files'"
)


def integrations_warning(sent: Any) -> str | None:
    """Returns the warning about integrations; `None` without any. `sent` may be invalid."""
    return WANDB_NOT_SENT if isinstance(sent, list) and sent else None
