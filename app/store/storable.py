"""Values that models, tools and graders produced, made storable.

Postgres text and jsonb hold no NUL, UTF-8 no lone surrogate; both become U+FFFD. JSON has no NaN
and no infinity; a number that is none becomes null.
"""

import math
import re
from typing import Any

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(value: Any) -> Any:
    """The same JSON value with everything unstorable replaced, keys included."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {storable(key): storable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [storable(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
