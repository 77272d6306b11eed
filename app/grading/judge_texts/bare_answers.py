"""Takes off what servers and models put around a judge's JSON: blanks, a byte order mark, tokens
that end a turn, and one Markdown fence. Takes out nothing within the answer. Pure.
"""

import re
import string
from typing import Final

_BLANKS: Final = f"{string.whitespace}\u00a0\u200b\u200c\u200d\u2060\ufeff"
"""Characters that cannot be seen."""
_TURN_ENDS: Final = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|end|>",
    "<|return|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<end_of_turn>",
    "<eos>",
    "</s>",
)
_MOST_ENDS: Final = 8
"""Number of tokens that are taken off, each of which copies the answer."""
_FENCED: Final = re.compile(
    r"(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?:[\w+.-]{1,20}+(?=[\s{\[]))?(?P<body>.*)", re.DOTALL
)
"""An opening fence with or without a word of its language, and the rest, also on one line."""


def trimmed_answer(text: str) -> str:
    """Returns the answer without blanks at its edges and tokens at its end."""
    text = text.strip(_BLANKS)
    for _ in range(_MOST_ENDS):
        end = next((end for end in _TURN_ENDS if text.endswith(end)), None)
        if end is None:
            break
        text = text.removesuffix(end).rstrip(_BLANKS)
    return text


def bare_answer(text: str) -> str:
    """Returns the text within the fence that has all of the answer, else the trimmed answer. The
    text may have fences of its own, such as in the strings of a JSON object.
    """
    said = trimmed_answer(text)
    fenced = _FENCED.fullmatch(said)
    if fenced is None or not fenced["body"].endswith(fenced["fence"]):
        return said
    return fenced["body"].removesuffix(fenced["fence"]).strip(_BLANKS)
