"""Reads the small files of a model directory or hub id, without its weights.

Owns the lookup of these files. Must not know tokens or messages.
"""

import json
from pathlib import Path
from typing import Any

from huggingface_hub import hf_hub_download
from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError


class ModelFiles:
    """Files of a model directory, or of a hub id, which are downloaded to the hub cache."""

    def __init__(self, path: str, *, download: bool = True) -> None:
        """Without `download`, a hub id only has the files in the hub cache."""
        self._path = path
        self._download = download
        self._cached_only = False
        self._directory = Path(path) if Path(path).is_dir() else None

    def find(self, name: str) -> Path | None:
        if self._directory is not None:
            file = self._directory / name
            return file if file.is_file() else None
        try:
            return Path(hf_hub_download(self._path, name, local_files_only=not self._download))
        except LocalEntryNotFoundError:  # no network, or no download wanted
            self._cached_only = True
            return None
        except EntryNotFoundError:
            return None

    def required(self, name: str) -> Path:
        file = self.find(name)
        if file is None:
            where = " in the hub cache, and it was not downloaded" if self._cached_only else ""
            raise ValueError(f"model {self._path!r} has no {name}{where}")
        return file

    def json(self, name: str) -> dict[str, Any]:
        file = self.find(name)
        content = {} if file is None else json.loads(file.read_text(encoding="utf-8"))
        return content if isinstance(content, dict) else {}


def template_source(files: ModelFiles, config: dict[str, Any], override: Path | None) -> str:
    file = override or files.find("chat_template.jinja")
    if file is not None:
        return file.read_text(encoding="utf-8")
    source = config.get("chat_template")
    if isinstance(source, list):
        named = {entry["name"]: entry["template"] for entry in source}
        source = named.get("tool_use", named.get("default"))
    if not isinstance(source, str):
        raise ValueError("the model has no chat template; configure one")  # noqa: TRY004 - a bad file
    return source


def special_tokens(*configs: dict[str, Any]) -> dict[str, str]:
    """Returns `bos_token`, `eos_token`, … as text; older files contain an object for each."""
    names: dict[str, str] = {}
    for config in configs:
        for key, value in config.items():
            text = value.get("content") if isinstance(value, dict) else value
            if key.endswith("_token") and isinstance(text, str):
                names.setdefault(key, text)
    return names


def context_length(config: dict[str, Any]) -> int:
    text_config = config.get("text_config", config)
    if not isinstance(text_config, dict):
        text_config = {}
    length = text_config.get("max_position_embeddings") or text_config.get("n_positions")
    if not isinstance(length, int) or length < 1:
        raise ValueError("config.json has no max_position_embeddings")
    return length
