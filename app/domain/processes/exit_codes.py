"""Exit codes of `agent-rft` and of the programs that it runs. Each has one meaning."""

from typing import Final

FAILED: Final = 1
"""A crash, a failure without a code of its own, or a call that `validate` finds invalid."""
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
NO_ANSWER: Final = 15
"""A service that cannot be reached, hangs up, or is not a service of this project."""
NOT_ALLOWED: Final = 16
"""The key is not valid (401), or may not do this (403)."""
NOT_FOUND: Final = 17
"""The service has no such object for the project of the key (404)."""
REQUEST_REFUSED: Final = 18
"""The service refused the request for another reason (any other 4xx)."""
TRY_LATER: Final = 19
"""The service answered 429 or a 5xx."""
RUN_FAILED: Final = 20
"""A job or an eval run that was followed has failed."""
RUN_CANCELLED: Final = 21
JOB_PAUSED: Final = 22
NOTHING_TO_LEARN: Final = 23
"""The job ended before training, because its rewards do not differ (`nothing_to_learn`)."""
TEST_FAILED: Final = 24
"""The test of a registered object found a fault."""
INTERRUPTED: Final = 130
"""Ctrl-C ended the command: 128 plus the number of SIGINT, as in a shell."""
