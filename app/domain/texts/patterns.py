"""Regular expressions of short texts that customers send, each with its words for a refusal."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

TOOL_NAME: Final = r"^[a-zA-Z0-9_-]{1,64}$"
SERVER_LABEL: Final = r"^[a-zA-Z][a-zA-Z0-9_-]{0,63}$"
FORMULA_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]{0,63}"
"""A name within a formula; a whole text is one between `^` and `$`."""
TAG: Final = r"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$"
MD5: Final = r"^[0-9a-fA-F]{32}$"
PRINTABLE_ASCII: Final = r"^[!-~]{1,256}$"

_PART: Final = r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*"
DATA_SET: Final = rf"^{_PART}/{_PART}$"
"""Owner and name, without `..`."""
DATA_SPLIT: Final = r"^[A-Za-z0-9_.]{1,64}$"
REVISION: Final = r"^[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}$"
TRACKER_PROJECT: Final = r"^[A-Za-z0-9][A-Za-z0-9_.\- ]{0,99}$"
PATTERNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        TOOL_NAME: "1 to 64 letters, digits, '_' and '-'",
        SERVER_LABEL: "1 to 64 letters, digits, '_' and '-', a letter first",
        f"^{FORMULA_NAME}$": "a name of letters, digits and '_' that does not start with a digit",
        TAG: "1 to 64 letters, digits, '_', '.' and '-', a letter or '_' first",
        TRACKER_PROJECT: "1 to 100 letters, digits, spaces, '_', '.' and '-', no mark first",
        DATA_SET: "owner and name of a data set, such as 'openai/gsm8k'",
        DATA_SPLIT: "1 to 64 letters, digits, '_' and '.'",
        REVISION: "1 to 128 letters, digits, '_', '.', '/' and '-', a letter, a digit or '_' first",
        MD5: "32 hexadecimal digits",
        PRINTABLE_ASCII: "1 to 256 printable ASCII characters without spaces",
    }
)
"""Descriptions of texts that must match a regular expression, by expression."""
