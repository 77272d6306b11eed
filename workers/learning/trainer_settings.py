"""The settings under which a trainer saves its state, readable without torch."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.domain.errors import AgentRftError

TRAINER_FILE: Final = "trainer.json"


class StateMismatch(AgentRftError):
    """A saved state cannot be loaded under these settings or by this version."""


@dataclass(frozen=True, slots=True)
class TrainerSettings:
    """Settings that a resumed trainer must share with the one that saved."""

    base_name: str
    rank: int
    alpha: float
    learning_rate: float
    loss: str
    minibatches: int
    base_digest: str | None = None
    """Digest of the base model's weights; `None` in a state that was saved without it."""
    computes: dict[str, Any] | None = None
    """The `ComputeChoice` of a trainer on a CPU, which decides the bits of its sums; `None` in a
    state that was saved without it.
    """

    objective: str | None = None
    """JSON of the options of loss, mismatch and KL penalty; `None` in a state that was saved
    without it.
    """

    def differences(self, saved: Mapping[str, Any]) -> list[str]:
        """Returns the names of the settings that differ in a saved state."""
        current = self.as_json()
        later = ("base_digest", "computes", "objective")
        saved = {**saved, **{name: current[name] for name in later if saved.get(name) is None}}
        return sorted(k for k in {*saved, *current} if saved.get(k) != current.get(k))

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def saved_settings(directory: Path) -> TrainerSettings | None:
    """Returns the settings of the state in `directory`; `None` if they cannot be read, in which
    case loading that state raises the reason.
    """
    try:
        document = json.loads((directory / TRAINER_FILE).read_text(encoding="utf-8"))
        return TrainerSettings(**document["settings"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
