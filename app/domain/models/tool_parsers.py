"""The formats of tool calls that the service reads, by vLLM's names for their parsers."""

from typing import Literal

ToolParser = Literal[
    "hermes",
    "qwen3_coder",
    "qwen3_xml",
    "llama3_json",
    "llama4_json",
    "mistral",
    "functiongemma",
    "gemma4",
    "glm45",
    "glm47",
    "deepseek_v3",
    "deepseek_v31",
    "openai",
    "pythonic",
    "olmo3",
    "granite",
    "phi4_mini_json",
]
ToolParserChoice = ToolParser | Literal["auto"]
"""`auto` is the format that parses the calls of the model's chat template."""
