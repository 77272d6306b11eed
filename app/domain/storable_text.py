"""Text from a model or an endpoint, made fit for UTF-8 and for Postgres' jsonb."""

import re
from typing import Final

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """`text` with U+0000 and half surrogate pairs replaced by U+FFFD: jsonb refuses both."""
    return _UNSTORABLE.sub("\ufffd", text)
