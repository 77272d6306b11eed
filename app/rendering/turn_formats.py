"""Names the pairs of formats in which a model writes tool calls and reasoning, for vLLM's options.

Owns these names: the launcher of an engine writes them, the plugin in vLLM's process reads them.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, get_args

from app.domain.models.tool_parsers import ToolParser
from app.rendering.formats.reasoning import ALL_REASONING, Reasoning


@dataclass(frozen=True, slots=True)
class TurnFormats:
    calls: ToolParser
    reasoning: Reasoning

    @property
    def name(self) -> str:
        return f"agent_rft-{self.calls}-{self.reasoning.name}"


TURN_FORMATS: Final = MappingProxyType(
    {
        formats.name: formats
        for calls in get_args(ToolParser)
        for reasoning in ALL_REASONING
        for formats in (TurnFormats(calls, reasoning),)
    }
)
