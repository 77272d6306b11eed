"""Objects that tests put into the local storage without a service."""

from contextlib import suppress
from pathlib import Path

from app.kit.directories import commit_directory


def store_adapter(root: Path, key: str, *, weights: bytes) -> Path:
    """Stores the files of an adapter whose weights no reader parses. Returns their directory."""
    with commit_directory(root / key) as partial:
        (partial / "adapter_model.safetensors").write_bytes(weights)
        (partial / "adapter_config.json").write_text('{"peft_type": "LORA"}\n')
    return root / key


def store_directory(root: Path, key: str) -> None:
    """A committed directory of one file, as an adapter is stored; one that is there stays."""
    with suppress(FileExistsError), commit_directory(root / key) as partial:
        (partial / "file").write_text("x")
