"""Reads a form of the playground."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from app.domain.errors import InvalidRequest
from app.web.forms import LONGEST_TEXT, text_of

_MOST_TOKENS: Final = 4096
_TOKENS: Final = 256
_HOTTEST: Final = 2.0
_TOOL: Final = "tool "
"""Begins the names of the fields that choose a tool, before its id."""


@dataclass(frozen=True, slots=True)
class PlaygroundForm:
    """A form of the playground as it was sent, to be shown again."""

    models: tuple[str, str]
    prompt: str = ""
    max_tokens: str = str(_TOKENS)
    temperature: str = "1"
    tools: Sequence[str] = ()
    """Ids of the registered tools that the models may call."""

    @classmethod
    def of(cls, form: Mapping[str, str]) -> Self:
        """Raises `InvalidRequest` for a form without a prompt."""
        asked = cls(
            (form.get("first", ""), form.get("second", "")),
            text_of(form, "prompt", longest=LONGEST_TEXT),
            form.get("max_tokens", ""),
            form.get("temperature", ""),
            [name.removeprefix(_TOOL) for name in form if name.startswith(_TOOL)],
        )
        if not asked.prompt.strip():
            raise InvalidRequest("The prompt is empty.", param="prompt")
        return asked

    def options(self) -> dict[str, Any]:
        """Returns the options of a chat completion, the same for each turn of both models. Raises
        `InvalidRequest`.
        """
        return {
            "max_completion_tokens": int(_number(self.max_tokens, "max_tokens", 1, _MOST_TOKENS)),
            "temperature": _number(self.temperature, "temperature", 0, _HOTTEST),
            "stream": True,
            "stream_options": {"include_usage": True},
        }


def _number(sent: str, param: str, least: float, most: float) -> float:
    try:
        value = float(sent)
    except ValueError as error:
        raise InvalidRequest(f"'{param}' is not a number.", param=param) from error
    if not least <= value <= most:
        raise InvalidRequest(f"'{param}' must be from {least:g} to {most:g}.", param=param)
    return value
