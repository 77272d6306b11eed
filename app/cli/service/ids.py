"""Ids of a service that a command sends back to it, in a path, a query or a header."""

import re
from typing import Annotated, Final

from pydantic import Field

_ID: Final = re.compile(r"[!-~]{1,256}")
ServiceId = Annotated[str, Field(pattern=rf"^{_ID.pattern}$")]
"""Another text could not be sent, and the user would be blamed for it."""


def is_service_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None
