"""Finds the parameter that an unknown key was meant for, in its own object or in another one.

Owns the names that other trainers use, and the similarity from which a name is suggested. Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from app.domain.documents.walk import WalkedField
from app.domain.faults.near_names import has_words, nearest_name

MAX_COMPARED: Final = 80
"""Characters of a key that are compared with the known names."""
SIMILARITY: Final = 0.6
SIMILARITY_CUTOFF: Final = 0.8
"""Similarity from which a key is assumed to be meant for a parameter of another object, or for a
missing one.
"""
_OTHER_NAMES: Final = MappingProxyType(
    {
        "learning_rate": "learning_rate_multiplier",
        "lr": "learning_rate_multiplier",
        "lr_multiplier": "learning_rate_multiplier",
        "epochs": "n_epochs",
        "num_epochs": "n_epochs",
        "num_train_epochs": "n_epochs",
    }
)
"""Names used by other trainers, for which similarity would suggest a wrong name."""


@dataclass(frozen=True, slots=True)
class KeyHints:
    """Parameters of a call by the last part of their path, for keys in the wrong object.

    `names` also match similar keys; `exact` matches only equal ones.
    """

    names: Mapping[str, str]
    exact: Mapping[str, str]

    def of(self, name: str) -> str | None:
        return self.names.get(name) or self.exact.get(name)


NOWHERE: Final = KeyHints({}, {})


def nearest(field: WalkedField, elsewhere: KeyHints, *, likeness: float = SIMILARITY) -> str | None:
    """Returns the name for which a key was probably meant: its own name in another object, else the
    most similar one in the same object, else in another object.
    """
    key = str(field.path[-1])[:MAX_COMPARED].casefold()
    hints = NOWHERE if is_of_others(field.path) else elsewhere
    for name in (key, _OTHER_NAMES.get(key, key)):
        if name in field.known:
            return name
        if (param := hints.of(name)) is not None:
            return param
    here = nearest_name(key, field.known, likeness)
    if here is not None:
        return here
    there = get_close_matches(key, hints.names, n=1, cutoff=SIMILARITY_CUTOFF)
    return hints.names[there[0]] if there else None


def suggested_name(field: WalkedField, elsewhere: KeyHints) -> str | None:
    """Returns the name that a warning suggests for an accepted key: a very similar one, or the one
    in the same object that has all of its words.
    """
    near = nearest(field, elsewhere, likeness=SIMILARITY_CUTOFF)
    if near is not None:
        return near
    key = str(field.path[-1])[:MAX_COMPARED].casefold()
    longer = [name for name in field.known if has_words(name, key)]
    return longer[0] if len(longer) == 1 else None


def is_of_others(path: tuple[str | int, ...]) -> bool:
    """Returns whether a key is in a tool or a grader, whose own service may read it, so that it is
    not meant for a parameter of the call.
    """
    return any(name in ("tools", "grader", "graders") for name in path[:-1])


def question(near: str | None) -> str:
    return "" if near is None else f" Did you mean '{near}'?"
