"""Builds a loss by its name in a job's method."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from workers.learning.losses.bradley_terry import BradleyTerry
from workers.learning.losses.cispo import Cispo
from workers.learning.losses.contract import Loss
from workers.learning.losses.cross_entropy import CrossEntropy
from workers.learning.losses.dpo import Dpo
from workers.learning.losses.dro import Dro
from workers.learning.losses.focal import Focal
from workers.learning.losses.importance_sampling import ImportanceSampling
from workers.learning.losses.label_smoothing import LabelSmoothing
from workers.learning.losses.ppo import Ppo

LOSSES: Final[Mapping[str, Callable[..., Loss]]] = MappingProxyType(
    {
        "bradley_terry": BradleyTerry,
        "cispo": Cispo,
        "cross_entropy": CrossEntropy,
        "dpo": Dpo,
        "dro": Dro,
        "focal": Focal,
        "importance_sampling": ImportanceSampling,
        "label_smoothing": LabelSmoothing,
        "ppo": Ppo,
    }
)


def build_loss(name: str, **options: Any) -> Loss:
    """Builds a loss. Raises `ValueError` for an unknown name, listing the known ones, or option."""
    if name not in LOSSES:
        raise ValueError(f"unknown loss {name!r}; expected one of {sorted(LOSSES)}")
    try:
        return LOSSES[name](**options)
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from error
