"""Makes values from models, tools and graders storable.

Postgres text and jsonb cannot contain NUL, and UTF-8 cannot encode a lone surrogate; both become
U+FFFD. JSON has no NaN and no infinity; both become null.
"""

import math
from typing import Any

from app.domain.texts.storable_text import storable as storable_text


def storable(value: Any) -> Any:
    """Returns the JSON value with unstorable characters and numbers replaced, also in keys."""
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, dict):
        return {storable(key): storable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [storable(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
