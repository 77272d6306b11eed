"""The type of a JSON object whose keys this project does not fix."""

from typing import Any

Json = dict[str, Any]
