"""The marks between which models of any family reason in the text of an answer. Pure.

An engine takes the reasoning out of an answer by the marks of the model's own chat template. A
model that was told to reason between other marks, or a server that takes nothing out, leaves them
in the text. Readers of a final number or score skip the reasoning by these patterns.
"""

import re
from typing import Final

_END_LINES: Final = (
    r"(?P<end>[<\u25c1]/(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning)[>\u25b7]",
    r"|(?-i:\[/THINK\])|<\|(?:end_of_thought|end_thinking)\|>|<channel\|>|assistantfinal",
    r"|<\|channel\|>\s{0,16}final\s{0,16}(?:<\|constrain\|>\s{0,4}\w{1,16}\s{0,4})?<\|message\|>)",
)
THINKING_LINES: Final = (
    r"(?:(?<!``)([`\"'])|(?<![`\"'])|(?<=```))",
    f"(?:{_END_LINES[0]}",
    *_END_LINES[1:],
    r"|[<\u25c1](?:seed:)?(?:think(?:ing)?|thoughts?|reasoning)[>\u25b7]|(?-i:\[THINK\])",
    r"|<\|(?:begin_of_thought|start_thinking)\|>|<\|channel>thought",
    r"|<\|channel\|>\s{0,16}analysis\s{0,16}<\|message\|>|\Aanalysis(?=[a-z]))(?(1)(?!\1))",
)
"""Lines of source for the pattern of a mark that is not in quotes, where a text names it; one that
ends reasoning has the group `end`. The lines have the marks of tags, of Kimi (`◁think▷`), Seed,
Cohere, Gemma and of harmony's channels, with their tokens and without. Compile it with
`re.IGNORECASE`.
"""
THINKING_MARK: Final = re.compile("".join(THINKING_LINES), re.IGNORECASE)
THINKING_END: Final = re.compile("".join(_END_LINES), re.IGNORECASE)
"""A mark that ends reasoning, also one in quotes."""


def after_thinking(text: str) -> str:
    """Returns the text after the reasoning that it begins with; empty if that has no end."""
    start = THINKING_MARK.match(text, len(text) - len(text.lstrip()))
    if start is None or start["end"] is not None:
        return text
    marks = THINKING_MARK.finditer(text, start.end())
    return next((text[mark.end() :] for mark in marks if mark["end"] is not None), "")
