"""Finds a base model's directory: a local one, or a snapshot of the hub, pinned to a commit.

Owns the messages for all of its failures. Promises: the small files are fetched before the weights,
so that a model can be refused without a long download; files that are complete are not fetched
again; without a network the hub's cache is used. Must not know the memory or format of a model.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from huggingface_hub import constants, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HFValidationError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from app.domain.models.models import is_hub_id
from app.embedded.errors import ModelNotFound

_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_SMALL: Final = ("*.json", "*.jinja", "*.model", "*.txt")
_WEIGHTS: Final = ("model*.safetensors",)
"""Names of the weights that transformers reads: some repositories also have the weights in other
formats.
"""
_INDEX: Final = "model.safetensors.index.json"
_SINGLE: Final = "model.safetensors"


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model's directory on this machine. That of a hub model may lack its weights."""

    name: str
    """Name in the API, derived from the directory's or the hub's name."""
    directory: Path
    hub_id: str | None = None
    commit: str | None = None
    """Commit of the hub's repository."""

    @property
    def title(self) -> str:
        """Name of the model in messages."""
        if self.hub_id is None or self.commit is None:
            return str(self.directory)
        return f"{self.hub_id} at commit {self.commit[:12]}"


def find_model(named: str, *, revision: str | None = None) -> ModelSource:
    """Returns the directory of a local model, or of a hub model with its small files. `revision` is
    a branch, tag or commit of the hub. Raises `ModelNotFound`.
    """
    directory = Path(named).expanduser()
    if directory.is_dir():
        if not (directory / "config.json").is_file():
            raise ModelNotFound(
                f"{directory} has no config.json: name the directory that save_pretrained wrote"
            )
        return ModelSource(_public_name(directory.resolve().name), directory.resolve())
    if not is_hub_id(named):
        raise ModelNotFound(
            f"--model {named}: there is no such directory, and it is not a hub id such as "
            "Qwen/Qwen3-4B"
        )
    snapshot = _snapshot(named, revision or "main", _SMALL)
    return ModelSource(_public_name(named.partition("/")[2]), snapshot, named, snapshot.name)


def fetch_weights(source: ModelSource) -> None:
    """Downloads the missing weights of a hub model, with progress on standard error. Raises
    `ModelNotFound` if weights are missing afterwards.
    """
    missing = _missing_weights(source.directory)
    if missing and source.hub_id is not None and source.commit is not None:
        _snapshot(source.hub_id, source.commit, _WEIGHTS)
        missing = _missing_weights(source.directory)
    if missing:
        raise ModelNotFound(
            f"{source.title} lacks {', '.join(missing)}: weights are read from safetensors only"
        )


def _missing_weights(directory: Path) -> list[str]:
    index = directory / _INDEX
    names = {_SINGLE}
    if index.is_file():
        names = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
    return sorted(name for name in names if not (directory / name).is_file())


def _snapshot(hub_id: str, revision: str, files: tuple[str, ...]) -> Path:
    try:
        found = snapshot_download(
            hub_id,
            revision=revision,
            allow_patterns=list(files),
            endpoint=constants.ENDPOINT,
            cache_dir=constants.HF_HUB_CACHE,
        )
        return Path(found)
    except GatedRepoError as error:
        raise ModelNotFound(
            f"{hub_id} is gated: accept its terms at {constants.ENDPOINT}/{hub_id}, then set "
            "HF_TOKEN or log in with `hf auth login`"
        ) from error
    except RevisionNotFoundError as error:
        raise ModelNotFound(f"{hub_id} has no revision {revision!r}") from error
    except RepositoryNotFoundError as error:
        raise ModelNotFound(
            f"the hub has no model {hub_id}, or it is private: set HF_TOKEN or log in with "
            "`hf auth login`"
        ) from error
    except LocalEntryNotFoundError as error:
        raise ModelNotFound(_hub_unavailable(hub_id, revision)) from error
    except HFValidationError as error:
        raise ModelNotFound(f"{hub_id} is not a hub id: {error}") from error
    except OSError as error:  # a full disk, a connection that broke, a hub that is down
        raise ModelNotFound(
            f"{hub_id} could not be downloaded: {error}. Run the command again: complete files "
            "are not fetched again"
        ) from error


def _hub_unavailable(hub_id: str, revision: str) -> str:
    """Returns the message about files that are not in the cache while the hub is unavailable."""
    shown = revision[:12] if _COMMIT.fullmatch(revision) else revision
    cause = (
        "HF_HUB_OFFLINE is set"
        if constants.is_offline_mode()
        else f"{constants.ENDPOINT} cannot be reached"
    )
    return (
        f"{cause}, and {hub_id} ({shown}) is not, or only in part, in the hub cache "
        f"{constants.HF_HUB_CACHE}: download it where there is a network, or name a local directory"
    )


def _public_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", name)
