"""The limits of named numbers besides a reward, from a grader's endpoint or an environment.

Each component's name becomes the name of a curve, which must fit into an index of the database.
Pure.
"""

import re
from typing import Final

MAX_COMPONENTS: Final = 32
"""Largest number of components of one rollout from one source."""
COMPONENT_NAME: Final = r"[a-zA-Z0-9_.-]{1,64}"
_NAME: Final = re.compile(COMPONENT_NAME)


def is_component_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None
