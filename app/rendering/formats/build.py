"""Tool-call formats by vLLM's names for their parsers."""

from typing import Final

from app.domain.models.tool_parsers import ToolParser
from app.rendering.formats.deepseek import DeepSeek
from app.rendering.formats.gemma import Gemma
from app.rendering.formats.glm45 import Glm45
from app.rendering.formats.harmony import Harmony
from app.rendering.formats.hermes import Hermes
from app.rendering.formats.json_list import JsonList
from app.rendering.formats.llama3_json import Llama3Json
from app.rendering.formats.mistral import Mistral
from app.rendering.formats.pythonic import Olmo3, Pythonic
from app.rendering.formats.qwen3_coder import Qwen3Coder
from app.rendering.formats.tool_format import ToolFormat

BY_TEMPLATE: Final[tuple[ToolParser, ...]] = (
    *("openai", "deepseek_v3", "deepseek_v31", "gemma4", "functiongemma", "mistral", "glm45"),
    *("qwen3_coder", "phi4_mini_json", "granite", "olmo3", "hermes", "llama3_json", "pythonic"),
)
"""The formats that a chat template may write, the ones with the rarest marks first."""


_FORMATS: Final[dict[ToolParser, ToolFormat]] = {
    built.name: built
    for built in (
        Hermes(),
        Qwen3Coder("qwen3_coder"),
        Qwen3Coder("qwen3_xml"),
        Llama3Json("llama3_json"),
        Llama3Json("llama4_json"),
        Mistral(),
        Glm45("glm45"),
        Glm45("glm47"),
        DeepSeek("deepseek_v3"),
        DeepSeek("deepseek_v31"),
        Harmony(),
        Pythonic(),
        Olmo3(),
        JsonList("granite", marks={"<|tool_call|>": "", "<tool_call>": ""}),
        JsonList("phi4_mini_json", marks={"functools": "", "<|tool_call|>": "<|/tool_call|>"}),
        Gemma(
            "functiongemma",
            start="<start_function_call>",
            end="<end_function_call>",
            quote="<escape>",
        ),
        Gemma("gemma4", start="<|tool_call>", end="<tool_call|>", quote='<|"|>'),
    )
}


def build_tool_format(name: ToolParser) -> ToolFormat:
    """Returns the format of a name; formats have no state, so all callers share it."""
    return _FORMATS[name]
