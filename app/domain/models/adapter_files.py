"""Names of the files of an adapter in PEFT format."""

from typing import Final

CONFIG_FILE: Final = "adapter_config.json"
WEIGHTS_FILE: Final = "adapter_model.safetensors"
