"""Each loss of `app.jobs.losses` has a file of its name here, with its value in a class `Loss`."""

from importlib import import_module
from typing import Any

from workers.learning.losses.contract import Loss


def build_loss(name: str, **options: Any) -> Loss:
    """Raises `ValueError` for an option that the loss does not have, or out of its range."""
    loss: Loss = import_module(f"workers.learning.losses.{name}").Loss(**options)
    return loss
