"""Exit codes of `agent-rft` and of the programs that it asks."""

from typing import Final

FAILED: Final = 1
"""A crash, or a failure that has no code of its own."""
WRONG_OPTIONS: Final = 2
"""Options, arguments or settings that cannot be used."""
BINARY_MISSING: Final = 3
PORT_IN_USE: Final = 4
DATA_DIR_BUSY: Final = 5
CHILD_FAILED: Final = 6
DATA_DIR_UNUSABLE: Final = 7
BACKUP_UNUSABLE: Final = 8
"""This code belongs to `backup` and `restore`, which name no base model."""
MODEL_NOT_FOUND: Final = 8
"""This one and those that follow are about base models."""
MODEL_REFUSED: Final = 9
DOES_NOT_FIT: Final = 10
ENGINE_NOT_INSTALLED: Final = 11
UNCOUNTABLE: Final = 12
"""The memory of a model cannot be counted from its config."""
