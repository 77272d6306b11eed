"""Names the errors that transformers raises for a configuration that it cannot build."""

from typing import Final

from huggingface_hub.errors import StrictDataclassError

LOADING_ERRORS: Final = (
    OSError,
    ValueError,
    LookupError,
    ArithmeticError,
    TypeError,
    AttributeError,
    RuntimeError,
    ImportError,
    AssertionError,
    StrictDataclassError,
)
"""Errors of a configuration that cannot be built. The last one, for values of a wrong type, derives
from `Exception` alone.
"""


def in_one_line(error: Exception) -> str:
    """Returns the message of an error without its line breaks, or its type if it has none."""
    return " ".join(str(error).split()) or type(error).__name__
