r"""Texts of a grader that are not templates: a placeholder in one is refused, because it would
never be filled.

Placeholders are `{{…}}` around a name, and a path of `item` or `sample` in single braces; other
braces (`\textbf{item}`, `{"item": 3}`) are text.
"""

import re
from collections.abc import Callable
from typing import Annotated, Final

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

_PLACEHOLDER: Final = re.compile(
    r"\{\{\s{0,9}[A-Za-z_][\w.\[\]'\"-]{0,200}\s{0,9}\}\}"
    r"|\{\s{0,9}(?:sample|item)\s{0,9}[.\[][^{}\n]{0,200}\}",
    re.ASCII,
)


def placeholder_in(text: str) -> str | None:
    """Returns the first placeholder of a text."""
    found = _PLACEHOLDER.search(text)
    return None if found is None else found[0]


def _plain(what: str, cure: str, *, blank: str) -> Callable[[str], str]:
    """Returns a validator that raises `PydanticCustomError` for a blank text, and for one with a
    placeholder.
    """

    def check(text: str) -> str:
        fault = None if text.strip() else f"it is blank: {blank}"
        found = placeholder_in(text)
        if found is not None:
            fault = f"'{found}' would not be filled in, because {what} are not templates: {cure}"
        if fault is not None:
            raise PydanticCustomError("grader_error", "{fault}", {"fault": fault})
        return text

    return check


CriterionText = Annotated[
    str,
    AfterValidator(
        _plain(
            "criteria",
            "the judge reads the row by the template 'question' and the answer by 'input' of a "
            "grader of type 'llm_judge'",
            blank="say what the judge is to look at",
        )
    ),
]
StandardsText = Annotated[
    str,
    AfterValidator(
        _plain(
            "the standards of an 'ai_judge'",
            "it reads the messages of each rollout; a grader of type 'llm_judge' or 'score_model' "
            "reads the row by templates",
            blank="say what the judge is to look at, or leave it out",
        )
    ),
]
LabelText = Annotated[
    str,
    AfterValidator(
        _plain(
            "labels",
            "the judge reads the row by the templates in 'input'",
            blank="a label is a word or more",
        )
    ),
]
SectionText = Annotated[
    str,
    AfterValidator(
        _plain(
            "sections",
            "they are the same for every row",
            blank="an entry is one line that is not blank",
        )
    ),
]
