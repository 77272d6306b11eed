"""The base model and engine that a data directory was last started with.

Owns the format of `base_model.json`. A later start without `--model` reads it, so that a
directory's jobs keep their base model, with the weights of the same commit. Must not know
processes.
"""

import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.domain.models.models import BaseModelSpec
from app.domain.models.start_plans import EngineKind
from app.embedded.errors import DataDirUnusable, ModelNotFound
from app.embedded.state import DataDir, write_private
from app.settings.models import known_by_name


class ChosenModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    spec: BaseModelSpec
    """The model, with the directory of its weights as its path."""
    engine: EngineKind
    hub_id: str | None = None
    commit: str | None = None
    vllm_python: str | None = None
    """Interpreter of vLLM's environment."""
    engine_share: float | None = None
    """Share of the GPU for the engine."""
    kv_mib: int | None = None
    """Memory of keys and values of an engine on the CPU."""
    micro_batch_tokens: int | None = Field(default=None, gt=0)
    """Tokens of a micro-batch, unless the operator sets a number."""


def write_chosen(data_dir: DataDir, chosen: ChosenModel) -> None:
    write_private(data_dir.base_model_file, chosen.model_dump(mode="json"))


def forget_chosen_model(data_dir: DataDir) -> None:
    data_dir.base_model_file.unlink(missing_ok=True)


def read_chosen(data_dir: DataDir) -> ChosenModel | None:
    """Returns the model of the last start, `None` without one. Raises `DataDirUnusable`."""
    try:
        values = json.loads(data_dir.base_model_file.read_text(encoding="utf-8"))
        return _where_it_is_now(ChosenModel.model_validate(values))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, ValidationError) as failure:
        raise DataDirUnusable(
            f"{data_dir.base_model_file} cannot be read: start with --model once more"
        ) from failure


def _where_it_is_now(chosen: ChosenModel) -> ChosenModel:
    """Returns a shipped model with its directory in this installation, which may be another one
    than that of the last start.
    """
    for shipped in known_by_name():
        # Not its aliases: a directory of the user may be called so.
        if shipped.name == chosen.spec.name:
            return chosen.model_copy(update={"spec": shipped})
    return chosen


def refuse_missing(chosen: ChosenModel) -> None:
    """Raises `ModelNotFound` if the model's directory is gone since it was chosen."""
    if not (Path(chosen.spec.path) / "config.json").is_file():
        named = chosen.hub_id or chosen.spec.path
        raise ModelNotFound(
            f"{chosen.spec.path}, the base model of this data directory, is gone: bring it back, "
            f"or start with --model {named} once more"
        )
