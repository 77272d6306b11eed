"""Exit codes of `agent-rft` about base models. A crash is 1 and wrong arguments are 2, so no answer
of a command has these.
"""

from typing import Final

MODEL_NOT_FOUND: Final = 8
MODEL_REFUSED: Final = 9
DOES_NOT_FIT: Final = 10
ENGINE_NOT_INSTALLED: Final = 11
UNCOUNTABLE: Final = 12
"""The memory of a model cannot be counted from its config."""
