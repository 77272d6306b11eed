"""Reports how a base model uses tools and which text controls it, without keeping its tokenizer in
memory.
"""

from dataclasses import dataclass
from functools import lru_cache

import structlog

from app.domain.models.models import BaseModelSpec
from app.domain.models.tool_parsers import ToolParser
from app.rendering.control_text import ControlText
from app.rendering.formats.reasoning import reasoning_of
from app.rendering.renderer import Renderer
from app.rendering.turn_formats import TurnFormats

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ToolUse:
    formats: TurnFormats
    fault: str | None
    """The reason why the model works without tools only; `None` if it works with them."""
    control_text: ControlText | None = None
    """The text that no message may contain; `None` if the model's files cannot be read here."""

    @property
    def parser(self) -> ToolParser:
        """The format of its calls, by vLLM's name for it."""
        return self.formats.calls


@lru_cache(maxsize=64)
def tool_use(spec: BaseModelSpec, *, download: bool = False) -> ToolUse:
    """Reads the model's tokenizer and chat template, which is slow the first time. A model whose
    files cannot be read here is assumed to work with tools; otherwise its first run fails. A
    request must not wait for a download.
    """
    try:
        renderer = Renderer(
            spec.path,
            tool_parser=spec.tool_parser,
            chat_template=spec.chat_template,
            download=download,
        )
    except (OSError, ValueError) as error:
        log.warning("the model's use of tools is not known", model=spec.name, error=str(error))
        calls: ToolParser = "hermes" if spec.tool_parser == "auto" else spec.tool_parser
        return ToolUse(TurnFormats(calls, reasoning_of("", calls)), None)
    formats = TurnFormats(renderer.tool_parser, renderer.parser.reasoning)
    return ToolUse(formats, renderer.tools_fault, renderer.control_text)
