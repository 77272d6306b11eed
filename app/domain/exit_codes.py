"""Exit codes of `agent-rft` and of the programs that it runs. Each has one meaning."""

from typing import Final

FAILED: Final = 1
"""A crash, a failure that has no code of its own, or a call that `validate` finds not valid."""
WRONG_OPTIONS: Final = 2
"""Options, arguments or settings that cannot be used."""
BINARY_MISSING: Final = 3
PORT_IN_USE: Final = 4
DATA_DIR_BUSY: Final = 5
CHILD_FAILED: Final = 6
DATA_DIR_UNUSABLE: Final = 7
MODEL_NOT_FOUND: Final = 8
MODEL_REFUSED: Final = 9
DOES_NOT_FIT: Final = 10
ENGINE_NOT_INSTALLED: Final = 11
UNCOUNTABLE: Final = 12
"""The memory of a model cannot be counted from its config."""
BACKUP_UNUSABLE: Final = 13
SANDBOX_BELOW_FLOOR: Final = 14
"""The sandbox has fewer layers on this machine than its floor."""
INTERRUPTED: Final = 130
"""A terminal's interrupt ended the command: 128 and the number of SIGINT, as in a shell."""
